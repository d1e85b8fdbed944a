"""One answer at a time and a batch of them are the same."""

from random import Random

import numpy as np
import pytest

from oracle import batch_gomoku
from oracle.answers import gomoku_policy, gomoku_rules
from oracle.color import BLACK, WHITE
from oracle.rules.gomoku import TYPES
from tests.oracle.gomoku_boards import position, random_board

SHAPES = [*((size, size) for size in range(1, 20)), (1, 9), (9, 1), (4, 17), (25, 25)]


def batch_of(boards):
    return np.array([[[".XO".index(s) for s in row] for row in rows] for rows in boards], np.int8)


def points_of(mask):
    return set(map(tuple, np.argwhere(mask).tolist()))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape[0]}x{shape[1]}")
def test_batch_equals_single(shape):
    random = Random(f"batch {shape}")
    boards = [random_board(random, *shape) for _ in range(150)]
    colors = np.array(random.choices((BLACK, WHITE), k=150), np.int8)
    batch = batch_of(boards)
    winners, legal = batch_gomoku.winner(batch), batch_gomoku.legal_moves(batch)
    types, moves = batch_gomoku.policy_moves(batch, colors)
    for index, rows in enumerate(boards):
        now = position(rows)
        assert winners[index] == gomoku_rules.winner(now)
        assert points_of(legal[index]) == set(gomoku_rules.legal_moves(now))
        kind, points = gomoku_policy.policy_moves(now, int(colors[index]))
        assert batch_gomoku.TYPE_NAMES[types[index]] == kind
        assert points_of(moves[index]) == set(points)


def test_every_line_of_eleven_points():
    """All 177,147 of them, above and beside each other: far more boards than one piece holds."""
    places = np.arange(3**11)
    lines = np.stack([places // 3**i % 3 for i in range(11)], axis=1).astype(np.int8)
    types, moves = batch_gomoku.policy_moves(lines[:, None, :])
    upright_types, upright_moves = batch_gomoku.policy_moves(lines[:, :, None])
    assert (types == upright_types).all()
    assert (moves[:, 0, :] == upright_moves[:, :, 0]).all()
    letters = np.array(list(".XO"))
    for index in Random(1).sample(range(len(lines)), 2000):
        rows = ["".join(letters[lines[index]])]
        kind, points = gomoku_policy.policy_moves(position(rows), BLACK)
        assert batch_gomoku.TYPE_NAMES[types[index]] == kind
        assert points_of(moves[index]) == set(points)
    assert set(types) == set(range(len(TYPES) + 1))


@pytest.mark.parametrize("number", [0, 1, 63, 64, 65])
def test_any_number_of_boards(number):
    boards = np.zeros((number, 6, 7), np.int8)
    types, moves = batch_gomoku.policy_moves(boards, WHITE)
    assert types.shape == (number,)
    assert (types == TYPES.index("Random")).all()
    assert moves.shape == (number, 6, 7)
    assert moves.dtype == bool
    assert moves.all()


def test_questions_leave_the_boards_alone():
    boards = batch_of([random_board(Random(2), 9, 9) for _ in range(70)])
    before = boards.copy()
    batch_gomoku.policy_moves(boards, WHITE)
    batch_gomoku.winner(boards)
    batch_gomoku.legal_moves(boards)
    assert (boards == before).all()


@pytest.mark.parametrize("color", [0, 3, np.array([1, 2, 0], np.int8)])
def test_no_color(color):
    with pytest.raises(ValueError, match="a color is 1"):
        batch_gomoku.policy_moves(np.zeros((3, 5, 5), np.int8), color)


def test_no_board():
    for wrong in (np.zeros((5, 5), np.int8), np.zeros((1, 5, 5), np.int64), [[[0]]]):
        with pytest.raises(ValueError, match="boards"):
            batch_gomoku.policy_moves(wrong)
    with pytest.raises(ValueError, match="board 1 has 7"):
        batch_gomoku.winner(np.array([[[0]], [[7]]], np.int8))
