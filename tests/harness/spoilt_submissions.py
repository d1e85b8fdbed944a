"""Submissions in C and Java with mistakes that students make: each is a right one with a change.

The right ones are real programs in ``tests/submissions``; :func:`write` makes a folder of one.
"""

import shutil
from pathlib import Path
from typing import NamedTuple

SUBMISSIONS = Path(__file__).parents[1] / "submissions"
FOLDERS = {"gosensei": "gosensei", "java-go": "go"}  # the folder that each assignment wants


class Spoilt(NamedTuple):
    assignment: str
    right: str  # the folder of the right one in tests/submissions/ASSIGNMENT
    file: str
    old: str  # what is there, once at least; all of it is changed
    new: str
    said: str  # a part of what the first failing test, or the build, says
    failing: frozenset[str] = frozenset()  # the commands that fail; empty if it cannot be built
    cases: str = "*.gtp"  # those that can show it
    seconds: float = 1.0  # of CPU time for each call; programs in C are given whole ones


def c(file: str, old: str, new: str, said: str, *failing: str, cases="*.gtp") -> Spoilt:
    file = f"src/{file}"
    return Spoilt("gosensei", "gosensei", file, old, new, said, frozenset(failing), cases)


def java(
    file: str, old: str, new: str, said: str, *failing: str, cases="board.gtp", seconds=1.0
) -> Spoilt:
    file = f"src/dsa/go/{file}"
    return Spoilt("java-go", "go", file, old, new, said, frozenset(failing), cases, seconds)


SENTENCES = ("eyes", "twoeyes", "eyespaces", "display")
GAME = ("can_play", "captures", "is_over")

