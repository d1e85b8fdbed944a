"""Games per second and core from SGF to positions kept for cases, and the memory this takes.

The games are random ones on 19×19, of 250 moves, in one collection. The peers are what a reader
of records would use: sgfmill's parser and its board, and sgfmill's parser with moves played on
integers as here, both without looking at any position. CPU time, interleaved rounds, the best
of each. Memory is the most that a process of its own has had, for collections of 1 and 8 times
as many games.
"""

import multiprocessing
import resource
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from time import process_time

from sgfmill import boards, sgf, sgf_moves

from harness.generating import record_reading, record_replay
from harness.generating.record_reading import Moves
from harness.specifications import specification
from harness.vocabulary.scenes import EMPTY
from oracle.position import Position, grid
from oracle.rules.go import eyes, legal, play
from oracle.sgf import write_sgf

SIZE, MOVES, GAMES, ROUNDS = 19, 250, 60, 3


def random_record(seed):
    """Return a game between two that fill no eye of their own, as SGF."""
    random, shape, sides, moves = Random(seed), grid(SIZE), (0, 0), []
    for number in range(MOVES):
        mine, theirs = sides
        sensible = legal(shape, mine, theirs) & ~eyes(shape, mine, theirs)
        move = shape.bit(random.choice(shape.points(sensible)))
        mine, theirs = play(shape, mine, theirs, move)
        moves.append((1 + number % 2, shape.point(move)))
        sides = theirs, mine
    return write_sgf(Position(shape), moves)


def by_sgfmill(records):
    """Parse and replay with sgfmill."""
    for record in records:
        _, moves = sgf_moves.get_setup_and_moves(sgf.Sgf_game.from_bytes(record))
        board = boards.Board(SIZE)
        for color, move in moves:
            if move:
                board.play(*move, color)


def by_parser(records):
    """Parse with sgfmill and replay on integers."""
    shape = grid(SIZE)
    for record in records:
        board = EMPTY
        for node in sgf.Sgf_game.from_bytes(record).get_main_sequence():
            color, move = node.get_move()
            if move:
                board = record_replay._go(shape, board, 1 + (color == "w"), shape.bit(move))


def read_kept(path, assignment="go-scoring"):
    """Return the kept part of a collection, read in this process."""
    kind = specification(assignment).kind
    wanted = record_reading.HarvestOptions(
        kind, record_reading.choices(0), Moves(), kind.sizes, None
    )
    return record_reading.harvest([path], wanted, 1, lambda done, games: None)


def memory(path, assignment, answer):
    """Tell the most memory that reading a collection has taken, in MB."""
    read_kept(path, assignment)
    answer.put(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def measure_memory(path, assignment="go-scoring"):
    """Return what :func:`memory` tells, in a process of its own."""
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    process = context.Process(target=memory, args=(path, assignment, answer))
    process.start()
    found = answer.get()
    process.join()
    return found


def rates(folder):
    """Return games per second, by what reads them."""
    records = [random_record(seed) for seed in range(GAMES)]
    path = str(Path(folder, "games.sgf"))
    Path(path).write_bytes(b"\n".join(records))
    rivals = {
        "sgfmill's parser and board": lambda: by_sgfmill(records),
        "sgfmill's parser, integers": lambda: by_parser(records),
        **{
            f"generate, {name}": lambda name=name: read_kept(path, name)
            for name in ("go-scoring", "gosensei", "java-go")
        },
    }
    best = Counter()
    for _ in range(ROUNDS):
        for name, read in rivals.items():
            start = process_time()
            read()
            best[name] = max(best[name], GAMES / (process_time() - start))
    return dict(best), records


def main():
    """Print games per second, and memory."""
    with tempfile.TemporaryDirectory() as folder:
        found, records = rates(folder)
        peer = found["sgfmill's parser and board"]
        for name, rate in found.items():
            print(f"{name:28} {rate:6.0f} games/s  {rate / peer:5.2f} x")
        for times in (5, 40):
            path = Path(folder, f"{times}.sgf")
            path.write_bytes(b"\n".join(records * times))
            print(f"{len(records) * times:5} games: {measure_memory(str(path)):.0f} MB")
