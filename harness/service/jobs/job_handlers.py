"""Handlers of each kind of job, with the code of ``grade``."""

import datetime
import json
import os
import shutil
from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from harness.core import file_system
from harness.core.errors import HarnessError
from harness.core.records import RunResult, Step
from harness.core.text import encode_without_surrogates, escape_controls, one_line
from harness.grading import grade
from harness.grading.attempts import attempt_plan
from harness.grading.attempts.attempt_plan import GradeOptions, GradingPlan
from harness.grading.attempts.orders import GradingListener
from harness.grading.exports import exporters
from harness.grading.exports.feedback import body_of
from harness.grading.exports.sheet import Filled
from harness.grading.exports.showing import feedback
from harness.grading.grade import GradingOutcome
from harness.grading.ingest.sources import receive
from harness.grading.marks.marker import Marker
from harness.grading.records import Attempt, Graded, StudentSubmissions, SubmittedFile
from harness.reading import casefile
from harness.report import json as run_json
from harness.report.tally import tally
from harness.report.views import Views
from harness.service import machines, monitoring, records
from harness.service.courses import engine_suites, gradebooks, roster, submissions
from harness.service.courses.gradings import as_given
from harness.service.jobs import drafts, previews, private_cases, result_files, tournaments
from harness.service.jobs.assignment_context import AssignmentContext, TargetDeletedError
from harness.service.storage import courses, lti, queue, uploads
from harness.work import canonical_json
from harness.work import records as work_records

_OTHER_CHANGES = (
    "The changes are no longer those that this page showed. Read the new list, then change the"
    " marks."
)


class UnfinishedError(HarnessError):
    """Another worker is at attempts of this job: it is to be tried again."""


class OutdatedError(HarnessError):
    """Something that a job was planned with no longer exists."""


# --- Progress of a running job in the queue, and live results for those who watch ---------------


BEGUN = json.dumps({"word": "begun"})  # a check, once more
_LONGEST_COMMAND = 60  # characters that are told of the test that runs


class ProgressRecorder(GradingListener):
    """Notes in the queue that a job gets on, and counts attempts."""

    def __init__(self, context: AssignmentContext, job: records.Job) -> None:
        self._context = context
        self._job = job

    def on_event(self, unit: work_records.WorkUnit, event: work_records.AttemptEvent) -> None:
        """Take in what a worker says."""
        match event:
            case work_records.AttemptFinished(figures=figures, doubtful=doubtful, failed=failed):
                seconds = figures.seconds
                # One in doubt is run once more, and counts again.
                outcome = "in doubt" if doubtful else "failed" if failed else "passed"
            case work_records.HarnessFailed():
                seconds, outcome = 0.0, "harness error"
            case _:
                return
        with self._context.database.changing() as db:
            queue.add_figure(db, monitoring.ATTEMPTS, seconds, outcome=outcome)
            if isinstance(event, work_records.AttemptFinished):
                queue.note_progress(db, self._job)


class LiveResultPublisher(ProgressRecorder):
    """Tells those who watch a page what was judged. Public case files only come here."""

    def __init__(self, context: AssignmentContext, job: records.Job) -> None:
        super().__init__(context, job)
        self._now: dict[str, object] = {}  # the test that runs
        self._shown: dict[str, object] = {}  # the one that is told of
        self._number = 0  # of the word that tells of it
        self._steps: dict[str, Sequence[Step]] = {}  # of case files, by their SHA-256

    def on_event(self, unit: work_records.WorkUnit, event: work_records.AttemptEvent) -> None:
        """Take in what a worker says."""
        self._now = {}
        told: dict[str, object]
        match event:
            case work_records.BuildFinished(build=build):
                told = {"word": "built", "ok": build.ok}
            case work_records.HarnessFailed():
                told = {"word": "broke"}
            case _:
                told = {"word": "done", "failed": event.failed, "again": event.doubtful}
        name = next((case.name for case in unit.cases if case.basis == event.basis), "")
        self._say({"case": name, **told})
        super().on_event(unit, event)

    def on_progress(self, unit: work_records.WorkUnit, event: work_records.ProgressEvent) -> None:
        """Take note of the test that runs now; files that end at once are not told of."""
        case = next(case for case in unit.cases if case.basis == event.basis)
        if case.sha256 not in self._steps:
            content = self._context.ledger.content(case.sha256)
            self._steps[case.sha256] = casefile.parse(content, case.name).steps
        steps = self._steps[case.sha256]
        judged = event.step if isinstance(event, work_records.CaseProgress) else -1
        tests = [place for place, step in enumerate(steps) if step.is_test]
        left = [place for place in tests if place > judged]
        self._now = {}
        if left:
            self._now = {
                "word": "running",
                "case": case.name,
                "test": len(tests) - len(left) + 1,
                "of": len(tests),
                "command": one_line(steps[left[0]].text, _LONGEST_COMMAND),
            }

    def on_time(self, under_way: Sequence[work_records.WorkUnit]) -> None:
        """Tell which test runs now, unless that is known."""
        if self._now and self._now != self._shown:
            self._say(self._now)

    def _say(self, word: dict[str, object]) -> None:
        with self._context.database.changing() as db:
            number = uploads.say(db, self._job.about, json.dumps(word), self._number)
        self._shown, self._number = (word, number) if word["word"] == "running" else ({}, 0)


