"""Files of a teacher's: an assignment of one's own, newer uploads of it, the course folder.

Archives are the body of a request as it is.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from harness.service.api import courses, requests
from harness.service.api.courses import AssignmentShown
from harness.service.api.requests import (
    ApiRoutes,
    Archive,
    IdempotencyKey,
    make_once,
    require_kept,
)
from harness.service.courses import making, own_files
from harness.service.jobs import previews, private_cases
from harness.service.records import CourseAssignment
from harness.service.storage import courses as rows
from harness.service.web.access import STAFF_ONLY, TEACHERS, Context
from harness.service.web.request_context import RequestContext, RequestRefused

ROUTES = ApiRoutes("own assignments")
_ALL = "/courses/{course}/assignments"
_ONE = f"{_ALL}/{{assignment}}"

Name = Annotated[
    str, Query(min_length=1, max_length=200, description="of the archive, such as nogo.zip")
]
_DATE = Field(default="", max_length=30, description=courses.DATE)


class OwnAssignmentWanted(BaseModel):
    """An assignment that is to be made. What is left empty is as its archive has it."""

    name: Name
    title: str = Field(default="", max_length=200, pattern=r"^[^\x00]*$")
    opens: str = _DATE
    deadline: str = _DATE
    closes: str = _DATE
    deduction: str = Field(default="", max_length=30, description="late penalty in percent")
    grace: int | None = Field(default=None, ge=0, lt=100_000, description="minutes")


class SourceShown(BaseModel):
    """What was uploaded for an assignment of a teacher's own."""

    upload: int  # the number of the upload that holds; 0: the assignment ships
    changes: list[list[str]]  # of each newer upload, in sentences
    still_left_out: list[str]  # FILE:ID of weight 0, whose files have changed since that was said


class OverlayShown(BaseModel):
    """The course folder that submissions of an assignment get beside them."""

    folder: str  # its name; empty if they get none
    is_uploaded: bool


@ROUTES.at("POST", f"{_ALL}/own", TEACHERS, status_code=201)
def make(
    context: Context,
    path: Archive,
    body: Annotated[OwnAssignmentWanted, Query()],
    idempotency_key: IdempotencyKey = "",
) -> AssignmentShown:
    """Make an assignment of an archive with an ``assignment.toml``, in a folder or not."""
    settings, fields = context.settings, body.model_dump()
    name = fields.pop("name")
    fields["grace"] = making.AS_ITS_OWN if body.grace is None else body.grace
    wanted = CourseAssignment("", context.course.id, source=own_files.OWN, made=0.0, **fields)
    sent = ("own assignment", name, requests.digest(path), *map(str, wanted))
    with own_files.unpack(settings, path, name) as (place, own), context.acting() as act:

        def make() -> str:
            return own_files.make(act, settings, wanted, place, own).id

        made = make_once(act, idempotency_key, sent, make)
        found = require_kept(rows.ASSIGNMENTS.find(act.db, id=made), "assignment")
        private_cases.let_measure(act, settings, found)
    return courses.describe_assignment(found)


@ROUTES.at("GET", f"{_ONE}/source", STAFF_ONLY)
def source(context: Context) -> SourceShown:
    """Show what each newer upload of an assignment of one's own changed."""
    return _source(context, context.assigned)


@ROUTES.at("POST", f"{_ONE}/source", TEACHERS, status_code=201)
def replace(
    context: Context, path: Archive, name: Name, idempotency_key: IdempotencyKey = ""
) -> SourceShown:
    """Let a newer upload take the place of the one before. Dates, points and weights stay."""
    settings, assigned = context.settings, context.assigned
    sent = ("source", assigned.id, name, requests.digest(path))
    with own_files.unpack(settings, path, name) as (place, _), context.acting() as act:

        def replace() -> str:
            own_files.replace(act, settings, assigned, place)
            return assigned.id

        found = rows.ASSIGNMENTS.find(act.db, id=make_once(act, idempotency_key, sent, replace))
        if found is None:  # it was removed after this request had come
            raise RequestRefused(404, "there is no such assignment")
        private_cases.let_measure(act, settings, found)
    return _source(context, found)


def _source(context: RequestContext, assigned: CourseAssignment) -> SourceShown:
    settings = context.settings
    left = previews.still_left_out(settings, assigned)
    is_own = assigned.source == own_files.OWN
    return SourceShown(
        upload=assigned.edition + 1 if is_own else 0,
        changes=own_files.editions(settings, assigned),
        still_left_out=[one.name for one in left],
    )


@ROUTES.at("GET", f"{_ONE}/overlay", STAFF_ONLY)
def overlay(context: Context) -> OverlayShown:
    """Tell whether submissions get a course folder beside them, and whether there is one."""
    return _overlay(context)


@ROUTES.at("PUT", f"{_ONE}/overlay", TEACHERS)
def take_overlay(
    context: Context, path: Archive, name: Name, idempotency_key: IdempotencyKey = ""
) -> OverlayShown:
    """Let the folder in an archive be the course folder, in the place of the one before."""
    settings, assigned = context.settings, context.assigned
    with context.acting() as act:

        def take() -> str:
            own_files.take_overlay(act, settings, assigned, path, name)
            return assigned.id

        if not rows.hold(act.db, assigned.id):  # it was removed after this request had come
            raise RequestRefused(404, "there is no such assignment")
        make_once(
            act, idempotency_key, ("overlay", assigned.id, name, requests.digest(path)), take
        )
    return _overlay(context)


def _overlay(context: RequestContext) -> OverlayShown:
    settings, assigned = context.settings, context.assigned
    folder = own_files.assignment_of(settings, assigned).engine.overlay
    return OverlayShown(
        folder=folder, is_uploaded=bool(folder) and own_files.has_overlay(settings, assigned)
    )
