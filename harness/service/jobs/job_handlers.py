"""What each kind of job does, with the code of ``grade``: for one submission, or for a class."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from sqlalchemy import Connection

from harness import whole_files
from harness.errors import HarnessError, ReadingFailedError
from harness.escaping import escape_controls, one_line
from harness.grading import grade
from harness.grading.attempts import attempt_plan
from harness.grading.attempts.concurrent_runs import Company
from harness.grading.attempts.units import GradingListener, GradingUnit, Unheard
from harness.grading.exports import writing
from harness.grading.exports.feedback import body_of
from harness.grading.exports.sheet_filling import Filled
from harness.grading.exports.showing import feedback
from harness.grading.exports.writing import Sheets
from harness.grading.grade import GradeOptions, GradingOutcome, GradingPlan
from harness.grading.marks.marker import Marker
from harness.grading.records import ClassResult, Graded, StudentSubmissions
from harness.grading.taking_in.receive import receive
from harness.report.views import Views
from harness.service import machines, monitoring
from harness.service.courses import gradebooks, roster, submissions
from harness.service.courses.gradings import as_given
from harness.service.jobs import drafts, engine_runs, previews, private_cases, result_files
from harness.service.jobs.assignment_context import Ground
from harness.service.jobs.result_files import check_page, folder_of, lock_folder
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
    Assigned,
    Grading,
    Job,
    Marked,
    Override,
    Received,
    Upload,
)
from harness.service.storage import courses, queue, uploads
from harness.work import canonical_json
from harness.work.worker_events import (
    AttemptEvent,
    AttemptFinished,
    BuildFinished,
    CaseProgress,
    HarnessFailed,
    ProgressEvent,
)

_LONGEST_COMMAND = 60  # characters that are told of the test that runs
_BEGUN = json.dumps({"word": "begun"})  # a check, once more
_OTHER_CHANGES = (
    "The changes are no longer those that this page showed. Read the new list, then change the"
    " marks."
)


class UnfinishedError(HarnessError):
    """Another worker is at attempts of this job: it is to be tried again."""


class OutdatedError(HarnessError):
    """Something that a job was planned with no longer exists."""


class GoneError(HarnessError):
    """The object of a job no longer exists."""


# --- an upload is checked ----------------------------------------------------------------------


def check(ground: Ground, job: Job, company: Company) -> None:
    """Take in an upload, and run the public tests: its owner watches."""
    with ground.database.changing() as db:
        upload = uploads.UPLOADS.find(db, id=job.about)
        uploads.forget_words(db, job.about, _BEGUN)
        owners = uploads.owners_of(db, [job.about]).get(job.about, frozenset())
        course = ground.assigned.course
        members = courses.students(db, course) + courses.former_students(db, course)
    if upload is None:
        raise GoneError("the upload no longer exists")
    own = roster.entry(upload.key, [one for one in members if one.key in owners])
    found = _find_former_plan(ground, upload) or _plan(ground, job, upload, own)
    _run(ground, ground.wanted, found, _Teller(ground, job), company)
    _write_check(ground, upload, found)


def _find_former_plan(ground: Ground, upload: Upload) -> GradingPlan | None:
    """Return what another worker planned that did not come to the end, if it still holds."""
    if not upload.run:
        return None
    found = grade.load_last_plan(ground.ledger, upload.run)
    return None if grade.is_outdated(ground.wanted, found) else found


def _plan(ground: Ground, job: Job, upload: Upload, own: StudentSubmissions) -> GradingPlan:
    assignment = ground.wanted.assignment
    entry = own._replace(handed=(submissions.make_submitted_file(ground.store, upload),))
    submission = receive(entry, assignment, ground.store, ground.overlay)
    if submission.unread:
        raise ReadingFailedError(submission.unread)
    cases = attempt_plan.public_cases(assignment)
    found = grade.plan_attempts(ground.wanted, ground.ledger, [submission], cases)
    record = canonical_json.dumps(submission)
    with ground.database.changing() as db:
        if not queue.renew(db, job):  # a newer upload of the assignment wants other files
            raise UnfinishedError("another worker is to check this upload")
        uploads.UPLOADS.change(db, {"record": record, "run": found.run}, id=upload.id)
    return found


def _write_check(ground: Ground, upload: Upload, found: GradingPlan) -> None:
    """Write the result of the public tests, as its owner sees it: made once, read often.

    Raises:
        HarnessError: as :func:`_require_results`.
    """
    assignment = ground.wanted.assignment
    marker = Marker(assignment, ground.ledger, found.cases, found.started)
    graded = marker.mark_submission(found.submissions[0], found.planned)
    _require_results(graded)
    views = Views(assignment.specification, assignment.place)
    shown = feedback(graded, marker.result([graded]), views)
    unmarked = shown.marks._replace(withheld=True, note="")  # a check gives no mark
    # The page tells when it came, with the zone.
    text = "".join(body_of(shown._replace(marks=unmarked, time=None)))
    path = check_page(ground.settings.assignment_folder(ground.assigned.id), upload.id)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    result_files.write_check_result(path, graded)
    whole_files.write(path, escape_controls(text))


def _require_results(graded: Graded) -> None:
    """Let a person see where the harness failed: a page without these tests would look well.

    Raises:
        HarnessError: it failed in a case file.
    """
    faults = [f"{one.case}: {one.fault}" for one in graded.attempts if one.fault]
    if faults:
        raise HarnessError(f"public tests could not be run: {'; '.join(faults)}")


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
            queue.add_figure(db, monitoring.ATTEMPTS, _seconds(word), outcome=_outcome(word))
            if isinstance(word, AttemptFinished):
                queue.note_progress(db, self._job)


def _seconds(word: AttemptFinished | HarnessFailed) -> float:
    return word.figures.seconds if isinstance(word, AttemptFinished) else 0.0


def _outcome(word: AttemptFinished | HarnessFailed) -> str:
    """Return how an attempt ended: one in doubt is run once more, and counts again."""
    if isinstance(word, HarnessFailed):
        return "harness error"
    return "in doubt" if word.doubtful else "failed" if word.failed else "passed"


class _Teller(_Noter):
    """Tells those who watch a page what was judged. Public case files only come here."""

    def __init__(self, ground: Ground, job: Job) -> None:
        super().__init__(ground, job)
        self._now: dict[str, object] = {}  # the test that runs
        self._shown: dict[str, object] = {}  # the one that is told of
        self._number = 0  # of the word that tells of it

    def on_word(self, unit: GradingUnit, word: AttemptEvent) -> None:
        """Take in what a worker says."""
        self._now = {}
        self._say({"case": _case_name(unit, word.basis), **_describe_event(word)})
        super().on_word(unit, word)

    def on_progress(self, unit: GradingUnit, word: ProgressEvent) -> None:
        """Take note of the test that runs now; files that end at once are not told of."""
        self._now = _running(unit, word)

    def on_time(self, under_way: Sequence[GradingUnit]) -> None:
        """Tell which test runs now, unless that is known."""
        if self._now and self._now != self._shown:
            self._say(self._now)

    def _say(self, word: dict[str, object]) -> None:
        with self._ground.database.changing() as db:
            number = uploads.say(db, self._job.about, json.dumps(word), self._number)
        self._shown, self._number = (word, number) if word["word"] == "running" else ({}, 0)


def _case_name(unit: GradingUnit, basis: str) -> str:
    names = {task.basis: Path(task.case.path).name for task in unit.tasks}
    return names.get(basis, "")


def _running(unit: GradingUnit, word: ProgressEvent) -> dict[str, object]:
    """Return facts about the test that is judged next, or none after the last one."""
    steps = next(task.case.steps for task in unit.tasks if task.basis == word.basis)
    judged = word.step if isinstance(word, CaseProgress) else -1
    tests = [place for place, step in enumerate(steps) if step.is_test]
    left = [place for place in tests if place > judged]
    if not left:
        return {}
    return {
        "word": "running",
        "case": _case_name(unit, word.basis),
        "test": len(tests) - len(left) + 1,
        "of": len(tests),
        "command": one_line(steps[left[0]].text, _LONGEST_COMMAND),
    }


def _describe_event(word: AttemptEvent) -> dict[str, object]:
    if isinstance(word, BuildFinished):
        return {"word": "built", "ok": word.build.ok}
    if isinstance(word, HarnessFailed):
        return {"word": "broke"}
    return {"word": "done", "failed": word.failed, "again": word.doubtful}


def find_assigned(db: Connection, job: Job) -> Assigned:
    """Return the assignment that a job is about; of a grading as it was when that was planned."""
    found = courses.ASSIGNMENTS.find(db, id=job.assignment)
    assert found is not None  # jobs refer to it
    grading = uploads.GRADINGS.find(db, id=job.about)
    return found._replace(edition=grading.edition) if grading and grading.run else found


# --- a class is graded -------------------------------------------------------------------------


def plan_grading(ground: Ground, job: Job, _company: Company) -> None:
    """Take in all submissions, record the runs to be done, and queue them."""
    grading = _grading(ground, job)
    if grading.run:
        return
    wanted = ground.options_of(grading)
    with ground.database.reading() as db:
        entries = submissions.entries(db, ground.store, ground.assigned)
    received = [receive(one, wanted.assignment, ground.store, ground.overlay) for one in entries]
    cases = grade.case_files(wanted, ground.ledger)
    found = grade.plan_attempts(wanted, ground.ledger, received, cases)
    with ground.database.changing() as db:
        used: dict[str, object] = {"run": found.run, "edition": ground.assigned.edition}
        uploads.GRADINGS.change(db, used, id=grading.id)
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
    wanted = ground.options_of(grading)
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
    with machines.away(ground.settings) as away:
        grade.run(wanted, ground.ledger, found, ground.store, listener, company, away)
    states = ground.ledger.states(bases)
    if any(state.state not in ("done", "fault") for state in states.values()):
        raise UnfinishedError("another worker is at it")


def conclude(ground: Ground, job: Job, _company: Company) -> None:
    """Make marks of what the ledger has, and write all pages and sheets."""
    with ground.database.changing() as db:
        _refuse_others(db, job)
    grading = _grading(ground, job)
    wanted = ground.options_of(grading)
    found = grade.load_last_plan(ground.ledger, grading.run)
    _run_distrusted_again(ground, wanted, found, grading)
    wanted = wanted._replace(accept=_is_accepted(ground, wanted, found, grading))
    concluded = grade.update_marks(wanted, ground.ledger, found)
    conclusion = grade.find_same_programs(wanted, concluded, ground.store)
    written = _write(ground, conclusion, grading)
    rows, received = _list_marks(conclusion, grading.id), _list_recipients(conclusion, grading.id)
    # A second time there may be none, if a worker died after the first: they were made.
    kept = json.loads(grading.changes) if wanted.accept else []
    values: dict[str, object] = {
        "changes": json.dumps(_describe_changes(conclusion) or kept),
        "accept": int(wanted.accept),
        "trouble": _OTHER_CHANGES if grading.accept and not wanted.accept else "",
    }
    with ground.database.changing() as db:
        courses.lock(db, grading.assignment)
        _refuse_others(db, job)
        uploads.MARKS.remove(db, grading=grading.id)
        uploads.RECEIVED_BY.remove(db, grading=grading.id)
        for row in rows:
            uploads.MARKS.add(db, row)
        for got in received:
            uploads.RECEIVED_BY.add(db, got)
        values["concluded"] = uploads.next_moment(db, grading.assignment)
        uploads.GRADINGS.change(db, values, id=grading.id)
        if uploads.overrides(db, grading.assignment) != written:  # given meanwhile
            queue.put_anew(db, Job("", EXPORT, grading.assignment, grading.id))
        ground.database.log.note(db, "", "graded", grading.id, marks=len(rows))
        queue.finish(db, job)  # with the marks: else they were made and noted twice after a death


def _is_accepted(
    ground: Ground, wanted: GradeOptions, found: GradingPlan, grading: Grading
) -> bool:
    """Whether marks in force may change: somebody has accepted each change, having seen it.

    Dates or extensions may have changed since, or an attempt was rerun that the harness failed in.
    """
    if not grading.accept:
        return False
    now = _describe_changes(grade.current_marks(wanted, ground.ledger, found))
    return set(now) <= set(json.loads(grading.changes))


def _run_distrusted_again(
    ground: Ground, wanted: GradeOptions, found: GradingPlan, grading: Grading
) -> None:
    """Let what a machine did be rerun that was set aside while others still ran.

    Raises:
        UnfinishedError: that is so: marks are made after it.
    """
    if not grade.withdraw_distrusted(wanted, ground.ledger, found):
        return
    with ground.database.changing() as db:
        queue.again(db, GRADE, grading.id)
    raise UnfinishedError("the results of a machine that was set aside are rerun")


def _refuse_others(db: Connection, job: Job) -> None:
    """Keep marks from being made of a part of the class, or in the place of later ones."""
    if not queue.renew(db, job):
        raise UnfinishedError("another worker is to make these marks")
    if queue.count_unfinished(queue.of(db, job.about), GRADE):
        raise UnfinishedError("some submissions were begun anew")


def export(ground: Ground, job: Job, _company: Company) -> None:
    """Write the pages and sheets of a grading anew: people gave other marks since."""
    grading = _grading(ground, job)
    wanted = ground.options_of(grading)
    found = grade.load_last_plan(ground.ledger, grading.run)
    current = grade.current_marks(wanted, ground.ledger, found)
    _write(ground, grade.find_same_programs(wanted, current, ground.store), grading)


def _describe_changes(conclusion: GradingOutcome) -> list[str]:
    return [f"{previews.names(change)}: {change}" for change in conclusion.changes]


def _write(ground: Ground, conclusion: GradingOutcome, grading: Grading) -> dict[str, Override]:
    """Write all exports with the marks that people gave; return these.

    Who comes later writes the later ones.
    """
    folder = folder_of(ground.settings.assignment_folder(ground.assigned.id), grading.id)
    with lock_folder(folder):
        with ground.database.reading() as db:
            own = uploads.overrides(db, ground.assigned.id)
        given = tuple(as_given(own[key]) for key in sorted(own))
        sheets = gradebooks.sheets(ground.settings, ground.assigned.id)
        _exchange(conclusion.result._replace(given=given), folder, sheets)
        result_files.write_evidence_places(conclusion.result, folder)
    return own


def _exchange(result: ClassResult, folder: Path, sheets: Sheets) -> None:
    """Write all exports; the folder has those of one conclusion, never of two."""
    unfinished, former = (folder.with_name(f"{folder.name}.{end}") for end in ("new", "old"))
    for left in (unfinished, former):
        shutil.rmtree(left, ignore_errors=True)
    unfinished.mkdir(mode=0o700, parents=True)
    filled: dict[str, Filled] = {}
    writing.write(result, unfinished, sheets, on_filled=filled.__setitem__)
    if folder.exists():
        folder.rename(former)
    unfinished.rename(folder)
    gradebooks.keep_notes(folder, filled)
    shutil.rmtree(former, ignore_errors=True)


def _list_marks(conclusion: GradingOutcome, grading: str) -> Sequence[Marked]:
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


def _list_recipients(conclusion: GradingOutcome, grading: str) -> list[Received]:
    """Return who gets each mark: the members of the group when the grading was planned."""
    found = (one.submission for one in conclusion.result.graded)
    return [Received(grading, who.key, one.key) for one in found for who in one.students]


def _grading(ground: Ground, job: Job) -> Grading:
    with ground.database.reading() as db:
        found = uploads.GRADINGS.find(db, id=job.about)
    if found is None:
        raise GoneError("the grading no longer exists")
    return found


def run_engine(ground: Ground, job: Job, company: Company) -> None:
    """Run an engine of an author by the case files of a suite."""
    found = engine_runs.plan_run(ground, job)
    if found:
        _run(ground, ground.wanted, found, _Noter(ground, job), company)
        engine_runs.keep(ground, job, found)


Doing = Callable[[Ground, Job, Company], None]
KINDS: dict[str, Doing] = {
    CHECK: check,
    PLAN: plan_grading,
    GRADE: run_one,
    CONCLUDE: conclude,
    DRAFT: lambda ground, job, _: drafts.draft(ground, job),
    PREVIEW: lambda ground, job, _: previews.preview(ground, job),
    MEASURE: lambda ground, job, _: private_cases.measure(ground, job),
    EXPORT: export,
    RUN: run_engine,
}
