"""Bit-planes: many positions side by side, for the rules that :mod:`oracle.rules` states once.

A set of points, for each of many positions of one shape, is a :class:`Planes`: a matrix of 64-bit
words with a row for each point of the grid (guard column included) and, in every row, one bit for
each position. Bit ``k`` of word ``w`` in row ``row * stride + column`` tells whether point
``(row, column)`` is in the set of position ``64 * w + k``. So an operation on two planes is one
vectorised operation on all positions, and a shift of an integer's bits is a shift of rows.
"""

from __future__ import annotations

import numpy as np

from oracle.grid import Grid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

WORD = 64  # positions in a word


class Planes:
    """A set of points for each of many positions. Operators give new planes.

    Attribute ``bits``: uint64, shape ``(points, words)``; ``words`` is 1 for a set that is the
    same in every position.
    """

    __slots__ = ("bits",)
    __hash__ = None  # type: ignore[assignment] # compares by value, may be large

    def __init__(self, bits: Words) -> None:
        self.bits = bits

    def __and__(self, other: Planes) -> Planes:
        return Planes(self.bits & other.bits)

    def __or__(self, other: Planes) -> Planes:
        return Planes(self.bits | other.bits)

    def __invert__(self) -> Planes:
        return Planes(~self.bits)

    def __lshift__(self, places: int) -> Planes:
        moved = np.zeros_like(self.bits)
        moved[places:] = self.bits[:-places]
        return Planes(moved)

    def __rshift__(self, places: int) -> Planes:
        moved = np.zeros_like(self.bits)
        moved[:-places] = self.bits[places:]
        return Planes(moved)

    def __eq__(self, other: object) -> bool:
        """Whether the sets are the same in all positions."""
        return isinstance(other, Planes) and np.array_equal(self.bits, other.bits)

    def __bool__(self) -> bool:
        """Whether any position has any point."""
        return bool(self.bits.any())


class PlaneFrame:
    """The frame of :mod:`oracle.rules` for planes of one shape of board."""

    def __init__(self, grid: Grid) -> None:
        self.rows = grid.rows
        self.columns = grid.columns
        self.stride = grid.stride
        self.full = self.constant(grid.full)
        self.halves = tuple(self.constant(half) for half in grid.halves)

    def constant(self, mask: int) -> Planes:
        """Return a mask of the grid as planes, the same in every position."""
        points = range(self.rows * self.stride)
        words = [-(mask >> point & 1) for point in points]
        return Planes(np.array(words, np.int64).view(np.uint64)[:, None])

    def join(self, first: Planes, second: Planes) -> Planes:
        """Return the positions of two sets one after the other."""
        return Planes(np.concatenate([first.bits, second.bits], axis=1))

    def split(self, both: Planes) -> tuple[Planes, Planes]:
        """Return the two sets that :meth:`join` put one after the other."""
        middle = both.bits.shape[1] // 2
        return Planes(both.bits[:, :middle]), Planes(both.bits[:, middle:])
