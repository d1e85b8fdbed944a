"""Submissions: sent as plain bytes, looked at while their public tests run, withdrawn.

Bytes are the body of a request as it is, so that they are read only once the guard let them in.
"""

import datetime
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import Query
from fastapi.responses import Response
from pydantic import BaseModel
from sqlalchemy import Connection

from harness.service.api import requests
from harness.service.courses import deadlines, own_files, submissions
from harness.service.jobs import result_files
from harness.service.records import CHECK, DONE, FAULT, HELD, LEASED, WAITING, Upload
from harness.service.storage import queue, uploads
from harness.service.web import rendering
from harness.service.web.access import MEMBERS, STUDENTS, Context
from harness.service.web.request_context import RequestContext, own_uploads

ROUTES = requests.ApiRoutes("submissions")
_ALL = "/courses/{course}/assignments/{assignment}/submissions"
_ONE = f"{_ALL}/{{upload}}"
_FILE = requests.describe_file()

State = Literal["waiting", "checking", "checked", "refused", "fault", "withdrawn"]
_STATES: dict[str, State] = {
    WAITING: "waiting",
    HELD: "waiting",  # for what the assignment lacks: see its place
    LEASED: "checking",
    DONE: "checked",
    FAULT: "fault",
}
_ENDED: frozenset[State] = frozenset({"checked", "refused", "withdrawn"})


class SubmissionShown(BaseModel):
    """A submission, and how far it is. ``fault``: the service failed, not the submission.

    ``refused``: it cannot be graded, and an earlier one counts in its place.
    """

    id: str
    student: str  # as whose it was sent: the key of a student or of a group
    name: str  # of the file
    sha256: str
    size: int  # bytes
    at: datetime.datetime
    late: str  # how late, and what that costs; empty if in time
    state: State
    counts: bool  # whether it is the one that a grading would take now
    may_count: bool  # whether it will be, if its check does not refuse it
    refused: str  # why its check refused it; else empty
    page: str  # the address of its page


class CaseResult(BaseModel):
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


@ROUTES.at("GET", _ALL, MEMBERS)
def listed(context: Context, page: requests.Asked) -> requests.Page[SubmissionShown]:
    """List submissions, the first one first: a student's own, to the staff all of them."""
    named: dict[str, object] = {"assignment": context.assigned.id}
    with context.reading() as db:
        if not context.is_staff:
            named["id"] = [one.id for one in own_uploads(db, context)]
        found = requests.find_page(db, uploads.UPLOADS, uploads.ORDER, page, **named)
        places = submissions.places(_histories(db, context))
        late = _list_late(db, context, found.rows)
        return found.show(
            lambda one: SubmissionShown(**_members(db, context, one, places), late=late[one.id])
        )


@ROUTES.at("GET", _ONE, MEMBERS)
def one(context: Context) -> SubmissionResult:
    """Show a submission with the results of its public case files."""
    with context.reading() as db:
        return _result(db, context, context.upload)


@ROUTES.at("GET", f"{_ONE}/file", MEMBERS, **_FILE)
def file(context: Context) -> Response:
    """Give the bytes that were submitted."""
    return rendering.send_submission(context)


@ROUTES.at("POST", _ALL, STUDENTS, scope="submit", status_code=201)
def submit(
    context: Context,
    path: requests.Archive,
    name: Annotated[str, Query(min_length=1, max_length=200, description="of the file")],
    key: requests.Key = "",
) -> SubmissionResult:
    """Submit an archive. The answer is the receipt: what is kept has this SHA-256."""
    service, assigned, member = context.service, context.assigned, context.member
    kept = submissions.keep(service.store, path, name, service.settings.largest)
    most = context.settings
    with context.acting() as act:
        made = requests.make_once(
            act,
            key,
            (assigned.id, kept.name, kept.sha256),
            lambda: submissions.take(act, assigned, member, kept, most).id,
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


def _histories(db: Connection, context: RequestContext) -> list[submissions.SubmissionHistory]:
    """Return what was submitted, to a student the own submissions."""
    if context.is_staff:
        return [*submissions.all_histories(db, context.assigned).values()]
    return [submissions.history_of(db, context.assigned, context.member.submits_as)]


def _list_late(db: Connection, context: RequestContext, rows: Sequence[Upload]) -> dict[str, str]:
    """Return how late uploads are and what that costs, by their ids."""
    key = "" if context.is_staff else context.member.submits_as
    rules = deadlines.load_rules(db, context.assigned, rows, key)
    return {one.id: deadlines.describe_late(rules[one.id], one.at) for one in rows}


def _members(
    db: Connection,
    context: RequestContext,
    upload: Upload,
    places: Mapping[str, submissions.Place],
) -> dict[str, Any]:
    if upload.withdrawn:
        state: State = "withdrawn"
    else:
        job = next((one for one in queue.of(db, upload.id) if one.kind == CHECK), None)
        state = _STATES[job.state] if job else "waiting"
        if state == "checked" and submissions.refusal(upload):
            state = "refused"
    path = f"{context.course_page}/assignments/{upload.assignment}/uploads/{upload.id}"
    return {
        "id": upload.id,
        "student": upload.key,
        "name": upload.name,
        "sha256": upload.sha256,
        "size": upload.size,
        "at": datetime.datetime.fromtimestamp(upload.at, datetime.UTC),
        "state": state,
        "counts": places.get(upload.id) == submissions.COUNTS,
        "may_count": places.get(upload.id) == submissions.MAY_COUNT,
        "refused": submissions.refusal(upload),
        "page": f"{context.settings.base}{path}",
    }


def _result(db: Connection, context: RequestContext, upload: Upload) -> SubmissionResult:
    histories, settings = _histories(db, context), context.settings
    late = _list_late(db, context, [upload])[upload.id]
    shown = SubmissionShown(
        **_members(db, context, upload, submissions.places(histories)), late=late
    )
    jobs = queue.of(db, upload.id)
    waiting = [one for one in jobs if one.state == WAITING]
    held = own_files.explain_held(settings, context.assigned, jobs, is_staff=context.is_staff)
    place = submissions.explain_place(submissions.history_with(histories, upload.id), upload)
    check = None
    if shown.state in _ENDED:
        page = result_files.check_page(settings.assignment_folder(upload.assignment), upload.id)
        if found := result_files.read_check_result(page):
            cases = [CaseResult(**one._asdict()) for one in found.cases]
            check = CheckResult(**{**found._asdict(), "cases": cases})
    return SubmissionResult(
        **shown.model_dump(),
        place=" ".join(filter(None, (held, place))),
        ahead=queue.ahead(db, waiting[0]) if waiting else 0,
        check=check,
    )
