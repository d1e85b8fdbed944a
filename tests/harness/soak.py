"""Engines by the hundred, good and broken, four at a time: what remains, and what is disturbed.

Used by a short test, and by the benchmark that takes the full number. Whatever else the machine
does is not counted: all that is begun here is in control groups of our own, where they may be had,
and makes its temporary folders in one of our own.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from harness.core.options import BoxLimits
from harness.core.records import FileResult
from harness.reading import casefile
from harness.reading.dialect import find_dialect
from harness.running import jobs
from harness.running.file_runner import RunContext, run_file
from harness.running.runs import Options
from harness.sandbox import cgroup
from harness.sandbox.boxed_engines import Sandbox
from harness.specifications import EVERYONES
from tests.harness.test_broken_engines import CASE, ENGINES, LETTERS, ROWS, Row

WORKERS = 4


class Left(NamedTuple):
    """What may be left behind by us."""

    processes: int  # that bear the mark, or are in our groups
    zombies: int  # children of ours
    descriptors: int
    mounts: int
    folders: int  # of temporary files
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
    with apart() as folder:
        case = folder / "case.tst"
        case.write_text(CASE)
        alone = {row: _strip_chance(_run(row, str(case), None, mark)) for row in set(drawn)}
        before = count(mark)
        with closing(Sandbox(choice, BoxLimits(), [str(case)], (), EVERYONES)) as sandbox:
            results = jobs.run_all(
                list(range(runs)),
                lambda place, _: _strip_chance(_run(drawn[place], str(case), sandbox, mark)),
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
    setting = RunContext((*program, mark), Options(limits=row.limits), find_dialect("gogui"))
    if sandbox is not None:
        setting = setting._replace(launcher=sandbox.launcher)
    return run_file(casefile.read(case), setting)


def _strip_chance(result: FileResult) -> tuple[object, ...]:
    """Return all of a result that may not depend on chance or on the sandbox."""
    letters = "".join(LETTERS[outcome.verdict] for outcome in result.outcomes)
    replies = [reply and reply.raw for reply in result.replies] if letters == "PPP" else []
    return letters, replies, result.failure and result.failure.kind


@contextmanager
def apart() -> Iterator[Path]:
    """Enter control groups of our own; yield a folder, which is that for temporary files."""
    former = tempfile.tempdir
    with (
        tempfile.TemporaryDirectory(prefix="soak-") as name,
        closing(cgroup.enter(cgroup.usable_parents())),
    ):
        folder = Path(name)
        folder.chmod(0o755)
        tempfile.tempdir = name
        try:
            yield folder
        finally:
            tempfile.tempdir = former


def count(mark: str) -> Left:
    """Count what there is now, within :func:`apart`."""
    groups = own_groups()
    members = {pid for group in groups for pid in _read(group / "cgroup.procs").split()}
    marked = {
        path.parent.name for path in Path("/proc").glob("[0-9]*/cmdline") if mark in _read(path)
    }
    own = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return Left(
        len((members | marked) - {str(os.getpid())}),
        len([pid for pid in own if ") Z " in _read(Path(f"/proc/{pid}/stat"))]),
        len(os.listdir("/proc/self/fd")),
        _read(Path("/proc/self/mountinfo")).count("\n"),
        len([path for path in Path(tempfile.gettempdir()).iterdir() if path.is_dir()]),
        len(groups),
    )


def own_groups() -> list[Path]:
    """Return our control groups, and those within them."""
    lines = _read(Path("/proc/self/cgroup")).splitlines()
    own = [line.split(":", 2)[1:] for line in lines if "gtp-harness-" in line]
    roots = [Path("/sys/fs/cgroup", controllers + path) for controllers, path in own]
    return [path for root in roots for path in (root, *root.rglob("gtp-harness-*"))]


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


QUICK = [row for row in ROWS if not row.seconds]  # those that are judged in milliseconds


def kinds(rows: list[Row]) -> Counter[str]:
    """Return how many rows are of an engine that behaves, and of one that does not."""
    return Counter("good" if row.verdicts == "PPP" else "broken" for row in rows)