# --- A submission is checked ---------------------------------------------------------------------


def check(context: AssignmentContext, job: records.Job) -> None:
    """Take in an upload, and run the public tests: its owner watches."""
    with context.database.changing() as db:
        upload = uploads.UPLOADS.find(db, id=job.about)
        uploads.forget_words(db, job.about, BEGUN)
        owners = uploads.owners_of(db, [job.about]).get(job.about, frozenset())
        course = context.assigned.course
        members = courses.students(db, course) + courses.students(db, course, records.FORMER)
    if upload is None:
        raise TargetDeletedError("the upload no longer exists")
    found = None
    if upload.run:  # what another worker planned that did not come to the end, if it still holds
        former = attempt_plan.load_last_plan(context.ledger, upload.run)
        found = None if attempt_plan.is_outdated(context.options, former) else former
    if found is None:
        own = roster.entry(upload.key, [one for one in members if one.key in owners])
        file = submissions.make_submitted_file(context.store, upload)
        found = context.plan_public_tests(own._replace(files=(file,)))
        record = canonical_json.dumps(found.submissions[0])
        with context.database.changing() as db:
            if not queue.renew(db, job):  # a newer upload of the assignment wants other files
                raise UnfinishedError("another worker is to check this upload")
            uploads.UPLOADS.change(db, {"record": record, "run": found.run}, id=upload.id)
    _run(context, context.options, found, LiveResultPublisher(context, job))
    _write_check(context, upload, found)


def _write_check(context: AssignmentContext, upload: records.Upload, plan: GradingPlan) -> None:
    """Write the result of the public tests, as its owner sees it: made once, read often.

    A person is to see where the harness failed: a page without these tests would look well.
    """
    assignment = context.options.assignment
    marker = Marker(assignment, context.ledger, plan)
    graded = marker.mark_submission(plan.submissions[0], plan.attempts)
    if faults := [f"{one.case}: {one.fault}" for one in graded.attempts if one.fault]:
        raise HarnessError(f"public tests could not be run: {'; '.join(faults)}")
    views = Views(assignment.specification, assignment.place)
    shown = feedback(graded, marker.result([graded]), views)
    unmarked = shown.marks._replace(withheld=True, note="")  # a check gives no mark
    # The page tells when it came, with the zone.
    text = body_of(shown._replace(marks=unmarked, time=None))
    path = result_files.check_page(context.folder, upload.id)
    result_files.write_check_result(path, graded)  # it makes the folder
    file_system.write_whole(path, escape_controls(text))


def find_assigned(db: Connection, job: records.Job) -> records.CourseAssignment:
    """Return the assignment that a job is about; of a grading as it was when that was planned."""
    found = courses.ASSIGNMENTS.find(db, id=job.assignment)
    assert found is not None  # jobs refer to it
    grading = uploads.GRADINGS.find(db, id=job.about)
    return found._replace(edition=grading.edition) if grading and grading.run else found


# --- a class is graded -------------------------------------------------------------------------


def _load(
    context: AssignmentContext, job: records.Job
) -> tuple[records.Grading, GradeOptions, GradingPlan]:
    grading = context.find_grading(job)
    plan = attempt_plan.load_last_plan(context.ledger, grading.run)
    return grading, context.options_of(grading), plan


def plan_grading(context: AssignmentContext, job: records.Job) -> None:
    """Take in all submissions, record the runs to be done, and queue them."""
    grading = context.find_grading(job)
    if grading.run:
        return
    options = context.options_of(grading)
    with context.database.reading() as db:
        sent = submissions.entries(db, context.store, context.assigned)
    received = [receive(one, options.assignment, context.store, context.overlay) for one in sent]
    named = None if options.public_only else options.private
    cases = attempt_plan.cases(options.assignment, named)
    if options.images:
        cases += attempt_plan.images(options.assignment, cases, context.ledger.seed)
    found = attempt_plan.plan_attempts(options, context.ledger, received, cases)
    with context.database.changing() as db:
        used = {"run": found.run, "edition": context.assigned.edition}
        uploads.GRADINGS.change(db, used, id=grading.id)
        for key in found.by_key():
            own = records.Job("", records.GRADE, job.assignment, grading.id, key, due=job.due)
            queue.put(db, own)


