"""The students of a course: rosters taken, students removed, deadlines extended."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from harness.service.api.courses import DATE
from harness.service.api.requests import ApiRoutes, Asked, Body, Json, Page, find_page
from harness.service.courses import deadlines, gradebooks, roster, roster_files
from harness.service.courses.roster import RosterChange
from harness.service.local_times import add_offset
from harness.service.records import EXTEND, FORMER, STUDENT, Member
from harness.service.storage import courses
from harness.service.web.access import STAFF_ONLY, TEACHERS, Context, require_permission
from harness.service.web.request_context import RequestContext

ROUTES = ApiRoutes("students")
_ALL, _FORMER = "/courses/{course}/students", "/courses/{course}/former-students"
_ASSIGNMENT = "/courses/{course}/assignments/{assignment}"


class StudentShown(BaseModel):
    """A student of a course."""

    student: str  # the key
    name: str
    group: str  # the key of the group that submits as one; empty: alone


class RosterChanged(BaseModel):
    """What a roster changed of a student."""

    student: str  # the key
    what: str  # such as ``mail address``
    was: str
    now: str


class RosterTaken(BaseModel):
    """A roster that was taken; students are told by their keys."""

    students: int  # in the roster
    added: list[str]
    returned: list[str]  # added again after they had been removed
    changed: list[RosterChanged]
    unchanged: int
    missing: list[str]  # students of the course who are not in it; they stay
    remarks: list[str]


class Extension(BaseModel):
    """The deadline of a student in an assignment."""

    student: str
    deadline: str | None  # ISO 8601 with an offset; null: that of all


class ExtensionWanted(BaseModel):
    """A deadline for a student, or for each of a group."""

    deadline: str = Field(max_length=30, description=f"{DATE}; empty for the deadline of all")


@ROUTES.at("GET", _ALL, STAFF_ONLY)
def students(context: Context, asked: Asked) -> Page[StudentShown]:
    """List the students of a course, by their keys."""
    rows, following = _page(context, asked)
    return Page(items=[_describe(one) for one in rows], next=following)


def _page(
    context: RequestContext, asked: Asked, role: str = STUDENT
) -> tuple[list[Member], str | None]:
    with context.reading() as db:
        found = find_page(
            db, courses.MEMBERS, ("key",), asked, course=context.course.id, role=role
        )
    return found.rows, found.next


def _describe(one: Member) -> StudentShown:
    return StudentShown(student=one.key, name=one.name, group=one.team)


@ROUTES.at("POST", "/courses/{course}/roster", TEACHERS)
def take_roster(
    context: Context,
    path: Annotated[Path, Body("text/csv")],  # a zip of a class's submissions is large
    name: Annotated[str, Query(max_length=200, description="of the file")] = "",
) -> RosterTaken:
    """Take a roster: a CSV with the column ``student``. Members missing from it stay.

    ``name``: of the file, as errors call it.
    """
    wanted = roster_files.read(path, name)
    with context.acting() as act:
        found = roster.take(act, context.course.id, wanted)
    data = gradebooks.read_roster(path)
    gradebooks.keep_roster(context.settings, context.course.id, data)
    return RosterTaken(
        students=len(wanted.students),
        added=[one.key for one in found.added],
        returned=[one.key for one in found.returned],
        changed=[_describe_change(one) for one in found.changed],
        unchanged=found.same,
        missing=[one.key for one in found.missing],
        remarks=[*found.remarks],
    )


def _describe_change(one: RosterChange) -> RosterChanged:
    return RosterChanged(student=one.student, what=one.what, was=one.was, now=one.now)


# --- removed, and added again ------------------------------------------------------------------


@ROUTES.at("DELETE", f"{_ALL}/{{member}}", TEACHERS)
def remove(context: Context) -> None:
    """Remove a student from the course; submissions and marks are kept."""
    with context.acting() as act:
        roster.remove(act, context.course.id, context.student)


@ROUTES.at("GET", _FORMER, STAFF_ONLY)
def list_former(context: Context, asked: Asked) -> Page[StudentShown]:
    """List the removed students of the course, by their keys."""
    rows, following = _page(context, asked, FORMER)
    return Page(items=[_describe(one) for one in rows], next=following)


@ROUTES.at("POST", f"{_FORMER}/{{former}}/restore", TEACHERS)
def restore(context: Context) -> StudentShown:
    """Add a removed student again, with everything as before."""
    with context.acting() as act:
        return _describe(roster.restore(act, context.course.id, context.student))


# --- deadlines of their own --------------------------------------------------------------------


@ROUTES.at("GET", f"{_ASSIGNMENT}/extensions", STAFF_ONLY)
def extensions(context: Context, asked: Asked) -> Page[Extension]:
    """List the students with the deadlines of their own."""
    rows, following = _page(context, asked)
    with context.reading() as db:
        own = courses.extensions(db, context.assigned.id)
    items = [
        Extension(student=one.key, deadline=add_offset(own.get(one.key, "")) or None)
        for one in rows
    ]
    return Page(items=items, next=following)


@ROUTES.at("PUT", f"{_ASSIGNMENT}/students/{{student}}/extension", require_permission(EXTEND))
def extend(context: Context, body: Json[ExtensionWanted]) -> Extension:
    """Give a student, or each of a group, a later deadline, or take it back."""
    assigned = context.assigned
    with context.acting() as act:
        deadlines.extend(act, assigned, context.student, body.deadline)
        theirs = courses.students_of(act.db, assigned.course, context.student)
        latest = deadlines.latest_deadline(courses.extensions(act.db, assigned.id), theirs)
    return Extension(student=context.student, deadline=add_offset(latest) or None)
