"""What the staff add to what is computed: comments, and marks given instead of computed ones."""

from __future__ import annotations

import datetime
from typing import Annotated

from fastapi import Depends
from fastapi.responses import Response
from pydantic import BaseModel, Field
from sqlalchemy import Connection

from harness.grading.records import decimal
from harness.service.api import bodies
from harness.service.api.idempotency import IdempotencyKey, once, require_kept
from harness.service.api.paging import Asked, Page, find
from harness.service.courses import gradings as writing
from harness.service.records import COMMENT, OVERRIDE, Comment, Override
from harness.service.storage import courses, people, uploads
from harness.service.web.access import Now, Routes
from harness.service.web.here import Here
from harness.service.web.rules import COMMENT_REMOVERS, STAFF_ONLY, STUDENTS, whoever_may

ROUTES = Routes(is_api=True, prefix="/api/v1", tags=["remarks"])
_ALL = "/courses/{course}/assignments/{assignment}"
_ONE = f"{_ALL}/students/{{student}}"


class CommentShown(BaseModel):
    """What somebody of the staff said to a student or a group."""

    id: str
    student: str  # the key of the student or group at that time
    by: str  # the name
    at: datetime.datetime
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
    at: datetime.datetime


class OverrideWanted(BaseModel):
    """A mark that is to count instead of the computed one."""

    points: str = Field(max_length=30, description="such as 4, 4.5 or 9/2")
    reason: str = Field(min_length=1, max_length=4000)


class Overrides(BaseModel):
    """The marks that a student, or each of a group, was given."""

    items: list[OverrideShown]


@ROUTES.at("GET", f"{_ONE}/comments", STAFF_ONLY, response_model=Page[CommentShown])
def comments(here: Now, asked: Asked) -> Page[CommentShown]:
    """List the comments for a student or a group, the first one first."""
    with here.service.database.reading() as db:
        theirs = courses.students_of(db, here.sure().course.id, here.student)
        return _comments(db, here, asked, theirs)


@ROUTES.at("GET", f"{_ALL}/comments", STUDENTS, response_model=Page[CommentShown])
def own_comments(here: Now, asked: Asked) -> Page[CommentShown]:
    """List the comments for the student, the first one first; none before marks are released."""
    with here.service.database.reading() as db:
        known = here.sure()
        is_shown = writing.are_shown(db, known.assigned.id, known.member.key)
        return _comments(db, here, asked, [known.member.key] if is_shown else [])


def _comments(db: Connection, here: Here, asked: Asked, students: list[str]) -> Page[CommentShown]:
    assigned = here.sure().assigned.id
    ids = [one.id for one in uploads.comments(db, assigned, students)]
    found = find(db, uploads.COMMENTS, ("at", "id"), asked, assignment=assigned, id=ids)
    return Page(items=[_comment(db, one) for one in found.rows], next=found.next)


@ROUTES.at(
    "POST",
    f"{_ONE}/comments",
    whoever_may(COMMENT),
    scope="all",
    status_code=201,
    response_model=CommentShown,
    openapi_extra=bodies.describe_body(CommentWanted),
)
def comment(
    here: Now,
    wanted: Annotated[CommentWanted, Depends(bodies.json_of(CommentWanted))],
    idempotency_key: IdempotencyKey = "",
) -> CommentShown:
    """Say something to a student or a group.

    409: a request with the same key made a comment that was removed since.
    """
    assigned, text = here.sure().assigned, wanted.text
    sent = ("comment", assigned.id, here.student, text)
    with here.service.database.acting(here.by) as act:
        made = once(
            act,
            idempotency_key,
            sent,
            lambda: writing.comment(act, assigned, here.student, text).id,
        )
        found = uploads.COMMENTS.find(act.db, id=made)
        return _comment(act.db, require_kept(found, "comment"))


@ROUTES.at(
    "DELETE", f"{_ONE}/comments/{{comment}}", COMMENT_REMOVERS, scope="all", status_code=204
)
def remove_comment(here: Now) -> Response:
    """Remove a comment: for its author and for teachers."""
    with here.service.database.acting(here.by) as act:
        writing.remove_comment(act, here.sure().assigned, here.student, here.sure_comment())
    return Response(status_code=204)


@ROUTES.at("GET", f"{_ALL}/overrides", STAFF_ONLY, response_model=Page[OverrideShown])
def overrides(here: Now, asked: Asked) -> Page[OverrideShown]:
    """List the marks that people gave, by the keys of students."""
    assigned = here.sure().assigned.id
    with here.service.database.reading() as db:
        found = find(db, uploads.OVERRIDES, ("key",), asked, assignment=assigned)
        items = [_override(db, one) for one in found.rows]
    return Page(items=items, next=found.next)


@ROUTES.at(
    "PUT",
    f"{_ONE}/override",
    whoever_may(OVERRIDE),
    scope="all",
    response_model=Overrides,
    openapi_extra=bodies.describe_body(OverrideWanted),
)
def override(
    here: Now, wanted: Annotated[OverrideWanted, Depends(bodies.json_of(OverrideWanted))]
) -> Overrides:
    """Give a student, or each of a group, a mark instead of the computed one."""
    assigned = here.sure().assigned
    told = writing.Decision(wanted.points, wanted.reason)
    with here.service.database.acting(here.by) as act:
        writing.decide(act, assigned, here.student, told)
        theirs = courses.students_of(act.db, assigned.course, here.student)
        own = uploads.overrides(act.db, assigned.id)
        return Overrides(items=[_override(act.db, own[one]) for one in theirs])


@ROUTES.at("DELETE", f"{_ONE}/override", whoever_may(OVERRIDE), scope="all", status_code=204)
def end_override(here: Now) -> Response:
    """Let the computed mark count again."""
    with here.service.database.acting(here.by) as act:
        writing.end_override(act, here.sure().assigned, here.student)
    return Response(status_code=204)


# --- what is shown -----------------------------------------------------------------------------


def _comment(db: Connection, one: Comment) -> CommentShown:
    return CommentShown(
        id=one.id, student=one.key, by=_name(db, one.person), at=_moment(one.at), text=one.text
    )


def _override(db: Connection, one: Override) -> OverrideShown:
    return OverrideShown(
        student=one.key,
        points=decimal(writing.as_given(one).points),
        computed=one.computed,
        reason=one.reason,
        by=_name(db, one.person),
        at=_moment(one.at),
    )


def _name(db: Connection, person: str) -> str:
    found = people.PEOPLE.find(db, id=person)
    return found.name if found else ""


def _moment(at: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(at, datetime.UTC)
