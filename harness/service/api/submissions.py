"""Submissions, the marks that they got, and what the staff add: comments and overrides.

Submissions are sent as plain bytes: the body of a request as it is, so that they are read only
once the guard let them in.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from fastapi import Query
from fastapi.responses import Response
from pydantic import BaseModel, Field
from sqlalchemy import Connection

from harness.grading.records import Marks, counting_mark, decimal
from harness.service import records
from harness.service.api import requests
from harness.service.api.requests import Asked, Json, Key, Moment, Page
from harness.service.courses import deadlines, gradings, own_files, submissions
from harness.service.courses.submissions import SubmissionHistory as History
from harness.service.jobs import result_files
from harness.service.records import COMMENT, OVERRIDE, Comment, Override, Upload
from harness.service.storage import courses, people, queue, uploads
from harness.service.web import access, rendering
from harness.service.web.access import STAFF_ONLY, STUDENTS, Context
from harness.service.web.request_context import RequestContext, own_uploads, require_found
from harness.work import canonical_json

ROUTES = requests.ApiRoutes("submissions")
_ASSIGNMENT = "/courses/{course}/assignments/{assignment}"
_ALL = f"{_ASSIGNMENT}/submissions"
_ONE = f"{_ALL}/{{upload}}"
_FILE = requests.describe_file()

State = Literal["waiting", "checking", "checked", "refused", "fault", "withdrawn"]
_STATES: dict[str, State] = {
    records.WAITING: "waiting",
    records.HELD: "waiting",  # for what the assignment lacks: see its place
    records.LEASED: "checking",
    records.DONE: "checked",
    records.FAULT: "fault",
}


class SubmissionShown(BaseModel):
    """A submission, and how far it is. ``fault``: the service failed, not the submission.

    ``refused``: it cannot be graded, and an earlier one counts in its place.
    """

    id: str
    student: str  # as whose it was sent: the key of a student or of a group
    name: str  # of the file
    sha256: str
    size: int  # bytes
    at: Moment
    late: str  # how late, and what that costs; empty if in time
    state: State
    counts: bool  # whether it is the one that a grading would take now
    may_count: bool  # whether it will be, if its check does not refuse it
    refused: str  # why its check refused it; else empty
    page: str  # the address of its page


class CaseResult(BaseModel, from_attributes=True):
    """The result of one public case file. ``harness error``: it says nothing."""

    case: str
    result: Literal["passed", "failed", "harness error"]
    tests: int
    passed: int


class CheckResult(BaseModel):
    """The result of a check."""

    refused: str  # why nothing was run; else empty
    faults: list[str]  # what is wrong with the archive
    builds: bool | None  # null: there is nothing to be built
    cases: list[CaseResult]


class SubmissionResult(SubmissionShown):
    """A submission with the result of its check."""

    place: str  # what a grading would do with it, in sentences; "" if it is withdrawn
    ahead: int  # how many jobs wait before it
    check: CheckResult | None  # null: not known yet


@ROUTES.at("GET", _ALL, access.MEMBERS)
def listed(context: Context, page: Asked) -> Page[SubmissionShown]:
    """List submissions, the first one first: a student's own, to the staff all of them."""
    named: dict[str, object] = {"assignment": context.assigned.id}
    with context.reading() as db:
        if not context.is_staff:
            named["id"] = [one.id for one in own_uploads(db, context)]
        found = requests.find_page(db, uploads.UPLOADS, uploads.ORDER, page, **named)
        shown = _describe(db, context, found.rows, _histories(db, context))
        return Page(items=[SubmissionShown(**one) for one in shown], next=found.next)


@ROUTES.at("GET", _ONE, access.MEMBERS)
def one(context: Context) -> SubmissionResult:
    """Show a submission with the results of its public case files."""
    with context.reading() as db:
        return _result(db, context, context.upload)


@ROUTES.at("GET", f"{_ONE}/file", access.MEMBERS, **_FILE)
def file(context: Context) -> Response:
    """Give the bytes that were submitted."""
    return rendering.send_submission(context)


