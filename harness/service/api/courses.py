"""Courses and their assignments, as everybody in a course may see them; teachers change them."""

from __future__ import annotations

import datetime
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field
from sqlalchemy import Connection

from harness.assignments.assignment import Late
from harness.clock_changes import add_zone
from harness.service.api.requests import (
    ApiRoutes,
    Asked,
    IdempotencyKey,
    Json,
    Page,
    find_page,
    make_once,
    require_kept,
)
from harness.service.courses import changes, making
from harness.service.courses.changes import Change
from harness.service.courses.deadlines import load_rule
from harness.service.jobs import checklist
from harness.service.local_times import add_offset
from harness.service.records import ROLES, Course, CourseAssignment, Member
from harness.service.storage import courses
from harness.service.web.access import ADMINS, MEMBERS, SIGNED_IN, STAFF_ONLY, TEACHERS, Context
from harness.service.web.request_context import RequestContext, RequestRefused

ROUTES = ApiRoutes("courses")
_ALL = "/courses/{course}/assignments"
DATE = "as 2026-01-29T23:55+01:00; without an offset it is the service's local time"


class CourseOfMine(BaseModel):
    """A course, and what the owner of the token is in it."""

    id: str
    title: str
    role: str


class AssignmentShown(BaseModel):
    """An assignment of a course; its times are in ISO 8601 with an offset, empty for none."""

    id: str
    title: str
    opens: str
    deadline: str
    closes: str  # later submissions are refused
    deduction: str  # late penalty in percent of the points reached
    grace: int  # minutes after each date that still count
    hidden: bool  # from students
    own_deadline: str  # by an extension of the student who asks; else empty
    own_closes: str  # the same


class SetupItemShown(BaseModel):
    """A line of the checklist of an assignment."""

    name: str
    state: checklist.State
    text: str  # what there is, or what is to be done
    page: str  # the address where it is done; may be empty
    blocks: bool  # as long as it is missing, submissions are kept and not checked


class Checklist(BaseModel):
    """What an assignment needs before students can use it."""

    is_ready: bool  # nothing is missing
    is_blocked: bool  # submissions are kept and not checked
    items: list[SetupItemShown]


class CourseWanted(BaseModel):
    """A course that is to be made."""

    title: str = Field(min_length=1, max_length=200)


class AssignmentWanted(BaseModel):
    """An assignment that is to be made. What is left empty is as the one that ships has it."""

    source: str = Field(max_length=200, description="the name of one that ships")
    title: str = Field(default="", max_length=200)
    opens: str = Field(default="", max_length=30, description=DATE)
    deadline: str = Field(default="", max_length=30)
    closes: str = Field(default="", max_length=30, description="submissions after it are refused")
    deduction: str = Field(default="", max_length=30, description="late penalty in percent")
    grace: int | None = Field(default=None, ge=0, lt=100_000, description="minutes")


@ROUTES.at("POST", "/courses", ADMINS, status_code=201)
def make_course(
    context: Context, body: Json[CourseWanted], idempotency_key: IdempotencyKey = ""
) -> CourseOfMine:
    """Make a course; the owner of the token is its first teacher."""
    sent = ("course", body.title)
    with context.acting() as act:
        made = make_once(act, idempotency_key, sent, lambda: making.course(act, body.title).id)
        found = courses.COURSES.find(act.db, id=made)
        member = courses.MEMBERS.find(act.db, course=made, person=context.by)
    return describe_course(require_kept(found, "course"), member)


@ROUTES.at("GET", "/courses", SIGNED_IN)
def my_courses(context: Context, asked: Asked) -> Page[CourseOfMine]:
    """List the courses that the owner of the token is in."""
    with context.reading() as db:
        found = find_page(db, courses.MEMBERS, ["course"], asked, person=context.by, role=[*ROLES])
        pairs = [(courses.COURSES.find(db, id=one.course), one) for one in found.rows]
    return Page(items=[describe_course(*pair) for pair in pairs], next=found.next)


@ROUTES.at("GET", "/courses/{course}", MEMBERS)
def one_course(context: Context) -> CourseOfMine:
    """Show a course."""
    return describe_course(context.course, context.member)


def describe_course(course: Course | None, member: Member | None) -> CourseOfMine:
    """Return a course as the API tells it.

    Raises:
        RequestRefused: it was removed, or the person has left it.
    """
    if course is None or member is None:
        raise RequestRefused(404, "there is no such course")
    return CourseOfMine(id=course.id, title=course.title, role=member.role)


@ROUTES.at("GET", _ALL, MEMBERS)
def assignments(context: Context, asked: Asked) -> Page[AssignmentShown]:
    """List the assignments of a course, by their deadlines."""
    order = ("deadline", "title", "id")
    named = {} if context.is_staff else {"hidden": 0}
    with context.reading() as db:
        found = find_page(db, courses.ASSIGNMENTS, order, asked, course=context.course.id, **named)
        items = [describe_assignment(one, _find_own(db, context, one)) for one in found.rows]
    return Page(items=items, next=found.next)


