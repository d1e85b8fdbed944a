"""Fuzzing declared games: conversations per second, and what the two engines allow by themselves.

Right engines of ``tests/own_games`` are fuzzed, so that nothing is found; nothing is known of the
reference before. Then two engines, a process each, are sent what the engine and the reference were
sent, down raw pipes and with nobody to draw or to judge:

- *in step*: as fuzzing must. What follows a command that stands alone waits for its reply, the
  reference waits for the moves that the engine chooses in a batch, and the engine for the replies
  on which the batch after the next one depends.
- *freely*: everything at once. Nobody can ask them faster.

Three shares, each at least 60 %: conversations per second *in step* and *freely*,
by the clock on the wall, which tell something as long as nobody else wants the cores; and *of the
work*, the processor time of the engines alone, asked freely, in that of fuzzing with all that it
starts, which is their share of the time on one core. Names choose games, numbers how many
conversations there are; seconds of the wall are the medians of several runs in turn.
"""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import chain
from pathlib import Path
from resource import RUSAGE_CHILDREN
from statistics import median
from subprocess import PIPE
from threading import Barrier
from typing import NamedTuple

from harness.assignments import assignment
from harness.engine.engine_session import groups
from harness.engine.protocols import find_protocol
from harness.fuzzing.by_reference import judge_of
from harness.fuzzing.fuzzed_engine import Piped, launchers
from harness.fuzzing.fuzzer import Fuzzer
from harness.fuzzing.search import FuzzBudget
from harness.options import Limits, Options
from harness.vocabulary.script import line_of
from tests.benchmarks.processor import processor

OWN = Path(__file__).parents[1] / "own_games"
GAMES = ("nogo", "takuzu", "hex", "othello")
CONVERSATIONS = (1000, 5000)
RUNS = 3
LIMITS = Limits(timeout=10.0)


class Recorder:
    """A program that keeps the commands that it is sent, batch by batch."""

    def __init__(self, program):
        self.program = program
        self.batches = []
        self._first = []  # commands of the first script to a process, which is sent by itself

    def answer(self, script):
        self._first += script.commands
        return self.program.answer(script)

    def begin(self, scripts):
        sent = (command for script in scripts for command in script.commands)
        self.batches.append([*self._first, *sent])
        self._first = []
        return self.program.begin(scripts)

    def __getattr__(self, name):
        return getattr(self.program, name)


class Fuzzed(NamedTuple):
    """What fuzzing took, and what was asked."""

    seconds: float
    cpu: float  # seconds
    engine: list  # batches of commands
    reference: list  # what the reference was asked after each


def fuzz(found, words, room, conversations):
    """Fuzz an engine."""
    specification = found.specification
    # In no box: the processor time of what runs in one is not ours to read.
    truth, asked = specification.truth, []
    truth.program, begin = truth.program._replace(sandbox="off"), truth.begin

    def begin_recorded(batch, folder):
        asked.append([command for one in batch for command in one])
        return begin(batch, folder)

    truth.begin = begin_recorded
    with launchers(Options(sandbox="off", limits=LIMITS), room) as launcher:
        spoken = find_protocol(found.protocol)
        with closing(
            Piped(words, launcher, LIMITS, room, specification.commands, spoken)
        ) as piped:
            program = Recorder(piped)
            budget = FuzzBudget(0, conversations)
            fuzzer = Fuzzer(program, judge_of(specification, room), budget, 0)
            program.batches, program._first = [], []
            began, spent = time.perf_counter(), processor()
            assert not list(fuzzer.findings())
            truth.close()
            piped.renew()
            took = time.perf_counter() - began, processor() - spent
    return Fuzzed(*took, program.batches, asked)


def freely(words, fuzzed):
    """Send two engines all commands at once; return seconds of the wall and of processors."""
    began, spent = time.perf_counter(), processor(RUSAGE_CHILDREN)
    both = (chain.from_iterable(sent) for sent in (fuzzed.engine, fuzzed.reference))
    texts = [b"".join(map(line_of, commands)) for commands in both]
    engines = [subprocess.Popen(words, stdin=PIPE, stdout=PIPE) for _ in texts]
    with ThreadPoolExecutor(len(engines)) as pool:
        list(pool.map(lambda engine, text: engine.communicate(text), engines, texts))
    return time.perf_counter() - began, processor(RUSAGE_CHILDREN) - spent


def in_step(words, fuzzed, alone, protocol):
    """Send two engines the commands as fuzzing must; return seconds of the wall."""
    began = time.perf_counter()
    # In each turn the engine is asked a batch, and the reference what follows the one before.
    turns = Barrier(2)
    batches = [*fuzzed.engine, []], [[], *fuzzed.reference]
    with ThreadPoolExecutor(2) as pool:
        asking = [pool.submit(take_turns, words, one, alone, protocol, turns) for one in batches]
        for one in asking:
            one.result()
    return time.perf_counter() - began


def take_turns(words, batches, alone, protocol, turns):
    """Send an engine a batch in each turn."""
    with subprocess.Popen(words, stdin=PIPE, stdout=PIPE, bufsize=0) as engine:
        for batch in batches:
            ask(engine, batch, alone, protocol)
            turns.wait()
        engine.stdin.close()


def ask(engine, commands, alone, protocol):
    """Send an engine commands, and wait for the replies."""
    lines = list(map(line_of, commands))
    for start, end in groups(lines, [alone[command] for command in commands]):
        engine.stdin.write(b"".join(lines[start:end]))
        splitter, missing, data = protocol.splitter(strict=True), end - start, b""
        while missing:
            data += engine.stdout.read(1 << 16)
            whole = protocol.end(data)
            missing -= len(splitter.split(data[:whole])) if whole else 0
            data = data[whole:]


def row(game, room, conversations):
    """Return conversations a second, and the shares that the module describes."""
    found = assignment.find(str(OWN / game))
    words = [sys.executable, "-S", "-E", str(OWN / game / f"{game}.py")]
    spoken, alone = find_protocol(found.protocol), found.specification.commands.alone
    taken = []
    for number in range(RUNS):
        os.environ["XDG_CACHE_HOME"] = str(room / f"{game}-{conversations}-{number}")
        fuzzed = fuzz(assignment.find(str(OWN / game)), words, room, conversations)
        stepping = in_step(words, fuzzed, alone, spoken)
        free, least = freely(words, fuzzed)
        taken.append((fuzzed.seconds, stepping, free, fuzzed.cpu, least))
    wall, stepping, free, cpu, least = map(median, zip(*taken, strict=True))
    return conversations / wall, stepping / wall, free / wall, least / cpu


def main(arguments=()):
    counts = [int(word) for word in arguments if word.isdigit()] or CONVERSATIONS
    games = [word for word in arguments if not word.isdigit()] or GAMES
    columns = "".join(f"{one:>14}" for one in ("a second", "in step", "freely", "of the work"))
    print(f"{'conversations of':20}{columns}")
    with tempfile.TemporaryDirectory() as name:
        for game in games:
            for count in counts:
                rate, *shares = row(game, Path(name), count)
                told = "".join(f"{one:14.0%}" for one in shares)
                print(f"{f'{game}, {count:,}':20}{rate:14.0f}{told}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
