"""Policy moves per second: the oracle one at a time and in batches, beside a plain program.

The positions are those of random play without a five, any number of stones, the side to move as
the stones have it. The peer is the definition in :mod:`tests.oracle.gomoku_definition`: plain
lists, looking at windows. It is timed in the same rounds, in CPU time. Columns: the peer; one
position at a time, bits in and bits out; one at a time, giving the points sorted by name; a batch.
Every answer that is timed must be the same from all.
"""

from random import Random
from time import process_time

import numpy as np

from oracle import batch_gomoku
from oracle.answers import gomoku_policy
from oracle.position import BLACK, WHITE, Position, grid
from oracle.rules.gomoku import fives, rule_based
from tests.oracle import gomoku_definition as definition

SIZES = (7, 9, 13, 19)
POSITIONS = 2000  # different ones
ROUNDS = 5
PEER_SHARE = 10  # the peer answers every tenth position
BATCH_POINTS = 12_000_000  # points of all boards of a batch together


def random_play(size, random):
    """Return a position and its side to move, from random play that nobody has won."""
    shape = grid(size)
    while True:
        points = shape.points(shape.full)
        random.shuffle(points)
        moves = random.randrange(len(points))
        black, white = shape.mask(points[:moves:2]), shape.mask(points[1:moves:2])
        if not fives(shape, shape.join(black, white)):
            return Position(shape, black, white), WHITE if moves % 2 else BLACK


def time_answers(answer, questions):
    """Return the answers and the questions answered per second of CPU time."""
    start = process_time()
    answers = [answer(*question) for question in questions]
    return answers, len(questions) / (process_time() - start)


class Contest:
    """All programs on the same positions of one size."""

    def __init__(self, size):
        random = Random(size)
        self.positions = [random_play(size, random) for _ in range(POSITIONS)]
        self.texts = [self.text(*each) for each in self.positions[::PEER_SHARE]]
        self.bits = [self.sides(*each) for each in self.positions]
        boards = np.array([now.to_rows()[::-1] for now, _ in self.positions], np.int8)
        colors = np.array([color for _, color in self.positions], np.int8)
        self.copies = max(1, BATCH_POINTS // boards.size)
        self.boards = np.tile(boards, (self.copies, 1, 1))
        self.colors = np.tile(colors, self.copies)

    @staticmethod
    def text(now, color):
        rows = [[".XO"[stone] for stone in row] for row in reversed(now.to_rows())]
        return rows, ".XO"[color]

    @staticmethod
    def sides(now, color):
        return now.grid, now.stones(color), now.stones(BLACK + WHITE - color)

    def round(self):
        """Let everybody answer once; return the positions per second of each program."""
        told, peer = time_answers(definition.policy_moves, self.texts)
        found, single = time_answers(rule_based, self.bits)
        listed, whole = time_answers(gomoku_policy.policy_moves, self.positions)
        start = process_time()
        types, moves = batch_gomoku.policy_moves(self.boards, self.colors)
        batch = len(self.boards) / (process_time() - start)
        self.check(told, found, listed, (types, moves))
        return peer, single, whole, batch

    def check(self, told, found, listed, batch):
        """Stop when two programs disagree on any position."""
        shape = self.bits[0][0]
        types, moves = (
            answer.reshape(self.copies, POSITIONS, *answer.shape[1:]) for answer in batch
        )
        assert (types == types[0]).all()
        assert (moves == moves[0]).all()
        for index, (kind, points) in enumerate(listed):
            assert found[index] == (kind, shape.mask(points))
            assert batch_gomoku.TYPE_NAMES[types[0, index]] == kind
            assert sorted(map(tuple, np.argwhere(moves[0, index]).tolist())) == sorted(points)
        for (kind, points), (peer_kind, peer_points) in zip(
            listed[::PEER_SHARE], told, strict=True
        ):
            assert (kind, set(points)) == (peer_kind, peer_points)


def main():
    print("Gomoku policy moves per second of CPU time, best of", ROUNDS, "rounds (ratio to lists)")
    print(f"{'':6}{'plain lists':>12}{'integers':>18}{'sorted names':>18}{'batch':>20}")
    for size in SIZES:
        contest = Contest(size)
        best = [
            max(rates) for rates in zip(*(contest.round() for _ in range(ROUNDS)), strict=True)
        ]
        others = "".join(f"{rate:12,.0f} {rate / best[0]:5.0f}x" for rate in best[1:3])
        batch = f"{best[3]:13,.0f} {best[3] / best[0]:5.0f}x"
        print(f"{size:2}x{size:<3}{best[0]:12,.0f}{others}{batch}")
    print("All answers that were timed are the same.")
