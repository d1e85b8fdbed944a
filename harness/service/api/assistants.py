"""Who else is in a course: its assistants with their rights, and the links of its students."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from fastapi.responses import Response
from pydantic import BaseModel, Field

from harness.service.api import bodies
from harness.service.api.paging import Asked, Page, find
from harness.service.courses import assistants, roster
from harness.service.people import entering
from harness.service.records import ASSISTANT, RIGHTS, Member
from harness.service.storage import courses
from harness.service.web.access import STAFF_ONLY, TEACHERS, Here, Now, Routes

ROUTES = Routes(is_api=True, prefix="/api/v1", tags=["courses"])
_ALL = "/courses/{course}/assistants"
_ONE = f"{_ALL}/{{assistant}}"
_RIGHTS = f"some of {', '.join(RIGHTS)}"


class AssistantShown(BaseModel):
    """An assistant of a course."""

    id: str
    name: str
    may: list[str]  # beside reading


class NewAssistant(AssistantShown):
    """An assistant who was just added."""

    link: str  # to sign in by; told this once


class AssistantWanted(BaseModel):
    """Somebody new who is to be an assistant."""

    name: str = Field(min_length=1, max_length=200)
    may: list[str] = Field(default=[], max_length=len(RIGHTS), description=_RIGHTS)


class RightsWanted(BaseModel):
    """What an assistant is to be allowed, beside reading."""

    may: list[str] = Field(max_length=len(RIGHTS), description=_RIGHTS)


class LinkShown(BaseModel):
    """A link for a student to sign in by, told this once."""

    student: str  # the key
    name: str
    email: str
    link: str


class StudentLinks(BaseModel):
    """The links of all students of a course."""

    items: list[LinkShown]


@ROUTES.at("GET", _ALL, STAFF_ONLY, response_model=Page[AssistantShown])
def listed(here: Now, asked: Asked) -> Page[AssistantShown]:
    """List the assistants of a course, with what each may do beside reading."""
    with here.service.database.reading() as db:
        named = {"course": _course(here), "role": ASSISTANT}
        found = find(db, courses.MEMBERS, ("name", "person"), asked, **named)
    return Page(items=[_describe(one) for one in found.rows], next=found.next)


@ROUTES.at(
    "POST",
    _ALL,
    TEACHERS,
    scope="all",
    status_code=201,
    response_model=NewAssistant,
    openapi_extra=bodies.describe_body(AssistantWanted),
)
def add(
    here: Now, wanted: Annotated[AssistantWanted, Depends(bodies.json_of(AssistantWanted))]
) -> NewAssistant:
    """Add somebody new as an assistant."""
    with here.service.database.acting(here.by) as act:
        made = assistants.add(act, _course(here), wanted.name, wanted.may)
        secret = entering.link(act, made.person, entering.COURSE_LINK, once=False)
    link = f"{here.service.settings.base}/enter/{secret.text}"
    return NewAssistant(**_describe(made).model_dump(), link=link)


@ROUTES.at(
    "PUT",
    f"{_ONE}/rights",
    TEACHERS,
    scope="all",
    response_model=AssistantShown,
    openapi_extra=bodies.describe_body(RightsWanted),
)
def change(
    here: Now, wanted: Annotated[RightsWanted, Depends(bodies.json_of(RightsWanted))]
) -> AssistantShown:
    """Let an assistant do these things beside reading, and no others."""
    person = here.sure_assistant().person
    with here.service.database.acting(here.by) as act:
        assistants.change(act, _course(here), person, wanted.may)
        found = courses.MEMBERS.find(act.db, course=_course(here), person=person)
    assert found
    return _describe(found)


@ROUTES.at("DELETE", _ONE, TEACHERS, scope="all", status_code=204)
def remove(here: Now) -> Response:
    """Let somebody not be an assistant of the course any more."""
    with here.service.database.acting(here.by) as act:
        assistants.remove(act, _course(here), here.sure_assistant().person)
    return Response(status_code=204)


@ROUTES.at("POST", "/courses/{course}/links", TEACHERS, scope="all", response_model=StudentLinks)
def make_links(here: Now) -> StudentLinks:
    """Make links for all students of a course; those they had hold no longer."""
    with here.service.database.acting(here.by) as act:
        found = roster.make_links(act, _course(here), here.service.settings.base)
    return StudentLinks(items=[LinkShown(**one._asdict()) for one in found])


def _course(here: Here) -> str:
    assert here.course
    return here.course.id


def _describe(one: Member) -> AssistantShown:
    return AssistantShown(id=one.person, name=one.name, may=one.may.split())
