"""Area scores per second: the oracle one position at a time and in batches, beside sgfmill.

*Ends* are those of random games in which nobody fills an eye: only one-point eyes are empty.
*Middles* are the same games after as many moves as three tenths of the points, with regions of
every size and color. sgfmill's ``area_score`` is timed in the same rounds, in CPU time of one
thread, with its boards already given; so are the two integers of each of the oracle's positions. A
batch begins with an array of int8 and includes the way into bit-planes. All answers must agree.

``python -m tests.benchmarks.bench_area FILE.svg`` draws the speed against the size of the board.
"""

from __future__ import annotations

import sys
from itertools import product
from random import Random
from statistics import median
from time import process_time

import numpy as np
from sgfmill.boards import Board

from oracle import batch
from oracle.position import grid
from oracle.rules import go
from tests.oracle.boards import end_of, random_game, to_array

ROUNDS = 5
MIDDLE = 0.3
PEER_POINTS = 40_000  # points of all different positions together
BATCH_POINTS = 10_000_000  # points of all boards of a batch together
PLOTTED = (5, 7, 9, 11, 13, 15, 17, 19)
WAYS = ("sgfmill", "one at a time", "batch")
COLORS = ("#8c8c8c", "#1f6fb4", "#c2541a")
# The ratios that were to be reached, one at a time and in a batch.
BARS = {
    (9, "ends"): (18, 140),
    (9, "middles"): (16, 110),
    (19, "ends"): (50, 140),
    (19, "middles"): (40, 180),
}
LEGAL_4X4 = 24_318_165  # Tromp and Farnebäck, "Combinatorics of Go" (2006)


def random_play(size, stage):
    """Return one position of each of some random games: the end or the middle."""
    rng, found = Random(size), []
    while len(found) < PEER_POINTS // size**2:
        game = random_game(grid(size), rng)
        end = end_of(game)
        if end is not None:
            found.append(end if stage == "ends" else game[int(MIDDLE * size**2)])
    return found


def sgfmill_board(position):
    rows = position.to_rows()[::-1]
    board = Board(len(rows))
    board.board = [[(None, "b", "w")[color] for color in row] for row in rows]
    return board


def time_work(work):
    """Return what a piece of work gives and the CPU seconds it takes."""
    start = process_time()
    result = work()
    return result, process_time() - start


class Contest:
    """sgfmill and the oracle on the same positions."""

    def __init__(self, size, stage):
        positions = random_play(size, stage)
        self.sgfmill = [sgfmill_board(position) for position in positions]
        self.integers = [(p.grid, p.black, p.white) for p in positions]
        copies = BATCH_POINTS // (size**2 * len(positions))
        order = np.random.default_rng(size).permutation(copies * len(positions))
        self.order = order % len(positions)
        self.boards = to_array(positions)[self.order]

    def round(self):
        """Let everybody answer once; return the positions per second of each."""
        expected, peer = time_work(lambda: [board.area_score() for board in self.sgfmill])
        scores, single = time_work(lambda: [go.score(*position) for position in self.integers])
        many, whole = time_work(lambda: batch.score(self.boards))
        assert scores == expected
        assert np.array_equal(many, np.array(expected)[self.order])
        return len(expected) / peer, len(scores) / single, len(many) / whole


def measure(size, stage):
    """Return positions per second of sgfmill, and for the oracle's two ways the ratio to it.

    All are medians of several rounds, the ratios those within a round.
    """
    contest = Contest(size, stage)
    rounds = [contest.round() for _ in range(ROUNDS)]
    peer = median(rates[0] for rates in rounds)
    return peer, *(median(rates[way] / rates[0] for rates in rounds) for way in (1, 2))


def print_table():
    print(f"Area scores per second of CPU time, median of {ROUNDS} rounds; ratios to sgfmill")
    print(f"{'':16}{'sgfmill':>9}{'one at a time':>24}{'batch':>30}")
    for (size, stage), bars in BARS.items():
        peer, *ratios = measure(size, stage)
        ways = "".join(
            f"{peer * ratio:14,.0f} {ratio:4.0f}x (bar {bar}x)"
            for ratio, bar in zip(ratios, bars, strict=True)
        )
        print(f"{size:2}x{size:<3}{stage:10}{peer:9,.0f}{ways}")
    print("All scores that were timed agree.")


def count_legal_4x4():
    """Return how many of the 43,046,721 boards of 4x4 are legal, by their liberties."""
    lower = np.array(list(product((0, 1, 2), repeat=10)), np.int8)
    boards = np.zeros((len(lower), 16), np.int8)
    boards[:, :10] = lower
    legal = 0
    for upper in product((0, 1, 2), repeat=6):
        boards[:, 10:] = upper
        legal += np.count_nonzero(batch.positions_legal(boards.reshape(-1, 4, 4)))
    return legal


def draw(path):
    """Write the plot of positions per second against the size of the board."""
    from matplotlib import pyplot

    pyplot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "area", "font.size": 10})
    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for stage, line in zip(("ends", "middles"), ("--", "-"), strict=True):
        rates = np.array([measure(size, stage) for size in PLOTTED])
        rates[:, 1:] *= rates[:, :1]
        for way, color, points in zip(WAYS, COLORS, rates.T, strict=True):
            axes.plot(PLOTTED, points, line, color=color, marker="o", label=f"{way}, {stage}")
    axes.set(yscale="log", xlabel="board size", ylabel="area scores per second", xticks=PLOTTED)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    figure.savefig(path, format="svg", metadata={"Date": None})


def main():
    print_table()
    legal, time = time_work(count_legal_4x4)
    assert legal == LEGAL_4X4
    print(f"Legal among all 4x4 boards: {legal:,}, counted in {time:.1f} s of CPU time.")


if __name__ == "__main__":
    main()
    if sys.argv[1:]:
        draw(sys.argv[1])
