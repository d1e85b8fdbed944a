"""Boards of the assignment documents, each with its place, to the letter."""

# java-go.txt, page 5: "Sample game board file".
SAMPLE = """\
0 0 0 0 0 2 2 0 0
0 2 1 2 2 1 1 2 0
0 1 2 0 2 1 2 1 2
0 2 0 0 2 1 1 1 2
0 0 1 0 0 2 2 2 0
0 1 2 1 0 1 0 0 0
1 2 2 2 2 2 1 0 0
1 2 2 1 1 2 2 1 0
0 1 1 0 0 1 1 0 0
"""

# gosensei.txt, "Go Board Configuration Display".
DISPLAY = """\
9 +-+-+-+-+-+-+-+-+
  | | | | | | | | |
8 +-+-+-+-+-+-+-+-+
  | | | | | | | | |
7 +-+-+-+-+-+-+-+-+
  | | | | | | | | |
6 +-+-+-+-+-+-+-+-+
  | | | | | | | | |
5 +-+-+-+-+-+-+-+-+
  | | | | | | | | |
4 b-b-+-+-+-+-+-+-+
  | | | | | | | | |
3 w-w-b-+-+-+-+-+-+
  | | | | | | | | |
2 +-w-b-+-+-+-+-+-+
  | | | | | | | | |
1 w-b-+-+-+-+-+-+-+

  A B C D E F G H I
"""

# gosensei.txt, "-eyes Options": "The following example includes three eyes for black".
THREE_EYES = """\
9 +-+-+-+-+-+-+-+-+
  | | | | | | | | |
8 +-+-w-w-w-+-+-+-+
  | | | | | | | | |
7 w-w-b-b-b-+-+-+-+
  | | | | | | | | |
6 +-w-b-+-b-+-+-+-+
  | | | | | | | | |
5 +-w-b-b-b-+-+-+-+
  | | | | | | | | |
4 +-+-+-+-+-+-+-b-b
  | | | | | | | | |
3 +-+-+-+-+-+-+-b-+
  | | | | | | | | |
2 +-+-+-+-+-+-+-b-b
  | | | | | | | | |
1 +-+-+-+-+-+-+-b-+

  A B C D E F G H I
"""

# gosensei.txt, "-eyespaces Options": "The following example includes two eye spaces for black,
# ones with two empty spaces and one with five empty spaces".
TWO_SPACES = """\
9 +-+-+-+-+-+-+-+-+
  | | | | | | | | |
8 +-+-w-w-w-+-+-+-+
  | | | | | | | | |
7 w-w-b-b-b-+-+-+-+
  | | | | | | | | |
6 +-w-b-+-b-+-+-+-+
  | | | | | | | | |
5 +-w-b-+-b-+-+-+-+
  | | | | | | | | |
4 +-+-b-b-b-+-b-b-b
  | | | | | | | | |
3 +-+-+-+-+-+-b-+-+
  | | | | | | | | |
2 +-+-+-+-+-+-b-+-+
  | | | | | | | | |
1 +-+-+-+-+-+-b-b-+

  A B C D E F G H I
"""
