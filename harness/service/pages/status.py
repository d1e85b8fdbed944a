"""The first lines of a student's pages: what happened, and what to do, with its time."""

import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from harness.grading.records import Marks
from harness.service import records
from harness.service.courses import deadlines, gradings, own_files, progress, submissions
from harness.service.courses.making import moment
from harness.service.courses.progress import SubmissionFacts, SubmissionWindow
from harness.service.courses.submissions import SubmissionHistory, refusal
from harness.service.jobs import result_files
from harness.service.local_times import describe_day, describe_distance
from harness.service.storage import queue, uploads
from harness.service.web.access import Context
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
    context: Context,
    upload: records.Upload | None,
    history: SubmissionHistory,
    *,
    has_mark: bool,
) -> FirstLines:
    """Return the first lines about a submission, or about that there is none.

    ``history``: that it is of; ``has_mark``: whether a mark that is released comes first.
    """
    now, member, assigned = datetime.datetime.now(), context.member, context.assigned
    facts = _load_check(db, context, upload, history) if upload else SubmissionFacts()
    released = uploads.find_released_mark(db, assigned.id, member.key)
    if released:  # as much of the mark as may be seen
        shown = canonical_json.loads(Marks, released.marked.shown)
        usable = [one for one in history.counting if not refusal(one)]
        facts = facts._replace(
            is_released=has_mark,
            mark=gradings.format_counting_mark(shown, released.override),
            is_given=released.override is not None,
            is_newer=bool(usable) and usable[-1].at > released.grading.released,
            awaits_mark=False,
        )
    window = _find_window(db, assigned, member.submits_as, now)
    found, until, away = progress.describe_status(facts, window), "", ""
    if found.until:
        until, away = describe_day(found.until), describe_distance(found.until, now)
    return FirstLines(found.look, found.label, found.happened, found.advice, until, away)


def _find_window(
    db: Connection, assignment: records.CourseAssignment, key: str, now: datetime.datetime
) -> SubmissionWindow:
    """Return whether a student or group can submit now, and until when."""
    if submissions.is_before(assignment, now):
        return SubmissionWindow("before", moment(assignment.opens))
    if submissions.explain_closed(db, assignment, key, now):
        return SubmissionWindow("closed")
    rule = deadlines.load_rule(db, assignment, key)
    if deadlines.describe_late(rule, now.timestamp()):
        return SubmissionWindow("late", rule.refused_after, deadlines.describe_cost(rule))
    return SubmissionWindow("open", rule.deadline or rule.refused_after)


_STATES: dict[str, progress.UploadState] = {
    records.WAITING: "waiting",
    records.LEASED: "checking",
    records.HELD: "held",
    records.DONE: "checked",
    records.FAULT: "fault",
}


def _load_check(
    db: Connection, context: Context, upload: records.Upload, history: SubmissionHistory
) -> SubmissionFacts:
    """Return how far a submission is, and what its check found."""
    settings, assigned = context.settings, context.assigned
    job = queue.checks(db, about=upload.id).get(upload.id)
    state: progress.UploadState = _STATES[job.state] if job else "waiting"
    if upload.withdrawn:
        state = "withdrawn"
    elif refusal(upload):
        state = "refused"
    if job and state in ("waiting", "checking") and own_files.list_missing(settings, assigned):
        state = "held"
    facts = SubmissionFacts(state)
    if state == "waiting" and job:
        return facts._replace(ahead=queue.ahead(db, job))
    if state == "refused":
        instead = history.last
        counts = begin_sentence(submissions.name_upload(instead)) if instead else ""
        return facts._replace(refused=refusal(upload), counts_instead=counts)
    page = result_files.check_page(settings.assignment_folder(upload.assignment), upload.id)
    outcome = result_files.read_check_result(page) if state == "checked" else None
    if outcome is None:
        return facts
    return facts._replace(
        passed=sum(one.passed for one in outcome.cases),
        tests=sum(one.tests for one in outcome.cases),
        builds=outcome.builds is not False,
        archive_faults=len(outcome.faults),
        unjudged=sum(one.result == result_files.FAULT for one in outcome.cases),
    )


_WORDS = {
    records.DONE: "checked",
    records.FAULT: "could not be checked",
    records.HELD: "kept, not checked yet",
}


def upload_state(upload: records.Upload, job: records.Job | None) -> str:
    """Return how far an upload is, in words; ``job``: the one that checks it."""
    if upload.withdrawn:
        return "withdrawn"
    if refusal(upload):
        return "refused"
    if job is None:
        return "received"
    waiting = "being checked" if upload.record else "waiting to be checked"
    return _WORDS.get(job.state, waiting)
