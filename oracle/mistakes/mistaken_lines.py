"""Lines as mistaken programs see them: with other ends, or over the edge of the board."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from oracle.position import Grid

    Windows = tuple[int, int, int, int]  # of oracle.rules.gomoku.almost_open_fours


def row_of(shape: Grid, row: int) -> int:
    """Return the points of one row."""
    return ((1 << shape.columns) - 1) << row * shape.stride


def pack(shape: Grid, points: int) -> int:
    """Return the points in an integer without guard column: each row follows the one before."""
    rows = range(shape.rows)
    return sum((points & row_of(shape, row)) >> row for row in rows)


def unpack(shape: Grid, flat: int) -> int:
    """Undo :func:`pack`."""
    width, row = shape.columns, (1 << shape.columns) - 1
    return sum((flat >> r * width & row) << r * shape.stride for r in range(shape.rows))


def fours_made(
    stones: int, empty: int, step: int, places: tuple[int, ...] = (0, 1, 2, 3)
) -> Iterator[tuple[int, int]]:
    """Yield windows of four with three stones, by the place of their empty point.

    Yields the windows' first points and that place.
    """
    for place in places:
        yield _windows(stones, empty, step, place, 4), place


def fives_made(
    stones: int, empty: int, step: int, places: tuple[int, ...] = (0, 1, 2, 3, 4)
) -> int:
    """Return the empty points at these places of a window of five whose others are stones."""
    points = 0
    for place in places:
        points |= _windows(stones, empty, step, place, 5) << place * step
    return points


def _windows(stones: int, empty: int, step: int, place: int, length: int) -> int:
    starts = empty >> place * step
    for other in range(length):
        if not starts:  # mostly
            break
        if other != place:
            starts &= stones >> other * step
    return starts


def open_fours(
    stones: int,
    empty: int,
    steps: tuple[int, ...],
    ends: Callable[[int, int], int] = int.__and__,
    places: tuple[int, ...] = (0, 1, 2, 3),
) -> int:
    """Return the empty points that make four in a row of whose ends ``ends`` are empty.

    ``ends`` combines the windows whose left and whose right end is empty.
    """
    points = 0
    for step in steps:
        enough = ends(empty << step, empty >> 4 * step)
        for starts, place in fours_made(stones, empty, step, places):
            points |= (starts & enough) << place * step
    return points


def near_blocks(windows: Windows, step: int) -> int:
    """Return the blocks beside threes without a gap, one step from the stones."""
    second, _, _, fifth = windows
    return fifth | second << step | fifth << 4 * step | second << 5 * step


def third_blocks(
    windows: Windows, step: int, beside: Callable[[int], int] = lambda steps: -1
) -> int:
    """Return the blocks of ``X.OOO..`` that lie two steps from the stones.

    ``beside``: told how many steps the point that hinders a three on its other side is from a
    window's first point, returns the first points of the windows that count.
    """
    second, _, _, fifth = windows
    first_point = second & ~(fifth >> step) & beside(6 * step)
    last_point = fifth & ~(second << step) & beside(-step)
    return first_point | last_point << 5 * step
