"""Every wrong program of ``tests/own_games`` against the fuzzer: how soon, by how short a script.

Each is a process behind a pipe. So is the reference, about which nothing is known. Seconds are
those of the wall and, beside them, of the processor: this process, the program and the reference.
Names choose games. ``python -m tests.benchmarks.bench_fuzz_wrong FILE.md`` keeps the table.
"""

import os
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import NamedTuple

from harness.assignments import assignment
from harness.core.options import Limits, Options
from harness.engine.protocols import find_protocol
from harness.fuzzing.by_reference import judge_of
from harness.fuzzing.fuzzed_engine import FuzzedProgram, launchers
from harness.fuzzing.fuzzer import Fuzzer
from harness.fuzzing.search import FuzzBudget
from tests.benchmarks.processor import processor
from tests.harness.own_games import GAMES, OWN, wrong

SECONDS, COMMANDS = 60, 14  # what is asked for
PATIENCE = 240  # seconds: a busy machine takes longer, and is to show how much
LIMITS = Limits(timeout=10.0)


class Row(NamedTuple):
    """What became of a wrong program."""

    game: str
    name: str
    seconds: float
    cpu: float  # seconds
    script: tuple[str, ...]  # empty if not found

    def __str__(self) -> str:
        said = str(len(self.script)) if self.script else "NOTHING FOUND"
        return f"{self.game:9}{self.name:26}{self.seconds:8.1f}{self.cpu:8.1f}  {said}"


def row(game: str, name: str) -> Row:
    """Look for what is wrong with a program."""
    found = assignment.find(str(OWN / GAMES[game][0]))
    (program,) = found.place.glob("wrong_*.py")
    words = [sys.executable, "-S", "-E", str(program), name]
    with tempfile.TemporaryDirectory() as room:
        os.environ["XDG_CACHE_HOME"] = room
        began, spent = time.monotonic(), processor()
        specification, folder = found.specification, Path(room)
        with (
            launchers(Options(sandbox="off", limits=LIMITS), folder) as launcher,
            closing(
                FuzzedProgram(words, launcher, LIMITS, folder, specification.commands,
                      find_protocol(found.protocol))
            ) as piped,
        ):  # fmt: skip
            fuzzer = Fuzzer(piped, judge_of(specification, folder), FuzzBudget(PATIENCE, 0), 0)
            finding = next(fuzzer.findings(), None)
        seconds = time.monotonic() - began
        specification.truth.close()  # so that the reference's seconds are counted
    script = finding.script.commands if finding else ()
    return Row(game, name, seconds, processor() - spent, script)


def summary(rows: list[Row]) -> str:
    found = [one for one in rows if one.script]
    soon = sum(one.seconds <= SECONDS for one in found)
    short = sum(len(one.script) <= COMMANDS for one in found)
    return (
        f"{len(rows)} wrong programs: {len(found)} found, {soon} within {SECONDS} s of the wall"
        f" ({sum(one.cpu <= SECONDS for one in found)} by the processor's seconds),"
        f" median {median(one.seconds for one in rows):.1f} s"
        f" (processor {median(one.cpu for one in rows):.1f} s);\n"
        f"{short} by at most {COMMANDS} commands"
    )


def table(rows: list[Row]) -> str:
    """Return all rows in Markdown."""
    lines = ["| game | wrong program | seconds | processor | script |", "|---|---|---|---|---|"]
    for one in rows:
        script = "<br>".join(f"`{command}`" for command in one.script) or "NOTHING FOUND"
        lines.append(f"| {one.game} | {one.name} | {one.seconds:.1f} | {one.cpu:.1f} | {script} |")
    heading = "# Every wrong program of the declared games against the fuzzer"
    return "\n".join([heading, "", summary(rows), "", *lines, ""])


def main(arguments: tuple[str, ...] = ()) -> None:
    documents = [word for word in arguments if word.endswith(".md")]
    games = [word for word in arguments if word in GAMES] or list(GAMES)
    print(f"{'game':9}{'wrong program':26}{'seconds':>8}{'cpu':>8}  commands")
    rows = []
    for game in games:
        for name in wrong(game):
            rows.append(row(game, name))
            print(rows[-1], flush=True)
    print(f"\n{summary(rows)}")
    for name in documents:
        Path(name).write_text(table(rows), encoding="utf-8")


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
