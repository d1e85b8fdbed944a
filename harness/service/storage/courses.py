"""Courses, their members and their assignments."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection

from harness.service.records import STUDENT, Assigned, Course, Member
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


def lock(db: Connection, assignment: str) -> None:
    """Keep all other transactions with this lock waiting until the end of this one."""
    db.execute(ASSIGNED.select().where(ASSIGNED.c.id == assignment).with_for_update())


def lock_course(db: Connection, course: str) -> None:
    """Keep all other transactions with this lock waiting until the end of this one.

    Those that add members, and so only refer to the course, do not wait.
    """
    held = COURSE.select().where(COURSE.c.id == course).with_for_update(key_share=True)
    db.execute(held)


def students(db: Connection, course: str) -> list[Member]:
    """Return the students of a course, sorted by key."""
    return MEMBERS.all(db, "key", course=course, role=STUDENT)


def students_of(db: Connection, course: str, key: str) -> list[str]:
    """Return the keys of the students who submit as ``key``: of one, or of a group."""
    return [one.key for one in students(db, course) if one.submits_as == key]


def extensions(db: Connection, assignment: str) -> dict[str, str]:
    """Return the extended deadlines of students by their keys."""
    rows = db.execute(EXTENSION.select().where(EXTENSION.c.assignment == assignment))
    return {row.key: row.deadline for row in rows}


def extend(db: Connection, assignment: str, keys: Iterable[str], deadline: str) -> None:
    """Give students a deadline of their own; empty for the common one."""
    for key in keys:
        own = (EXTENSION.c.assignment == assignment, EXTENSION.c.key == key)
        db.execute(EXTENSION.delete().where(*own))
        if deadline:
            row = {"assignment": assignment, "key": key, "deadline": deadline}
            db.execute(EXTENSION.insert(), row)
