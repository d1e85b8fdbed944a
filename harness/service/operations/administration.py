"""People, what they sign in with, and teachers of courses, for operators; all of it is audited."""

from sqlalchemy import Connection

from harness.core.errors import UsageError
from harness.service.courses import staff
from harness.service.people import accounts
from harness.service.records import TEACHER, Course, Member, Person, Token
from harness.service.storage import audit, courses, people


def find(db: Connection, name: str) -> Person:
    """Return somebody by id, mail address or name; raises UsageError if it is not one person."""
    ways = (
        people.PEOPLE.all(db, "id", id=name),
        people.by_email(db, name),
        people.PEOPLE.all(db, "id", name=name),
    )
    for found in ways if name else ():  # many have no address
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(one.id for one in found)
            raise UsageError(f"{len(found)} people are called {name!r}: take an id of {ids}")
    raise UsageError(f"nobody is called {name!r}; gtp-harness admin people lists all")


def everybody(db: Connection) -> list[Person]:
    """Return all people, by name."""
    return people.PEOPLE.all(db, "name", "id")


def tokens(db: Connection, person: Person | None) -> list[tuple[Token, Person]]:
    """Return the tokens of somebody, or of all, each with its owner, the newest last."""
    owners = {one.id: one for one in everybody(db)}
    named = {"person": person.id} if person else {}
    return [(one, owners[one.person]) for one in people.TOKENS.all(db, "made", "id", **named)]


def link(act: audit.AuditedTransaction, person: Person) -> accounts.Secret:
    """Return a link for one use by which somebody signs in who is not shut out."""
    accounts.require_enabled(person)
    return accounts.make_link(act, person.id, accounts.FIRST_LINK, once=True)


def revoke_token(act: audit.AuditedTransaction, token_id: str) -> None:
    """Let a token hold no longer; raises UsageError if there is no such one."""
    if not people.TOKENS.remove(act.db, id=token_id):
        raise UsageError(f"there is no token {token_id!r}; gtp-harness admin tokens lists all")
    act.note("token revoked", token_id)


def shut_out(act: audit.AuditedTransaction, person: Person) -> None:
    """End all sessions, links and tokens of somebody, who keeps courses and submissions.

    Nothing lets the person in again until :func:`let_in`.
    """
    people.PEOPLE.change(act.db, {"is_shut_out": 1}, id=person.id)
    people.end_access(act.db, person.id)
    act.note("shut out", person.id)


def let_in(act: audit.AuditedTransaction, person: Person) -> None:
    """Allow a person who was shut out to sign in again, with a new link or by OIDC."""
    people.PEOPLE.change(act.db, {"is_shut_out": 0}, id=person.id)
    act.note("let in", person.id)


def find_course(db: Connection, name: str) -> Course:
    """Return a course by id or title; raises UsageError if it is not one course."""
    found = courses.COURSES.all(db, "id", id=name) or courses.COURSES.all(db, "id", title=name)
    if not found:
        raise UsageError(f"no course is called {name!r}; gtp-harness admin courses lists all")
    if len(found) > 1:
        ids = ", ".join(one.id for one in found)
        raise UsageError(f"{len(found)} courses are called {name!r}: take an id of {ids}")
    return found[0]


def list_courses(db: Connection) -> list[tuple[Course, list[Member]]]:
    """Return all courses by title, each with its teachers; benches of suites are none."""
    hidden = courses.list_bench_courses(db)
    found = courses.COURSES.all(db, "title", "id")
    return [
        (one, courses.MEMBERS.all(db, "name", "person", course=one.id, role=TEACHER))
        for one in found
        if one.id not in hidden
    ]


def remove_teacher(act: audit.AuditedTransaction, course: Course, person: Person) -> None:
    """Remove a teacher from a course; UsageError if it is not one, or the last."""
    member = courses.MEMBERS.find(act.db, course=course.id, person=person.id)
    if member is None or member.role != TEACHER:
        raise UsageError(f"{person.name} is not a teacher of {course.title}")
    staff.remove(act, course.id, person.id)
