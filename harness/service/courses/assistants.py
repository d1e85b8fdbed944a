"""Assistants of a course, and what each may do beside reading."""

from __future__ import annotations

from collections.abc import Iterable

from harness.errors import UsageError
from harness.escaping import one_line
from harness.service.people import entering
from harness.service.records import ASSISTANT, RIGHTS, Member
from harness.service.storage import courses
from harness.service.storage.audit_log import Act

_LONGEST = 200  # characters of a name


def add(act: Act, course: str, name: str, may: Iterable[str]) -> Member:
    """Add somebody new to a course, as an assistant.

    Raises:
        UsageError: there is no name, or no such right.
    """
    told = one_line(" ".join(name.split()), _LONGEST)
    if not told:
        raise UsageError("name: found nothing, expected the assistant's name")
    person = entering.add_person(act, told)
    made = Member(course, person.id, ASSISTANT, name=told, may=_rights(may))
    courses.MEMBERS.add(act.db, made)
    act.note("assistant added", course, assistant=person.id, may=made.may)
    return made


def change(act: Act, course: str, person: str, may: Iterable[str]) -> None:
    """Let an assistant do these things and no others.

    Raises:
        UsageError: it is not an assistant of the course, or there is no such right.
    """
    rights = _rights(may)
    _require(courses.MEMBERS.change(act.db, {"may": rights}, **_identify(course, person)))
    act.note("assistant's rights changed", course, assistant=person, may=rights)


def remove(act: Act, course: str, person: str) -> None:
    """Let somebody not be an assistant of a course any more.

    Raises:
        UsageError: it is not an assistant of the course.
    """
    _require(courses.MEMBERS.remove(act.db, **_identify(course, person)))
    act.note("assistant removed", course, assistant=person)


def _identify(course: str, person: str) -> dict[str, str]:
    return {"course": course, "person": person, "role": ASSISTANT}


def _require(found: int) -> None:
    if not found:
        raise UsageError("there is no such assistant in this course")


def _rights(may: Iterable[str]) -> str:
    """Return rights as a member has them: in the order of RIGHTS."""
    wanted = set(may)
    if unknown := wanted - set(RIGHTS):
        raise UsageError(f"found {min(unknown)!r}, expected some of {', '.join(RIGHTS)}")
    return " ".join(one for one in RIGHTS if one in wanted)
