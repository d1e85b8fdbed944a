"""Options that the commands share: which position is meant, and how to answer."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from oracle.boards import Snapshot
from oracle.draw import Diagram, draw_text
from oracle.errors import OracleError
from oracle.explanation import Explanation, is_underspecified
from oracle.formats import FORMATS, SnapshotChoice, read_position
from oracle.komi import parse_komi, plain_text
from oracle.position import BLACK, MAX_SIZE, NAMES, Point, color_of, parse_vertex, vertex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import NoReturn

    from oracle.komi import Komi

    Ask = Callable[[Snapshot, argparse.Namespace], "list[Answer]"]


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
        "--format", choices=FORMATS, help="the file's format (default: detected from its content)"
    )
    which.add_argument(
        "--game", type=whole, metavar="N", help="the N-th game of an SGF collection, from 1"
    )
    which.add_argument(
        "--move", type=whole, metavar="N", help="after N moves (SGF); 0 is before the first"
    )
    which.add_argument(
        "--variation",
        type=lambda text: tuple(whole(part) for part in text.split(".")),
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
    parser: OptionParser, description: str, default: str = "the side to move, else black"
) -> None:
    """Add ``--color``."""
    parser.add_argument(
        "--color",
        type=color,
        metavar="COLOR",
        help=f"{description}: b, w, black or white ({default})",
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


# --- Asking questions of a position, and printing the answers for people or as JSON --------------


class Answer(NamedTuple):
    """The answer to one question."""

    question: str  # in a few words
    text: str  # the answer for people
    value: Any  # the answer as JSON has it
    explanation: Explanation
    readings: Mapping[str, str] = {}  # what the document leaves open, as text

    @property
    def is_underspecified(self) -> bool:
        """Whether the document allows different answers."""
        return bool(self.readings) and is_underspecified(self.readings)


def question(name: str, description: str, rules: str | None = None) -> OptionParser:
    """Return the parser of a command that asks about one position.

    ``rules`` is the game that the question is about, if it is about one.
    """
    parser = OptionParser(name, description, rules)
    add_position(parser)
    output = parser.add_argument_group("how to answer")
    output.add_argument("--json", action="store_true", help="as JSON, for programs")
    output.add_argument("--ascii", action="store_true", help="draw the board in plain ASCII")
    return parser


def run(arguments: list[str], parser: OptionParser, ask: Ask, letters: str) -> int:
    """Read the options and the position, ask, and print; return the exit status.

    ``letters`` are those of the columns in the answers.
    """
    options = parser.parse_args(arguments)
    snapshot = read(options)
    answers = ask(snapshot, options)
    if options.json:
        told = [_json(answer, letters) for answer in answers]
        print_json(describe_position(snapshot, options.file) | {"answers": told})
        return 0
    print_notes(snapshot)
    blocks = [_text(answer, snapshot, letters, not options.ascii) for answer in answers]
    print_text("\n\n".join(blocks))
    return 0


# --- text ----------------------------------------------------------------------------------------


def _text(answer: Answer, snapshot: Snapshot, letters: str, unicode: bool) -> str:
    diagram = Diagram(snapshot.position, snapshot.last, answer.explanation.marks, letters=letters)
    parts = [answer.text, textwrap.fill(answer.explanation.text, 79), draw_board(diagram, unicode)]
    if answer.is_underspecified:
        lines = [f"  {name}: {reading}" for name, reading in answer.readings.items()]
        opening = "Underspecified: the document allows different answers."
        parts.append("\n".join([opening, *lines]))
    return "\n\n".join(part for part in parts if part)


def draw_board(diagram: Diagram, unicode: bool) -> str:
    """Return a board as text, in ASCII where the terminal can show no other."""
    return draw_text(diagram, unicode=unicode and can_draw_unicode())


def can_draw_unicode() -> bool:
    """Whether standard output can show more than ASCII."""
    return (sys.stdout.encoding or "ascii").lower().startswith("utf")


def print_notes(snapshot: Snapshot) -> None:
    """Say on standard error what was assumed or overlooked while reading."""
    for note in snapshot.notes:
        sys.stderr.write(f"gtp-oracle: note: {note}\n")


def print_text(text: str) -> None:
    """Print text, whatever the terminal can show of it."""
    encoding = sys.stdout.encoding or "ascii"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding) + "\n")


# --- JSON ----------------------------------------------------------------------------------------


def describe_position(snapshot: Snapshot, file: str) -> dict[str, Any]:
    """Return a position and its known facts, for JSON.

    ``board`` has the top row first, with ``.`` for an empty point, ``B`` and ``W``.
    """
    position = snapshot.position
    return {
        "file": file,
        "format": snapshot.kind,
        "game": snapshot.game,
        "title": snapshot.title,
        "rows": position.grid.rows,
        "columns": position.grid.columns,
        "board": ["".join(".BW"[color] for color in row) for row in position.to_rows()],
        "to_play": None if snapshot.to_play is None else NAMES[snapshot.to_play],
        "last": vertex(snapshot.last) if snapshot.last else None,
        "ko": vertex(snapshot.ko) if snapshot.ko else None,
        "komi": None if snapshot.komi is None else plain_text(snapshot.komi),
        "notes": snapshot.notes,
    }


def _json(answer: Answer, letters: str) -> dict[str, Any]:
    marks = answer.explanation.marks
    return {
        "question": answer.question,
        "answer": answer.value,
        "explanation": answer.explanation.text,
        "marks": {vertex(point, letters): marks[point] for point in sorted(marks)},
        "underspecified": answer.is_underspecified,
        "readings": dict(answer.readings),
    }


def print_json(value: Any) -> None:
    """Print a value as JSON in ASCII, so that no terminal can spoil it."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")
