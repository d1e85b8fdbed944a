"""Suites of engine authors and their runs: made, compared, and shown as a history and a badge.

What a run found is in files, written once.
"""

import hashlib
import json
import re
import secrets
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from sqlalchemy import Connection

from harness.assignments.assignment import Assignment
from harness.core.errors import ExitCode, InvalidGradingStateError, UsageError
from harness.core.text import one_line
from harness.history import pages
from harness.history.records import RunKept
from harness.history.trends import trends
from harness.report import baseline
from harness.service import records
from harness.service.courses import making, run_documents
from harness.service.courses.submissions import StoredFile
from harness.service.records import CourseAssignment, Job, Suite, SuiteRun, new_id
from harness.service.storage import courses, queue
from harness.service.storage.audit import AuditedTransaction
from harness.work import canonical_json
from oracle import __version__

MOST_SUITES = 50  # of one person
KEPT = 200  # runs of a suite; older ones go
MOST_WAITING = 3  # engines of one person
State = Literal["waiting", "running", "done", "failed", "fault"]
MOST_BYTES = 512 << 20  # of all documents in somebody's suites
_ENGINE = 120  # characters of its name
_REVISION = re.compile(r"[\w.+/:@-]{0,100}", re.ASCII)


class PostedRun(NamedTuple):
    """A document that came, as it is and as it was read."""

    data: bytes
    document: run_documents.RunDocument
    revision: str

    @classmethod
    def read(cls, data: bytes, revision: str) -> "PostedRun":
        """Check what came; raises UsageError if the document or the revision cannot be read."""
        _check_revision(revision)
        return cls(data, run_documents.read(data), revision)


def _check_revision(revision: str) -> None:
    if not _REVISION.fullmatch(revision):
        raise UsageError(
            f"revision: found {revision!r}, expected up to 100 letters, digits, . _ + - / : @"
        )


def make(act: AuditedTransaction, title: str, source: str = "") -> Suite:
    """Make a suite of the person who acts.

    ``source``: the name of an assignment that ships, as which engines are run here by its public
    case files; empty: runs come as documents alone.

    Raises:
        UsageError: it has no title, a very long one, there are too many, or no such assignment.
    """
    if len(courses.SUITES.all(act.db, person=act.by)) >= MOST_SUITES:
        raise UsageError(f"there are {MOST_SUITES} suites already: remove one first")
    bench = make_bench(act, title, making.check_shipped(source)).id if source else ""
    made = Suite(new_id(), act.by, making.read_title(title), time.time(), bench=bench)
    courses.SUITES.add(act.db, made)
    act.note("suite made", made.id, title=made.title)
    return made


def make_bench(
    act: AuditedTransaction, title: str, source: str, assignment: Assignment | None = None
) -> CourseAssignment:
    """Make an assignment in a course that nobody is in; return it.

    ``source``, ``assignment``: as of :func:`making.assign`.
    """
    title = making.read_title(title)
    course = courses.COURSES.add(act.db, records.Course(new_id(), title, time.time()))
    wanted = CourseAssignment("", course.id, title, source, "", "", "", "", 0, 0.0)
    return making.assign(act, wanted, assignment)


def change(
    act: AuditedTransaction, suite: Suite, title: str, *, is_open: bool, has_badge: bool
) -> Suite:
    """Change what a suite is called, who may read it, and whether it has a badge.

    A badge that is made again has another address.

    Raises:
        UsageError: as :func:`make`.
    """
    badge = (suite.badge or secrets.token_hex(16)) if has_badge else ""
    made = suite._replace(title=making.read_title(title), is_open=is_open, badge=badge)
    values = {"title": made.title, "is_open": is_open, "badge": badge}
    courses.SUITES.change(act.db, values, id=suite.id)
    act.note("suite changed", suite.id, title=made.title, open=is_open, badge=has_badge)
    return made


