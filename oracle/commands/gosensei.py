"""``gtp-oracle gosensei``: the program that gosensei.txt asks for.

It needs no option of the other commands, so that it can stand beside a student's program.
"""

import sys

from oracle.answers import gosensei
from oracle.boards import read_text
from oracle.boards.gosensei import draw_gosensei, parse_gosensei
from oracle.errors import FormatError
from oracle.position import BLACK

USAGE = """\
usage: gosensei OPTION FILE

Displays the board of a go board configuration file and tells of Black

  -eyes         the number of eyes
  -twoeyes      the number of two eyes (-doubleeyes is the same)
  -eyespaces    the number of eye spaces

Each line of FILE is one stone: its color (b or w), column (a to i) and row (1 to 9).
Exit status: 0, or 1 with a message on standard error if the arguments or the file are wrong.
"""

_OPTIONS = {"-doubleeyes": "twoeyes", **{f"-{name}": name for name in gosensei.OPTIONS}}


def main(arguments: list[str]) -> int:
    """Run the program and return its exit status, 0 or (as C's ``EXIT_FAILURE``) 1.

    Source: gosensei.txt, "Commandline Arguments". The document calls the second option
    ``-twoeyes`` in its text and ``-doubleeyes`` in its usage line.
    """
    if arguments in (["-h"], ["--help"]):
        sys.stdout.write(USAGE)
        return 0
    if len(arguments) != 2 or arguments[0] not in _OPTIONS:
        sys.stderr.write(USAGE)
        return 1
    option, file = arguments
    try:
        position = parse_gosensei(read_text(file), file)
    except FormatError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    find, sentence, _, _ = gosensei.OPTIONS[_OPTIONS[option]]
    answer = sentence(len(find(position, BLACK)), BLACK)
    sys.stdout.write(f"{draw_gosensei(position)}\n\n{answer}\n")
    return 0