@ROUTES.at("POST", _ALL, STUDENTS, scope="submit", status_code=201)
def submit(
    context: Context,
    path: requests.Archive,
    name: Annotated[str, Query(min_length=1, max_length=200, description="of the file")],
    key: Key = "",
) -> SubmissionResult:
    """Submit an archive. The answer is the receipt: what is kept has this SHA-256."""
    assigned, member, settings = context.assigned, context.member, context.settings
    kept = submissions.keep(context.service.store, path, name, settings.largest)
    sent = (assigned.id, kept.name, kept.sha256)
    with context.acting() as act:
        made = requests.make_once(
            act, key, sent, lambda: submissions.take(act, assigned, member, kept, settings).id
        )
        found = uploads.UPLOADS.find(act.db, id=made)
        assert found is not None  # uploads are never removed
        return _result(act.db, context, found)


@ROUTES.at("POST", f"{_ONE}/withdraw", STUDENTS, scope="submit")
def withdraw(context: Context) -> SubmissionResult:
    """Withdraw a submission: it then no longer counts."""
    with context.acting() as act:
        submissions.withdraw(act, context.assigned, context.member.submits_as, context.upload)
        return _result(act.db, context, context.upload._replace(withdrawn=True))


def _histories(db: Connection, context: RequestContext) -> list[History]:
    """Return what was submitted, to a student the own submissions."""
    if context.is_staff:
        return [*submissions.all_histories(db, context.assigned).values()]
    return [submissions.history_of(db, context.assigned, context.member.submits_as)]


def _describe(
    db: Connection, context: RequestContext, rows: Sequence[Upload], histories: list[History]
) -> Iterator[dict[str, Any]]:
    """Yield the members of :class:`SubmissionShown` for uploads, which are in the histories."""
    key = "" if context.is_staff else context.member.submits_as
    rules = deadlines.load_rules(db, context.assigned, rows, key)
    places, base = submissions.places(histories), f"{context.settings.base}{context.course_page}"
    for upload in rows:
        state: State = "withdrawn"
        if not upload.withdrawn:
            job = next((one for one in queue.of(db, upload.id) if one.kind == records.CHECK), None)
            state = _STATES[job.state] if job else "waiting"
            if state == "checked" and submissions.refusal(upload):
                state = "refused"
        yield {
            **upload._asdict(),
            "student": upload.key,
            "late": deadlines.describe_late(rules[upload.id], upload.at),
            "state": state,
            "counts": places.get(upload.id) == submissions.COUNTS,
            "may_count": places.get(upload.id) == submissions.MAY_COUNT,
            "refused": submissions.refusal(upload),
            "page": f"{base}/assignments/{upload.assignment}/uploads/{upload.id}",
        }


def _result(db: Connection, context: RequestContext, upload: Upload) -> SubmissionResult:
    histories, settings = _histories(db, context), context.settings
    (shown,) = _describe(db, context, [upload], histories)
    jobs = queue.of(db, upload.id)
    waiting = [one for one in jobs if one.state == records.WAITING]
    held = own_files.explain_held(settings, context.assigned, jobs, is_staff=context.is_staff)
    place = submissions.explain_place(submissions.history_with(histories, upload.id), upload)
    check = None
    if shown["state"] in ("checked", "refused", "withdrawn"):
        page = result_files.check_page(settings.assignment_folder(upload.assignment), upload.id)
        if found := result_files.read_check_result(page):
            check = CheckResult(**found._asdict())
    return SubmissionResult(
        **shown,
        place=" ".join(filter(None, (held, place))),
        ahead=queue.ahead(db, waiting[0]) if waiting else 0,
        check=check,
    )


# --- Marks: of a grading for the staff, the released one for a student ---------------------------

MARK_ROUTES = requests.ApiRoutes("marks")


class PartShown(BaseModel):
    """A part of a computed mark."""

    name: str
    points: str  # decimal digits
    of: str
    reason: str
    is_complete: bool  # false: something could not be judged, and does not count


