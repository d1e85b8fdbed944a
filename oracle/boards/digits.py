"""Text boards of 0, 1 and 2, the top row first.

Source: java-go.txt, "Specific Requirements": "with a 0 indicating an empty space, a 1 indicating
a black stone and a 2 indicating a white stone", and "Sample game board file".
"""

from __future__ import annotations

from oracle.boards.board_lines import block, decode, quote
from oracle.boards.snapshot import Snapshot, SnapshotChoice
from oracle.errors import FormatError
from oracle.grid import MAX_SIZE
from oracle.position import Position

_ROW = "a row of 0, 1 and 2 with blanks between them"


def read_digits(
    data: bytes, file: str | None = None, choice: SnapshotChoice | None = None
) -> Snapshot:
    """Read a text board, any rectangle up to 25 by 25.

    Raises :class:`FormatError` with file and line, what was found there and what was expected.
    """
    return Snapshot(parse_digits(decode(data), file), "text", game="java-go")


def parse_digits(text: str, file: str | None = None) -> Position:
    """Return the position of a text board; see :func:`read_digits`."""
    lines = block(text, file, _ROW)
    if len(lines) > MAX_SIZE:
        found = f"found {len(lines)} rows; expected at most {MAX_SIZE}"
        raise FormatError(found, file, lines[MAX_SIZE][0])
    first = len(lines[0][1].split())
    return Position.from_rows([_row(line, first, file, number) for number, line in lines])


def _row(line: str, columns: int, file: str | None, number: int) -> list[int]:
    """Return one row; ``columns``: the number in the first row."""
    fields = line.split()
    for place, field in enumerate(fields, start=1):
        if field not in ("0", "1", "2"):
            found = f"found {quote(field)} as number {place} of the row; expected 0, 1 or 2"
            raise FormatError(found, file, number)
    if len(fields) > MAX_SIZE:
        found = f"found a row of {len(fields)} points; expected at most {MAX_SIZE}"
        raise FormatError(found, file, number)
    if len(fields) != columns:
        found = f"found a row of {len(fields)} points; expected {columns}, as in the first row"
        raise FormatError(found, file, number)
    return [int(field) for field in fields]


def format_digits(position: Position) -> str:
    """Return a position as a text board, each line with its newline; inverse of reading."""
    rows = position.to_rows()
    return "".join(" ".join(str(color) for color in row) + "\n" for row in rows)
