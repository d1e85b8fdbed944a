"""An engine that an author posted: planned as a check is, and kept as a run of its suite."""

import datetime
import os
from collections.abc import Sequence

from harness.grading.grade import GradingPlan
from harness.grading.marks.marker import Marker
from harness.grading.records import Attempt, Graded, StudentSubmissions, SubmittedFile
from harness.records import RunResult
from harness.report import json as run_json
from harness.report.tally import tally
from harness.service.courses import engine_suites
from harness.service.courses.engine_suites import PostedRun
from harness.service.jobs.assignment_context import AssignmentContext
from harness.service.records import Job, SuiteRun
from harness.service.storage import courses
from harness.text import encode_without_surrogates, escape_controls

_LONGEST = 4000  # characters of why there is no result


def plan_run(context: AssignmentContext, job: Job) -> GradingPlan | None:
    """Return what is to be run; None: the run was removed meanwhile."""
    run = _find_run(context, job)
    if run is None:
        return None
    time = datetime.datetime.fromtimestamp(int(run.at))
    file = SubmittedFile(context.store.path(run.sha256), run.name, time)
    return context.plan_public_tests(StudentSubmissions(run.id, (), (file,)))


def _find_run(context: AssignmentContext, job: Job) -> SuiteRun | None:
    with context.database.reading() as db:
        return courses.RUNS.find(db, id=job.about)


def keep(context: AssignmentContext, job: Job, plan: GradingPlan) -> None:
    """Keep the result of an engine, as a document of ``run --json``, or why nothing did."""
    marker = Marker(context.options.assignment, context.ledger, plan.cases, plan.started)
    graded = marker.mark_submission(plan.submissions[0], plan.attempts)
    run, trouble = _find_run(context, job), _trouble(graded)
    if run is None:
        return
    folder = context.settings.suite(run.suite)
    posted = None if trouble else PostedRun.read(_document(context, graded), run.revision)
    with context.database.acting() as act:
        if posted:
            engine_suites.conclude(act, run, posted, folder)
        else:
            engine_suites.fail(act, run, escape_controls(trouble)[:_LONGEST])


def _trouble(graded: Graded) -> str:
    """Return why there is no result, or "" if there is one."""
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
