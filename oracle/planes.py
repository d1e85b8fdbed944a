"""Bit-planes: many positions side by side, for the rules that :mod:`oracle.rules` states once.

A set of points, for each of many positions of one shape, is a :class:`Planes`: a matrix of 64-bit
words with a row for every bit of a :class:`oracle.position.Grid`'s masks (guard column included)
and, in each row, one bit for every position. So one operation on planes is one vectorised
operation on all positions, and where an integer's bits are shifted, rows are::

    Grid      bit  row * stride + column of one integer      << 1 moves bits
    Planes    row  row * stride + column of the matrix       << 1 moves rows

:func:`ask` is the way from boards to answers: it checks them, cuts the batch into pieces whose
planes stay in a processor's cache, puts a question to each piece and joins the answers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from oracle.position import Grid, grid

Answer = TypeVar("Answer", bound=np.generic)
Words = NDArray[np.uint64]
Boards = NDArray[np.int8]

WORD = 64  # positions in a word
# Bytes of one plane: larger ones fall out of the cache, smaller ones cost more calls (measured;
# a quarter or four times as much costs about a tenth).
CACHED = 512 * 1024
EVEN, ODD = np.uint64(0x5555_5555_5555_5555), np.uint64(0xAAAA_AAAA_AAAA_AAAA)


class Planes:
    """A set of points for each of many positions. Operators make new planes.

    Attribute ``bits``: uint64, shape ``(points, words)``; ``words`` is 1 for a set that is the
    same in every position.
    """

    __slots__ = ("bits",)
    __hash__ = None  # type: ignore[assignment] # compares by value, and may be large

    def __init__(self, bits: Words) -> None:
        self.bits = bits

    def __and__(self, other: Planes) -> Planes:
        return Planes(self.bits & other.bits)

    def __or__(self, other: Planes) -> Planes:
        return Planes(self.bits | other.bits)

    def __invert__(self) -> Planes:
        return Planes(~self.bits)

    def __lshift__(self, places: int) -> Planes:
        moved = np.empty_like(self.bits)
        moved[:places] = 0
        moved[places:] = self.bits[:-places]
        return Planes(moved)

    def __rshift__(self, places: int) -> Planes:
        moved = np.empty_like(self.bits)
        moved[-places:] = 0
        moved[:-places] = self.bits[places:]
        return Planes(moved)

    def __eq__(self, other: object) -> bool:
        """Whether the sets are the same in all positions."""
        return isinstance(other, Planes) and np.array_equal(self.bits, other.bits)

    def __bool__(self) -> bool:
        """Whether any position has any point."""
        return bool(self.bits.any())

    def bit_count(self) -> NDArray[np.int16]:
        """Return for each position how many points are in the set (as :meth:`int.bit_count`).

        Rows are added three at a time by full adders, then the carries at double weight.
        """
        totals = np.zeros(self.bits.shape[1] * WORD, np.int16)
        rows, weight = self.bits, 0
        while len(rows):
            digit, rows = _add(rows)
            totals += _per_position(digit) << np.int16(weight)
            weight += 1
        return totals

    def any(self) -> NDArray[np.bool_]:
        """Return for each position whether the set has any point."""
        return _per_position(self.somewhere().bits[0]).view(np.bool_)

    def somewhere(self) -> Planes:
        """Return the whole board where the set has any point, nothing where it has none.

        It has one row, which stands for all.
        """
        return Planes(np.bitwise_or.reduce(self.bits, keepdims=True))


class PlaneFrame:
    """The frame of :mod:`oracle.rules` for planes: the geometry, and the way in and out.

    Attributes as those of :class:`oracle.position.Grid`, of one shape of board.
    """

    def __init__(self, grid: Grid) -> None:
        self.rows = grid.rows
        self.columns = grid.columns
        self.stride = grid.stride
        self.full = self.constant(grid.full)
        self.halves = tuple(self.constant(half) for half in grid.halves)

    def constant(self, mask: int) -> Planes:
        """Return a mask of the grid as planes, the same in every position."""
        words = [-(mask >> point & 1) for point in range(self.rows * self.stride)]
        return Planes(np.array(words, np.int64).view(np.uint64)[:, None])

    def join(self, first: Planes, second: Planes) -> Planes:
        """Return the positions of two sets one after the other."""
        return Planes(np.concatenate([first.bits, second.bits], axis=1))

    def split(self, pair: Planes) -> tuple[Planes, Planes]:
        """Return the two sets that :meth:`join` put one after the other."""
        middle = pair.bits.shape[1] // 2
        return Planes(pair.bits[:, :middle]), Planes(pair.bits[:, middle:])

    def pack(self, boards: Boards) -> tuple[Planes, Planes]:
        """Return Black's and White's stones of some boards.

        Takes int8 of 0, 1 and 2, shape ``(n, rows, columns)``, C-contiguous, ``n`` a multiple of
        64. Byte ``j`` of a row holds, as its bits 0 to 7, positions ``j``, ``j + n/8`` …
        ``j + 7n/8``: so eight blocks of boards fold into one block of bytes, two bits a board.
        """
        eighths = boards.reshape(8, -1).view(np.uint64)
        quarters = eighths[4:] << np.uint64(4) | eighths[:4]
        even, odd = quarters[2:] << np.uint64(2) | quarters[:2]
        black = even & EVEN | (odd & EVEN) << np.uint64(1)
        white = even >> np.uint64(1) & EVEN | odd & ODD
        return self._stand_up(black), self._stand_up(white)

    def unpack(self, black: Planes, white: Planes) -> Boards:
        """Return boards of 1 where ``black`` is set, 2 where ``white`` is: :meth:`pack` undone."""
        ones, twos = self._lay_down(black), self._lay_down(white)
        even = ones & EVEN | (twos & EVEN) << np.uint64(1)
        odd = ones >> np.uint64(1) & EVEN | twos & ODD
        folded = np.stack([even, odd])
        boards = np.concatenate([folded >> np.uint64(shift) for shift in (0, 2, 4, 6)])
        boards &= np.uint64(0x0303_0303_0303_0303)
        return boards.view(np.int8).reshape(-1, self.rows, self.columns)

    def unpack_set(self, points: Planes) -> NDArray[np.bool_]:
        """Return for each position which points are in the set: ``(n, rows, columns)``."""
        return self.unpack(points, points & ~points).view(np.bool_)

    def _stand_up(self, packed: Words) -> Planes:
        """Turn rows of bytes, one for each eight positions, into a row for each point."""
        by_byte = packed.view(np.uint8).reshape(-1, self.rows, self.columns)
        bits = np.zeros((self.rows, self.stride, len(by_byte)), np.uint8)
        bits[:, : self.columns] = by_byte.transpose(1, 2, 0)
        return Planes(bits.reshape(self.rows * self.stride, -1).view(np.uint64))

    def _lay_down(self, points: Planes) -> Words:
        """Undo :meth:`_stand_up`."""
        by_point = np.ascontiguousarray(points.bits).view(np.uint8)
        by_point = by_point.reshape(self.rows, self.stride, -1)[:, : self.columns]
        return np.ascontiguousarray(by_point.transpose(2, 0, 1)).reshape(-1).view(np.uint64)


def _per_position(row: Words) -> NDArray[np.uint8]:
    """Return the bits of one row as 0 and 1, in the order of the positions packed."""
    return np.unpackbits(row.view(np.uint8), bitorder="little").reshape(-1, 8).T.ravel()


def _add(rows: Words) -> tuple[Words, Words]:
    """Return the sum's last binary digit, for all positions, and the rows of carries."""
    carries = [rows[:0]]
    while len(rows) > 2:
        third = len(rows) // 3
        first, second, last, rest = np.split(rows, [third, 2 * third, 3 * third])
        uneven = first ^ second
        carries.append(first & second | uneven & last)
        rows = np.concatenate([uneven ^ last, rest])
    if len(rows) == 2:
        carries.append(rows[:1] & rows[1:])
        rows = rows[:1] ^ rows[1:]
    return rows[0], np.concatenate(carries)


