"""Courses and their assignments: made, changed, removed; files of a teacher's own."""

import datetime
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field
from sqlalchemy import Connection

from harness.assignments.assignment import Late
from harness.assignments.clock_changes import add_zone
from harness.core import file_system
from harness.service.api import requests
from harness.service.api.requests import Archive, Json, Key, Page
from harness.service.courses import changes, deadlines, making, own_files
from harness.service.jobs import checklist, previews, private_cases
from harness.service.local_times import add_offset
from harness.service.records import ROLES, Course, CourseAssignment, Member
from harness.service.storage import courses
from harness.service.web.access import ADMINS, MEMBERS, SIGNED_IN, STAFF_ONLY, TEACHERS, Context
from harness.service.web.request_context import RequestContext, RequestRefused, require_found

ROUTES = requests.ApiRoutes("courses")
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
    """Requirements before students can use an assignment."""

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
def make_course(context: Context, body: Json[CourseWanted], key: Key = "") -> CourseOfMine:
    """Make a course; the owner of the token is its first teacher."""
    sent = ("course", body.title)
    with context.acting() as act:
        made = requests.make_once(act, key, sent, lambda: making.course(act, body.title).id)
        found = courses.COURSES.find(act.db, id=made)
        member = courses.MEMBERS.find(act.db, course=made, person=context.by)
    return describe_course(requests.require_kept(found, "course"), member)


@ROUTES.at("GET", "/courses", SIGNED_IN)
def my_courses(context: Context, page: requests.Asked) -> Page[CourseOfMine]:
    """List the courses that the owner of the token is in."""
    named = {"person": context.by, "role": [*ROLES]}
    with context.reading() as db:
        return requests.find_page(db, courses.MEMBERS, ["course"], page, **named).show(
            lambda one: describe_course(courses.COURSES.find(db, id=one.course), one)
        )


@ROUTES.at("GET", "/courses/{course}", MEMBERS)
def one_course(context: Context) -> CourseOfMine:
    """Show a course."""
    return describe_course(context.course, context.member)


def describe_course(course: Course | None, member: Member | None) -> CourseOfMine:
    """Return a course as the API tells it; refuses one that was removed, or that somebody left."""
    if course is None or member is None:
        raise RequestRefused(404, "there is no such course")
    return CourseOfMine(id=course.id, title=course.title, role=member.role)


@ROUTES.at("GET", _ALL, MEMBERS)
def assignments(context: Context, page: requests.Asked) -> Page[AssignmentShown]:
    """List the assignments of a course, by their deadlines."""
    order = ("deadline", "title", "id")
    named = {"course": context.course.id} | ({} if context.is_staff else {"hidden": 0})
    with context.reading() as db:
        found = requests.find_page(db, courses.ASSIGNMENTS, order, page, **named)
        return found.show(lambda one: describe_assignment(one, _find_own(db, context, one)))


@ROUTES.at("POST", _ALL, TEACHERS, status_code=201)
def make_assignment(
    context: Context, body: Json[AssignmentWanted], key: Key = ""
) -> AssignmentShown:
    """Make an assignment of a course."""
    told = {**body.model_dump(), "source": making.check_shipped(body.source)}
    told["grace"] = making.AS_ITS_OWN if body.grace is None else body.grace
    row = CourseAssignment("", context.course.id, made=0.0, **told)
    sent = ("assignment", *map(str, row))
    with context.acting() as act:
        made = requests.make_once(act, key, sent, lambda: making.assign(act, row).id)
        found = courses.ASSIGNMENTS.find(act.db, id=made)
    return describe_assignment(requests.require_kept(found, "assignment"))


@ROUTES.at("GET", f"{_ALL}/{{assignment}}", MEMBERS)
def one_assignment(context: Context) -> AssignmentShown:
    """Show an assignment."""
    assigned = context.assigned
    with context.reading() as db:
        return describe_assignment(assigned, _find_own(db, context, assigned))


