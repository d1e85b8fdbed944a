"""Engines by the hundred, good and broken, four at a time: what remains, and what is disturbed.

Used by a short test, and by the benchmark that takes the full number.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from harness import casefile, jobs
from harness.dialect import named
from harness.records import FileResult
from harness.runner import Setting, run_file
from harness.runs import Options
from harness.sandbox.engines import Sandbox
from harness.sandbox.limits import BoxLimits
from tests.harness.test_broken_engines import CASE, ENGINES, LETTERS, ROWS, Row

WORKERS = 4


class Left(NamedTuple):
    """What may be left behind, counted on the whole machine or, if that is busy, of our own."""

    processes: int  # that bear the mark
    zombies: int  # children of ours
    descriptors: int
    mounts: int
    folders: int  # of temporary files, that bear the harness's name
    groups: int  # control groups


class Outcome(NamedTuple):
    """What a soak came to."""

    runs: int
    wrong: list[str]  # engines that were not judged as alone
    before: Left
    after: Left


def soak(runs: int, choice: str, rows: list[Row], seed: int = 1) -> Outcome:
    """Run ``runs`` engines drawn from ``rows`` in the sandbox ``choice``, four at a time."""
    mark = f"soak-{os.urandom(8).hex()}"
    drawn = random.Random(seed).choices(rows, k=runs)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        case = folder / "case.tst"
        case.write_text(CASE)
        alone = {row: _judged(_run(row, str(case), None, mark)) for row in set(drawn)}
        before = count(mark)
        with closing(Sandbox(choice, BoxLimits(), [str(case)], ())) as sandbox:
            results = jobs.run_all(
                list(range(runs)),
                lambda place, _: _judged(_run(drawn[place], str(case), sandbox, mark)),
                WORKERS,
                lambda *_: None,
                sandbox.close,
            )
            wrong = [
                f"{drawn[place].engine}: {result}, alone {alone[drawn[place]]}"
                for place, result in results
                if result != alone[drawn[place]]
            ]
        return Outcome(runs, wrong, before, count(mark))


def _run(row: Row, case: str, sandbox: Sandbox | None, mark: str) -> FileResult:
    program = ("env", "-u", "PYTHONUNBUFFERED", sys.executable, str(ENGINES / row.engine) + ".py")
    setting = Setting((*program, mark), Options(limits=row.limits), named("gogui"))
    if sandbox is not None:
        setting = setting._replace(launcher=sandbox.launcher)
    return run_file(casefile.read(case, "gogui"), setting)


def _judged(result: FileResult) -> tuple[object, ...]:
    """Return all of a result that may not depend on chance or on the sandbox."""
    letters = "".join(LETTERS[outcome.verdict] for outcome in result.outcomes)
    replies = [reply and reply.raw for reply in result.replies] if letters == "PPP" else []
    return letters, replies, result.failure and result.failure.kind


def count(mark: str) -> Left:
    """Count what there is now."""
    groups = Path("/sys/fs/cgroup").glob("**/gtp-harness-*")
    own = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return Left(
        len([path for path in Path("/proc").glob("[0-9]*/cmdline") if mark in _read(path)]),
        len([pid for pid in own if ") Z " in _read(Path(f"/proc/{pid}/stat"))]),
        len(os.listdir("/proc/self/fd")),
        _read(Path("/proc/self/mountinfo")).count("\n"),
        len(list(Path(tempfile.gettempdir()).glob("*gtp-harness*"))),
        len(list(groups)),
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


QUICK = [row for row in ROWS if not row.seconds]  # those that are judged in milliseconds


def kinds(rows: list[Row]) -> Counter[str]:
    """Return how many rows are of an engine that behaves, and of one that does not."""
    return Counter("good" if row.verdicts == "PPP" else "broken" for row in rows)
