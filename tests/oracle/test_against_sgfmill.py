"""sgfmill scores positions of random play, middles and ends, as the oracle does.

500 of each size; in the slow tier 100,000 in all.
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

SIZES = (2, 3, 5, 9, 13, 19)
NUMBERS = [500, pytest.param(17_000, marks=pytest.mark.slow)]


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


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("size", [long_if(size > 9, size) for size in SIZES])
def test_area_score(size, number):
    positions = random_play(size, number)
    boards = to_array(positions)
    expected = [sgfmill_score(cells) for cells in boards.tolist()]
    assert batch.score(boards).tolist() == expected
    assert [int(go_scoring.score(position)) for position in positions] == expected
    assert len(set(expected)) > 4
