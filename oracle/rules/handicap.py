"""The standard places of handicap stones.

Source: GTP version 2, section 4.1.1.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.vertex import Point

# Rows and columns in thirds: low, middle, high. The corners come first, in the order of a 2, 3
# and 4 stone handicap; then the sides' middles. An odd number from 5 on has the center as well.
_CORNERS = ((0, 0), (2, 2), (2, 0), (0, 2))
_SIDES = ((1, 0), (1, 2), (0, 1), (2, 1))
_CENTER = (1, 1)


def fixed_points(size: int, stones: int, edge: int | None = None) -> list[Point]:
    """Return the standard places of a fixed handicap on a square board.

    ``edge``: how many lines lie beyond the corner stones; None: as the standard has it.

    ``stones``: from 2 to :func:`most_fixed`.
    """
    edge = (2 if size < 13 else 3) if edge is None else edge
    lines = (edge, size // 2, size - 1 - edge)
    center = stones >= 5 and stones % 2 == 1
    thirds = (*_CORNERS, *_SIDES)[: stones - center] + ((_CENTER,) if center else ())
    return [(lines[row], lines[column]) for row, column in thirds]


def most_fixed(size: int) -> int:
    """Return the largest fixed handicap: boards without a middle line have only corners."""
    if size < 7:
        return 0
    return 9 if size >= 9 and size % 2 == 1 else 4
