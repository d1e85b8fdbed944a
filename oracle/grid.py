"""The geometry of a board whose points are bits.

Point ``(row, column)`` is bit ``row * stride + column``, with ``stride = columns + 1``: one *guard
column* on the right is never set, so that a shift over the edge of a row falls into it and is
masked off, instead of wrapping round to the next row. Rows below 0 fall off the integer's end and
rows above the last are masked off in the same way.

::

    row 1   bits  4 5 6 | 7        up     << stride
    row 0   bits  0 1 2 | 3        right  << 1
    column        0 1 2  guard
"""

from __future__ import annotations

from oracle.vertex import Point

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SIZE = 25  # GTP version 2, section 2.11: columns A to Z without I


class Grid:
    """A board's shape and its masks; one shared object for each shape (see :func:`grid`).

    Attributes: ``rows``, ``columns``, ``stride`` (bits from a point to the one above it),
    ``full`` (the mask of all points on the board), ``halves`` (a few masks; at least one tells any
    two points apart), ``span`` (bits of a board with a guard row above it).

    A grid is the *frame* of :mod:`oracle.rules` for integers.
    """

    __slots__ = ("columns", "full", "halves", "rows", "span", "stride")

    def __init__(self, rows: int, columns: int) -> None:
        self.rows = rows
        self.columns = columns
        self.stride = columns + 1
        self.span = (rows + 1) * self.stride
        row = (1 << columns) - 1
        self.full = sum(row << (r * self.stride) for r in range(rows))
        self.halves = self._halves()

    def _halves(self) -> tuple[int, ...]:
        """Return a mask for each binary digit of a row's and of a column's number."""
        points = self.points(self.full)
        sides = [(0, self.rows), (1, self.columns)]
        return tuple(
            self.mask([point for point in points if point[side] >> digit & 1])
            for side, size in sides
            for digit in range((size - 1).bit_length())
        )

    def join(self, first: int, second: int) -> int:
        """Return two masks side by side in one integer, with a guard row between them."""
        return first | second << self.span

    def split(self, both: int) -> tuple[int, int]:
        """Return the two masks that :meth:`join` put side by side."""
        return both & self.full, both >> self.span

    def bit(self, point: Point) -> int:
        """Return the mask of one point."""
        row, column = point
        return 1 << (row * self.stride + column)

    def point(self, bit: int) -> Point:
        """Return the point of a mask that has one bit set."""
        return divmod(bit.bit_length() - 1, self.stride)

    def points(self, mask: int) -> list[Point]:
        """Return the points of a mask, from A1 rightwards, then upwards."""
        return [self.point(bit) for bit in each_bit(mask)]

    def mask(self, points: list[Point] | tuple[Point, ...]) -> int:
        """Return the mask of some points."""
        mask = 0
        for point in points:
            mask |= self.bit(point)
        return mask

    def __contains__(self, point: Point) -> bool:
        """Whether the point is on the board."""
        return 0 <= point[0] < self.rows and 0 <= point[1] < self.columns

    def __repr__(self) -> str:
        return f"grid({self.rows}, {self.columns})"


def each_bit(mask: int) -> Iterator[int]:
    """Yield the masks of one bit that make up a mask, the lowest first."""
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit


_GRIDS: dict[tuple[int, int], Grid] = {}


def grid(rows: int, columns: int | None = None) -> Grid:
    """Return the grid of a shape; square when only ``rows`` is given.

    Raises :class:`ValueError` outside 1 to 25 (two letters would be needed).
    """
    columns = rows if columns is None else columns
    if not (1 <= rows <= MAX_SIZE and 1 <= columns <= MAX_SIZE):
        raise ValueError(f"a board has 1 to {MAX_SIZE} rows and columns, not {rows} by {columns}")
    shape = (rows, columns)
    if shape not in _GRIDS:  # functools.cache would take half of an engine's time to start
        _GRIDS[shape] = Grid(rows, columns)
    return _GRIDS[shape]