def remove(act: AuditedTransaction, suite: Suite) -> None:
    """Remove a suite with its runs; raises InvalidGradingStateError while an engine is run."""
    if suite.bench and queue.JOBS.all(act.db, assignment=suite.bench, state=records.LEASED):
        raise InvalidGradingStateError(
            "an engine of this suite is running; wait until it finishes"
        )
    courses.RUNS.remove(act.db, suite=suite.id)
    courses.SUITES.remove(act.db, id=suite.id)
    act.note("suite removed", suite.id, title=suite.title)
    shutil.rmtree(act.settings.suite(suite.id), ignore_errors=True)
    if suite.bench:
        courses.forget_bench(act.db, suite.bench)
        shutil.rmtree(act.settings.assignment_folder(suite.bench), ignore_errors=True)
        act.settings.keys.joinpath(f"{suite.bench}.key").unlink(missing_ok=True)


def source(db: Connection, suite: Suite) -> str:
    """Return the assignment as which engines are run here; empty: none are.

    :data:`harness.service.courses.own_files.OWN`: by case files of the author's own.
    """
    found = courses.ASSIGNMENTS.find(db, id=suite.bench) if suite.bench else None
    return found.source if found else ""


def badge_path(suite: Suite) -> str:
    """Return the path of the badge of a suite that has one."""
    return f"/badges/{suite.badge}.svg"


# --- runs --------------------------------------------------------------------------------------


def post(act: AuditedTransaction, suite: Suite, posted_run: PostedRun) -> SuiteRun:
    """Keep a run that was posted; the oldest go if there are too many.

    Raises:
        UsageError: the owner has no room left.
    """
    _check_room(act, suite, len(posted_run.data))
    return _add(act, _write(act, _new(act, suite, posted_run.revision), posted_run))


def post_engine(
    act: AuditedTransaction, suite: Suite, archive: StoredFile, revision: str
) -> SuiteRun:
    """Let a worker run an engine whose bytes are kept.

    Raises:
        UsageError: the suite runs no engines, or too many of the owner's wait.
    """
    if not suite.bench:
        raise UsageError(
            "this suite takes documents of run --json, not engines: send its case files first"
        )
    _check_revision(revision)
    _check_room(act, suite, 0)
    jobs = queue.JOBS.all(
        act.db, kind=records.RUN, key=suite.person, state=[records.WAITING, records.LEASED]
    )
    if len(jobs) >= MOST_WAITING:
        raise UsageError(f"{len(jobs)} engines of yours wait already: come back later")
    made = _new(act, suite, revision)
    name = one_line(archive.name, _ENGINE) or "archive"
    made = _add(act, made._replace(name=name, sha256=archive.sha256))
    job = Job("", records.RUN, suite.bench, made.id, suite.person, person=suite.person)
    queue.put(act.db, job)
    return made


def _check_room(act: AuditedTransaction, suite: Suite, size: int) -> None:
    used = courses.bytes_of(act.db, suite.person)
    if used + size > MOST_BYTES:
        raise UsageError(
            f"the documents of all your runs have {used:,} bytes of {MOST_BYTES:,}: remove some"
        )


def _new(act: AuditedTransaction, suite: Suite, revision: str) -> SuiteRun:
    number = courses.next_number(act.db, suite.id)
    return SuiteRun(new_id(), suite.id, number, act.by, time.time(), revision)


def _add(act: AuditedTransaction, run: SuiteRun) -> SuiteRun:
    """Write a run down; the oldest go if there are too many."""
    courses.RUNS.add(act.db, run)
    act.note("run posted", run.id, suite=run.suite, number=run.number)
    for old in courses.older(act.db, run.suite, KEPT):
        _forget(act, old)
    return run


def conclude(act: AuditedTransaction, run: SuiteRun, posted_run: PostedRun) -> None:
    """Keep what a worker found of an engine."""
    made = _write(act, run, posted_run)
    courses.RUNS.change(act.db, made._asdict(), id=run.id)


def state_of(db: Connection, run: SuiteRun) -> State:
    """Return how far a run is, and :data:`records.FAULT` if the harness failed."""
    if run.started or run.trouble:
        return "done" if run.started else "failed"
    states = {one.state for one in queue.of(db, run.id)}
    if records.FAULT in states:
        return "fault"
    return "running" if records.LEASED in states else "waiting"


