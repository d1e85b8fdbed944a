"""Boards as comments of case files draw them, and as :func:`oracle.draw.draw_text` does.

::

    # . X O           A B C            A B C
    # X . .         2 . X O  2      2  ┌─●─○  2
                    1 X . .  1      1  ●─┴─┘  1
                      A B C            A B C

Each row may begin with ``#``, as in a case file, and have its number at one end or both; the
letters of the columns may be above and below. Those of gosensei have ``b`` and ``w``. Letters of
stones may be small or capital.
"""

from __future__ import annotations

from oracle.boards.snapshot import Snapshot, SnapshotChoice, block, decode, lines_of, quote
from oracle.errors import FormatError
from oracle.position import BLACK, EMPTY, GTP_LETTERS, MAX_SIZE, WHITE, Position

_COLORS = {".": EMPTY, "X": BLACK, "B": BLACK, "O": WHITE, "W": WHITE}
_ROW = "a row of '.', X and O with blanks between them, such as '. X O'"
# How draw_text draws, in the signs above.
_LINES = "┌┬┐├┼┤└┴┘╋+"
_SIGNS = str.maketrans("●○─()" + _LINES, "XO   " + "." * len(_LINES))


def read_drawing(
    data: bytes, file: str | None = None, choice: SnapshotChoice | None = None
) -> Snapshot:
    """Read a drawing, any rectangle up to 25 by 25.

    Raises :class:`FormatError` with file and line, what was found there and what was expected.
    """
    return Snapshot(parse_drawing(decode(data), file), "drawing")


def is_drawing(text: str) -> bool:
    """Whether a text has such rows and nothing else, so that it is not a case file.

    Numbered rows without a capital stone are a diagram of sgfmill's.
    """
    rows = [row for _, line in lines_of(text) if (row := _split(line)) != (None, [])]
    if not rows or not all(_COLORS.keys() >= set(points) for _, points in rows):
        return False
    return text.lstrip()[:1] in "#ABab" or rows[0][0] is None or not set("XO●○").isdisjoint(text)


def parse_drawing(text: str, file: str | None = None) -> Position:
    """Return the position of a drawing; see :func:`read_drawing`."""
    split = [_split(line) for _, line in lines_of(text)]
    rows = block("\n".join(" ".join(points) for _, points in split), file, _ROW)
    if len(rows) > MAX_SIZE:
        found = f"found {len(rows)} rows; expected at most {MAX_SIZE}"
        raise FormatError(found, file, rows[MAX_SIZE][0])
    for label, (number, _) in zip(range(len(rows), 0, -1), rows, strict=True):
        if (told := split[number - 1][0]) not in (None, label):
            found = f"found the row with number {told}; expected {label}"
            raise FormatError(f"{found}: rows count from the bottom", file, number)
    columns = len(rows[0][1].split())
    return Position.from_rows([_row(line, columns, file, number) for number, line in rows])


def _split(line: str) -> tuple[int | None, list[str]]:
    """Return the number of a row, if it has one, and its points in capitals.

    A line of the columns' letters has no points.
    """
    words = line.strip().removeprefix("#").translate(_SIGNS).upper().split()
    if not words or "".join(words) == GTP_LETTERS[: len(words)]:
        return None, []
    if len(words) == 1 or not (words[0].isascii() and words[0].isdigit()):
        return None, words
    number, *points = words
    return int(number), points[:-1] if points[-1] == number else points


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
