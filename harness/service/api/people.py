"""Who a token is, and the courses that its owner is in."""

from __future__ import annotations

from pydantic import BaseModel

from harness.service.storage import courses
from harness.service.web.access import SIGNED_IN, Now, Routes

ROUTES = Routes(is_api=True, prefix="/api/v1", tags=["people"])


class Me(BaseModel):
    """The owner of a token."""

    id: str
    name: str
    scope: str


class CourseOfMine(BaseModel):
    """A course, and what the owner of the token is in it."""

    id: str
    title: str
    role: str


@ROUTES.at("GET", "/me", SIGNED_IN, response_model=Me)
def me(here: Now) -> Me:
    """Say whose a token is."""
    assert here.person and here.token
    return Me(id=here.person.id, name=here.person.name, scope=here.token.scope)


@ROUTES.at("GET", "/courses", SIGNED_IN, response_model=list[CourseOfMine])
def my_courses(here: Now) -> list[CourseOfMine]:
    """List the courses that its owner is in."""
    with here.service.database.reading() as db:
        found = courses.of_person(db, here.by)
    return [CourseOfMine(id=one.id, title=one.title, role=member.role) for one, member in found]
