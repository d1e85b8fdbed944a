"""Marks: of a grading for the staff, the released one for a student; comments and overrides."""

import datetime

from pydantic import BaseModel, Field
from sqlalchemy import Connection

from harness.grading.records import Marks, counting_mark, decimal
from harness.service.api import requests
from harness.service.api.requests import Asked, Json, Key, Page
from harness.service.courses import gradings
from harness.service.records import COMMENT, OVERRIDE, Comment, Override
from harness.service.storage import courses, people, uploads
from harness.service.web import access
from harness.service.web.request_context import RequestContext, require_found
from harness.work import canonical_json

ROUTES = requests.ApiRoutes("marks")
_ALL = "/courses/{course}/assignments/{assignment}"


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


@ROUTES.at("GET", f"{_ALL}/gradings/{{grading}}/marks", access.STAFF_ONLY)
def listed(context: access.Context, page: Asked) -> Page[MarkShown]:
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


@ROUTES.at("GET", f"{_ALL}/mark", access.STUDENTS)
def own_mark(context: access.Context) -> MarkShown:
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
_ONE = f"{_ALL}/students/{{student}}"


class CommentShown(BaseModel):
    """Comment by the staff for a student or a group."""

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


@REMARKS.at("GET", f"{_ONE}/comments", access.STAFF_ONLY)
def comments(context: access.Context, page: Asked) -> Page[CommentShown]:
    """List the comments for a student or a group, the first one first."""
    with context.reading() as db:
        theirs = courses.students_of(db, context.course.id, context.student)
        return _comments(db, context, page, theirs)


@REMARKS.at("GET", f"{_ALL}/comments", access.STUDENTS)
def own_comments(context: access.Context, page: Asked) -> Page[CommentShown]:
    """List the comments for the student, the first one first; none before marks are released."""
    with context.reading() as db:
        is_shown = gradings.are_shown(db, context.assigned.id, context.member.key)
        return _comments(db, context, page, [context.member.key] if is_shown else [])


def _comments(
    db: Connection, context: RequestContext, page: Asked, students: list[str]
) -> Page[CommentShown]:
    ids = [one.id for one in uploads.comments(db, context.assigned.id, students)]
    named: dict[str, object] = {"assignment": context.assigned.id, "id": ids}
    found = requests.find_page(db, uploads.COMMENTS, ("at", "id"), page, **named)
    return found.show(lambda one: _comment(db, one))


@REMARKS.at("POST", f"{_ONE}/comments", access.require_permission(COMMENT), status_code=201)
def comment(context: access.Context, body: Json[CommentWanted], key: Key = "") -> CommentShown:
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


@REMARKS.at("DELETE", f"{_ONE}/comments/{{comment}}", access.COMMENT_REMOVERS)
def remove_comment(context: access.Context) -> None:
    """Remove a comment: for its author and for teachers."""
    with context.acting() as act:
        gradings.remove_comment(act, context.assigned, context.student, context.comment)


@REMARKS.at("GET", f"{_ALL}/overrides", access.STAFF_ONLY)
def overrides(context: access.Context, page: Asked) -> Page[OverrideShown]:
    """List the marks that people gave, by the keys of students."""
    assigned = context.assigned.id
    with context.reading() as db:
        found = requests.find_page(db, uploads.OVERRIDES, ("key",), page, assignment=assigned)
        return found.show(lambda one: _override(db, one))


@REMARKS.at("PUT", f"{_ONE}/override", access.require_permission(OVERRIDE))
def override(context: access.Context, body: Json[OverrideWanted]) -> Overrides:
    """Give a student, or each of a group, a mark instead of the computed one."""
    assigned = context.assigned
    with context.acting() as act:
        told = gradings.Decision(body.points, body.reason)
        gradings.decide(act, assigned, context.student, told)
        theirs = courses.students_of(act.db, assigned.course, context.student)
        own = uploads.overrides(act.db, assigned.id)
        return Overrides(items=[_override(act.db, own[one]) for one in theirs])


@REMARKS.at("DELETE", f"{_ONE}/override", access.require_permission(OVERRIDE))
def end_override(context: access.Context) -> None:
    """Let the computed mark count again."""
    with context.acting() as act:
        gradings.end_override(act, context.assigned, context.student)


def _comment(db: Connection, one: Comment) -> CommentShown:
    return CommentShown(
        id=one.id, student=one.key, by=_name(db, one.person), at=_moment(one.at), text=one.text
    )


def _override(db: Connection, one: Override) -> OverrideShown:
    return OverrideShown(
        student=one.key,
        points=decimal(gradings.as_given(one).points),
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
