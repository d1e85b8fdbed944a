"""People: whose a token is, their tokens, the staff of a course, and its students."""

from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from harness.service.api import requests
from harness.service.api.courses import DATE
from harness.service.api.requests import ApiRoutes, Asked, Json, Moment, Page
from harness.service.courses import deadlines, gradebooks, roster, roster_files, staff
from harness.service.local_times import add_offset
from harness.service.people import accounts
from harness.service.records import ASSISTANT, EXTEND, FORMER, RIGHTS, STUDENT, Member
from harness.service.storage import courses, people
from harness.service.web.access import SIGNED_IN, STAFF_ONLY, TEACHERS, Context, require_permission
from harness.service.web.request_context import RequestContext, RequestRefused

ROUTES = ApiRoutes("people")


class Me(BaseModel):
    """The owner of a token."""

    id: str
    name: str
    scope: str


class NameWanted(BaseModel):
    """The name of a person."""

    name: str = Field(min_length=1, max_length=200)


class TokenShown(BaseModel):
    """An API token, without its secret."""

    id: str
    name: str
    scope: str
    made: Moment
    until: Moment


class NewToken(TokenShown):
    """An API token that was just made."""

    secret: str  # told this once


class TokenWanted(BaseModel):
    """An API token that is to be made."""

    name: str = Field(min_length=1, max_length=100)
    scope: Literal["read", "submit", "all"]
    days: int = Field(default=90, ge=1, le=365)


@ROUTES.at("GET", "/me", SIGNED_IN)
def me(context: Context) -> Me:
    """Say whose a token is."""
    assert context.person and context.token
    return Me(id=context.person.id, name=context.person.name, scope=context.token.scope)


@ROUTES.at("PATCH", "/me", SIGNED_IN)
def rename(context: Context, body: Json[NameWanted]) -> Me:
    """Change the name of the owner of the token, as others see it."""
    assert context.person and context.token
    with context.acting() as act:
        found = accounts.rename(act, context.person, body.name)
    return Me(id=found.id, name=found.name, scope=context.token.scope)


@ROUTES.at("GET", "/tokens", SIGNED_IN, scope="all")
def tokens(context: Context, page: Asked) -> Page[TokenShown]:
    """List the tokens of the owner of the token."""
    with context.reading() as db:
        found = requests.find_page(db, people.TOKENS, ("made", "id"), page, person=context.by)
    return found.show(lambda one: TokenShown(**one._asdict()))


@ROUTES.at("POST", "/tokens", SIGNED_IN, status_code=201)
def make_token(context: Context, body: Json[TokenWanted]) -> NewToken:
    """Make another token of the same owner."""
    with context.acting() as act:
        made, secret = accounts.make_token(act, body.name, body.scope, body.days)
    return NewToken(**made._asdict(), secret=secret.text)


@ROUTES.at("DELETE", "/tokens/{token}", SIGNED_IN)
def revoke_token(context: Context) -> None:
    """Let a token of the same owner hold no longer."""
    with context.acting() as act:
        token = context.part("token")
        if not token.isalnum() or not accounts.revoke_token(act, token):
            raise RequestRefused(404, "there is no such token")


# --- The staff of a course, with their rights, and the links of its students ---------------------
# The routes of assistants are those of the staff for assistants alone.

STAFF_ROUTES = ApiRoutes("courses")
_STAFF, _ASSISTANTS = "/courses/{course}/staff", "/courses/{course}/assistants"
_OF_STAFF, _ASSISTANT = f"{_STAFF}/{{staff}}", f"{_ASSISTANTS}/{{assistant}}"
_RIGHTS = f"some of {', '.join(RIGHTS)}"
Role = Literal["teacher", "assistant"]


class AssistantShown(BaseModel):
    """An assistant of a course."""

    id: str
    name: str
    may: list[str]  # beside reading


class NewAssistant(AssistantShown):
    """A new assistant."""

    link: str  # to sign in by; told this once


class StaffShown(AssistantShown):
    """A teacher, who may do everything, or an assistant of a course."""

    role: Role


class StaffAdded(StaffShown):
    """A teacher or an assistant with a new link."""

    link: str  # to sign in by; told this once


class AssistantWanted(BaseModel):
    """A person to add as an assistant."""

    name: str = Field(min_length=1, max_length=200)
    may: list[str] = Field(default=[], max_length=len(RIGHTS), description=_RIGHTS)


class StaffWanted(AssistantWanted):
    """A teacher or an assistant to be added."""

    role: Role
    email: str = Field(default="", max_length=254, description="to sign in by later")


