"""Courses and their assignments, as everybody in a course may see them."""

from __future__ import annotations

from pydantic import BaseModel

from harness.service.api.paging import Asked, Page, find
from harness.service.records import Assigned, Course, Member
from harness.service.storage import courses
from harness.service.web.access import MEMBERS, SIGNED_IN, Now, Routes

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
    return Page(items=[_assignment(one) for one in found.rows], next=found.next)


@ROUTES.at("GET", f"{_ALL}/{{assignment}}", MEMBERS, response_model=AssignmentShown)
def one_assignment(here: Now) -> AssignmentShown:
    """Show an assignment."""
    return _assignment(here.sure().assigned)


def _assignment(one: Assigned) -> AssignmentShown:
    return AssignmentShown(
        id=one.id, title=one.title, opens=one.opens, deadline=one.deadline, closes=one.closes
    )
