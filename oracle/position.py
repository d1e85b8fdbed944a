"""A position: which stones lie where, and nothing else.

Turn, ko, prisoners and history belong to the games (:mod:`oracle.games`).
"""

from __future__ import annotations

from oracle.color import BLACK, EMPTY, WHITE
from oracle.errors import FormatError
from oracle.grid import Grid, grid
from oracle.vertex import Point

_VALUES = frozenset((EMPTY, BLACK, WHITE))


class Position:
    """Stones on a grid: one integer of bits for each color. Immutable and hashable.

    Attributes: ``grid``, ``black`` and ``white`` (disjoint masks of :mod:`oracle.grid`).
    """

    __slots__ = ("black", "grid", "white")

    def __init__(self, grid: Grid, black: int = 0, white: int = 0) -> None:
        self.grid = grid
        self.black = black
        self.white = white

    @classmethod
    def from_rows(cls, rows: list[list[int]]) -> Position:
        """Make a position from rows of 0, 1, 2 with the **top** row first, as boards are drawn.

        Raises :class:`FormatError`: there are no rows, they differ in length or hold other values.
        """
        if not rows or any(len(row) != len(rows[0]) or not set(row) <= _VALUES for row in rows):
            raise FormatError(
                f"found {rows!r:.60}; expected rows of 0, 1 and 2, all as long as the first, such"
                " as [[0, 1, 2], [1, 0, 0]]"
            )
        shape = grid(len(rows), len(rows[0]))
        stones = [0, 0, 0]
        for row, colors in enumerate(reversed(rows)):
            for column, color in enumerate(colors):
                stones[color] |= shape.bit((row, column))
        return cls(shape, stones[BLACK], stones[WHITE])

    def to_rows(self) -> list[list[int]]:
        """Return rows of 0, 1, 2 with the **top** row first; inverse of :meth:`from_rows`."""
        shape = self.grid
        return [
            [self.color_at((row, column)) for column in range(shape.columns)]
            for row in reversed(range(shape.rows))
        ]

    @property
    def empty(self) -> int:
        """The mask of empty points."""
        return self.grid.full & ~(self.black | self.white)

    def stones(self, color: int) -> int:
        """Return the mask of one color (``BLACK`` or ``WHITE``)."""
        return self.black if color == BLACK else self.white

    def color_at(self, point: Point) -> int:
        """Return ``EMPTY``, ``BLACK`` or ``WHITE``."""
        bit = self.grid.bit(point)
        return BLACK if self.black & bit else WHITE if self.white & bit else EMPTY

    def with_stones(self, color: int, stones: int) -> Position:
        """Return the position with one color's mask replaced; the other color is kept."""
        if color == BLACK:
            return Position(self.grid, stones, self.white)
        return Position(self.grid, self.black, stones)

    def place(self, point: Point, color: int) -> Position:
        """Return the position with a stone set (or, for ``EMPTY``, taken) whatever lay there."""
        keep = ~self.grid.bit(point)
        bare = Position(self.grid, self.black & keep, self.white & keep)
        if color == EMPTY:
            return bare
        return bare.with_stones(color, bare.stones(color) | ~keep)

    def swap_colors(self) -> Position:
        """Return the position with black and white exchanged."""
        return Position(self.grid, self.white, self.black)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return (self.grid, self.black, self.white) == (other.grid, other.black, other.white)

    def __hash__(self) -> int:
        return hash((self.grid, self.black, self.white))

    def __repr__(self) -> str:
        rows = "/".join("".join(".BW"[color] for color in row) for row in self.to_rows())
        return f"<Position {rows}>"
