"""Suites and their runs: made, kept, removed. What a run found is in files, written once.

In the folder of a suite ``runs/ID.json`` is the document as it was posted, and ``runs/ID.kept``
what a history keeps of it.
"""

from __future__ import annotations

import re
import secrets
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from sqlalchemy import Connection

from harness.assignments.assignment import Assignment
from harness.errors import UsageError
from harness.escaping import one_line
from harness.history.records import RunKept
from harness.service.courses import making
from harness.service.courses.grading import NotNowError
from harness.service.records import (
    FAULT,
    LEASED,
    RUN,
    WAITING,
    Assigned,
    Course,
    Job,
    Suite,
    SuiteRun,
)
from harness.service.runs import documents
from harness.service.runs.documents import RunDocument
from harness.service.settings import Settings
from harness.service.storage import courses, queue, suites
from harness.service.storage.audit import Act
from harness.service.storage.tables import new_id
from harness.work import canonical_json

MOST_SUITES = 50  # of one person
KEPT = 200  # runs of a suite; older ones go
MOST_WAITING = 3  # engines of one person
State = Literal["waiting", "running", "done", "failed", "fault"]
MOST_BYTES = 512 << 20  # of all documents in somebody's suites
_TITLE, _ENGINE = 200, 120  # characters
_REVISION = re.compile(r"[\w.+/:@-]{0,100}", re.ASCII)


class Posted(NamedTuple):
    """A document that came, as it is and as it was read."""

    data: bytes
    found: RunDocument
    revision: str

    @classmethod
    def read(cls, data: bytes, revision: str) -> Posted:
        """Check what came.

        Raises:
            UsageError: the document or the revision cannot be read.
        """
        _check_revision(revision)
        return cls(data, documents.read(data), revision)


class RunArchive(NamedTuple):
    """An engine as it came; its bytes are kept."""

    name: str  # as its author calls the file
    sha256: str
    revision: str


def _check_revision(revision: str) -> None:
    if not _REVISION.fullmatch(revision):
        raise UsageError(
            f"revision: found {revision!r}, expected up to 100 letters, digits, . _ + - / : @"
        )


# --- suites ------------------------------------------------------------------------------------


def make(act: Act, title: str, source: str = "") -> Suite:
    """Make a suite of the person who acts.

    ``source``: the name of an assignment that ships, as which engines are run here by its public
    case files; empty: runs come as documents alone.

    Raises:
        UsageError: it has no title, a very long one, there are too many, or no such assignment.
    """
    if len(suites.SUITES.all(act.db, person=act.by)) >= MOST_SUITES:
        raise UsageError(f"there are {MOST_SUITES} suites already: remove one first")
    bench = make_bench(act, title, making.check_shipped(source)).id if source else ""
    made = Suite(new_id(), act.by, _title(title), time.time(), bench=bench)
    suites.SUITES.add(act.db, made)
    act.note("suite made", made.id, title=made.title)
    return made


def make_bench(act: Act, title: str, source: str, own: Assignment | None = None) -> Assigned:
    """Make an assignment in a course that nobody is in; return it.

    ``source``, ``own``: as of :func:`making.assign`.
    """
    course = courses.COURSES.add(act.db, Course(new_id(), _title(title), time.time()))
    wanted = Assigned("", course.id, _title(title), source, "", "", "", "", 0, 0.0)
    return making.assign(act, wanted, own)


def change(act: Act, suite: Suite, title: str, *, is_open: bool, has_badge: bool) -> Suite:
    """Change what a suite is called, who may read it, and whether it has a badge.

    A badge that is made again has another address.

    Raises:
        UsageError: as :func:`make`.
    """
    badge = (suite.badge or secrets.token_hex(16)) if has_badge else ""
    made = suite._replace(title=_title(title), is_open=is_open, badge=badge)
    values: dict[str, object] = {
        "title": made.title,
        "is_open": int(is_open),
        "badge": badge,
    }
    suites.SUITES.change(act.db, values, id=suite.id)
    act.note("suite changed", suite.id, title=made.title, open=is_open, badge=has_badge)
    return made


def remove(act: Act, suite: Suite, settings: Settings) -> None:
    """Remove a suite with all its runs.

    Raises:
        NotNowError: an engine is being run.
    """
    if suite.bench and queue.JOBS.all(act.db, assignment=suite.bench, state=LEASED):
        raise NotNowError("an engine of this suite is running; wait until it finishes")
    suites.RUNS.remove(act.db, suite=suite.id)
    suites.SUITES.remove(act.db, id=suite.id)
    act.note("suite removed", suite.id, title=suite.title)
    shutil.rmtree(settings.suite(suite.id), ignore_errors=True)
    if suite.bench:
        suites.forget_bench(act.db, suite.bench)
        shutil.rmtree(settings.assignment_folder(suite.bench), ignore_errors=True)
        settings.keys.joinpath(f"{suite.bench}.key").unlink(missing_ok=True)


def source(db: Connection, suite: Suite) -> str:
    """Return the assignment as which engines are run here; empty: none are.

    :data:`harness.service.courses.own_files.OWN`: by case files of the author's own.
    """
    found = courses.ASSIGNMENTS.find(db, id=suite.bench) if suite.bench else None
    return found.source if found else ""


def badge_path(suite: Suite) -> str:
    """Return the path of the badge of a suite that has one."""
    return f"/badges/{suite.badge}.svg"


