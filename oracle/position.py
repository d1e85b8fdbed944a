"""Colors, vertices, the geometry of a board, and which stones lie where: nothing of a game."""

from __future__ import annotations

from oracle.errors import FormatError, VertexError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

EMPTY, BLACK, WHITE = 0, 1, 2

NAMES = ("empty", "black", "white")
LETTERS = (".", "B", "W")
_COLORS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}


def opponent(color: int) -> int:
    """Return the other color: ``WHITE`` for ``BLACK`` and the reverse."""
    return 3 - color


def color_of(text: str) -> int | None:
    """Return the color that GTP's ``b w black white`` (any case) name, None for anything else.

    Source: GTP version 2, section 2.11 *color*.
    """
    return _COLORS.get(text.lower())


# --- Vertices: the names of points, as text ------------------------------------------------------
# A *point* is ``(row, column)``, both from 0, with row 0 at the bottom and column 0 at the left,
# so that GTP's ``A1`` is ``(0, 0)`` (as in sgfmill). A *vertex* is its name as text.

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
        column, digits = letters.find(text[:1].upper()) if text else -1, text[1:]
        if column < 0 or not (digits.isascii() and digits.isdigit()) or len(digits) > 2:
            raise VertexError(f"not a vertex: {text!r}{EXAMPLE}")
        point = _read_before[letters, text] = int(digits) - 1, column
    if not (0 <= point[0] < rows and point[1] < columns):
        raise VertexError(f"{text!r} is not on a board of {columns} columns and {rows} rows")
    return point


# --- The geometry of a board whose points are bits -----------------------------------------------
# Point ``(row, column)`` is bit ``row * stride + column``, with ``stride = columns + 1``: one
# *guard column* on the right is never set, so that a shift over the edge of a row falls into it
# and is masked off, instead of wrapping round to the next row. Rows below 0 fall off the integer's
# end and rows above the last are masked off in the same way.
#
# ::
#
# row 1   bits  4 5 6 | 7        up     << stride
# row 0   bits  0 1 2 | 3        right  << 1
# column        0 1 2  guard

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
        # A mask for each binary digit of a row's and of a column's number.
        points = self.points(self.full)
        sides = [(0, self.rows), (1, self.columns)]
        self.halves = tuple(
            self.mask([point for point in points if point[side] >> digit & 1])
            for side, size in sides
            for digit in range((size - 1).bit_length())
        )

    def join(self, first: int, second: int) -> int:
        """Return two masks side by side in one integer, with a guard row between them."""
        return first | second << self.span

    def split(self, pair: int) -> tuple[int, int]:
        """Return the two masks that :meth:`join` put side by side."""
        return pair & self.full, pair >> self.span

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


# --- A position: which stones lie where, and nothing else ----------------------------------------
# Turn, ko, prisoners and history belong to the games (:mod:`oracle.games`).

_VALUES = frozenset((EMPTY, BLACK, WHITE))


class Position:
    """Stones on a grid: one integer of bits for each color. Immutable and hashable.

    Attributes: ``grid``, ``black`` and ``white`` (disjoint masks of :mod:`oracle.position`).
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


def sides(position: Position, color: int) -> tuple[int, int]:
    """Return the masks of one color and of its opponent."""
    if color == BLACK:
        return position.black, position.white
    return position.white, position.black
