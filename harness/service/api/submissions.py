"""Submissions: sent as plain bytes, looked at while their public tests run, withdrawn.

Bytes are the body of a request as it is, so that they are read only once the guard let them in.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from pydantic import BaseModel
from sqlalchemy import Connection

from harness.service.api import requests
from harness.service.api.requests import Asked, IdempotencyKey, Page, find_page, make_once
from harness.service.courses import submissions
from harness.service.courses.deadlines import describe_late, load_rules
from harness.service.courses.submissions import (
    COUNTS,
    MAY_COUNT,
    Heap,
    Place,
    explain_place,
    refusal,
)
from harness.service.jobs import result_files
from harness.service.jobs.result_files import check_page
from harness.service.records import CHECK, DONE, FAULT, LEASED, WAITING, Upload
from harness.service.storage import queue, uploads
from harness.service.storage.audit import Act
from harness.service.web.access import Now, Routes
from harness.service.web.problems import Refused
from harness.service.web.rendering import send_attachment
from harness.service.web.request_context import MEMBERS, STUDENTS, Here, own_uploads

ROUTES = Routes(is_api=True, prefix="/api/v1", tags=["submissions"])
_ALL = "/courses/{course}/assignments/{assignment}/submissions"
_ONE = f"{_ALL}/{{upload}}"
_FILE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The bytes", "content": {requests.BYTES: {"schema": requests.IS_BYTES}}}
}

State = Literal["waiting", "checking", "checked", "refused", "fault", "withdrawn"]
_STATES: dict[str, State] = {
    WAITING: "waiting",
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


@ROUTES.at("GET", _ALL, MEMBERS, response_model=Page[SubmissionShown])
def listed(here: Now, asked: Asked) -> Page[SubmissionShown]:
    """List submissions, the first one first: a student's own, to the staff all of them."""
    named: dict[str, object] = {"assignment": here.sure().assigned.id}
    with here.service.database.reading() as db:
        if not here.is_staff:
            named["id"] = [one.id for one in own_uploads(db, here)]
        found = find_page(db, uploads.UPLOADS, uploads.ORDER, asked, **named)
        places = submissions.places(_heaps(db, here))
        late = _list_late(db, here, found.rows)
        items = [
            SubmissionShown(**_members(db, here, one, places), late=late[one.id])
            for one in found.rows
        ]
    return Page(items=items, next=found.next)


@ROUTES.at("GET", _ONE, MEMBERS, response_model=SubmissionResult)
def one(here: Now) -> SubmissionResult:
    """Show a submission with the results of its public case files."""
    assert here.upload
    with here.service.database.reading() as db:
        return _result(db, here, here.upload)


@ROUTES.at("GET", f"{_ONE}/file", MEMBERS, response_class=Response, responses=_FILE)
def file(here: Now) -> Response:
    """Give the bytes that were submitted."""
    assert here.upload
    if submissions.is_pruned(here.service.store, here.upload):
        raise Refused(410, "the file is no longer kept")
    path = here.service.store.path(here.upload.sha256)
    return send_attachment(f"{here.upload.id}.archive", path)


@ROUTES.at(
    "POST",
    _ALL,
    STUDENTS,
    scope="submit",
    status_code=201,
    response_model=SubmissionResult,
    openapi_extra=requests.AN_ARCHIVE,
)
async def submit(
    here: Now,
    name: Annotated[str, Query(min_length=1, max_length=200, description="of the file")],
    idempotency_key: IdempotencyKey = "",
) -> SubmissionResult:
    """Submit an archive. The answer is the receipt: what is kept has this SHA-256."""
    async with requests.as_file(here) as path:
        return await run_in_threadpool(_take, here, path, name, idempotency_key)


def _take(here: Here, path: Path, name: str, key: str) -> SubmissionResult:
    known, service = here.sure(), here.service
    kept = submissions.keep(service.store, path, name, service.settings.largest)
    sent = (known.assigned.id, kept.name, kept.sha256)
    with service.database.acting(here.by) as act:
        made = make_once(act, key, sent, lambda: _put(act, here, kept).id)
        found = uploads.UPLOADS.find(act.db, id=made)
        assert found is not None  # uploads are never removed
        return _result(act.db, here, found)


def _put(act: Act, here: Here, kept: submissions.Kept) -> Upload:
    known, most = here.sure(), submissions.quota(here.service.settings)
    return submissions.take(act, known.assigned, known.member, kept, most)


@ROUTES.at("POST", f"{_ONE}/withdraw", STUDENTS, scope="submit", response_model=SubmissionResult)
def withdraw(here: Now) -> SubmissionResult:
    """Let a submission not count."""
    assert here.upload
    known = here.sure()
    with here.service.database.acting(here.by) as act:
        submissions.withdraw(act, known.assigned, known.member.submits_as, here.upload)
        return _result(act.db, here, here.upload._replace(withdrawn=True))


# --- what is shown -----------------------------------------------------------------------------


def _heaps(db: Connection, here: Here) -> list[Heap]:
    """Return what was submitted, to a student the own submissions."""
    known = here.sure()
    if here.is_staff:
        return [*submissions.of_all(db, known.assigned).values()]
    return [submissions.of(db, known.assigned, known.member.submits_as)]


def _list_late(db: Connection, here: Here, found: Sequence[Upload]) -> dict[str, str]:
    """Return how late uploads are and what that costs, by their ids."""
    known = here.sure()
    key = "" if here.is_staff else known.member.submits_as
    rules = load_rules(db, known.assigned, found, key)
    return {one.id: describe_late(rules[one.id], one.at) for one in found}


def _members(
    db: Connection, here: Here, upload: Upload, places: Mapping[str, Place]
) -> dict[str, Any]:
    known = here.sure()
    path = f"/courses/{known.course.id}/assignments/{upload.assignment}/uploads/{upload.id}"
    return {
        "id": upload.id,
        "student": upload.key,
        "name": upload.name,
        "sha256": upload.sha256,
        "size": upload.size,
        "at": datetime.datetime.fromtimestamp(upload.at, datetime.UTC),
        "state": _state(db, upload),
        "counts": places.get(upload.id) == COUNTS,
        "may_count": places.get(upload.id) == MAY_COUNT,
        "refused": refusal(upload),
        "page": f"{here.service.settings.base}{path}",
    }


def _state(db: Connection, upload: Upload) -> State:
    if upload.withdrawn:
        return "withdrawn"
    job = next((one for one in queue.of(db, upload.id) if one.kind == CHECK), None)
    if job and job.state == DONE and refusal(upload):
        return "refused"
    return _STATES[job.state] if job else "waiting"


def _result(db: Connection, here: Here, upload: Upload) -> SubmissionResult:
    heaps = _heaps(db, here)
    late = _list_late(db, here, [upload])[upload.id]
    shown = SubmissionShown(**_members(db, here, upload, submissions.places(heaps)), late=late)
    waiting = [one for one in queue.of(db, upload.id) if one.state == WAITING]
    return SubmissionResult(
        **shown.model_dump(),
        place=explain_place(submissions.heap_with(heaps, upload.id), upload),
        ahead=queue.ahead(db, waiting[0]) if waiting else 0,
        check=_check(here, upload) if shown.state in _ENDED else None,
    )


def _check(here: Here, upload: Upload) -> CheckResult | None:
    found = result_files.read_check_result(
        check_page(here.service.settings.assignment_folder(upload.assignment), upload.id)
    )
    if found is None:
        return None
    cases = [CaseResult(**one._asdict()) for one in found.cases]
    return CheckResult(**{**found._asdict(), "cases": cases})