@ROUTES.at("POST", _ALL, TEACHERS, status_code=201)
def make_assignment(
    context: Context, body: Json[AssignmentWanted], idempotency_key: IdempotencyKey = ""
) -> AssignmentShown:
    """Make an assignment of a course."""
    told = {**body.model_dump(), "source": making.check_shipped(body.source)}
    told["grace"] = making.AS_ITS_OWN if body.grace is None else body.grace
    row = CourseAssignment("", context.course.id, made=0.0, **told)
    sent = ("assignment", *map(str, row))
    with context.acting() as act:
        made = make_once(act, idempotency_key, sent, lambda: making.assign(act, row).id)
        found = courses.ASSIGNMENTS.find(act.db, id=made)
    return describe_assignment(require_kept(found, "assignment"))


@ROUTES.at("GET", f"{_ALL}/{{assignment}}", MEMBERS)
def one_assignment(context: Context) -> AssignmentShown:
    """Show an assignment."""
    assigned = context.assigned
    with context.reading() as db:
        return describe_assignment(assigned, _find_own(db, context, assigned))


@ROUTES.at("GET", f"{_ALL}/{{assignment}}/checklist", STAFF_ONLY)
def show_checklist(context: Context) -> Checklist:
    """Tell what is set up, and what is missing before students can use the assignment."""
    settings = context.settings
    with context.reading() as db:
        setup = checklist.load(db, settings, context.assigned)
    items = [
        SetupItemShown(
            name=one.name,
            state=one.state,
            text=one.text,
            page=f"{settings.base}{one.page}" if one.page else "",
            blocks=one.blocks,
        )
        for one in setup.items
    ]
    return Checklist(is_ready=setup.is_ready, is_blocked=setup.is_blocked, items=items)


def _find_own(db: Connection, context: RequestContext, one: CourseAssignment) -> Late | None:
    """Return the dates of the student who asks, if an extension gives other ones."""
    if context.is_staff:
        return None
    rule = load_rule(db, one, context.member.submits_as)
    return rule if _format(rule.deadline) != add_offset(one.deadline) else None


def describe_assignment(one: CourseAssignment, own: Late | None = None) -> AssignmentShown:
    """Return an assignment as the API tells it; ``own``: by an extension of who asks."""
    return AssignmentShown(
        id=one.id,
        title=one.title,
        opens=add_offset(one.opens),
        deadline=add_offset(one.deadline),
        closes=add_offset(one.closes),
        deduction=one.deduction,
        grace=one.grace,
        hidden=one.hidden,
        own_deadline=_format(own.deadline) if own else "",
        own_closes=_format(own.refused_after) if own else "",
    )


def _format(time: datetime.datetime | None) -> str:
    return add_zone(time).isoformat() if time else ""


# --- Assignments and courses changed and removed by teachers -------------------------------------

_COURSE = "/courses/{course}"
_ONE = f"{_COURSE}/assignments/{{assignment}}"
_DATE = Field(default=None, max_length=30, description=f"{DATE}; empty for none")


class AssignmentChange(BaseModel):
    """What is to be changed. What is left out stays."""

    title: str | None = Field(default=None, max_length=200)
    opens: str | None = _DATE
    deadline: str | None = _DATE
    closes: str | None = _DATE
    deduction: str | None = Field(default=None, max_length=30, description="percent")
    grace: int | None = Field(default=None, ge=0, lt=100_000, description="minutes")
    hidden: bool | None = Field(default=None, description="from students")


class ChangeEffect(BaseModel):
    """What a change does to a student or group."""

    student: str
    now: str  # in words, such as: in time
    then: str


class AssignmentChanged(BaseModel):
    """An assignment as it is after a change, or would be."""

    assignment: AssignmentShown
    effects: list[ChangeEffect]
    ended: list[str]  # students whose extensions end, because all have as much time


@ROUTES.at("PATCH", _ONE, TEACHERS)
def change(
    context: Context,
    body: Json[AssignmentChange],
    preview: Annotated[
        bool, Query(description="only tell what would change; nothing is changed")
    ] = False,
) -> AssignmentChanged:
    """Change an assignment: who would be late, or late no longer, is told."""
    now = context.assigned
    told = now._replace(**body.model_dump(exclude_none=True))
    with context.acting() as act:
        planned = changes.plan(act.db, now, told)
        if not preview:
            changes.change(act, now, told, planned.digest)
    return _describe(planned)


def _describe(planned: Change) -> AssignmentChanged:
    effects = [
        ChangeEffect(student=one.key, now=one.now, then=one.then) for one in planned.effects
    ]
    shown = describe_assignment(planned.made)
    return AssignmentChanged(assignment=shown, effects=effects, ended=planned.ended)


@ROUTES.at("DELETE", _ONE, TEACHERS)
def remove(context: Context) -> None:
    """Remove an assignment that nobody has submitted to."""
    assigned = context.assigned
    with context.acting() as act:
        changes.remove_assignment(act, assigned)
    changes.clear(context.settings, assigned)


@ROUTES.at("PATCH", _COURSE, TEACHERS)
def rename_course(context: Context, body: Json[CourseWanted]) -> CourseOfMine:
    """Give a course another title; its address stays."""
    with context.acting() as act:
        made = changes.rename_course(act, context.course, body.title)
    return describe_course(made, context.member)


@ROUTES.at("DELETE", _COURSE, TEACHERS)
def remove_course(context: Context) -> None:
    """Remove a course that nobody has submitted in, with its assignments and its roster."""
    with context.acting() as act:
        removed = changes.remove_course(act, context.course)
    changes.clear_course(context.settings, context.course, removed)
