"""What each kind of job does, with the code of ``grade``: for one submission, or for a class."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.errors import HarnessError
from harness.escaping import escape_controls
from harness.grading import grade
from harness.grading.attempts import attempt_plan
from harness.grading.attempts.concurrent_runs import Company
from harness.grading.attempts.units import GradingListener, GradingUnit, Unheard
from harness.grading.exports import writing
from harness.grading.exports.feedback import body_of
from harness.grading.exports.showing import feedback
from harness.grading.grade import GradeOptions, GradingOutcome, GradingPlan
from harness.grading.marks.marker import Marker
from harness.grading.marks.regrading import MarkChange
from harness.grading.records import ClassResult, StudentSubmissions
from harness.grading.taking_in.receive import receive
from harness.report.views import Views
from harness.service import measuring
from harness.service.courses import roster
from harness.service.courses.remarks import as_given
from harness.service.handing_in import taking
from harness.service.records import (
    CHECK,
    CONCLUDE,
    DRAFT,
    EXPORT,
    GRADE,
    MEASURE,
    PLAN,
    PREVIEW,
    RUN,
    Grading,
    Job,
    Marked,
    Override,
    Received,
    Upload,
)
from harness.service.storage import belongings, courses, figures, queue, remarks, uploads
from harness.service.work import checked, drafting, engine_runs, previewing, strong
from harness.service.work.folders import folder_of, locked
from harness.service.work.grounds import Ground
from harness.work import canonical_json
from harness.work.worker_events import AttemptEvent, AttemptFinished, BuildFinished, HarnessFailed


class UnfinishedError(HarnessError):
    """Another worker is at attempts of this job: it is to be tried again."""


class OutdatedError(HarnessError):
    """What a job was planned with is not there any more."""


class GoneError(HarnessError):
    """What the job is about is not there any more."""


# --- an upload is checked ----------------------------------------------------------------------


def check(ground: Ground, job: Job, company: Company) -> None:
    """Take in an upload, and run the public tests: its owner watches."""
    with ground.database.changing() as db:
        upload = uploads.UPLOADS.find(db, id=job.about)
        uploads.forget_words(db, job.about)
        owners = belongings.students(db, [job.about]).get(job.about, frozenset())
        members = courses.students(db, ground.assigned.course)
    if upload is None:
        raise GoneError("the upload is not there any more")
    own = roster.entry(upload.key, [one for one in members if one.key in owners])
    found = _planned_before(ground, upload) or _planned(ground, upload, own)
    _run(ground, ground.wanted, found, _Teller(ground, job), company)
    _write_check(ground, upload, found)


def _planned_before(ground: Ground, upload: Upload) -> GradingPlan | None:
    """Return what another worker planned that did not come to the end, if it still holds."""
    if not upload.run:
        return None
    found = grade.load_last_plan(ground.ledger, upload.run)
    return None if grade.is_outdated(ground.wanted, found) else found


def _planned(ground: Ground, upload: Upload, own: StudentSubmissions) -> GradingPlan:
    assignment = ground.wanted.assignment
    entry = own._replace(handed=(taking.handed(ground.store, upload),))
    submission = receive(entry, assignment, ground.store, ground.overlay)
    cases = attempt_plan.public_cases(assignment)
    found = grade.planned(ground.wanted, ground.ledger, [submission], cases)
    record = canonical_json.dumps(submission)
    with ground.database.changing() as db:
        uploads.UPLOADS.change(db, {"record": record, "run": found.run}, id=upload.id)
    return found


def _write_check(ground: Ground, upload: Upload, found: GradingPlan) -> None:
    """Write the result of the public tests, as its owner sees it: made once, read often."""
    assignment = ground.wanted.assignment
    marker = Marker(assignment, ground.ledger, found.cases, found.started)
    graded = marker.graded(found.submissions[0], found.planned)
    views = Views(assignment.specification, assignment.place)
    shown = feedback(graded, marker.result([graded]), views)
    unmarked = shown.marks._replace(withheld=True, note="")  # a check gives no mark
    text = "".join(body_of(shown._replace(marks=unmarked)))
    path = check_page(ground.settings.made(ground.assigned.id), upload.id)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    checked.write(path, graded)
    unfinished = path.with_suffix(".new")
    unfinished.write_text(escape_controls(text), encoding="utf-8")
    unfinished.replace(path)


def check_page(made: Path, upload: str) -> Path:
    """Return where the result of a check is; ``made``: the folder of its assignment."""
    return made / "checks" / f"{upload}.html"


class _Noter(Unheard):
    """Notes in the queue that a job gets on, and counts attempts."""

    def __init__(self, ground: Ground, job: Job) -> None:
        self._ground = ground
        self._job = job

    def on_word(self, unit: GradingUnit, word: AttemptEvent) -> None:
        """Take in what a worker says."""
        if isinstance(word, BuildFinished):
            return
        with self._ground.database.changing() as db:
            figures.count(db, measuring.ATTEMPTS, _seconds(word), outcome=_outcome(word))
            if isinstance(word, AttemptFinished):
                queue.progressed(db, self._job)


def _seconds(word: AttemptFinished | HarnessFailed) -> float:
    return word.figures.seconds if isinstance(word, AttemptFinished) else 0.0


def _outcome(word: AttemptFinished | HarnessFailed) -> str:
    """Return how an attempt ended: one in doubt is run once more, and counts again."""
    if isinstance(word, HarnessFailed):
        return "harness error"
    return "in doubt" if word.doubtful else "failed" if word.failed else "passed"


class _Teller(_Noter):
    """Tells those who watch a page what was judged. Public case files only come here."""

    def on_word(self, unit: GradingUnit, word: AttemptEvent) -> None:
        """Take in what a worker says."""
        names = {task.basis: Path(task.case.path).name for task in unit.tasks}
        said = json.dumps({"case": names.get(word.basis, ""), **_told(word)})
        with self._ground.database.changing() as db:
            uploads.say(db, self._job.about, said)
        super().on_word(unit, word)


def _told(word: AttemptEvent) -> dict[str, object]:
    if isinstance(word, BuildFinished):
        return {"word": "built", "ok": word.build.ok}
    if isinstance(word, HarnessFailed):
        return {"word": "broke"}
    return {"word": "done", "failed": word.failed, "again": word.doubtful}


# --- a class is graded -------------------------------------------------------------------------


def plan_grading(ground: Ground, job: Job, _company: Company) -> None:
    """Take in all that was submitted, write down what is to be run, and let it be run."""
    grading = _grading(ground, job)
    if grading.run:
        return
    wanted = ground.graded_as(grading)
    with ground.database.reading() as db:
        entries = taking.entries(db, ground.store, ground.assigned)
    received = [receive(one, wanted.assignment, ground.store, ground.overlay) for one in entries]
    cases = grade.case_files(wanted, ground.ledger)
    found = grade.planned(wanted, ground.ledger, received, cases)
    with ground.database.changing() as db:
        uploads.GRADINGS.change(db, {"run": found.run}, id=grading.id)
        for key in grade.by_key(found.planned):
            queue.put(db, Job("", GRADE, job.assignment, grading.id, key, due=job.due))


def run_one(ground: Ground, job: Job, company: Company) -> None:
    """Run the case files of a grading against one submission."""
    grading = _grading(ground, job)
    found = grade.load_last_plan(ground.ledger, grading.run)
    own = found._replace(
        submissions=tuple(one for one in found.submissions if one.key == job.key),
        planned=tuple(one for one in found.planned if one.key == job.key),
    )
    wanted = ground.graded_as(grading)
    if grade.is_outdated(wanted, own):
        raise OutdatedError(
            "the assignment, its case files or the harness has changed since this grading was"
            " begun: begin another one"
        )
    _run(ground, wanted, own, _Noter(ground, job), company)


def _run(
    ground: Ground,
    wanted: GradeOptions,
    found: GradingPlan,
    listener: GradingListener,
    company: Company,
) -> None:
    bases = [one.basis for one in found.planned]
    ground.ledger.begin_anew(bases)  # what the harness failed in before, as in each call of grade
    grade.run(wanted, ground.ledger, found, ground.store, listener, company)
    states = ground.ledger.states(bases)
    if any(state.state not in ("done", "fault") for state in states.values()):
        raise UnfinishedError("another worker is at it")


def conclude(ground: Ground, job: Job, _company: Company) -> None:
    """Make marks of what the ledger has, and write all pages and sheets."""
    grading = _grading(ground, job)
    wanted = ground.graded_as(grading)
    found = grade.load_last_plan(ground.ledger, grading.run)
    concluded = grade.update_marks(wanted, ground.ledger, found)
    conclusion = grade.compared(wanted, concluded, ground.store)
    written = _write(ground, conclusion, grading)
    rows, received = _marked(conclusion, grading.id), _received(conclusion, grading.id)
    # A second time there may be none, if a worker died after the first: they were made.
    changes = (
        json.dumps([_told_of(one) for one in conclusion.changes]) if conclusion.changes else ""
    )
    kept = grading.changes if grading.accept else "[]"
    values: dict[str, object] = {"concluded": time.time(), "changes": changes or kept}
    with ground.database.changing() as db:
        uploads.MARKS.remove(db, grading=grading.id)
        uploads.RECEIVED_BY.remove(db, grading=grading.id)
        for row in rows:
            uploads.MARKS.add(db, row)
        for got in received:
            uploads.RECEIVED_BY.add(db, got)
        uploads.GRADINGS.change(db, values, id=grading.id)
        courses.lock(db, grading.assignment)
        if remarks.overrides(db, grading.assignment) != written:  # given meanwhile
            queue.put_anew(db, Job("", EXPORT, grading.assignment, grading.id))
        ground.database.log.note(db, "", "graded", grading.id, marks=len(rows))


def export(ground: Ground, job: Job, _company: Company) -> None:
    """Write the pages and sheets of a grading anew: people gave other marks since."""
    grading = _grading(ground, job)
    wanted = ground.graded_as(grading)
    found = grade.load_last_plan(ground.ledger, grading.run)
    current = grade.current_marks(wanted, ground.ledger, found)
    _write(ground, grade.compared(wanted, current, ground.store), grading)


def _told_of(change: MarkChange) -> str:
    return f"{previewing.names(change)}: {change}"


def _write(ground: Ground, conclusion: GradingOutcome, grading: Grading) -> dict[str, Override]:
    """Write all exports with the marks that people gave; return these.

    Who comes later writes the later ones.
    """
    folder = folder_of(ground.settings.made(ground.assigned.id), grading.id)
    with locked(folder):
        with ground.database.reading() as db:
            own = remarks.overrides(db, ground.assigned.id)
        given = tuple(as_given(own[key]) for key in sorted(own))
        _exchange(conclusion.result._replace(given=given), folder)
    return own


def _exchange(result: ClassResult, folder: Path) -> None:
    """Write all exports; the folder has those of one conclusion, never of two."""
    unfinished, former = (folder.with_name(f"{folder.name}.{end}") for end in ("new", "old"))
    for left in (unfinished, former):
        shutil.rmtree(left, ignore_errors=True)
    unfinished.mkdir(mode=0o700, parents=True)
    writing.write(result, unfinished)
    if folder.exists():
        folder.rename(former)
    unfinished.rename(folder)
    shutil.rmtree(former, ignore_errors=True)


def _marked(conclusion: GradingOutcome, grading: str) -> Sequence[Marked]:
    result = conclusion.result
    views = Views(result.assignment.specification, result.assignment.place)
    return [
        Marked(
            grading,
            one.submission.key,
            canonical_json.dumps(one.marks),
            canonical_json.dumps(feedback(one, result, views).marks),
        )
        for one in result.graded
    ]


def _received(conclusion: GradingOutcome, grading: str) -> list[Received]:
    """Return who gets each mark: who was in the group when the grading was planned."""
    found = (one.submission for one in conclusion.result.graded)
    return [Received(grading, who.key, one.key) for one in found for who in one.students]


def _grading(ground: Ground, job: Job) -> Grading:
    with ground.database.reading() as db:
        found = uploads.GRADINGS.find(db, id=job.about)
    if found is None:
        raise GoneError("the grading is not there any more")
    return found


def run_engine(ground: Ground, job: Job, company: Company) -> None:
    """Run an engine of an author by the case files of a suite."""
    found = engine_runs.planned(ground, job)
    if found:
        _run(ground, ground.wanted, found, _Noter(ground, job), company)
        engine_runs.keep(ground, job, found)


Doing = Callable[[Ground, Job, Company], None]
KINDS: dict[str, Doing] = {
    CHECK: check,
    PLAN: plan_grading,
    GRADE: run_one,
    CONCLUDE: conclude,
    DRAFT: lambda ground, job, _: drafting.draft(ground, job),
    PREVIEW: lambda ground, job, _: previewing.preview(ground, job),
    MEASURE: lambda ground, job, _: strong.measure(ground, job),
    EXPORT: export,
    RUN: run_engine,
}
