"""Courses, who is in them, and their assignments."""

from __future__ import annotations

from sqlalchemy import Connection

from harness.service.records import Assigned, Course, Member
from harness.service.storage.rows import Rows
from harness.service.storage.tables import ASSIGNED, COURSE, EXTENSION, MEMBER

COURSES: Rows[Course] = Rows(Course, COURSE)
MEMBERS: Rows[Member] = Rows(Member, MEMBER)
ASSIGNMENTS: Rows[Assigned] = Rows(Assigned, ASSIGNED)


def of_person(db: Connection, person: str) -> list[tuple[Course, Member]]:
    """Return the courses that somebody is in, and as what."""
    found = MEMBERS.all(db, person=person)
    pairs = [(COURSES.find(db, id=one.course), one) for one in found]
    known = [(course, member) for course, member in pairs if course]
    return sorted(known, key=lambda pair: (pair[0].title, pair[0].id))


def extensions(db: Connection, assignment: str) -> dict[str, str]:
    """Return the deadlines of those who have one of their own, by their keys."""
    rows = db.execute(EXTENSION.select().where(EXTENSION.c.assignment == assignment))
    return {row.key: row.deadline for row in rows}


def extend(db: Connection, assignment: str, key: str, deadline: str) -> None:
    """Give a student or a group a deadline of its own; empty: that of all."""
    own = (EXTENSION.c.assignment == assignment, EXTENSION.c.key == key)
    db.execute(EXTENSION.delete().where(*own))
    if deadline:
        row = {"assignment": assignment, "key": key, "deadline": deadline}
        db.execute(EXTENSION.insert(), row)
