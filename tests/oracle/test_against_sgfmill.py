"""sgfmill scores positions of random play, middles and ends, as the oracle does.

Thousands of six sizes; in the slow tier 100,000 of all of them.
"""

from __future__ import annotations

import random

import pytest
from sgfmill.boards import Board

from oracle import batch
from oracle.answers import go_scoring
from oracle.position import grid
from tests.oracle.boards import end_of, random_game, to_array
from tests.tiers import long_if

SIZES = range(2, 20)
NUMBERS = [
    *[long_if(size > 9, size, 100 * size) for size in (2, 3, 5, 9, 13, 19)],
    *[pytest.param(size, 100_000 // len(SIZES) + 1, marks=pytest.mark.slow) for size in SIZES],
]


def random_play(size, number):
    """Return so many positions of random games: a third of their middles, and their ends."""
    rng = random.Random(size)
    positions, ends = [], 0
    while len(positions) < number:
        game = random_game(grid(size), rng)
        positions += [position for position in game[:-1] if rng.random() < 1 / 3]
        positions.append(game[-1])
        ends += end_of(game) is not None
    assert ends > 3
    return positions[-number:]


def sgfmill_score(cells):
    """Return sgfmill's score of a board, set up as it stands."""
    board = Board(len(cells))
    board.board = [[(None, "b", "w")[color] for color in row] for row in cells]
    return board.area_score()


@pytest.mark.parametrize(("size", "number"), NUMBERS)
def test_area_score(size, number):
    positions = random_play(size, number)
    boards = to_array(positions)
    expected = [sgfmill_score(cells) for cells in boards.tolist()]
    assert batch.score(boards).tolist() == expected
    assert [int(go_scoring.score(position)) for position in positions] == expected
    assert len(set(expected)) > 4
