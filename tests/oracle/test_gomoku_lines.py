"""Every line there is, up to nine points, at every edge and in all four directions.

The expected answers come from the line as a string, in one dimension, by the documents' words.
"""

from functools import cache
from itertools import product

import pytest

from oracle.position import grid
from oracle.rules.gomoku import completing, fives, long_lines, open_four_blocks, open_fours
from tests.tiers import long_if


def with_stone(line, place):
    return line[:place] + "X" + line[place + 1 :]


@cache
def expect_places(line):
    """Return the places that complete five, that make an open four, and that block a three."""
    empty = [place for place, stone in enumerate(line) if stone == "."]
    wins = {p for p in empty if "XXXXX" in around(with_stone(line, p), p, 4)}
    fours = {p: fours_through(with_stone(line, p), p) for p in empty}
    completions = {}
    for place, starts in fours.items():
        for start in starts:
            three = frozenset(range(start + 1, start + 5)) - {place}
            completions.setdefault(three, []).append({start, place, start + 5})
    blocks = set().union(*(set.intersection(*sets) for sets in completions.values()))
    return wins, {p for p, starts in fours.items() if starts}, blocks


def around(line, place, reach):
    return line[max(0, place - reach) : place + reach + 1]


def fours_through(line, place):
    """Return where ``.XXXX.`` begins, for each of them whose X's include the place."""
    starts = range(max(0, place - 4), place)
    return [start for start in starts if line[start : start + 6] == ".XXXX."]


def rows(length):
    return length, [[(row, i) for i in range(length)] for row in (0, length // 2, length - 1)]


def columns(length):
    return length, [[(i, column) for i in range(length)] for column in (0, length - 1)]


def main_diagonals(length):
    last = length - 1
    return length, [[(i, i) for i in range(length)], [(i, last - i) for i in range(length)]]


def short_diagonals(length):
    return length + 1, [
        [(i + 1, i) for i in range(length)],
        [(i, i + 1) for i in range(length)],
        [(i, length - 1 - i) for i in range(length)],
        [(i + 1, length - i) for i in range(length)],
    ]


@pytest.mark.parametrize("length", [long_if(length == 9, length) for length in range(1, 10)])
@pytest.mark.parametrize("place", [rows, columns, main_diagonals, short_diagonals])
def test_every_line(place, length):
    """All ``3 ** length`` lines of empty points, stones and enemies, alone on a board."""
    size, places = place(length)
    shape = grid(size)
    bits = [[shape.bit(point) for point in points] for points in places]
    for stones in product(".XO", repeat=length):
        line = "".join(stones)
        for points in bits:
            check(shape, line, points)


def check(shape, line, points):
    mine = sum(bit for bit, stone in zip(points, line, strict=True) if stone == "X")
    theirs = sum(bit for bit, stone in zip(points, line, strict=True) if stone == "O")
    empty = shape.full & ~(mine | theirs)
    rules = (
        completing(shape, mine, empty),
        open_fours(shape, mine, empty),
        open_four_blocks(shape, mine, empty),
    )
    answers = [sum(points[place] for place in places) for places in expect_places(line)]
    assert list(rules) == answers, line
    assert bool(fives(shape, mine)) == ("XXXXX" in line), line


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


def test_long_lines_of_two_in_one_row_and_of_crossing_ones():
    shape = grid(13)
    row = [shape.mask([(3, c) for c in range(5)]), shape.mask([(3, c) for c in range(6, 13)])]
    assert long_lines(shape, row[0] | row[1]) == row
    column = shape.mask([(r, 2) for r in range(1, 7)])
    assert long_lines(shape, row[0] | column) == [row[0], column]
