"""Every line there is, up to nine points, at every edge and in all four directions.

The expected answers come from the line as a string, in one dimension, by the documents' words.
"""

import pytest

from oracle.position import grid
from oracle.rules.gomoku import fives, long_lines


def test_a_line_does_not_go_on_in_the_next_row():
    """Points that follow each other in memory, across the right edge, are no line."""
    shape = grid(7)
    every = shape.points(shape.full)
    for start in range(len(every) - 4):
        stones = every[start : start + 5]
        straight = len({row for row, _ in stones}) == 1
        assert bool(fives(shape, shape.mask(stones))) == straight


@pytest.mark.parametrize("length", range(5, 20))
@pytest.mark.parametrize("step", [(0, 1), (1, 0), (1, 1), (1, -1)])
def test_long_lines_are_whole(length, step):
    """Five or more: one line, however long, and not the windows of five in it."""
    shape = grid(19)
    column = 18 if step[1] < 0 else 0
    line = shape.mask([(i * step[0], column + i * step[1]) for i in range(length)])
    assert long_lines(shape, line) == [line]
    assert fives(shape, line).bit_count() == length - 4