def run_one(context: AssignmentContext, job: records.Job) -> None:
    """Run the case files of a grading against one submission."""
    _, options, plan = _load(context, job)
    own = plan._replace(
        submissions=tuple(one for one in plan.submissions if one.key == job.key),
        attempts=tuple(one for one in plan.attempts if one.key == job.key),
    )
    if attempt_plan.is_outdated(options, own):
        raise OutdatedError(
            "the assignment, its case files or the harness has changed since this grading was"
            " begun: begin another one"
        )
    _run(context, options, own, ProgressRecorder(context, job))


def _run(
    context: AssignmentContext, options: GradeOptions, plan: GradingPlan, listener: GradingListener
) -> None:
    bases = [one.basis for one in plan.attempts]
    context.ledger.begin_anew(bases)  # what the harness failed in before, as in each call of grade
    with machines.cluster_machines(context.settings) as others:
        grade.run(
            options, context.ledger, plan, context.store, listener, context.concurrency, others
        )
    states = context.ledger.states(bases)
    if any(state.state not in ("done", "fault") for state in states.values()):
        raise UnfinishedError("another worker is at it")


def conclude(context: AssignmentContext, job: records.Job) -> None:
    """Make marks of what the ledger has, and write all pages and sheets."""
    with context.database.changing() as db:
        _refuse_others(db, job)
    grading, options, plan = _load(context, job)
    if grade.withdraw_distrusted(options, context.ledger, plan):
        with context.database.changing() as db:
            queue.again(db, records.GRADE, grading.id)
        raise UnfinishedError("the results of a machine that was set aside are rerun")
    changes = json.loads(grading.changes)
    if grading.accept:
        # Marks in force may change if somebody has accepted each change, having seen it. Dates or
        # extensions may have changed since, or an attempt was rerun that the harness failed in.
        preview = grade.update_marks(options, context.ledger, plan, is_preview=True)
        options = options._replace(accept=set(_describe_changes(preview)) <= set(changes))
    concluded = grade.update_marks(options, context.ledger, plan)
    conclusion = grade.find_same_programs(options, concluded, context.store)
    written = _write(context, conclusion, grading)
    result = conclusion.result
    views = Views(result.assignment.specification, result.assignment.place)
    marks = [
        records.StudentMark(
            grading.id,
            one.submission.key,
            canonical_json.dumps(one.marks),
            canonical_json.dumps(feedback(one, result, views).marks),
        )
        for one in result.graded
    ]
    # A second time there may be none, if a worker died after the first: they were made.
    kept = changes if options.accept else []
    values = {
        "changes": json.dumps(_describe_changes(conclusion) or kept),
        "accept": options.accept,
        "trouble": _OTHER_CHANGES if grading.accept and not options.accept else "",
    }
    with context.database.changing() as db:
        courses.lock(db, grading.assignment)
        _refuse_others(db, job)
        uploads.MARKS.remove(db, grading=grading.id)
        uploads.RECEIVED_BY.remove(db, grading=grading.id)
        for mark in marks:
            uploads.MARKS.add(db, mark)
        for one in result.graded:
            # Who gets a mark: the members of the group when the grading was planned.
            for who in one.submission.students:
                got = records.MarkRecipient(grading.id, who.key, one.submission.key)
                uploads.RECEIVED_BY.add(db, got)
        now = uploads.next_moment(db, grading.assignment)
        uploads.GRADINGS.change(db, {**values, "concluded": now}, id=grading.id)
        lti.put_scores(db, grading.assignment)  # of one that is released already
        if uploads.overrides(db, grading.assignment) != written:  # given meanwhile
            queue.put_anew(db, records.Job("", records.EXPORT, grading.assignment, grading.id))
        context.database.log.note(db, "", "graded", grading.id, marks=len(marks))
        queue.finish(db, job)  # with the marks: else they were made and noted twice after a death


def _refuse_others(db: Connection, job: records.Job) -> None:
    """Keep marks from being made of a part of the class, or in the place of later ones."""
    if not queue.renew(db, job):
        raise UnfinishedError("another worker is to make these marks")
    if queue.count_unfinished(queue.of(db, job.about), records.GRADE):
        raise UnfinishedError("some submissions were begun anew")


def _describe_changes(conclusion: GradingOutcome) -> list[str]:
    return [f"{previews.names(change)}: {change}" for change in conclusion.changes]


def export(context: AssignmentContext, job: records.Job) -> None:
    """Write the pages and sheets of a grading anew: people gave other marks since."""
    grading, options, plan = _load(context, job)
    current = grade.update_marks(options, context.ledger, plan, is_preview=True)
    _write(context, grade.find_same_programs(options, current, context.store), grading)