class MarkShown(BaseModel):
    """The mark of a student. Points are texts of decimal digits; null: there is no mark yet.

    A student who joined the course or a group since has none: the reason says so.
    """

    student: str
    group: str  # whose work was graded; empty for a student alone
    points: str | None  # those that count
    of: str | None  # what could be reached
    computed: str | None
    is_given: bool  # a person gave a mark instead of the computed one
    reason: str  # of that person, or what the harness says of the computed mark
    deduction: str  # of the computed mark, for being late
    parts: list[PartShown]  # of the computed mark


@MARK_ROUTES.at("GET", f"{_ASSIGNMENT}/gradings/{{grading}}/marks", STAFF_ONLY, name="listed")
def list_marks(context: Context, page: Asked) -> Page[MarkShown]:
    """List the marks of a grading by the keys of students, with those that count now."""
    grading = context.grading
    with context.reading() as db:
        got = uploads.RECEIVED_BY.all(db, grading=grading.id)
        rows = uploads.MARKS.all(db, grading=grading.id)
        computed = {row.key: canonical_json.loads(Marks, row.marks) for row in rows}
        own = uploads.overrides(db, grading.assignment)
        unmarked = gradings.list_unmarked(db, grading, context.course.id)
    found = [describe_mark(o.student, o.key, computed[o.key], own.get(o.student)) for o in got]
    found += [
        MarkShown(
            student=each.member.key,
            group=each.member.team,
            points=None,
            of=None,
            computed=None,
            is_given=False,
            reason=each.why,
            deduction="0",
            parts=[],
        )
        for each in unmarked
    ]
    return requests.cut(sorted(found, key=lambda one: one.student), lambda one: one.student, page)


@MARK_ROUTES.at("GET", f"{_ASSIGNMENT}/mark", STUDENTS)
def own_mark(context: Context) -> MarkShown:
    """Show the student's mark in the grading that was released last."""
    with context.reading() as db:
        released = uploads.find_released_mark(db, context.assigned.id, context.member.key)
    found = require_found(released, "there is no mark of yours yet")
    shown = canonical_json.loads(Marks, found.marked.shown)
    return describe_mark(context.member.key, found.marked.key, shown, found.override)


def describe_mark(student: str, key: str, marks: Marks, given_mark: Override | None) -> MarkShown:
    """Return a mark as the API tells it; ``key``: under which it was graded."""
    counts = counting_mark(marks, gradings.as_given(given_mark) if given_mark else None)
    return MarkShown(
        student=student,
        group=key if key != student else "",
        points=_points(counts),
        of=decimal(marks.of),
        computed=_points(marks),
        is_given=given_mark is not None,
        reason=given_mark.reason if given_mark else marks.note,
        deduction=decimal(marks.deduction),
        parts=[
            PartShown(
                name=one.name,
                points=decimal(one.points),
                of=decimal(one.of),
                reason=one.reason,
                is_complete=one.complete,
            )
            for one in ([] if marks.withheld else marks.parts)
        ],
    )


def _points(marks: Marks) -> str | None:
    return None if marks.withheld else decimal(marks.total)


# --- What the staff add to what is computed: comments, and marks given instead of computed ones --

REMARKS = requests.ApiRoutes("remarks")
_STUDENT = f"{_ASSIGNMENT}/students/{{student}}"


class CommentShown(BaseModel):
    """Comment by the staff for a student or a group."""

    id: str
    student: str  # the key of the student or group at that time
    by: str  # the name
    at: Moment
    text: str


class CommentWanted(BaseModel):
    """A comment that is to be made."""

    text: str = Field(min_length=1, max_length=4000)


class OverrideShown(BaseModel):
    """A mark that a person gave a student instead of the computed one."""

    student: str
    points: str  # decimal digits
    computed: str  # the computed mark at that time, in words
    reason: str
    by: str  # the name
    at: Moment


class OverrideWanted(BaseModel):
    """A mark that is to count instead of the computed one."""

    points: str = Field(max_length=30, description="such as 4, 4.5 or 9/2")
    reason: str = Field(min_length=1, max_length=4000)


class Overrides(BaseModel):
    """The marks that a student, or each of a group, was given."""

    items: list[OverrideShown]


