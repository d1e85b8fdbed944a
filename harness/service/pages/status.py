"""The first lines of a student's pages: what happened, and what to do, with its time."""

import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from harness.grading.records import Marks
from harness.service import records
from harness.service.courses import gradings, own_files, submissions
from harness.service.courses.deadlines import describe_cost, describe_late, load_rule
from harness.service.courses.making import moment
from harness.service.courses.progress import (
    SubmissionFacts,
    SubmissionWindow,
    UploadState,
    describe_status,
)
from harness.service.courses.submissions import SubmissionHistory, refusal
from harness.service.jobs.result_files import FAULT as UNJUDGED
from harness.service.jobs.result_files import check_page, read_check_result
from harness.service.local_times import describe_day, describe_distance
from harness.service.storage import queue, uploads
from harness.service.web.request_context import RequestContext
from harness.text import begin_sentence
from harness.work import canonical_json


class FirstLines(NamedTuple):
    """First lines of a page: see :class:`harness.service.courses.progress.StudentStatus`.

    ``until``: the time at the end of the advice, "" for none; ``distance``: how far away it is.
    """

    look: str
    label: str
    happened: str
    advice: str
    until: str
    distance: str


def load_lines(
    db: Connection,
    context: RequestContext,
    upload: records.Upload | None,
    history: SubmissionHistory,
    *,
    has_mark: bool,
) -> FirstLines:
    """Return the first lines about a submission, or about that there is none.

    ``history``: that it is of; ``has_mark``: whether a mark that is released comes first.
    """
    now = datetime.datetime.now()
    facts = _load_check(db, context, upload, history) if upload else SubmissionFacts()
    facts = _with_mark(db, context.assigned, context.member.key, history, facts)
    facts = facts if has_mark else facts._replace(is_released=False)
    found = describe_status(
        facts, find_window(db, context.assigned, context.member.submits_as, now)
    )
    until, away = "", ""
    if found.until:
        until, away = describe_day(found.until), describe_distance(found.until, now)
    return FirstLines(found.look, found.label, found.happened, found.advice, until, away)


def find_window(
    db: Connection, assignment: records.CourseAssignment, key: str, now: datetime.datetime
) -> SubmissionWindow:
    """Return whether a student or group can submit now, and until when."""
    if submissions.is_before(assignment, now):
        return SubmissionWindow("before", moment(assignment.opens))
    if submissions.explain_closed(db, assignment, key, now):
        return SubmissionWindow("closed")
    rule = load_rule(db, assignment, key)
    if describe_late(rule, now.timestamp()):
        return SubmissionWindow("late", rule.refused_after, describe_cost(rule))
    return SubmissionWindow("open", rule.deadline or rule.refused_after)


def _load_check(
    db: Connection, context: RequestContext, upload: records.Upload, history: SubmissionHistory
) -> SubmissionFacts:
    """Return how far a submission is, and what its check found."""
    settings, assigned = context.settings, context.assigned
    job = queue.checks(db, about=upload.id).get(upload.id)
    state = _find_state(upload, job)
    if job and state in ("waiting", "checking") and own_files.list_missing(settings, assigned):
        state = "held"
    facts = SubmissionFacts(state)
    if state == "waiting" and job:
        return facts._replace(ahead=queue.ahead(db, job))
    if state == "refused":
        instead = history.last
        counts = begin_sentence(submissions.name_upload(instead)) if instead else ""
        return facts._replace(refused=refusal(upload), counts_instead=counts)
    page = check_page(settings.assignment_folder(upload.assignment), upload.id)
    outcome = read_check_result(page) if state == "checked" else None
    if outcome is None:
        return facts
    return facts._replace(
        passed=sum(one.passed for one in outcome.cases),
        tests=sum(one.tests for one in outcome.cases),
        builds=outcome.builds is not False,
        archive_faults=len(outcome.faults),
        unjudged=sum(one.result == UNJUDGED for one in outcome.cases),
    )


_STATES: dict[str, UploadState] = {
    records.WAITING: "waiting",
    records.LEASED: "checking",
    records.HELD: "held",
    records.DONE: "checked",
    records.FAULT: "fault",
}


def _find_state(upload: records.Upload, job: records.Job | None) -> UploadState:
    if upload.withdrawn:
        return "withdrawn"
    if refusal(upload):
        return "refused"
    return _STATES[job.state] if job else "waiting"


def _with_mark(
    db: Connection,
    assignment: records.CourseAssignment,
    student: str,
    history: SubmissionHistory,
    facts: SubmissionFacts,
) -> SubmissionFacts:
    """Return facts with the mark that is released to a student, as much of it as may be seen."""
    found = uploads.find_released_mark(db, assignment.id, student)
    if found is None:
        return facts
    shown, own = canonical_json.loads(Marks, found.marked.shown), found.override
    usable = [one for one in history.counting if not refusal(one)]
    return facts._replace(
        is_released=True,
        mark=gradings.format_counting_mark(shown, own),
        is_given=own is not None,
        is_newer=bool(usable) and usable[-1].at > found.grading.released,
        awaits_mark=False,
    )
