"""One position, a batch and the definitions give the same answers.

On every board up to 3x3, and on larger ones thrown or played at random. (All 4x4 boards are
counted by ``tests/benchmarks/bench_area.py``.)
"""

from __future__ import annotations

import random
from functools import partial
from itertools import chain

import numpy as np
import pytest

from oracle import batch
from oracle.answers import go_scoring, gosensei, java_go
from oracle.position import BLACK, WHITE, grid
from oracle.rules import go
from tests.oracle import naive
from tests.oracle.boards import every_board, from_array, random_game, scatter_stones, to_array

# Tromp and Farnebäck, "Combinatorics of Go" (2006): legal positions by size.
LEGAL_POSITIONS = {1: 1, 2: 57, 3: 12_675}


def rows(board, value):
    """Return the rows of ``value(point)``."""
    return [[value((r, c)) for c in range(len(row))] for r, row in enumerate(board)]


def row_map(board, points):
    """Return the rows that are True on some points."""
    return rows(board, lambda point: point in points)


def one_owners(position, board):
    return rows(board, go_scoring.owners(position).get)


def one_dead(position, board):
    shape = position.grid
    black, white = go.find_captured_of_both(shape, position.black, position.white)
    return row_map(board, shape.points(black | white))


def one_captured(position, board):
    return rows(board, partial(java_go.is_captured, position))


def one_legal(position, board, color):
    return rows(board, lambda point: java_go.is_legal(position, point, color))


def one_eye_spaces(position, board, color):
    return row_map(board, list(chain(*gosensei.eye_spaces(position, color))))


# name: one position and its board to an answer, a batch to answers, a plain board to the answer
QUESTIONS = {
    "score": (
        lambda position, board: int(go_scoring.score(position)),
        batch.score,
        naive.score,
    ),
    "owners": (
        one_owners,
        batch.owners,
        lambda board: rows(board, partial(naive.owner, board)),
    ),
    "no liberty": (
        one_dead,
        batch.without_liberties,
        lambda board: rows(board, partial(naive.has_no_liberty, board)),
    ),
    "isCaptured": (
        one_captured,
        batch.map_captured,
        lambda board: rows(board, partial(naive.is_captured, board)),
    ),
}
COLOR_QUESTIONS = {
    "java score": (
        lambda position, board, color: java_go.score(position, color),
        batch.java_score,
        naive.java_score,
    ),
    "isLegal": (
        one_legal,
        batch.legal,
        lambda board, color: rows(board, lambda point: naive.is_legal(board, point, color)),
    ),
    "eyes": (
        lambda position, board, color: row_map(board, gosensei.eyes(position, color)),
        batch.eyes,
        lambda board, color: row_map(board, naive.eyes(board, color)),
    ),
    "two eyes": (
        lambda position, board, color: row_map(board, gosensei.two_eyes(position, color)),
        batch.two_eyes,
        lambda board, color: row_map(board, naive.two_eyes(board, color)),
    ),
    "eye spaces": (
        one_eye_spaces,
        batch.eye_spaces,
        lambda board, color: row_map(board, set(chain(*naive.eye_spaces(board, color)))),
    ),
    "number of eye spaces": (
        lambda position, board, color: len(gosensei.eye_spaces(position, color)),
        batch.count_eye_spaces,
        lambda board, color: len(naive.eye_spaces(board, color)),
    ),
}


def check(boards, one, many, plain):
    for cells, from_batch in zip(boards, many(boards).tolist(), strict=True):
        position, board = from_array(cells), cells.tolist()
        assert one(position, board) == from_batch == plain(board), position


def every_seventh_board(rows, columns):
    return every_board(rows, columns)[::7]


def throw_stones(rows, columns, count=30):
    return scatter_stones(np.random.default_rng(rows * columns), count, rows, columns)


def play_games(rows, columns, count=3):
    rng = random.Random(rows * columns)
    games = [random_game(grid(rows, columns), rng) for _ in range(count)]
    return to_array([game[int(len(game) * part / 9)] for game in games for part in range(9)])


THROWN = ((1, 25), (4, 4), (5, 9), (9, 9))
PLAYED = ((5, 5), (9, 9), (8, 3))
SOURCES = [
    *[(every_board, size) for size in ((1, 1), (1, 4), (2, 2), (3, 2))],
    pytest.param((every_seventh_board, (3, 3)), marks=pytest.mark.long(0.5)),
    pytest.param((every_board, (3, 3)), marks=pytest.mark.slow),
    *[(throw_stones, size) for size in THROWN],
    *[(play_games, size) for size in PLAYED],
    *[pytest.param((throw_stones, (*size, 500)), marks=pytest.mark.slow) for size in THROWN],
    *[pytest.param((play_games, (*size, 50)), marks=pytest.mark.slow) for size in PLAYED],
]


@pytest.fixture(scope="module", params=SOURCES, ids=lambda p: f"{p[0].__name__}{p[1]}")
def boards(request):
    source, size = request.param
    return source(*size)


@pytest.mark.parametrize("question", QUESTIONS)
def test_three_ways_agree(boards, question):
    check(boards, *QUESTIONS[question])


@pytest.mark.parametrize("color", [BLACK, WHITE])
@pytest.mark.parametrize("question", COLOR_QUESTIONS)
def test_three_ways_agree_for_each_color(boards, question, color):
    one, many, plain = COLOR_QUESTIONS[question]
    check(
        boards, partial(one, color=color), partial(many, color=color), partial(plain, color=color)
    )


@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_every_reading_of_eyes_agrees(boards, color):
    for cells in boards:
        position, board = from_array(cells), cells.tolist()
        assert list(gosensei.readings_two_eyes(position, color).values()) == [
            len(naive.two_eyes(board, color, combine)) for combine in (any, all)
        ]
        assert list(gosensei.readings_eye_spaces(position, color).values()) == [
            len(naive.eye_spaces(board, color, diagonally, singles))
            for diagonally in (False, True)
            for singles in (True, False)
        ]


@pytest.mark.parametrize(("size", "known"), LEGAL_POSITIONS.items())
def test_number_of_legal_positions(size, known):
    boards = every_board(size, size)
    assert np.count_nonzero(batch.positions_legal(boards)) == known
    singly = [go.find_captured_of_both(p.grid, p.black, p.white) for p in map(from_array, boards)]
    assert sum(not (black or white) for black, white in singly) == known
