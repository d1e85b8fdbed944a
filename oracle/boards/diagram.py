"""Board diagrams as ``sgfmill.ascii_boards.render_board`` prints them.

::

    2  .  #
    1  o  .
       A  B

Read here rather than with ``interpret_diagram``, which guesses what an ill-formed diagram may
mean, and plays the stones one by one, so that some may be captured on the way.
"""

from __future__ import annotations

from oracle.boards.board_lines import block, decode, quote
from oracle.boards.snapshot import Snapshot, SnapshotChoice
from oracle.color import BLACK, EMPTY, WHITE
from oracle.errors import FormatError
from oracle.grid import MAX_SIZE
from oracle.position import Position
from oracle.vertex import GTP_LETTERS

_COLORS = {".": EMPTY, "#": BLACK, "o": WHITE}
_ROW = "a row's number and then a '.', '#' or 'o' for each point, with blanks between them"


def read_diagram(
    data: bytes, file: str | None = None, choice: SnapshotChoice | None = None
) -> Snapshot:
    """Read a diagram, any rectangle up to 25 by 25.

    Raises :class:`FormatError` with file and line, what was found there and what was expected.
    """
    return Snapshot(parse_diagram(decode(data), file), "diagram")


def parse_diagram(text: str, file: str | None = None) -> Position:
    """Return the position of a diagram; see :func:`read_diagram`."""
    *rows, (last, letters) = block(text, file, _ROW)
    columns = len(letters.split())
    if not rows or "".join(letters.split()) != GTP_LETTERS[:columns]:
        found = f"found {quote(letters.strip())} as the last line; expected the columns' letters"
        raise FormatError(f"{found} A B C … (without I)", file, last)
    if len(rows) > MAX_SIZE:
        raise FormatError(f"found {len(rows)} rows; expected at most {MAX_SIZE}", file, last)
    return Position.from_rows(
        [
            _row(line, len(rows) - top, columns, file, number)
            for top, (number, line) in enumerate(rows)
        ]
    )


def _row(line: str, label: int, columns: int, file: str | None, number: int) -> list[int]:
    """Return the colors of the row that bears the number ``label``."""
    name, *points = line.split()
    if name != str(label):
        found = f"found {quote(line.strip())}; expected the row with number {label}"
        raise FormatError(found, file, number)
    for point in points:
        if point not in _COLORS:
            raise FormatError(f"found {quote(point)}; expected '.', '#' or 'o'", file, number)
    if len(points) != columns:
        expected = f"expected {columns}, as in the line of letters"
        raise FormatError(f"found a row of {len(points)} points; {expected}", file, number)
    return [_COLORS[point] for point in points]


def format_diagram(position: Position) -> str:
    """Return a position as ``render_board`` prints it, without a final newline."""
    shape = position.grid
    width = 2 if shape.rows > 9 else 1
    lines = [
        f"{shape.rows - top:{width}} " + " ".join(f" {'.#o'[color]}" for color in colors)
        for top, colors in enumerate(position.to_rows())
    ]
    letters = "  ".join(GTP_LETTERS[: shape.columns])
    return "\n".join([*lines, " " * (width + 2) + letters])