SPOILT = {
    # --- gosensei
    "plural": c(
        "main.c", "if (count == 1)", "if (count == 1 && 0)", "There are 1 eyes for black.",
        "eyes", "eyespaces",
    ),
    "plural of blacks": c(
        "main.c", "two eye for blacks", "two eyes for black", "There are 0 two eyes for black.",
        "twoeyes",
    ),
    "does not compile": c(
        "goboard.c", "int missing = 0;", "int missing = 0", "ended with exit status 2",
    ),
    "no end of recursion": c(
        "goboard.c", "   seen[i][j] = true;\n", "",
        "gosensei -eyespaces BOARD crashed: SIGSEGV (segmentation fault)", "eyespaces",
    ),
    "endless loop": c(
        "goboard.c", "for (int a = 0; a < eyes; a++)", "for (int a = 0; a < eyes;)",
        "gosensei -doubleeyes BOARD was ended after 1 s of CPU time", "twoeyes",
        cases="twoeyes.gtp",
    ),
    "waits for somebody": c(
        "main.c", "   display_go_board(go_board);\n",
        "   display_go_board(go_board);\n   while (getchar() != 'q') {}\n",
        "gosensei -eyes BOARD was ended after 1 s of CPU time", "eyes",
        cases="eyes.gtp",
    ),
    "column j for i": c(
        "goboard.c", "column[0] < 'a' || column[0] > 'i'",
        "column[0] < 'a' || column[0] > 'j' || column[0] == 'i'",
        "it said 'Error: invalid column", "is_valid", "eyes", "twoeyes", "eyespaces", "display",
    ),
    "exit status and a debugging line": c(
        "main.c", "   return 0;\n}", "   fprintf(stderr, \"%d\\n\", count);\n   return 7;\n}",
        "gosensei -eyes BOARD ended with exit status 7; it said 'There is 1 eye for black.'",
        "eyes", "twoeyes", "eyespaces", "display", "is_valid",
    ),
    "nobody counts twice": c(
        "goboard.c", "if (go_board[i][j] != EMPTY) {\n         printf", "if (0) {\n printf",
        "true", "is_valid",
    ),
    "silent": c(
        "goboard.c", "printf(\"Error", "if (0) printf(\"Error",
        "no error was reported: ended with exit status 1", "is_valid",
    ),
    "chatter": c(
        "main.c", "   return 0;\n}", "   printf(\"Goodbye!\\n\");\n   return 0;\n}",
        "There are 0 eyes for black.\nGoodbye!", "eyes", "twoeyes", "eyespaces",
    ),
    "capitals on the board": c(
        "goboard.c", "printf(\"%c\", go_board[i][j])", "printf(\"%c\", toupper(go_board[i][j]))",
        "9 +-+-+-+-+-+-+-B-+", "display",
    ),
    "usage only": c(
        "main.c", "argc != 3", "argc != 2",
        "gosensei -eyes BOARD ended with exit status 1; it said 'usage:", *SENTENCES, "is_valid",
    ),
    "talks without end": c(
        "main.c", "   return 0;\n}", "   while (1) printf(\"%d\\n\", count);\n}",
        "gosensei -eyes BOARD writes without end", *SENTENCES, "is_valid",
    ),
    # --- java-go
    "syntax": java("Board.java", "int taken = 0;", "int taken = 0", "ended with exit status 1"),
    "changes the board": java(
        "Board.java", "        return !beside[EMPTY];",
        "        board[x][y] = EMPTY;\n        return !beside[EMPTY];",
        "answered true, but changed the board: A1 was 2 and is 0", "is_captured", "score",
    ),
    "no end of a fill": java(
        "Board.java", "} else if (!visited[nx][ny]) {", "} else {",
        "did not return within 0.1 s", "is_legal", cases="legal.gtp", seconds=0.1,
    ),
    "reads past column 0": java(
        "Board.java", "return x >= 0 && x < board.length", "return x >= -1 && x < board.length",
        "java.lang.ArrayIndexOutOfBoundsException: Index -1 out of bounds", "is_captured", "score",
    ),
    "color ignored": java(
        "Board.java", "after[x][y] = colour;", "after[x][y] = WHITE;", "true", "is_legal",
        cases="legal.gtp",
    ),
    "another signature": java(
        "Board.java", "public boolean isLegal(", "public boolean isLegal(String why, ",
        "ended with exit status 1",
    ),
    "ends the program": java(
        "Board.java", "        int other = 3 - colour;\n", "        int other = 3 - colour;\n"
        "        if (other > 0) System.exit(4);\n",
        "score(board, 1) failed: the program ended itself with exit status 4", "score",
    ),
    "no ko": java(
        "GoGame.java", "previous != null && same(after, previous)", "false", "true", "can_play",
        cases="game.gtp",
    ),
    "nothing is taken": java(
        "Board.java", "                            board[i][j] = EMPTY;\n", "", "0", "captures",
        "can_play", cases="game.gtp",
    ),
    "a pass breaks it": java(
        "GoGame.java", 'if (line.equals("pass"))',
        "if (line.length() == 0 || Character.isLetter(line.charAt(0))) {\n"
        '                throw new IllegalStateException("what is " + line);\n'
        "            }\n            if (false)",
        "no way to pass was found; tried were 'pass'", *GAME, cases="game.gtp",
    ),
    "never asks": java(
        "GoGame.java", "        int colour = Board.BLACK;\n",
        "        int colour = Board.BLACK;\n        while (colour == Board.BLACK) { }\n",
        "the game broke: it ", *GAME, cases="game.gtp", seconds=0.25,
    ),
    "no game": java("GoGame.java", "public static void main", "public static void start",
                    "no class has a method main", *GAME, cases="game.gtp"),
}  # fmt: skip


def write(assignment: str, right: str, folder: Path) -> Path:
    """Write a right submission into ``folder``; return its own folder there."""
    target = folder / FOLDERS[assignment]
    shutil.copytree(SUBMISSIONS / assignment / right, target)
    return target


def write_spoilt(name: str, folder: Path) -> Path:
    """Write a wrong one."""
    spoilt = SPOILT[name]
    target = write(spoilt.assignment, spoilt.right, folder)
    path = target / spoilt.file
    text = path.read_text(encoding="utf-8")
    assert spoilt.old in text, f"{name}: the right submission has changed"
    path.write_text(text.replace(spoilt.old, spoilt.new), encoding="utf-8")
    return target
