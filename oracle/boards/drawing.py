"""Boards as the comments of case files draw them: rows of ``.``, ``X`` and ``O``.

::

    # . X O
    # X . .

Each row may begin with ``#``, as in a case file, or with nothing. Those of gosensei have ``b`` and
``w``. Letters may be small or capital.
"""

from __future__ import annotations

from oracle.boards.board_lines import block, decode, lines_of, quote
from oracle.boards.snapshot import Snapshot, SnapshotChoice
from oracle.color import BLACK, EMPTY, WHITE
from oracle.errors import FormatError
from oracle.grid import MAX_SIZE
from oracle.position import Position

_COLORS = {".": EMPTY, "X": BLACK, "B": BLACK, "O": WHITE, "W": WHITE}
_ROW = "a row of '.', X and O with blanks between them"


def read_drawing(
    data: bytes, file: str | None = None, choice: SnapshotChoice | None = None
) -> Snapshot:
    """Read a drawing, any rectangle up to 25 by 25.

    Raises :class:`FormatError` with file and line, what was found there and what was expected.
    """
    return Snapshot(parse_drawing(decode(data), file), "drawing")


def is_drawing(text: str) -> bool:
    """Whether a text has such rows and nothing else, so that it is not a case file."""
    rows = [_points(line) for _, line in lines_of(text)]
    filled = [row for row in rows if row]
    return bool(filled) and all(_COLORS.keys() >= set(row) for row in filled)


def parse_drawing(text: str, file: str | None = None) -> Position:
    """Return the position of a drawing; see :func:`read_drawing`."""
    rows = block(_without_signs(text), file, _ROW)
    if len(rows) > MAX_SIZE:
        found = f"found {len(rows)} rows; expected at most {MAX_SIZE}"
        raise FormatError(found, file, rows[MAX_SIZE][0])
    columns = len(rows[0][1].split())
    return Position.from_rows([_row(line, columns, file, number) for number, line in rows])


def _points(line: str) -> list[str]:
    """Return the words of a line in capitals, without the sign of a comment."""
    return line.strip().removeprefix("#").upper().split()


def _without_signs(text: str) -> str:
    return "\n".join(" ".join(_points(line)) for _, line in lines_of(text))


def _row(line: str, columns: int, file: str | None, number: int) -> list[int]:
    """Return the colors of a row; ``columns``: the number in the first row."""
    points = line.split()
    for point in points:
        if point not in _COLORS:
            raise FormatError(f"found {quote(point)}; expected '.', X or O", file, number)
    if len(points) > MAX_SIZE:
        found = f"found a row of {len(points)} points; expected at most {MAX_SIZE}"
        raise FormatError(found, file, number)
    if len(points) != columns:
        expected = f"expected {columns}, as in the first row"
        raise FormatError(f"found a row of {len(points)} points; {expected}", file, number)
    return [_COLORS[point] for point in points]


def format_drawing(position: Position) -> str:
    """Return a position as such rows without signs, each with its newline."""
    rows = position.to_rows()
    return "".join(" ".join(".XO"[color] for color in row) + "\n" for row in rows)
