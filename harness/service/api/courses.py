"""Courses and their assignments, as everybody in a course may see them; made by teachers."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from pydantic import BaseModel, Field

from harness.service.api import bodies
from harness.service.api.idempotency import IdempotencyKey, once
from harness.service.api.paging import Asked, Page, find
from harness.service.courses import making
from harness.service.records import Assigned, Course, Member
from harness.service.storage import courses
from harness.service.web.access import ADMINS, MEMBERS, SIGNED_IN, TEACHERS, Now, Routes

ROUTES = Routes(is_api=True, prefix="/api/v1", tags=["courses"])
_ALL = "/courses/{course}/assignments"


class CourseOfMine(BaseModel):
    """A course, and what the owner of the token is in it."""

    id: str
    title: str
    role: str


class AssignmentShown(BaseModel):
    """An assignment of a course; its times are local ones of the service, empty for none."""

    id: str
    title: str
    opens: str
    deadline: str
    closes: str


class CourseWanted(BaseModel):
    """A course that is to be made."""

    title: str = Field(min_length=1, max_length=200)


class AssignmentWanted(BaseModel):
    """An assignment that is to be made. What is left empty is as the one that ships has it."""

    source: str = Field(max_length=200, description="the name of one that ships")
    title: str = Field(default="", max_length=200)
    opens: str = Field(default="", max_length=30, description="local, as 2026-01-29T23:55")
    deadline: str = Field(default="", max_length=30)
    closes: str = Field(default="", max_length=30, description="submissions after it are refused")
    deduction: str = Field(default="", max_length=30, description="late penalty in percent")
    grace: int = Field(default=0, ge=0, lt=100_000, description="minutes")


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
    return _course(found, member)


@ROUTES.at("GET", "/courses", SIGNED_IN, response_model=Page[CourseOfMine])
def my_courses(here: Now, asked: Asked) -> Page[CourseOfMine]:
    """List the courses that the owner of the token is in."""
    with here.service.database.reading() as db:
        found = find(db, courses.MEMBERS, ["course"], asked, person=here.by)
        pairs = [(courses.COURSES.find(db, id=one.course), one) for one in found.rows]
    return Page(items=[_course(*pair) for pair in pairs], next=found.next)


@ROUTES.at("GET", "/courses/{course}", MEMBERS, response_model=CourseOfMine)
def one_course(here: Now) -> CourseOfMine:
    """Show a course."""
    return _course(here.course, here.member)


def _course(course: Course | None, member: Member | None) -> CourseOfMine:
    assert course and member  # members refer to courses
    return CourseOfMine(id=course.id, title=course.title, role=member.role)


@ROUTES.at("GET", _ALL, MEMBERS, response_model=Page[AssignmentShown])
def assignments(here: Now, asked: Asked) -> Page[AssignmentShown]:
    """List the assignments of a course, by their deadlines."""
    assert here.course
    order = ("deadline", "title", "id")
    with here.service.database.reading() as db:
        found = find(db, courses.ASSIGNMENTS, order, asked, course=here.course.id)
    return Page(items=[describe_assignment(one) for one in found.rows], next=found.next)


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
    row = Assigned("", here.course.id, made=0.0, **told)
    sent = ("assignment", *map(str, row))
    with here.service.database.acting(here.by) as act:
        made = once(act, idempotency_key, sent, lambda: making.assign(act, row).id)
        found = courses.ASSIGNMENTS.find(act.db, id=made)
    assert found  # assignments are never removed
    return describe_assignment(found)


@ROUTES.at("GET", f"{_ALL}/{{assignment}}", MEMBERS, response_model=AssignmentShown)
def one_assignment(here: Now) -> AssignmentShown:
    """Show an assignment."""
    return describe_assignment(here.sure().assigned)


def describe_assignment(one: Assigned) -> AssignmentShown:
    """Return an assignment as the API tells it."""
    return AssignmentShown(
        id=one.id, title=one.title, opens=one.opens, deadline=one.deadline, closes=one.closes
    )
