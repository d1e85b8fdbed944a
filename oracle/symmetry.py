"""The symmetries of a board: eight of a square; four of them keep the shape of any rectangle.

A symmetry is a number from 0 to 7, the sum of what it does, in this order: 1 exchanges left and
right, 2 bottom and top, 4 rows and columns. 0 leaves everything where it is.
"""

from oracle.position import Grid, Point, Position, grid

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


def transform(position: Position, symmetry: int) -> Position:
    """Return the position as it looks after a symmetry."""
    shape = position.grid
    target = grid(shape.columns, shape.rows) if symmetry & TURN else shape
    return Position(
        target,
        target.mask([image(point, shape, symmetry) for point in shape.points(position.black)]),
        target.mask([image(point, shape, symmetry) for point in shape.points(position.white)]),
    )