class RightsWanted(BaseModel):
    """Rights of an assistant, beside reading."""

    may: list[str] = Field(max_length=len(RIGHTS), description=_RIGHTS)


class RoleWanted(BaseModel):
    """The role of a member of the staff; an assistant may do these things beside reading."""

    role: Role
    may: list[str] = Field(default=[], max_length=len(RIGHTS), description=_RIGHTS)


class LinkShown(BaseModel):
    """A link for a student to sign in by, told this once."""

    student: str  # the key
    name: str
    email: str
    link: str  # empty: the person has rights elsewhere, and signs in by mail alone


class StudentLinks(BaseModel):
    """The links of all students of a course."""

    items: list[LinkShown]


@STAFF_ROUTES.at("GET", _STAFF, STAFF_ONLY)
def list_staff(context: Context, page: Asked) -> Page[StaffShown]:
    """List the teachers and assistants of a course, by name, with what each may do."""
    return _find(context, page, *staff.ROLES).show(lambda one: StaffShown(**_members_of(one)))


@STAFF_ROUTES.at("POST", _STAFF, TEACHERS, status_code=201)
def add_staff(context: Context, body: Json[StaffWanted]) -> StaffAdded:
    """Add somebody new as a teacher or an assistant."""
    new = staff.NewStaff(body.name, body.role, tuple(body.may), body.email)
    return StaffAdded(**_add(context, new))


@STAFF_ROUTES.at("PUT", _OF_STAFF, TEACHERS)
def change_staff(context: Context, body: Json[RoleWanted]) -> StaffShown:
    """Change the role of a teacher or an assistant, and what an assistant may do."""
    return StaffShown(**_members_of(_change(context, body.role, body.may)))


@STAFF_ROUTES.at("POST", f"{_OF_STAFF}/link", TEACHERS, status_code=201)
def make_link(context: Context) -> StaffAdded:
    """Make a new link for a teacher or an assistant; earlier ones stop working."""
    person, base = context.colleague.person, context.settings.base
    with context.acting() as act:
        found, link = staff.make_link(act, context.course.id, person, base)
    return StaffAdded(**_members_of(found), link=link)


@STAFF_ROUTES.at("DELETE", _OF_STAFF, TEACHERS)
def remove_staff(context: Context) -> None:
    """Remove a teacher or an assistant from the course; one teacher stays."""
    _remove(context)


@STAFF_ROUTES.at("GET", _ASSISTANTS, STAFF_ONLY, name="listed")
def list_assistants(context: Context, page: Asked) -> Page[AssistantShown]:
    """List the assistants of a course, with what each may do beside reading."""
    return _find(context, page, ASSISTANT).show(lambda one: AssistantShown(**_members_of(one)))


@STAFF_ROUTES.at("POST", _ASSISTANTS, TEACHERS, status_code=201, name="add")
def add_assistant(context: Context, body: Json[AssistantWanted]) -> NewAssistant:
    """Add somebody new as an assistant."""
    return NewAssistant(**_add(context, staff.NewStaff(body.name, ASSISTANT, tuple(body.may))))


@STAFF_ROUTES.at("PUT", f"{_ASSISTANT}/rights", TEACHERS, name="change")
def change_assistant(context: Context, body: Json[RightsWanted]) -> AssistantShown:
    """Let an assistant do these things beside reading, and no others."""
    return AssistantShown(**_members_of(_change(context, ASSISTANT, body.may)))


@STAFF_ROUTES.at("DELETE", _ASSISTANT, TEACHERS, name="remove")
def remove_assistant(context: Context) -> None:
    """Remove an assistant from the course."""
    _remove(context)


def _find(
    context: RequestContext, page: Asked, *roles: str, order: tuple[str, ...] = ("name", "person")
) -> requests.Found[Member]:
    named = {"course": context.course.id, "role": [*roles]}
    with context.reading() as db:
        return requests.find_page(db, courses.MEMBERS, order, page, **named)


def _add(context: RequestContext, new: staff.NewStaff) -> dict[str, Any]:
    with context.acting() as act:
        made = staff.add(act, context.course.id, new)
        link = accounts.make_course_link(act, made.person, context.settings.base)
    return {**_members_of(made), "link": link}


def _change(context: RequestContext, role: str, may: list[str]) -> Member:
    with context.acting() as act:
        return staff.change(act, context.course.id, context.colleague.person, role, may)


def _remove(context: RequestContext) -> None:
    with context.acting() as act:
        staff.remove(act, context.course.id, context.colleague.person)


