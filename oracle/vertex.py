"""Vertices: the names of points, as text.

A *point* is ``(row, column)``, both from 0, with row 0 at the bottom and column 0 at the left, so
that GTP's ``A1`` is ``(0, 0)`` (as in sgfmill). A *vertex* is its name as text.
"""

from __future__ import annotations

from oracle.errors import VertexError

# GTP version 2, section 2.11 *vertex*: the letter I is skipped; at most 25 columns.
GTP_LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
# gosensei.txt, "Go Board Configuration File": columns a to i, with i.
SENSEI_LETTERS = "ABCDEFGHI"

Point = tuple[int, int]
Move = tuple[int, Point | None]  # color and point; None is a pass


def vertex(point: Point, letters: str = GTP_LETTERS) -> str:
    """Return the name of a point, such as ``"C7"``."""
    row, column = point
    return f"{letters[column]}{row + 1}"


def parse_vertex(text: str, rows: int, columns: int, letters: str = GTP_LETTERS) -> Point:
    """Return the point that a vertex names, in either case.

    Raises :class:`VertexError` when it names none on a board of this size, or is ``pass``.
    """
    column = letters.find(text[:1].upper()) if text else -1
    digits = text[1:]
    if column < 0 or not (digits.isascii() and digits.isdigit()) or len(digits) > 2:
        raise VertexError(f"not a vertex: {text!r}")
    row = int(digits) - 1
    if not (0 <= row < rows and column < columns):
        raise VertexError(f"{text!r} is not on a board of {columns} columns and {rows} rows")
    return row, column
