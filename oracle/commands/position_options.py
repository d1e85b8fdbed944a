"""Options that the commands share: which position is meant, and how to answer."""

from __future__ import annotations

import argparse

from oracle.color import BLACK, NAMES, color_of
from oracle.errors import OracleError
from oracle.formats import FORMATS, Snapshot, SnapshotChoice, read_position
from oracle.grid import MAX_SIZE
from oracle.komi import parse_komi
from oracle.vertex import parse_vertex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from oracle.komi import Komi
    from oracle.vertex import Point


class OptionParser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def __init__(self, name: str, description: str, rules: str | None = None) -> None:
        """Make a parser; ``rules`` is the game that the command is about, if it is about one."""
        super().__init__(
            prog=f"gtp-oracle {name}",
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.set_defaults(rules=rules)

    def error(self, message: str) -> NoReturn:
        """Exit with 2 and one line."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


# --- which position ------------------------------------------------------------------------------


def add_position(parser: OptionParser, needed: bool = True) -> None:
    """Add the file, which may be ``needed`` or not, and the options that choose from it."""
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs=None if needed else "?",
        help="a position in any format; - is standard input",
    )
    which = parser.add_argument_group("which position")
    which.add_argument(
        "--format",
        choices=FORMATS,
        help="the file's format (default: detected from its content)",
    )
    which.add_argument(
        "--game", type=whole, metavar="N", help="the N-th game of an SGF collection, from 1"
    )
    which.add_argument(
        "--move", type=whole, metavar="N", help="after N moves (SGF); 0 is before the first"
    )
    which.add_argument(
        "--variation",
        type=_path,
        default=(),
        metavar="N.N…",
        help="the branch to take wherever the game record splits, from 1; then the first",
    )
    which.add_argument(
        "--keep-faults",
        action="store_true",
        help="continue after illegal moves and damage in a game record, with a note on each",
    )
    which.add_argument(
        "--size", type=size, metavar="N", help="board (N or COLUMNSxROWS) of a record without SZ"
    )
    which.add_argument(
        "--line", type=whole, metavar="N", help="before line N of a .gtp file, from 1"
    )
    which.add_argument(
        "--test", type=whole, metavar="ID", help="before the test with this number in a .gtp file"
    )


def read(options: argparse.Namespace) -> Snapshot:
    """Return the position that the options choose, by the rules of the command's game."""
    choice = SnapshotChoice(
        number=options.game,
        move=options.move,
        variation=options.variation,
        keep_faults=options.keep_faults,
        size=options.size,
        game=options.rules,
        line=options.line,
        test=options.test,
    )
    return read_position(options.file, options.format, choice)


def add_rules(parser: OptionParser) -> None:
    """Add ``--rules`` for a command that is about any game."""
    parser.add_argument(
        "--rules",
        choices=("go", "gomoku"),
        help="the game, whatever the file says (default: the file's, or go)",
    )


# --- whose move, which points --------------------------------------------------------------------


def add_color(
    parser: OptionParser, what: str, default: str = "the side to move, else black"
) -> None:
    """Add ``--color``."""
    parser.add_argument(
        "--color", type=color, metavar="COLOR", help=f"{what}: b, w, black or white ({default})"
    )


def color_to_play(options: argparse.Namespace, snapshot: Snapshot) -> int:
    """Return the color asked for, else the side to move, else Black with a note."""
    stated: int | None = options.color or snapshot.to_play
    if stated is None:
        snapshot.notes.append("the file does not say whose turn it is: Black is assumed")
    return stated or BLACK


def points(names: list[str], snapshot: Snapshot) -> list[Point]:
    """Return the points of vertices.

    Raises :class:`~oracle.errors.VertexError` for one that is off the board.
    """
    shape = snapshot.position.grid
    return [parse_vertex(name, shape.rows, shape.columns) for name in names]


# --- types of arguments --------------------------------------------------------------------------
# argparse shows the text of ArgumentTypeError.


def whole(text: str) -> int:
    """Return a number that is not negative."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def color(text: str) -> int:
    """Return a color."""
    found = color_of(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a color ({', '.join(NAMES[1:])})")
    return found


def komi(text: str) -> Komi:
    """Return a komi, exact."""
    try:
        return parse_komi(text)
    except OracleError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def size(text: str) -> tuple[int, int]:
    """Return rows and columns of ``N`` or ``COLUMNSxROWS``."""
    sides = text.split("x")
    if not all(side.isascii() and side.isdigit() and len(side) < 3 for side in sides):
        raise argparse.ArgumentTypeError(f"{text!r} is not N or COLUMNSxROWS")
    columns, rows = int(sides[0]), int(sides[-1])
    if len(sides) > 2 or not (1 <= columns <= MAX_SIZE and 1 <= rows <= MAX_SIZE):
        raise argparse.ArgumentTypeError(f"{text!r}: a board has 1 to {MAX_SIZE} lines each way")
    return rows, columns


def _path(text: str) -> tuple[int, ...]:
    return tuple(whole(part) for part in text.split("."))
