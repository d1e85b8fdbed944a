"""Assignments and courses changed and removed by teachers."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from harness.service.api import bodies
from harness.service.api.courses import (
    DATE,
    AssignmentShown,
    CourseOfMine,
    CourseWanted,
    describe_assignment,
    describe_course,
)
from harness.service.courses import changes
from harness.service.courses.changes import Change
from harness.service.web.access import Now, Routes
from harness.service.web.rules import TEACHERS

ROUTES = Routes(is_api=True, prefix="/api/v1", tags=["courses"])
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


@ROUTES.at(
    "PATCH",
    _ONE,
    TEACHERS,
    scope="all",
    response_model=AssignmentChanged,
    openapi_extra=bodies.describe_body(AssignmentChange),
)
def change(
    here: Now,
    wanted: Annotated[AssignmentChange, Depends(bodies.json_of(AssignmentChange))],
    preview: Annotated[
        bool, Query(description="only tell what would change; nothing is changed")
    ] = False,
) -> AssignmentChanged:
    """Change an assignment: who would be late, or late no longer, is told."""
    now = here.sure().assigned
    told = now._replace(**wanted.model_dump(exclude_none=True))
    with here.service.database.acting(here.by) as act:
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


@ROUTES.at("DELETE", _ONE, TEACHERS, scope="all", status_code=204)
def remove(here: Now) -> Response:
    """Remove an assignment that nobody has submitted to."""
    assigned = here.sure().assigned
    with here.service.database.acting(here.by) as act:
        changes.remove_assignment(act, assigned)
    changes.clear(here.service.settings, assigned)
    return Response(status_code=204)


@ROUTES.at(
    "PATCH",
    _COURSE,
    TEACHERS,
    scope="all",
    response_model=CourseOfMine,
    openapi_extra=bodies.describe_body(CourseWanted),
)
def rename_course(
    here: Now, wanted: Annotated[CourseWanted, Depends(bodies.json_of(CourseWanted))]
) -> CourseOfMine:
    """Give a course another title; its address stays."""
    assert here.course
    with here.service.database.acting(here.by) as act:
        made = changes.rename_course(act, here.course, wanted.title)
    return describe_course(made, here.member)


@ROUTES.at("DELETE", _COURSE, TEACHERS, scope="all", status_code=204)
def remove_course(here: Now) -> Response:
    """Remove a course that nobody has submitted in, with its assignments and its roster."""
    assert here.course
    with here.service.database.acting(here.by) as act:
        removed = changes.remove_course(act, here.course)
    changes.clear_course(here.service.settings, here.course, removed)
    return Response(status_code=204)