def _title(text: str) -> str:
    title = one_line(" ".join(text.split()))
    if not 0 < len(title) <= _TITLE:
        raise UsageError(f"title: found {len(title)} characters, expected 1 to {_TITLE}")
    return title


# --- runs --------------------------------------------------------------------------------------


def post(act: Act, suite: Suite, posted: Posted, folder: Path) -> SuiteRun:
    """Keep a run that was posted; the oldest go if there are too many.

    Raises:
        UsageError: the owner has no room left.
    """
    _check_room(act, suite, len(posted.data))
    made = _count(_new(act, suite, posted.revision), posted)
    _write(folder, made, posted)
    return _add(act, made, folder)


def post_engine(act: Act, suite: Suite, archive: RunArchive, folder: Path) -> SuiteRun:
    """Let a worker run an engine whose bytes are kept.

    Raises:
        UsageError: the suite runs no engines, or too many of the owner's wait.
    """
    if not suite.bench:
        raise UsageError(
            "this suite takes documents of run --json, not engines: send its case files first"
        )
    _check_revision(archive.revision)
    _check_room(act, suite, 0)
    jobs = queue.JOBS.all(act.db, kind=RUN, key=suite.person, state=[WAITING, LEASED])
    if len(jobs) >= MOST_WAITING:
        raise UsageError(f"{len(jobs)} engines of yours wait already: come back later")
    made = _new(act, suite, archive.revision)
    name = one_line(archive.name, _ENGINE) or "archive"
    made = _add(act, made._replace(name=name, sha256=archive.sha256), folder)
    queue.put(act.db, Job("", RUN, suite.bench, made.id, suite.person, person=suite.person))
    return made


def _check_room(act: Act, suite: Suite, size: int) -> None:
    used = suites.bytes_of(act.db, suite.person)
    if used + size > MOST_BYTES:
        raise UsageError(
            f"the documents of all your runs have {used:,} bytes of {MOST_BYTES:,}: remove some"
        )


def _new(act: Act, suite: Suite, revision: str) -> SuiteRun:
    number = suites.next_number(act.db, suite.id)
    return SuiteRun(new_id(), suite.id, number, act.by, time.time(), revision)


def _add(act: Act, made: SuiteRun, folder: Path) -> SuiteRun:
    """Write a run down; the oldest go if there are too many."""
    suites.RUNS.add(act.db, made)
    act.note("run posted", made.id, suite=made.suite, number=made.number)
    for old in suites.older(act.db, made.suite, KEPT):
        _forget(act, old, folder)
    return made


def conclude(act: Act, run: SuiteRun, posted: Posted, folder: Path) -> None:
    """Keep what a worker found of an engine."""
    made = _count(run, posted)
    _write(folder, made, posted)
    suites.RUNS.change(act.db, made._asdict(), id=run.id)


def fail(act: Act, run: SuiteRun, trouble: str) -> None:
    """Write down why an engine has no result."""
    suites.RUNS.change(act.db, {"trouble": trouble}, id=run.id)


def state_of(db: Connection, run: SuiteRun) -> State:
    """Return how far a run is, and :data:`FAULT` if the harness failed."""
    if run.started or run.trouble:
        return "done" if run.started else "failed"
    states = {one.state for one in queue.of(db, run.id)}
    if FAULT in states:
        return "fault"
    return "running" if LEASED in states else "waiting"


def _count(run: SuiteRun, posted: Posted) -> SuiteRun:
    found = posted.found
    verdicts = Counter(one.verdict for file in found.files for one in file.tests)
    return run._replace(
        started=found.started,
        engine=one_line(found.engine, _ENGINE),
        size=len(posted.data),
        tests=verdicts.total() - verdicts["ignored"],
        passed=verdicts["passed"] + verdicts["PASSED"],
        failed=verdicts["FAILED"],
        undecided=verdicts["not run"] + verdicts["not judged"],
        broken=sum(file.failure is not None for file in found.files),
    )


def _write(folder: Path, run: SuiteRun, posted: Posted) -> None:
    kept = documents.make_kept(posted.found, run.number, run.revision)
    place = document(folder, run.id)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    place.write_bytes(posted.data)
    place.with_suffix(".kept").write_text(canonical_json.dumps(kept), encoding="ascii")


def remove_run(act: Act, run: SuiteRun, folder: Path) -> None:
    """Remove a run; the others keep their numbers."""
    act.note("run removed", run.id, suite=run.suite, number=run.number)
    _forget(act, run, folder)


def _forget(act: Act, run: SuiteRun, folder: Path) -> None:
    queue.withdraw(act.db, run.id)
    suites.RUNS.remove(act.db, id=run.id)
    place = document(folder, run.id)
    for path in (place, place.with_suffix(".kept")):
        path.unlink(missing_ok=True)


# --- what was kept -----------------------------------------------------------------------------


def document(folder: Path, run: str) -> Path:
    """Return where the document of a run is; ``folder``: of its suite."""
    return folder / "runs" / f"{run}.json"


def data(folder: Path, run: SuiteRun) -> bytes | None:
    """Return the document of a run as it was posted; None if it has been removed."""
    try:
        return document(folder, run.id).read_bytes()
    except FileNotFoundError:
        return None


def load_kept(folder: Path, runs: Sequence[SuiteRun]) -> list[RunKept]:
    """Return runs as a history keeps them; those that were removed meanwhile are left out."""
    found = []
    for run in runs:
        path = document(folder, run.id).with_suffix(".kept")
        if path.is_file():
            found.append(canonical_json.loads(RunKept, path.read_text("ascii")))
    return found
