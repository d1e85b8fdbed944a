"""Every number in every *because*: what the oracle explains, recomputed on 100,000 positions.

Half of the positions are boards at which stones are thrown, with chains without liberties too;
they are asked for the score, for what is captured and legal at a random point and for eyes. The
other half are boards with lines across them, asked for Gomoku's result and moves. Go has 1 to 9
rows and columns, Gomoku 1 to 15. What a sentence says is compared with what plain Python makes of
the documents (:mod:`tests.oracle.because`); a sentence that is not understood, or one too many or
too few, counts as wrong.

usage: python -m tests.benchmarks.bench_because [POSITIONS]
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from decimal import Decimal
from functools import partial
from random import Random
from time import monotonic

from oracle.answers import go_scoring, gomoku_policy, gomoku_rules, gosensei, java_go
from oracle.position import BLACK, WHITE, Position
from tests.oracle import because
from tests.oracle.gomoku_boards import position as gomoku_position
from tests.oracle.gomoku_boards import random_board

POSITIONS = 100_000
IN_TASK = 500

Explained = tuple[str, str, Callable[..., None], tuple]  # query, text, its check, what about


def go_board(random: Random) -> list[list[int]]:
    """Return a board at which stones are thrown, densely or not."""
    rows, columns = random.randint(1, 9), random.randint(1, 9)
    if random.random() < 0.7:
        columns = rows
    weights = (random.choice((1, 2, 6)), random.choice((1, 1, 8)), random.choice((0, 1, 1)))
    return [random.choices((0, 1, 2), weights, k=columns) for _ in range(rows)]


def of_go(random: Random) -> Iterator[Explained]:
    """Yield the explanations of a random board of Go."""
    board = go_board(random)
    now = Position.from_rows(board[::-1])
    komi = Decimal(random.randint(-40, 150)) / 2 if random.random() < 0.7 else Decimal(0)
    point = random.randrange(len(board)), random.randrange(len(board[0]))
    yield "score", go_scoring.explain(now, komi).text, because.check_score, (board, komi)
    captured = java_go.explain_captured(now, point)
    yield "captured", captured.text, because.check_captured, (board, point)
    for color in (BLACK, WHITE):
        legal = java_go.explain_legal(now, point, color)
        yield "legal", legal.text, because.check_legal, (board, point, color)
        java_score = java_go.explain_score(now, color)
        yield "java score", java_score.text, because.check_java_score, (board, color)
        for name, explain, check in EYES:
            yield name, explain(now, color).text, check, (board, color)


EYES = (
    ("eyes", gosensei.explain_eyes, because.check_eyes),
    ("two eyes", gosensei.explain_two_eyes, because.check_two_eyes),
    ("eye spaces", gosensei.explain_eye_spaces, because.check_eye_spaces),
)


def of_gomoku(random: Random) -> Iterator[Explained]:
    """Yield the explanations of a random board of Gomoku."""
    rows = random_board(random, random.randint(1, 15), random.randint(1, 15))
    now = gomoku_position(rows)
    yield "result", gomoku_rules.explain_result(now).text, because.check_result, (rows,)
    moves = gomoku_rules.explain_legal_moves(now)
    yield "legal moves", moves.text, because.check_legal_moves, (rows,)
    for color in (BLACK, WHITE):
        for policy in ("random", "rule_based"):
            reason = gomoku_policy.explain_policy_moves(now, color, policy)
            yield f"policy {policy}", reason.text, because.check_policy, (rows, color, policy)


def check(
    game: Callable[[Random], Iterator[Explained]], number: int, positions: int = IN_TASK
) -> tuple[Counter, list[str]]:
    """Return how many explanations of each query were checked, and those that are wrong."""
    checked, wrong = Counter(), []
    random = Random(f"{game.__name__} {number}")
    for _ in range(positions):
        for query, text, compare, about in game(random):
            checked[query] += 1
            checked["numbers"] += len(because.numbers(text))
            try:
                compare(text, *about)
            except AssertionError as error:
                wrong.append(f"{query}: {text}\n  {about}\n  {error}")
    return checked, wrong


def main(positions: int = POSITIONS) -> int:
    """Check them all; return how many are wrong."""
    begin = monotonic()
    tasks = range(positions // 2 // IN_TASK)
    checked, wrong = Counter(), []
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for game in (of_go, of_gomoku):
            for some, bad in pool.map(partial(check, game), tasks):
                checked += some
                wrong += bad
    numbers = checked.pop("numbers")
    for query, count in checked.items():
        print(f"{query:20}{count:10,} explanations")
    print("\n".join(wrong[:10]))
    print(
        f"{positions:,} positions, {checked.total():,} explanations with {numbers:,} numbers and"
        f" vertices, {monotonic() - begin:.0f} s of wall time: {len(wrong)} wrong"
    )
    return len(wrong)


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