@cache
def plane_frame(rows: int, columns: int) -> PlaneFrame:
    """Return the one frame of a shape."""
    return PlaneFrame(grid(rows, columns))


def ask(
    boards: NDArray[np.int8], question: Callable[[PlaneFrame, Planes, Planes], NDArray[Answer]]
) -> NDArray[Answer]:
    """Return the answers to a question for every board of a batch, in order.

    ``question`` takes the frame, Black's and White's stones, and returns an array whose first
    axis is the position. Raises as :func:`check_boards` does.
    """
    count, rows, columns = check_boards(boards).shape
    frame = plane_frame(rows, columns)
    size = WORD * max(1, CACHED // (8 * rows * (columns + 1)))
    answers = []
    # There is always one piece, so that an empty batch has an answer of the right shape.
    for start in range(0, max(count, 1), size):
        piece = boards[start : start + size]
        padding = np.zeros((-len(piece) % WORD, rows, columns), np.int8)
        piece = np.concatenate([piece, padding]) if len(padding) else np.ascontiguousarray(piece)
        answers.append(question(frame, *frame.pack(piece)))
    return np.concatenate(answers)[:count]


def check_boards(boards: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the boards of a batch if they are what they should be.

    Raises :class:`ValueError`, saying what was found, unless they are an int8 array of shape
    ``(N, rows, columns)`` with 1 to 25 rows and columns, row 0 at the bottom, and hold nothing
    but 0 (empty), 1 (black) and 2 (white).
    """
    if not isinstance(boards, np.ndarray) or boards.dtype != np.int8:
        found = getattr(boards, "dtype", type(boards).__name__)
        raise ValueError(f"boards are an array of int8, not of {found}")
    if boards.ndim != 3:
        raise ValueError(f"boards have shape (N, rows, columns), not {boards.shape}")
    grid(*boards.shape[1:])  # refuses what is not a board
    wrong = boards.view(np.uint8).max(initial=0)
    if wrong > 2:
        place = np.argwhere(boards.view(np.uint8) > 2)[0]
        value = boards[tuple(place)]
        raise ValueError(
            f"board {place[0]} has {value} at {tuple(map(int, place[1:]))}, not 0 to 2"
        )
    return boards
