"""Vertices: the names of points, as text.

A *point* is ``(row, column)``, both from 0, with row 0 at the bottom and column 0 at the left, so
that GTP's ``A1`` is ``(0, 0)`` (as in sgfmill). A *vertex* is its name as text.
"""

from __future__ import annotations

from oracle.errors import VertexError

# GTP version 2, section 2.11 *vertex*: the letter I is skipped; at most 25 columns.
GTP_LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
EXAMPLE = "; expected one such as C3"  # at the end of an error
# gosensei.txt, "Go Board Configuration File": columns a to i, with i.
SENSEI_LETTERS = "ABCDEFGHI"

Point = tuple[int, int]
Move = tuple[int, Point | None]  # color and point; None is a pass

# The points of names that were read before, by the letters: there are only so many names.
_read_before: dict[tuple[str, str], Point] = {}


def vertex(point: Point, letters: str = GTP_LETTERS) -> str:
    """Return the name of a point, such as ``"C7"``."""
    row, column = point
    return f"{letters[column]}{row + 1}"


def parse_vertex(text: str, rows: int, columns: int, letters: str = GTP_LETTERS) -> Point:
    """Return the point that a vertex names, in either case.

    Raises :class:`VertexError` when it names none on a board of this size, or is ``pass``.
    """
    point = _read_before.get((letters, text))
    if point is None:
        point = _read_before[letters, text] = _read(text, letters)
    if not (0 <= point[0] < rows and point[1] < columns):
        raise VertexError(f"{text!r} is not on a board of {columns} columns and {rows} rows")
    return point


def _read(text: str, letters: str) -> Point:
    """Return the point that a vertex names, whether or not a board has it."""
    column = letters.find(text[:1].upper()) if text else -1
    digits = text[1:]
    if column < 0 or not (digits.isascii() and digits.isdigit()) or len(digits) > 2:
        raise VertexError(f"not a vertex: {text!r}{EXAMPLE}")
    return int(digits) - 1, column
