"""The symmetries of a board: eight of a square; four of them keep the shape of any rectangle.

A symmetry is a number from 0 to 7, the sum of what it does, in this order: 1 exchanges left and
right, 2 bottom and top, 4 rows and columns. 0 leaves everything where it is.
"""

from oracle.position import Grid, Point, Position, grid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

ALL = tuple(range(8))
OF_RECTANGLES = ALL[:4]
MIRROR, FLIP, TURN = 1, 2, 4


def image(point: Point, shape: Grid, symmetry: int) -> Point:
    """Return where a point of a board of this shape comes to lie."""
    row, column = point
    if symmetry & MIRROR:
        column = shape.columns - 1 - column
    if symmetry & FLIP:
        row = shape.rows - 1 - row
    return (column, row) if symmetry & TURN else (row, column)


def inverse(symmetry: int) -> int:
    """Return the symmetry that undoes one: exchanging rows and columns turns flips to mirrors."""
    if not symmetry & TURN:
        return symmetry
    mirror, flip = symmetry & MIRROR, symmetry & FLIP
    return TURN | (FLIP if mirror else 0) | (MIRROR if flip else 0)


def transform(position: Position, symmetry: int) -> Position:
    """Return the position as it looks after a symmetry."""
    shape = position.grid
    target = grid(shape.columns, shape.rows) if symmetry & TURN else shape
    return Position(
        target,
        target.mask([image(point, shape, symmetry) for point in shape.points(position.black)]),
        target.mask([image(point, shape, symmetry) for point in shape.points(position.white)]),
    )


def canonical(position: Position, colors_alike: bool = False) -> tuple[Position, int, bool]:
    """Return the one position that stands for all that are the same except for a symmetry.

    Also the symmetry that leads to it, and whether the colors are exchanged after it, which is
    considered if ``colors_alike``. (Side to move, ko and komi are the caller's: transform them by
    the same symmetry and exchange.)
    """
    swaps: Iterable[bool] = (False, True) if colors_alike else (False,)
    images = []
    for symmetry in ALL:
        turned = transform(position, symmetry)
        images += [((turned.swap_colors() if swap else turned), symmetry, swap) for swap in swaps]

    def order(candidate: tuple[Position, int, bool]) -> tuple[int, int, int, int]:
        position = candidate[0]
        return position.grid.rows, position.grid.columns, position.black, position.white

    return min(images, key=order)
