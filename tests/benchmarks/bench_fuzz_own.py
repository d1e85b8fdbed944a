"""Fuzzing declared games: conversations per second, and what the two engines need by themselves.

Right engines of ``tests/own_games`` are fuzzed, so that nothing is found; nothing is known of the
reference before. Then both engines are asked the same conversations and nothing else, in the same
run: the share is their time in that of fuzzing, of which at least 60 % is asked for.
"""

import os
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

from harness.assignments import assignment
from harness.declared.process import Asked, conversation
from harness.engine.protocols import named
from harness.fuzzing.engines import Piped, launchers
from harness.fuzzing.fuzzer import Fuzzer
from harness.fuzzing.judges import judge_of
from harness.fuzzing.search import Budget
from harness.options import Limits, Options

OWN = Path(__file__).parents[1] / "own_games"
CONVERSATIONS = 150
LIMITS = Limits(timeout=10.0)


class Recorder:
    """A program that keeps what it is asked."""

    def __init__(self, program):
        self.program = program
        self.scripts = []

    def answer(self, script):
        self.scripts.append(script)
        return self.program.answer(script)

    def __getattr__(self, name):
        return getattr(self.program, name)


def share(game, room):
    """Return conversations a second, and the share of both engines in the time and the work."""
    found = assignment.find(str(OWN / game))
    specification = found.specification
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
            specification.truth.close()
            piped.renew()
            fuzzed, cpu = time.perf_counter() - began, processor() - spent
            began, spent = time.perf_counter(), processor()
            engines_alone(piped, program.scripts, specification.truth)
            alone, least = time.perf_counter() - began, processor() - spent
    return CONVERSATIONS / fuzzed, alone / fuzzed, least / cpu


def engines_alone(piped, scripts, reference):
    """Ask the engine and the reference the same conversations, and nothing else."""
    for script in scripts:
        piped.answer(script)
    with closing(Asked(reference.program)) as asked:
        for script in scripts:
            asked.replies(conversation(script.commands, reference.program.natures))
    piped.renew()


def processor():
    """Return the seconds of processors that this process and its engines have had."""
    return sum(sum(getrusage(who)[:2]) for who in (RUSAGE_SELF, RUSAGE_CHILDREN))


def main(arguments=()):
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CACHE_HOME"] = name
        print(f"{'game':10}{'a second':>10}{'engines alone':>15}{'of the work':>13}")
        for game in arguments or ("nogo", "takuzu", "hex", "othello"):
            rate, part, work = share(game, Path(name))
            print(f"{game:10}{rate:10.0f}{part:15.0%}{work:13.0%}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