@ROUTES.at("GET", f"{_ALL}/{{assignment}}/checklist", STAFF_ONLY)
def show_checklist(context: Context) -> Checklist:
    """Tell what is set up, and what is missing before students can use the assignment."""
    base = context.settings.base
    with context.reading() as db:
        setup = checklist.load(db, context.settings, context.assigned)
    items = [
        SetupItemShown(**{**one._asdict(), "page": f"{base}{one.page}" if one.page else ""})
        for one in setup.items
    ]
    return Checklist(is_ready=setup.is_ready, is_blocked=setup.is_blocked, items=items)


def _find_own(db: Connection, context: Context, assignment: CourseAssignment) -> Late | None:
    """Return the dates of the student who asks, if an extension gives other ones."""
    if context.is_staff:
        return None
    rule = deadlines.load_rule(db, assignment, context.member.submits_as)
    return rule if _format(rule.deadline) != add_offset(assignment.deadline) else None


def describe_assignment(assignment: CourseAssignment, rule: Late | None = None) -> AssignmentShown:
    """Return an assignment as the API tells it; ``rule``: by an extension of who asks."""
    dates = {
        "opens": add_offset(assignment.opens),
        "deadline": add_offset(assignment.deadline),
        "closes": add_offset(assignment.closes),
        "own_deadline": _format(rule.deadline) if rule else "",
        "own_closes": _format(rule.refused_after) if rule else "",
    }
    return AssignmentShown(**{**assignment._asdict(), **dates})


def _format(time: datetime.datetime | None) -> str:
    return add_zone(time).isoformat() if time else ""


# --- Assignments and courses changed and removed by teachers -------------------------------------

_COURSE = "/courses/{course}"
_ONE = f"{_COURSE}/assignments/{{assignment}}"
_DATE = Field(default=None, max_length=30, description=f"{DATE}; empty for none")


class AssignmentChange(BaseModel):
    """New values; a field that is left out stays."""

    title: str | None = Field(default=None, max_length=200)
    opens: str | None = _DATE
    deadline: str | None = _DATE
    closes: str | None = _DATE
    deduction: str | None = Field(default=None, max_length=30, description="percent")
    grace: int | None = Field(default=None, ge=0, lt=100_000, description="minutes")
    hidden: bool | None = Field(default=None, description="from students")


class ChangeEffect(BaseModel):
    """Effect of a change on a student or group."""

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
    with context.acting() as act:
        now = require_found(courses.lock(act.db, context.assigned.id), _REMOVED)
        told = now._replace(**body.model_dump(exclude_none=True))
        planned = changes.plan(act.db, now, told)
        if not preview:
            changes.change(act, now, told, planned.digest)
    return AssignmentChanged(
        assignment=describe_assignment(planned.made),
        effects=[
            ChangeEffect(student=one.key, now=one.now, then=one.then) for one in planned.effects
        ],
        ended=planned.ended,
    )


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


# --- Files of a teacher's: an assignment of one's own, newer uploads of it, the course folder ----
# Archives are the body of a request as it is.

OWN_ROUTES = requests.ApiRoutes("own assignments")
_OWN_ONE = f"{_ALL}/{{assignment}}"

Name = Annotated[
    str, Query(min_length=1, max_length=200, description="of the archive, such as nogo.zip")
]
_NEW_DATE = Field(default="", max_length=30, description=DATE)
_REMOVED = "there is no such assignment"  # any more: it was removed after a request had come


class OwnAssignmentWanted(BaseModel):
    """An assignment that is to be made. What is left empty is as its archive has it."""

    name: Name
    title: str = Field(default="", max_length=200, pattern=r"^[^\x00]*$")
    opens: str = _NEW_DATE
    deadline: str = _NEW_DATE
    closes: str = _NEW_DATE
    deduction: str = Field(default="", max_length=30, description="late penalty in percent")
    grace: int | None = Field(default=None, ge=0, lt=100_000, description="minutes")


