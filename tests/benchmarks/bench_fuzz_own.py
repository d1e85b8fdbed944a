"""Fuzzing declared games: conversations per second, and what the two engines allow by themselves.

Right engines of ``tests/own_games`` are fuzzed, so that nothing is found; nothing is known of the
reference before. Then both engines are sent the same conversations down raw pipes, all at once and
both at the same time, one process each: nobody can ask them faster.

Two shares, of which at least 60 % is asked for: *of the time*, by the clock on the wall, which
counts as long as nobody else wants the cores; and *of the work*, the processor time of the engines
alone in that of fuzzing with all that it starts, which is their share of the time on one core.
"""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from subprocess import PIPE

from harness.assignments import assignment
from harness.engine.protocols import named
from harness.fuzzing.engines import Piped, launchers
from harness.fuzzing.fuzzer import Fuzzer
from harness.fuzzing.judges import judge_of
from harness.fuzzing.search import Budget
from harness.options import Limits, Options

OWN = Path(__file__).parents[1] / "own_games"
CONVERSATIONS = 1000
LIMITS = Limits(timeout=10.0)


class Recorder:
    """A program that keeps what it is asked."""

    def __init__(self, program):
        self.program = program
        self.scripts = []

    def answer(self, script):
        self.scripts.append(script)
        return self.program.answer(script)

    def begin(self, scripts):
        hearing = self.program.begin(scripts)
        self.scripts += scripts if hearing else []
        return hearing

    def __getattr__(self, name):
        return getattr(self.program, name)


def share(game, room):
    """Return conversations a second, and the share of both engines in the time and the work."""
    found = assignment.find(str(OWN / game))
    specification = found.specification
    # In no box: the processor time of what runs in one is not ours to read.
    truth = specification.truth
    truth.program = truth.program._replace(sandbox="off")
    words = [sys.executable, "-S", "-E", str(OWN / game / f"{game}.py")]
    with launchers(Options(sandbox="off", limits=LIMITS), room) as launcher:
        spoken = named(found.protocol)
        with closing(
            Piped(words, launcher, LIMITS, room, specification.commands, spoken)
        ) as piped:
            program = Recorder(piped)
            fuzzer = Fuzzer(program, judge_of(specification, room), Budget(0, CONVERSATIONS), 0)
            began, spent = time.perf_counter(), processor()
            assert not list(fuzzer.findings())
            truth.close()
            piped.renew()
            fuzzed, cpu = time.perf_counter() - began, processor() - spent
    began, spent = time.perf_counter(), processor(RUSAGE_CHILDREN)
    engines_alone(words, program.scripts)
    alone, least = time.perf_counter() - began, processor(RUSAGE_CHILDREN) - spent
    return CONVERSATIONS / fuzzed, alone / fuzzed, least / cpu


def engines_alone(words, scripts):
    """Send two engines the same conversations, all at once."""
    text = "".join(f"{command}\n" for script in scripts for command in script.commands)
    engines = [subprocess.Popen(words, stdin=PIPE, stdout=PIPE) for _ in range(2)]
    with ThreadPoolExecutor(len(engines)) as pool:
        list(pool.map(lambda engine: engine.communicate(text.encode()), engines))


def processor(*whose):
    """Return the seconds of processors that this process and those it started have had."""
    return sum(sum(getrusage(who)[:2]) for who in whose or (RUSAGE_SELF, RUSAGE_CHILDREN))


def main(arguments=()):
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CACHE_HOME"] = name
        print(f"{'game':10}{'a second':>10}{'of the time':>13}{'of the work':>13}")
        for game in arguments or ("nogo", "takuzu", "hex", "othello"):
            rate, part, work = share(game, Path(name))
            print(f"{game:10}{rate:10.0f}{part:13.0%}{work:13.0%}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
