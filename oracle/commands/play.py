"""``gtp-oracle play``."""

import argparse
import io
import sys

from oracle.commands import ask as shared
from oracle.commands.ask import OptionParser, can_draw_unicode, print_notes, print_text
from oracle.errors import OracleError
from oracle.play import GameTable, converse
from oracle.position import BLACK, NAMES, Position, grid

USUAL_SIZE = 11  # java-go.txt, "The Game"

DESCRIPTION = """\
A game of Go between two people at the terminal, by the rules of java-go.txt: self capture and the
immediate recapture of a ko are not allowed, prisoners and territory are a point each, and the game
ends when Black passes and White passes after it.

It begins on an empty board (11 by 11, or --size), or continues with the position of FILE. Type
points such as C3, pass, undo, score, board, save FILE, help or quit.
"""


def main(arguments: list[str]) -> int:
    """Run the game and return the exit status."""
    parser = OptionParser("play", DESCRIPTION, rules="go")
    shared.add_position(parser, needed=False)
    shared.add_color(parser, "color to begin")
    parser.add_argument("--ascii", action="store_true", help="draw the board in plain ASCII")
    options = parser.parse_args(arguments)
    table = _table(options)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    converse(table, input, print_text)
    return 0


def _table(options: argparse.Namespace) -> GameTable:
    """Return a table with an empty board, or with the game of a file to continue with."""
    unicode = not options.ascii and can_draw_unicode()
    if options.file is None:
        board = grid(*(options.size or (USUAL_SIZE, USUAL_SIZE)))
        return GameTable(Position(board), options.color or BLACK, unicode=unicode)
    snapshot = shared.read(options)
    print_notes(snapshot)
    if options.color and snapshot.to_play and options.color != snapshot.to_play:
        raise OracleError(f"{options.file}: it is {NAMES[snapshot.to_play].capitalize()}'s turn")
    turn = snapshot.to_play or options.color or BLACK
    return GameTable(snapshot.start, turn, snapshot.moves, unicode=unicode)