class SourceShown(BaseModel):
    """Uploads of an assignment of a teacher's own."""

    upload: int  # the number of the upload that holds; 0: the assignment ships
    changes: list[list[str]]  # of each newer upload, in sentences
    still_left_out: list[str]  # FILE:ID of weight 0, whose files have changed since that was said


class OverlayShown(BaseModel):
    """The course folder that submissions of an assignment get beside them."""

    folder: str  # its name; empty if they get none
    is_uploaded: bool


@OWN_ROUTES.at("POST", f"{_ALL}/own", TEACHERS, status_code=201)
def make(
    context: Context, path: Archive, body: Annotated[OwnAssignmentWanted, Query()], key: Key = ""
) -> AssignmentShown:
    """Make an assignment of an archive with an ``assignment.toml``, in a folder or not."""
    settings, fields = context.settings, body.model_dump()
    name = fields.pop("name")
    fields["grace"] = making.AS_ITS_OWN if body.grace is None else body.grace
    wanted = CourseAssignment("", context.course.id, source=own_files.OWN, made=0.0, **fields)
    sent = ("own assignment", name, file_system.digest(path), *map(str, wanted))
    with own_files.unpack(settings, path, name) as (place, own), context.acting() as act:
        made = requests.make_once(
            act, key, sent, lambda: own_files.make(act, wanted, place, own).id
        )
        kept = courses.ASSIGNMENTS.find(act.db, id=made)
        found = requests.require_kept(kept, "assignment")
        private_cases.let_measure(act, found)
    return describe_assignment(found)


@OWN_ROUTES.at("GET", f"{_OWN_ONE}/source", STAFF_ONLY)
def source(context: Context) -> SourceShown:
    """Show what each newer upload of an assignment of one's own changed."""
    return _source(context, context.assigned)


@OWN_ROUTES.at("POST", f"{_OWN_ONE}/source", TEACHERS, status_code=201)
def replace(context: Context, path: Archive, name: Name, key: Key = "") -> SourceShown:
    """Let a newer upload take the place of the one before. Dates, points and weights stay."""
    settings, assigned = context.settings, context.assigned
    sent = ("source", assigned.id, name, file_system.digest(path))
    with own_files.unpack(settings, path, name) as (place, _), context.acting() as act:
        made = requests.make_once(
            act, key, sent, lambda: own_files.replace(act, assigned, place).id
        )
        found = require_found(courses.ASSIGNMENTS.find(act.db, id=made), _REMOVED)
        private_cases.let_measure(act, found)
    return _source(context, found)


def _source(context: RequestContext, assignment: CourseAssignment) -> SourceShown:
    settings = context.settings
    return SourceShown(
        upload=assignment.edition + 1 if assignment.source == own_files.OWN else 0,
        changes=own_files.editions(settings, assignment),
        still_left_out=[one.name for one in previews.still_left_out(settings, assignment)],
    )


@OWN_ROUTES.at("GET", f"{_OWN_ONE}/overlay", STAFF_ONLY)
def overlay(context: Context) -> OverlayShown:
    """Tell whether submissions get a course folder beside them, and whether there is one."""
    settings, assigned = context.settings, context.assigned
    folder = own_files.assignment_of(settings, assigned).engine.overlay
    return OverlayShown(
        folder=folder, is_uploaded=bool(folder) and own_files.has_overlay(settings, assigned)
    )


@OWN_ROUTES.at("PUT", f"{_OWN_ONE}/overlay", TEACHERS)
def take_overlay(context: Context, path: Archive, name: Name, key: Key = "") -> OverlayShown:
    """Let the folder in an archive be the course folder, in the place of the one before."""
    assigned = context.assigned
    sent = ("overlay", assigned.id, name, file_system.digest(path))
    with context.acting() as act:

        def take() -> str:
            own_files.take_overlay(act, assigned, path, name)
            return assigned.id

        if not courses.hold(act.db, assigned.id):
            raise RequestRefused(404, _REMOVED)
        requests.make_once(act, key, sent, take)
    return overlay(context)
