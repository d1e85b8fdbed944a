"""All boards of 4x4 and all lines of 16 points: the oracle against a plain program in C.

``exhaustive.c`` answers by the documents' definitions and shares no code with the oracle. Every
question that a board alone answers is asked, of boards with chains without liberties as well:

- of the batch, on all 43,046,721 boards of 4x4;
- of one position's integers, which are slower by a thousand times, on the boards that stand for
  all others except for a symmetry and an exchange of colors, and on a random sample of the others.
  With ``--every``, which takes more than an hour, on all of them: questions of a color are asked
  of black alone, since those of white are the same code with the sides exchanged, and the C
  program must say of white what it says of black on the board with the colors exchanged;
- of what users get for a position (``oracle.answers``), on the sample.

Four in a row are no five: Gomoku is asked on all 43,046,721 lines of 16 points (the integers on a
sample), on every upright and diagonal line of 11, and like all else on random boards of 5x5 to
13x13. The first board on which somebody differs is drawn. It needs a C compiler.

usage: python -m tests.benchmarks.bench_exhaustive [--every]
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import numpy as np

from oracle.position import BLACK, NAMES, WHITE, grid
from oracle.symmetry import ALL, image
from tests.oracle.boards import scatter_stones
from tests.oracle.definition_in_c import (
    ANSWER,
    BATCH,
    RULE,
    Definition,
    Difference,
    Question,
    build,
)
from tests.oracle.every_question import GOMOKU, QUESTIONS

POINTS = 16
IN_BLOCK = 10  # points that differ within a block: 59,049 boards
SHARE = 200  # one board of so many is in the sample
LINE = 11  # points of upright and diagonal lines
RANDOM_SIZES = range(5, 14)
RANDOM_BOARDS = 1000  # of each size
WAYS = {
    "batch": "the batch",
    "integers": "the integers of one position",
    "sample": "these and the users' answers, a sample",
}
SWAPPED = np.array([0, WHITE, BLACK], np.int8)
NOT_OF_WHITE = [one for one in QUESTIONS if not one.name.endswith(f":{NAMES[WHITE]}")]


class Checked(NamedTuple):
    """What was compared: how many boards in each way, and the boards that differ."""

    boards: Counter[str]
    differences: list[Difference]


# --- boards ------------------------------------------------------------------------------------


def block(rows: int, columns: int, number: int) -> np.ndarray:
    """Return one of the 729 blocks that make up all boards of 16 points."""
    lower = np.array(list(product((0, 1, 2), repeat=IN_BLOCK)), np.int8)
    upper = [number // 3**place % 3 for place in range(POINTS - IN_BLOCK)]
    boards = np.empty((len(lower), POINTS), np.int8)
    boards[:, :IN_BLOCK], boards[:, IN_BLOCK:] = lower, upper
    return boards.reshape(-1, rows, columns)


def images(size: int) -> list[list[int]]:
    """Return for each symmetry of a square board where each point comes to lie, as numbers."""
    shape = grid(size)
    points = list(product(range(size), repeat=2))
    places = [[image(point, shape, symmetry) for point in points] for symmetry in ALL]
    return [[row * size + column for row, column in some] for some in places]


def stand_for_others(boards: np.ndarray) -> np.ndarray:
    """Return which square boards have the least number of all that are the same except for
    a symmetry and an exchange of colors.
    """
    size = boards.shape[1]
    weights = np.array([[3.0**place for place in numbers] for numbers in images(size)]).T
    flat = boards.reshape(len(boards), -1)
    numbers = np.hstack([flat @ weights, SWAPPED[flat] @ weights])  # exact below 2**53
    return numbers.min(axis=1) == numbers[:, 0]


def classes(size: int) -> int:
    """Return how many boards stand for others, by Burnside's lemma.

    A symmetry leaves a board as it is when each of its cycles has one content; together with an
    exchange of colors, cycles of an odd length must be empty.
    """
    fixed = 0
    for numbers in images(size):
        lengths = list(_cycles(numbers))
        fixed += 3 ** len(lengths) + 3 ** sum(length % 2 == 0 for length in lengths)
    return fixed // (2 * len(ALL))


def _cycles(numbers: list[int]) -> Iterator[int]:
    """Yield the length of every cycle of a permutation."""
    left = set(range(len(numbers)))
    while left:
        length, place = 0, min(left)
        while place in left:
            left.remove(place)
            length, place = length + 1, numbers[place]
        yield length


# --- comparisons, each a task of one process ----------------------------------------------------


def compare(
    program: Path, questions: Sequence[Question], parts: dict[str, tuple[np.ndarray, set[str]]]
) -> Checked:
    """Ask everybody about each part: some boards, and in which ways."""
    found = Checked(Counter(), [])
    for name, (boards, ways) in parts.items():
        asked = [one for one in questions if any(getattr(one, way) for way in ways)]
        with Definition(program, boards.shape[1:], asked) as definition:
            found.differences.extend(definition.differences(boards, ways))
        found.boards[name] += len(boards)
    return found


def compare_colors(program: Path, boards: np.ndarray) -> list[Difference]:
    """Return where the C program does not say of white what it says of black, colors exchanged."""
    of_black, of_white = (
        [one for one in QUESTIONS if one.name.endswith(f":{NAMES[color]}")]
        for color in (BLACK, WHITE)
    )
    with (
        Definition(program, boards.shape[1:], of_black) as black,
        Definition(program, boards.shape[1:], of_white) as white,
    ):
        answers = zip(of_white, black.answers(boards), white.answers(SWAPPED[boards]), strict=True)
        return [
            Difference(
                question.name, "exchanged", SWAPPED[boards[place]], one[place], other[place]
            )
            for question, one, other in answers
            for place in np.flatnonzero((one != other).reshape(len(boards), -1).any(axis=1))[:1]
        ]


def draw_sample(boards: np.ndarray, seed: int) -> np.ndarray:
    """Return a random choice of boards."""
    return boards[np.random.default_rng(seed).random(len(boards)) < 1 / SHARE]


def compare_squares(program: Path, number: int) -> Checked:
    """Compare one block of the boards of 4x4."""
    boards = block(4, 4, number)
    chosen = stand_for_others(boards)
    parts = {
        "batch": (boards, {BATCH}),
        "integers": (boards[chosen], {RULE}),
        "sample": (draw_sample(boards[~chosen], number), {RULE, ANSWER}),
    }
    return compare(program, QUESTIONS, parts)


def compare_every_square(program: Path, number: int) -> Checked:
    """Compare one block of the boards of 4x4 with the integers, each board."""
    boards = block(4, 4, number)
    found = compare(program, NOT_OF_WHITE, {"integers": (boards, {RULE})})
    found.differences.extend(compare_colors(program, boards))
    return found


def compare_lines(program: Path, number: int) -> Checked:
    """Compare one block of the lines of 16 points."""
    lines = block(1, POINTS, number)
    parts = {"batch": (lines, {BATCH}), "sample": (draw_sample(lines, number), {RULE, ANSWER})}
    return compare(program, GOMOKU, parts)


def compare_slopes(program: Path, direction: int) -> Checked:
    """Compare all upright lines of 11 points (0), or all diagonals of a bare board (1 and -1)."""
    lines = np.array(list(product((0, 1, 2), repeat=LINE)), np.int8)
    boards = lines[:, :, None]
    if direction:
        boards = np.zeros((len(lines), LINE, LINE), np.int8)
        places = np.arange(LINE)
        boards[:, places, places[::direction]] = lines
    sample = draw_sample(boards, direction + 1)
    return compare(
        program, GOMOKU, {"batch": (boards, {BATCH}), "sample": (sample, {RULE, ANSWER})}
    )


def compare_random(program: Path, size: int) -> Checked:
    """Compare boards at which stones are thrown."""
    boards = scatter_stones(np.random.default_rng(size), RANDOM_BOARDS, size, size)
    return compare(
        program, QUESTIONS, {"batch": (boards, {BATCH}), "sample": (boards, {RULE, ANSWER})}
    )


# --- all of it ---------------------------------------------------------------------------------


def report(title: str, tasks: Iterable[Checked], questions: Sequence[Question]) -> int:
    """Print what was compared; return how many answers differ."""
    begin = monotonic()
    boards, differences = Counter(), []
    for found in tasks:
        boards += found.boards
        differences += found.differences
        for one in found.differences:
            print(one, flush=True)
    print(f"{title}: {len(questions)} questions, {monotonic() - begin:.0f} s of wall time")
    for name, count in boards.items():
        print(f"  {WAYS[name]:40}{count:14,} boards")
    print(f"  answers that differ: {len(differences)}", flush=True)
    return len(differences)


def main(every: bool = False) -> int:
    """Compare everything; return how many answers differ."""
    blocks = range(3 ** (POINTS - IN_BLOCK))
    jobs = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(jobs) as pool:
        program = build("cc", Path(folder))
        print(f"{jobs} processes; {classes(4):,} boards of 4x4 stand for all 43,046,721")
        squares, singly = partial(compare_squares, program), partial(compare_every_square, program)
        parts = [
            ("All boards of 4x4", squares, blocks, QUESTIONS),
            ("Each of them singly", singly, blocks if every else [], NOT_OF_WHITE),
            ("All lines of 16 points", partial(compare_lines, program), blocks, GOMOKU),
            ("All other lines of 11", partial(compare_slopes, program), (0, 1, -1), GOMOKU),
            ("Random boards", partial(compare_random, program), RANDOM_SIZES, QUESTIONS),
        ]
        return sum(
            report(title, pool.map(compare_one, tasks), questions)
            for title, compare_one, tasks, questions in parts
            if tasks
        )


if __name__ == "__main__":
    sys.exit(bool(main("--every" in sys.argv[1:])))