def _members_of(member: Member) -> dict[str, Any]:
    may = [right for right in RIGHTS if member.has(right)]
    return {"id": member.person, "name": member.name, "may": may, "role": member.role}


@STAFF_ROUTES.at("POST", "/courses/{course}/links", TEACHERS)
def make_links(context: Context) -> StudentLinks:
    """Make links for all students of a course; those they had hold no longer."""
    with context.acting() as act:
        found = roster.make_links(act, context.course.id, context.settings.base)
    return StudentLinks(items=[LinkShown(**one._asdict()) for one in found])


# --- The students of a course: rosters taken, students removed, deadlines extended ---------------

STUDENT_ROUTES = ApiRoutes("students")
_ALL, _FORMER = "/courses/{course}/students", "/courses/{course}/former-students"
_ASSIGNMENT = "/courses/{course}/assignments/{assignment}"


class StudentShown(BaseModel):
    """A student of a course."""

    student: str  # the key
    name: str
    group: str  # the key of the group that submits as one; empty: alone


class RosterChanged(BaseModel):
    """Change of a student by a roster."""

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


@STUDENT_ROUTES.at("GET", _ALL, STAFF_ONLY)
def students(context: Context, page: Asked) -> Page[StudentShown]:
    """List the students of a course, by their keys."""
    return _find(context, page, STUDENT, order=("key",)).show(_describe_student)


def _describe_student(member: Member) -> StudentShown:
    return StudentShown(student=member.key, name=member.name, group=member.team)


@STUDENT_ROUTES.at("POST", "/courses/{course}/roster", TEACHERS)
def take_roster(
    context: Context,
    path: Annotated[Path, requests.Body("text/csv")],  # a zip of a class's submissions is large
    name: Annotated[str, Query(max_length=200, description="of the file")] = "",
) -> RosterTaken:
    """Take a roster: a CSV with the column ``student``. Members missing from it stay.

    ``name``: of the file, as errors call it.
    """
    wanted = roster_files.read(path, name)
    with context.acting() as act:
        found = roster.take(act, context.course.id, wanted)
    gradebooks.keep_roster(context.settings, context.course.id, gradebooks.read_roster(path))
    return RosterTaken(
        students=len(wanted.students),
        added=[one.key for one in found.added],
        returned=[one.key for one in found.returned],
        changed=[RosterChanged(**one._asdict()) for one in found.changed],
        unchanged=found.same,
        missing=[one.key for one in found.missing],
        remarks=[*found.remarks],
    )


@STUDENT_ROUTES.at("DELETE", f"{_ALL}/{{member}}", TEACHERS)
def remove(context: Context) -> None:
    """Remove a student from the course; submissions and marks are kept."""
    with context.acting() as act:
        roster.remove(act, context.course.id, context.student)


@STUDENT_ROUTES.at("GET", _FORMER, STAFF_ONLY)
def list_former(context: Context, page: Asked) -> Page[StudentShown]:
    """List the removed students of the course, by their keys."""
    return _find(context, page, FORMER, order=("key",)).show(_describe_student)


@STUDENT_ROUTES.at("POST", f"{_FORMER}/{{former}}/restore", TEACHERS)
def restore(context: Context) -> StudentShown:
    """Add a removed student again, with everything as before."""
    with context.acting() as act:
        return _describe_student(roster.restore(act, context.course.id, context.student))


@STUDENT_ROUTES.at("GET", f"{_ASSIGNMENT}/extensions", STAFF_ONLY)
def extensions(context: Context, page: Asked) -> Page[Extension]:
    """List the students with the deadlines of their own."""
    found = _find(context, page, STUDENT, order=("key",))
    with context.reading() as db:
        own = courses.extensions(db, context.assigned.id)
    return found.show(
        lambda one: Extension(student=one.key, deadline=add_offset(own.get(one.key, "")) or None)
    )


@STUDENT_ROUTES.at(
    "PUT", f"{_ASSIGNMENT}/students/{{student}}/extension", require_permission(EXTEND)
)
def extend(context: Context, body: Json[ExtensionWanted]) -> Extension:
    """Give a student, or each of a group, a later deadline, or take it back."""
    assigned = context.assigned
    with context.acting() as act:
        deadlines.extend(act, assigned, context.student, body.deadline)
        theirs = courses.students_of(act.db, assigned.course, context.student)
        latest = deadlines.latest_deadline(courses.extensions(act.db, assigned.id), theirs)
    return Extension(student=context.student, deadline=add_offset(latest) or None)
