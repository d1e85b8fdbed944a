"""Changing people: the name that others see, and the mail address."""

from __future__ import annotations

from sqlalchemy import Connection

from harness.errors import UsageError
from harness.escaping import one_line
from harness.service.records import ROSTER, STAFF, TEACHER, WAITING, Person
from harness.service.storage import courses, people
from harness.service.storage.audit import Act

RENAMED = "name changed"  # in the audit log
_LONGEST = 200  # characters of a name


def check_name(typed: str) -> str:
    """Return a name that somebody typed, as it is kept.

    Raises:
        UsageError: it is empty or very long.
    """
    name = one_line(" ".join(typed.split()))
    if not 0 < len(name) <= _LONGEST:
        raise UsageError(f"name: found {len(name)} characters, expected 1 to {_LONGEST}")
    return name


def rename(act: Act, person: Person, name: str) -> Person:
    """Change the name of a person, also in the lists of staff. Rosters have their own names.

    Raises:
        UsageError: as :func:`check_name`.
    """
    wanted = check_name(name)
    if wanted == person.name:
        return person
    values: dict[str, object] = {"name": wanted}
    people.PEOPLE.change(act.db, values, id=person.id)
    for role in STAFF:
        courses.MEMBERS.change(act.db, values, person=person.id, role=role)
    act.note(RENAMED, person.id, was=person.name, now=wanted)
    return person._replace(name=wanted)


def chose_a_name(act: Act, person: Person) -> bool:
    """Whether a person has changed the own name: a roster does not change it then."""
    found = act.log.entries(act.db, [person.id])
    return any(one.what == RENAMED and one.person == person.id for one in found)


def change_email(act: Act, person: Person, address: str) -> Person:
    """Change the mail address of a person; mails that wait go to the new one.

    Links, sessions and tokens end if there was another address: a link that was sent there may
    have let somebody else in.
    """
    people.PEOPLE.change(act.db, {"email": address}, id=person.id)
    waiting = {"kind": ROSTER, "person": person.id, "state": WAITING}
    people.LETTERS.change(act.db, {"address": address}, **waiting)
    if is_another_address(person.email, address):
        people.end_access(act.db, person.id)
    act.note("mail address changed", person.id, was=person.email, now=address)
    return person._replace(email=address)


def is_another_address(was: str, now: str) -> bool:
    """Whether mail to an address went to somebody else than it does now."""
    return bool(was) and was.casefold() != now.casefold()


def may_be_changed_by(db: Connection, person: Person, teacher: str) -> bool:
    """Whether a teacher's roster may change a person: a student of this teacher alone.

    With an address of the teacher's choice somebody could sign in as the person, who may have
    rights elsewhere.
    """
    found = courses.MEMBERS.all(db, person=person.id)
    if person.is_admin or any(one.role in STAFF for one in found):
        return False
    return all(
        courses.MEMBERS.find(db, course=one.course, person=teacher, role=TEACHER) for one in found
    )