@REMARKS.at("GET", f"{_STUDENT}/comments", STAFF_ONLY)
def comments(context: Context, page: Asked) -> Page[CommentShown]:
    """List the comments for a student or a group, the first one first."""
    with context.reading() as db:
        theirs = courses.students_of(db, context.course.id, context.student)
        return _comments(db, context, page, theirs)


@REMARKS.at("GET", f"{_ASSIGNMENT}/comments", STUDENTS)
def own_comments(context: Context, page: Asked) -> Page[CommentShown]:
    """List the comments for the student, the first one first; none before marks are released."""
    with context.reading() as db:
        is_shown = uploads.find_released_mark(db, context.assigned.id, context.member.key)
        return _comments(db, context, page, [context.member.key] if is_shown else [])


def _comments(
    db: Connection, context: RequestContext, page: Asked, students: list[str]
) -> Page[CommentShown]:
    ids = [one.id for one in uploads.comments(db, context.assigned.id, students)]
    named: dict[str, object] = {"assignment": context.assigned.id, "id": ids}
    found = requests.find_page(db, uploads.COMMENTS, ("at", "id"), page, **named)
    return found.show(lambda one: _comment(db, one))


@REMARKS.at("POST", f"{_STUDENT}/comments", access.require_permission(COMMENT), status_code=201)
def comment(context: Context, body: Json[CommentWanted], key: Key = "") -> CommentShown:
    """Say something to a student or a group.

    409: a request with the same key made a comment that was removed since.
    """
    assigned, student, text = context.assigned, context.student, body.text
    sent = ("comment", assigned.id, student, text)
    with context.acting() as act:
        made = requests.make_once(
            act, key, sent, lambda: gradings.comment(act, assigned, student, text).id
        )
        found = uploads.COMMENTS.find(act.db, id=made)
        return _comment(act.db, requests.require_kept(found, "comment"))


@REMARKS.at("DELETE", f"{_STUDENT}/comments/{{comment}}", access.COMMENT_REMOVERS)
def remove_comment(context: Context) -> None:
    """Remove a comment: for its author and for teachers."""
    with context.acting() as act:
        gradings.remove_comment(act, context.assigned, context.student, context.comment)


@REMARKS.at("GET", f"{_ASSIGNMENT}/overrides", STAFF_ONLY)
def overrides(context: Context, page: Asked) -> Page[OverrideShown]:
    """List the marks that people gave, by the keys of students."""
    assigned = context.assigned.id
    with context.reading() as db:
        found = requests.find_page(db, uploads.OVERRIDES, ("key",), page, assignment=assigned)
        return found.show(lambda one: _override(db, one))


@REMARKS.at("PUT", f"{_STUDENT}/override", access.require_permission(OVERRIDE))
def override(context: Context, body: Json[OverrideWanted]) -> Overrides:
    """Give a student, or each of a group, a mark instead of the computed one."""
    assigned = context.assigned
    with context.acting() as act:
        told = gradings.Decision(body.points, body.reason)
        gradings.decide(act, assigned, context.student, told)
        theirs = courses.students_of(act.db, assigned.course, context.student)
        own = uploads.overrides(act.db, assigned.id)
        return Overrides(items=[_override(act.db, own[one]) for one in theirs])


@REMARKS.at("DELETE", f"{_STUDENT}/override", access.require_permission(OVERRIDE))
def end_override(context: Context) -> None:
    """Let the computed mark count again."""
    with context.acting() as act:
        gradings.end_override(act, context.assigned, context.student)


def _comment(db: Connection, one: Comment) -> CommentShown:
    return CommentShown(**one._asdict(), student=one.key, by=_name(db, one.person))


def _override(db: Connection, one: Override) -> OverrideShown:
    told = {**one._asdict(), "points": decimal(gradings.as_given(one).points)}
    return OverrideShown(**told, student=one.key, by=_name(db, one.person))


def _name(db: Connection, person: str) -> str:
    found = people.PEOPLE.find(db, id=person)
    return found.name if found else ""