def _write(
    context: AssignmentContext, conclusion: GradingOutcome, grading: records.Grading
) -> dict[str, records.Override]:
    """Write all exports with the marks that people gave; return these.

    Who comes later writes the later ones.
    """
    folder = result_files.folder_of(context.folder, grading.id)
    with result_files.lock_folder(folder):
        with context.database.reading() as db:
            own = uploads.overrides(db, context.assigned.id)
        given = tuple(as_given(own[key]) for key in sorted(own))
        sheets = gradebooks.sheets(context.settings, context.assigned.id)
        # The folder has the exports of one conclusion, never of two.
        unfinished, former = (folder.with_name(f"{folder.name}.{end}") for end in ("new", "old"))
        for left in (unfinished, former):
            shutil.rmtree(left, ignore_errors=True)
        unfinished.mkdir(mode=0o700, parents=True)
        filled: dict[str, Filled] = {}
        result = conclusion.result._replace(given=given)
        exporters.write(result, unfinished, sheets, on_filled=filled.__setitem__)
        if folder.exists():
            folder.rename(former)
        unfinished.rename(folder)
        gradebooks.keep_notes(folder, filled)
        shutil.rmtree(former, ignore_errors=True)
        result_files.write_evidence_places(conclusion.result, folder)
    return own


# --- an engine that an author posted: planned as a check is, and kept as a run of its suite ------


_LONGEST = 4000  # characters of why there is no result


def run_engine(context: AssignmentContext, job: records.Job) -> None:
    """Run an engine of an author by the case files of a suite, unless the run was removed.

    The result is kept as a document of ``run --json``, or why there is none.
    """
    if (run := _find_run(context, job)) is None:
        return
    time = datetime.datetime.fromtimestamp(int(run.at))
    file = SubmittedFile(context.store.path(run.sha256), run.name, time)
    plan = context.plan_public_tests(StudentSubmissions(run.id, (), (file,)))
    _run(context, context.options, plan, ProgressRecorder(context, job))
    marker = Marker(context.options.assignment, context.ledger, plan)
    graded = marker.mark_submission(plan.submissions[0], plan.attempts)
    if (run := _find_run(context, job)) is None:
        return
    trouble, posted = _trouble(graded), None
    if not trouble:
        posted = engine_suites.PostedRun.read(_document(context, graded), run.revision)
    with context.database.acting() as act:
        if posted:
            engine_suites.conclude(act, run, posted)
        else:
            told = escape_controls(trouble)[:_LONGEST]
            courses.RUNS.change(act.db, {"trouble": told}, id=run.id)


def _find_run(context: AssignmentContext, job: records.Job) -> records.SuiteRun | None:
    with context.database.reading() as db:
        return courses.RUNS.find(db, id=job.about)


def _trouble(graded: Graded) -> str:
    build = graded.build
    if graded.submission.refused:
        return graded.submission.refused
    if build and not build.ok:
        return f"It does not build: {build.message}\n{build.output}"
    if not _results(graded.attempts):
        faults = [one.fault for one in graded.attempts if one.fault]
        return f"The harness failed: {faults[0]}" if faults else "No case file was run."
    return ""


def _results(attempts: Sequence[Attempt]) -> list[Attempt]:
    return [one for one in attempts if one.result and not one.fault]


def _document(context: AssignmentContext, graded: Graded) -> bytes:
    attempts = _results(graded.attempts)
    files = tuple(one.result for one in attempts if one.result)
    assignment = context.options.assignment
    begun = min((run.started for one in attempts for run in one.runs if run.started), default="")
    found = RunResult(
        program=assignment.engine.command,
        files=files,
        errors=(),
        started=begun or f"{datetime.datetime.now(datetime.UTC):%Y-%m-%dT%H:%M:%SZ}",
        host=os.uname().nodename,
        options={"sandbox": context.options.sandbox},
        faults=tuple(f"{one.case}: {one.fault}" for one in graded.attempts if one.fault),
        diagnoses=graded.diagnoses,
    )
    return encode_without_surrogates("".join(run_json.parts(found, [*map(tally, files)])))


KINDS: dict[str, Callable[[AssignmentContext, records.Job], None]] = {
    records.CHECK: check,
    records.PLAN: plan_grading,
    records.GRADE: run_one,
    records.CONCLUDE: conclude,
    records.DRAFT: drafts.draft,
    records.PREVIEW: previews.preview,
    records.MEASURE: private_cases.measure,
    records.EXPORT: export,
    records.RUN: run_engine,
    records.TOURNAMENT: tournaments.hold,
}
