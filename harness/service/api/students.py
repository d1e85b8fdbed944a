"""The students of a course: rosters taken, deadlines of single students extended."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from harness.service.api import bodies
from harness.service.api.courses import DATE
from harness.service.api.paging import Asked, Page, find
from harness.service.courses import deadline_extensions, gradebooks, roster
from harness.service.local_times import add_offset
from harness.service.records import EXTEND, STUDENT, Member
from harness.service.storage import courses
from harness.service.web.access import STAFF_ONLY, TEACHERS, Here, Now, Routes, whoever_may

ROUTES = Routes(is_api=True, prefix="/api/v1", tags=["students"])
_ALL = "/courses/{course}/students"
_ASSIGNMENT = "/courses/{course}/assignments/{assignment}"
_LARGEST = 1 << 20  # bytes of a roster
_CSV: dict[str, Any] = {
    "requestBody": {"required": True, "content": {"text/csv": {"schema": {"type": "string"}}}}
}


class StudentShown(BaseModel):
    """A student of a course."""

    student: str  # the key
    name: str
    group: str  # the key of the group that submits as one; empty: alone


class RosterTaken(BaseModel):
    """A roster that was taken."""

    students: int


class Extension(BaseModel):
    """The deadline of a student in an assignment."""

    student: str
    deadline: str | None  # ISO 8601 with an offset; null: that of all


class ExtensionWanted(BaseModel):
    """A deadline for a student, or for each of a group."""

    deadline: str = Field(max_length=30, description=f"{DATE}; empty for the deadline of all")


@ROUTES.at("GET", _ALL, STAFF_ONLY, response_model=Page[StudentShown])
def students(here: Now, asked: Asked) -> Page[StudentShown]:
    """List the students of a course, by their keys."""
    rows, following = _page(here, asked)
    items = [StudentShown(student=one.key, name=one.name, group=one.team) for one in rows]
    return Page(items=items, next=following)


def _page(here: Here, asked: Asked) -> tuple[list[Member], str | None]:
    assert here.course
    with here.service.database.reading() as db:
        found = find(db, courses.MEMBERS, ("key",), asked, course=here.course.id, role=STUDENT)
    return found.rows, found.next


@ROUTES.at(
    "POST",
    "/courses/{course}/roster",
    TEACHERS,
    scope="all",
    response_model=RosterTaken,
    openapi_extra=_CSV,
)
async def take_roster(here: Now) -> RosterTaken:
    """Take a roster: a CSV with the column ``student``. Members missing from it stay."""
    data = await bodies.read(here, _LARGEST)
    return await run_in_threadpool(_take, here, data)


def _take(here: Here, data: bytes) -> RosterTaken:
    assert here.course
    listed = roster.read(data)
    with here.service.database.acting(here.by) as act:
        taken = RosterTaken(students=len(roster.take(act, here.course.id, listed)))
    gradebooks.keep_roster(here.service.settings, here.course.id, data)
    return taken


@ROUTES.at("GET", f"{_ASSIGNMENT}/extensions", STAFF_ONLY, response_model=Page[Extension])
def extensions(here: Now, asked: Asked) -> Page[Extension]:
    """List the students with the deadlines of their own."""
    rows, following = _page(here, asked)
    with here.service.database.reading() as db:
        own = courses.extensions(db, here.sure().assigned.id)
    items = [
        Extension(student=one.key, deadline=add_offset(own.get(one.key, "")) or None)
        for one in rows
    ]
    return Page(items=items, next=following)


@ROUTES.at(
    "PUT",
    f"{_ASSIGNMENT}/students/{{student}}/extension",
    whoever_may(EXTEND),
    scope="all",
    response_model=Extension,
    openapi_extra=bodies.describe_body(ExtensionWanted),
)
def extend(
    here: Now, wanted: Annotated[ExtensionWanted, Depends(bodies.json_of(ExtensionWanted))]
) -> Extension:
    """Give a student, or each of a group, a later deadline, or take it back."""
    assigned = here.sure().assigned
    with here.service.database.acting(here.by) as act:
        deadline_extensions.extend(act, assigned, here.student, wanted.deadline)
        theirs = courses.students_of(act.db, assigned.course, here.student)
        latest = deadline_extensions.latest(courses.extensions(act.db, assigned.id), theirs)
    return Extension(student=here.student, deadline=add_offset(latest) or None)