def _write(act: AuditedTransaction, run: SuiteRun, posted_run: PostedRun) -> SuiteRun:
    """Write a document, and the run as a history keeps it; return the run with its counts."""
    found = posted_run.document
    kept = run_documents.make_kept(found, run.number, run.revision)
    place = document(act.settings.suite(run.suite), run.id)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    place.write_bytes(posted_run.data)
    place.with_suffix(".kept").write_text(canonical_json.dumps(kept), encoding="ascii")
    verdicts = Counter(one.verdict for file in found.files for one in file.tests)
    return run._replace(
        started=found.started,
        engine=one_line(found.engine, _ENGINE),
        size=len(posted_run.data),
        tests=verdicts.total() - verdicts["ignored"],
        passed=verdicts["passed"] + verdicts["PASSED"],
        failed=verdicts["FAILED"],
        undecided=verdicts["not run"] + verdicts["not judged"],
        broken=sum(file.failure is not None for file in found.files),
    )


def remove_run(act: AuditedTransaction, run: SuiteRun) -> None:
    """Remove a run; the others keep their numbers."""
    act.note("run removed", run.id, suite=run.suite, number=run.number)
    _forget(act, run)


def _forget(act: AuditedTransaction, run: SuiteRun) -> None:
    queue.withdraw(act.db, run.id)
    courses.RUNS.remove(act.db, id=run.id)
    place = document(act.settings.suite(run.suite), run.id)
    for path in (place, place.with_suffix(".kept")):
        path.unlink(missing_ok=True)


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
    kept = (document(folder, run.id).with_suffix(".kept") for run in runs)
    return [canonical_json.loads(RunKept, one.read_text("ascii")) for one in kept if one.is_file()]


# --- A run of a suite beside a former one, with the code that ``run --baseline`` uses ------------


def run_before(db: Connection, run: SuiteRun) -> SuiteRun | None:
    """Return the last run before one that found something; None for the first."""
    return next(iter(courses.last_runs(db, run.suite, 1, run.number)), None)


def compare(folder: Path, former: SuiteRun, run: SuiteRun) -> baseline.Comparison | None:
    """Compare a run with a former one; None: one of them was removed meanwhile.

    ``folder``: of their suite.
    """
    before, now = (data(folder, one) for one in (former, run))
    if before is None or now is None:
        return None
    return baseline.between(json.loads(before), json.loads(now))


def is_worse(comparison: baseline.Comparison) -> bool:
    """Whether a run is worse than the former one, as the exit status of a run says."""
    return comparison.exit_code is not ExitCode.OK


# --- The history of a suite: the pages that ``gtp-harness history`` writes, of its last runs -----
# They are made when somebody looks, and stay until there is another run.


RUNS = 100  # the last ones, which make a history


def write_pages(
    folder: Path, suite: Suite, runs: Sequence[SuiteRun], home: tuple[str, str]
) -> Path:
    """Return the folder of the pages about runs, the last one first; they are made if need be.

    ``folder``: of the suite; ``home``: the name and address of the page that leads there.
    """
    told = "\n".join([__version__, suite.title, *home, *(run.id for run in runs)])
    made = folder / "history" / hashlib.sha256(told.encode()).hexdigest()[:16]
    if made.is_dir():
        return made
    former = list(made.parent.glob("*"))
    # Whatever the program was called in each run.
    kept = load_kept(folder, runs[::-1])
    program = kept[-1].program if kept else ""
    named = [run._replace(program=program) for run in kept]
    found = trends(suite.title, named, program)
    made.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    room = Path(tempfile.mkdtemp(dir=folder, prefix=".unfinished-"))
    try:
        pages.write(str(room), found, (home,))
        with suppress(OSError):  # another request has made it by now, and the same
            room.rename(made)
    finally:
        shutil.rmtree(room, ignore_errors=True)
    for old in former:
        shutil.rmtree(old, ignore_errors=True)
    return made


# --- A badge: how many tests of the last run passed ----------------------------------------------

_GOOD, _BAD, _NONE = "#1a7f37", "#b42318", "#57606a"


def describe_badge(last: SuiteRun | None) -> tuple[str, str]:
    """Return what a badge says, and its color. What was not run or not judged did not pass."""
    if last is None:
        return "no run yet", _NONE
    if last.trouble:
        return "engine could not be run", _BAD
    if last.broken:
        return f"{last.passed} of {last.tests}, engine failure", _BAD
    is_good = not last.failed and not last.undecided and last.tests > 0
    return f"{last.passed} of {last.tests} passed", _GOOD if is_good else _BAD
