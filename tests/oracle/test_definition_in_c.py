"""The oracle gives the answers of a C program that shares no code with it.

On every board of 3x3 and, for Gomoku, every line of nine points, upright and across; on a diagonal
every fourth. (All boards of 4x4 and all lines of 16 points, in minutes:
``tests/benchmarks/bench_exhaustive.py``.)
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.benchmarks.bench_exhaustive import classes, compare_colors, stand_for_others
from tests.oracle.boards import every_board, scatter_stones
from tests.oracle.definition_in_c import ANSWER, BATCH, RULE, Definition, build
from tests.oracle.every_question import GOMOKU, QUESTIONS

pytestmark = [pytest.mark.long(4), pytest.mark.full]


@pytest.fixture(scope="module")
def program(cc, tmp_path_factory):
    return build(cc, tmp_path_factory.mktemp("definition"))


def differences(program, questions, boards, *ways):
    with Definition(program, boards.shape[1:], questions) as definition:
        return [str(one) for one in definition.differences(boards, ways)]


def diagonals(lines, slope):
    size = lines.shape[1]
    boards = np.zeros((len(lines), size, size), np.int8)
    places = np.arange(size)
    boards[:, places, places[::slope]] = lines
    return boards


LINES = every_board(1, 9)[:, 0]


def test_all_boards_of_three_by_three_in_a_batch(program):
    assert differences(program, QUESTIONS, every_board(3, 3), BATCH) == []


def test_all_boards_of_three_by_three_singly(program):
    """Those that stand for all; the others are the same except for a symmetry and the colors."""
    boards = every_board(3, 3)
    chosen = boards[stand_for_others(boards)]
    assert len(chosen) == classes(3) == 1444
    assert differences(program, QUESTIONS, chosen, RULE, ANSWER) == []


@pytest.mark.parametrize(
    "boards",
    [LINES[:, None], LINES[:, :, None], diagonals(LINES[::4], 1), diagonals(LINES[::4], -1)],
    ids=["across", "upright", "rising", "falling"],
)
def test_all_lines_of_nine_points(program, boards):
    assert differences(program, GOMOKU, boards, BATCH) == []
    assert differences(program, GOMOKU, boards[::100], RULE, ANSWER) == []


@pytest.mark.parametrize("shape", [(1, 1), (2, 7), (8, 3), (9, 9), (13, 13)])
def test_boards_at_which_stones_are_thrown(program, shape):
    boards = scatter_stones(np.random.default_rng(shape[0]), 40, *shape)
    assert differences(program, QUESTIONS, boards, BATCH, RULE, ANSWER) == []


def test_the_definition_treats_both_colors_alike(program):
    assert compare_colors(program, every_board(3, 3)) == []
    assert compare_colors(program, scatter_stones(np.random.default_rng(5), 40, 9, 9)) == []


# --- it tells what is wrong --------------------------------------------------------------------


def test_the_first_board_that_differs_is_drawn(program):
    """Two stones on the right are taken for an eye; the definition has none on four points."""
    eyes = next(one for one in QUESTIONS if one.name == "eyes:black")
    stones = np.array([[0, 1], [0, 1]], np.int8)

    def in_batch(boards):
        found = eyes.batch(boards)
        found[(boards == stones).all(axis=(1, 2))] = True
        return found

    def singly(shape, black, white):
        mistaken = shape.points(black) == [(0, 1), (1, 1)] and not white
        return [shape.full] if mistaken else eyes.rule(shape, black, white)

    asked = eyes._replace(batch=in_batch, rule=singly)
    board = "    A B\n 2  . X  2\n 1  . X  1\n    A B"
    assert differences(program, [asked], every_board(2, 2), BATCH, RULE) == [
        "eyes:black, batch: [[True, True], [True, True]], "
        f"by the definition [[0, 0], [0, 0]]\n{board}",
        f"eyes:black, rule: [{0b11011}], by the definition [0]\n{board}",
    ]
