"""The staff of a course: teachers, who may do everything, and assistants with their rights."""

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import Connection

from harness.core.errors import UsageError
from harness.core.text import one_line
from harness.service.people import accounts
from harness.service.records import ASSISTANT, FORMER, RIGHTS, STUDENT, TEACHER, Member, Person
from harness.service.storage import courses, people
from harness.service.storage.audit import AuditedTransaction

ROLES = (TEACHER, ASSISTANT)
_LONGEST = 200  # characters of a name


class NewStaff(NamedTuple):
    """A teacher or an assistant to be added."""

    name: str
    role: str = ASSISTANT
    may: tuple[str, ...] = ()  # of RIGHTS; a teacher has all
    email: str = ""  # to sign in by later; empty: by links alone


def list_staff(db: Connection, course: str) -> list[Member]:
    """Return the staff of a course: teachers first, each by name."""
    found = courses.MEMBERS.all(db, "name", "person", course=course, role=[*ROLES])
    return sorted(found, key=lambda one: ROLES.index(one.role))


def add(act: AuditedTransaction, course: str, new: NewStaff) -> Member:
    """Add a new person to the staff of a course.

    Raises:
        UsageError: the name is empty; the role, a right or the mail address is not valid; or a
            member of the staff already has this name: a form that is sent twice adds one person.
    """
    name = one_line(" ".join(new.name.split()), _LONGEST)
    if not name:
        raise UsageError("name: found nothing, expected the name of a teacher or an assistant")
    role, rights = _read_role(new.role, new.may)
    email = accounts.check_address(new.email) if new.email else ""
    courses.lock_course(act.db, course)  # the same form may be sent twice at a time
    for one in list_staff(act.db, course):
        if one.name.casefold() == name.casefold():
            raise UsageError(
                f"name: {one.name} is of the staff already ({one.role}). A new link for the same"
                f" person is made in the list; somebody else needs another name"
            )
    return _join(act, course, accounts.add_person(act, name, email), role, rights)


def make_link(act: AuditedTransaction, course: str, person: str, base: str) -> tuple[Member, str]:
    """Make a link for a member of the staff; those the person had hold no longer.

    ``base``: the beginning of the service's addresses.

    Raises:
        UsageError: the staff has no such member, or the person has rights elsewhere. The link
            would give these rights, too.
    """
    found = find_to_link(act, course, person)
    people.revoke_links(act.db, person)
    return found, accounts.make_course_link(act, person, base)


def find_to_link(act: AuditedTransaction, course: str, person: str) -> Member:
    """Return a member of the staff to make a link for; raises as :func:`make_link`."""
    found = _hold(act.db, course, person)
    known = people.PEOPLE.find(act.db, id=person)
    elsewhere = any(one.course != course for one in courses.MEMBERS.all(act.db, person=person))
    if known is None or known.is_admin or elsewhere:
        raise UsageError(
            f"{found.name} has rights elsewhere, too: only the operator makes a link"
            " (gtp-harness admin link), or a mail to the own address has one"
        )
    return found


def make_teacher(act: AuditedTransaction, course: str, person: Person) -> Member:
    """Make a known person a teacher of a course; an assistant of it becomes one.

    Raises:
        UsageError: it is a student of the course.
    """
    if (found := courses.MEMBERS.find(act.db, course=course, person=person.id)) is None:
        return _join(act, course, person, TEACHER, "")
    if found.role in (STUDENT, FORMER):
        raise UsageError(f"{person.name} is a student of this course, and cannot teach it")
    return change(act, course, person.id, TEACHER)


def _join(act: AuditedTransaction, course: str, person: Person, role: str, rights: str) -> Member:
    made = Member(course, person.id, role, name=person.name, may=rights)
    courses.MEMBERS.add(act.db, made)
    act.note(f"{role} added", course, **{role: person.id}, **_tell_rights(made))
    return made


def change(
    act: AuditedTransaction, course: str, person: str, role: str = "", may: Iterable[str] = ()
) -> Member:
    """Change the role of a member of the staff; an assistant may do these things and no others.

    ``role``: if it is "", it stays.

    Raises:
        UsageError: there is no such member, role or right, or it is the last teacher.
    """
    found = _hold(act.db, course, person)
    role, rights = _read_role(role or found.role, may)
    if found.role == role == TEACHER:
        return found
    if role != TEACHER:
        _require_another_teacher(act.db, found)
    courses.MEMBERS.change(act.db, {"role": role, "may": rights}, course=course, person=person)
    made = found._replace(role=role, may=rights)
    what = "assistant's rights changed" if found.role == made.role == ASSISTANT else "role changed"
    act.note(what, course, **{made.role: person}, **_tell_rights(made))
    return made


def find_removable(act: AuditedTransaction, course: str, person: str) -> Member:
    """Return a member of the staff who may be removed; nobody else changes the staff meanwhile.

    Raises:
        UsageError: there is no such member of the staff, or it is the last teacher.
    """
    found = _hold(act.db, course, person)
    _require_another_teacher(act.db, found)
    return found


def remove(act: AuditedTransaction, course: str, person: str) -> None:
    """Remove a teacher or an assistant from a course; raises as :func:`find_removable`."""
    found = find_removable(act, course, person)
    courses.MEMBERS.remove(act.db, course=course, person=person)
    act.note(f"{found.role} removed", course, **{found.role: person})


def _hold(db: Connection, course: str, person: str) -> Member:
    """Return a member of the staff; nobody else changes the staff until the end."""
    courses.lock_course(db, course)  # two teachers who remove each other would leave none
    if (found := courses.MEMBERS.find(db, course=course, person=person, role=[*ROLES])) is None:
        raise UsageError("there is no such teacher or assistant in this course")
    return found


def _require_another_teacher(db: Connection, member: Member) -> None:
    others = courses.MEMBERS.all(db, course=member.course, role=TEACHER)
    if member.role == TEACHER and len(others) < 2:
        raise UsageError("this is the only teacher of the course: first add another one")


def _read_role(role: str, may: Iterable[str]) -> tuple[str, str]:
    """Return a role and the rights that a member has with it, in the order of RIGHTS."""
    if role not in ROLES:
        raise UsageError(f"role: found {role!r}, expected one of {', '.join(ROLES)}")
    rights = set(may)
    if unknown := rights - set(RIGHTS):
        raise UsageError(f"found {min(unknown)!r}, expected some of {', '.join(RIGHTS)}")
    is_limited = role == ASSISTANT  # a teacher may do everything
    return role, " ".join(one for one in RIGHTS if one in rights and is_limited)


def _tell_rights(member: Member) -> dict[str, str]:
    return {"may": member.may} if member.role == ASSISTANT else {}
