"""Symmetries: where points go."""

import pytest

from oracle import symmetry
from oracle.position import Position

#: A board of two rows and three columns as 0 leaves it; then what each symmetry makes of it.
IMAGES = [
    ["120", "000"],
    ["021", "000"],
    ["000", "120"],
    ["000", "021"],
    ["00", "02", "01"],
    ["01", "02", "00"],
    ["00", "20", "10"],
    ["10", "20", "00"],
]


def position(rows):
    return Position.from_rows([[int(cell) for cell in row] for row in rows])


@pytest.mark.parametrize("number", symmetry.ALL)
def test_each_symmetry(number):
    # Drawn with the top row first; bit 1 mirrors, bit 2 flips, bit 4 exchanges rows and columns.
    assert symmetry.transform(position(IMAGES[0]), number) == position(IMAGES[number])
