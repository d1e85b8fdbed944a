"""Courses and their assignments, as everybody in a course may see them; made by teachers."""

from __future__ import annotations

import datetime
from typing import Annotated

from fastapi import Depends
from pydantic import BaseModel, Field
from sqlalchemy import Connection

from harness.assignments.assignment import Late
from harness.clock_changes import add_zone
from harness.service.api import bodies
from harness.service.api.idempotency import IdempotencyKey, once, require_kept
from harness.service.api.paging import Asked, Page, find
from harness.service.courses import making
from harness.service.courses.deadlines import load_rule
from harness.service.local_times import add_offset
from harness.service.records import ROLES, Assigned, Course, Member
from harness.service.storage import courses
from harness.service.web.access import Now, Routes
from harness.service.web.here import Here
from harness.service.web.problems import Refused
from harness.service.web.rules import ADMINS, MEMBERS, SIGNED_IN, TEACHERS

ROUTES = Routes(is_api=True, prefix="/api/v1", tags=["courses"])
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


@ROUTES.at(
    "POST",
    "/courses",
    ADMINS,
    scope="all",
    status_code=201,
    response_model=CourseOfMine,
    openapi_extra=bodies.describe_body(CourseWanted),
)
def make_course(
    here: Now,
    wanted: Annotated[CourseWanted, Depends(bodies.json_of(CourseWanted))],
    idempotency_key: IdempotencyKey = "",
) -> CourseOfMine:
    """Make a course; the owner of the token is its first teacher."""
    sent = ("course", wanted.title)
    with here.service.database.acting(here.by) as act:
        made = once(act, idempotency_key, sent, lambda: making.course(act, wanted.title).id)
        found = courses.COURSES.find(act.db, id=made)
        member = courses.MEMBERS.find(act.db, course=made, person=here.by)
    return describe_course(require_kept(found, "course"), member)


@ROUTES.at("GET", "/courses", SIGNED_IN, response_model=Page[CourseOfMine])
def my_courses(here: Now, asked: Asked) -> Page[CourseOfMine]:
    """List the courses that the owner of the token is in."""
    with here.service.database.reading() as db:
        found = find(db, courses.MEMBERS, ["course"], asked, person=here.by, role=[*ROLES])
        pairs = [(courses.COURSES.find(db, id=one.course), one) for one in found.rows]
    return Page(items=[describe_course(*pair) for pair in pairs], next=found.next)


@ROUTES.at("GET", "/courses/{course}", MEMBERS, response_model=CourseOfMine)
def one_course(here: Now) -> CourseOfMine:
    """Show a course."""
    return describe_course(here.course, here.member)


def describe_course(course: Course | None, member: Member | None) -> CourseOfMine:
    """Return a course as the API tells it.

    Raises:
        Refused: it was removed, or the person has left it.
    """
    if course is None or member is None:
        raise Refused(404, "there is no such course")
    return CourseOfMine(id=course.id, title=course.title, role=member.role)


@ROUTES.at("GET", _ALL, MEMBERS, response_model=Page[AssignmentShown])
def assignments(here: Now, asked: Asked) -> Page[AssignmentShown]:
    """List the assignments of a course, by their deadlines."""
    assert here.course
    order = ("deadline", "title", "id")
    named = {} if here.is_staff else {"hidden": 0}
    with here.service.database.reading() as db:
        found = find(db, courses.ASSIGNMENTS, order, asked, course=here.course.id, **named)
        items = [describe_assignment(one, _find_own(db, here, one)) for one in found.rows]
    return Page(items=items, next=found.next)


@ROUTES.at(
    "POST",
    _ALL,
    TEACHERS,
    scope="all",
    status_code=201,
    response_model=AssignmentShown,
    openapi_extra=bodies.describe_body(AssignmentWanted),
)
def make_assignment(
    here: Now,
    wanted: Annotated[AssignmentWanted, Depends(bodies.json_of(AssignmentWanted))],
    idempotency_key: IdempotencyKey = "",
) -> AssignmentShown:
    """Make an assignment of a course."""
    assert here.course
    told = {**wanted.model_dump(), "source": making.check_shipped(wanted.source)}
    told["grace"] = making.AS_ITS_OWN if wanted.grace is None else wanted.grace
    row = Assigned("", here.course.id, made=0.0, **told)
    sent = ("assignment", *map(str, row))
    with here.service.database.acting(here.by) as act:
        made = once(act, idempotency_key, sent, lambda: making.assign(act, row).id)
        found = courses.ASSIGNMENTS.find(act.db, id=made)
    return describe_assignment(require_kept(found, "assignment"))


@ROUTES.at("GET", f"{_ALL}/{{assignment}}", MEMBERS, response_model=AssignmentShown)
def one_assignment(here: Now) -> AssignmentShown:
    """Show an assignment."""
    assigned = here.sure().assigned
    with here.service.database.reading() as db:
        return describe_assignment(assigned, _find_own(db, here, assigned))


def _find_own(db: Connection, here: Here, one: Assigned) -> Late | None:
    """Return the dates of the student who asks, if an extension gives other ones."""
    if here.is_staff or here.member is None:
        return None
    rule = load_rule(db, one, here.member.submits_as)
    return rule if _format(rule.deadline) != add_offset(one.deadline) else None


def describe_assignment(one: Assigned, own: Late | None = None) -> AssignmentShown:
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
