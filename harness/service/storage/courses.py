"""Courses, their members and their assignments."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, func, select, text

from harness.service.records import (
    FORMER,
    ROLES,
    STUDENT,
    WAITING,
    Course,
    CourseAssignment,
    Member,
)
from harness.service.settings import schema_of
from harness.service.storage.tables import (
    ASSIGNED,
    COMMENT,
    COURSE,
    EXTENSION,
    GRADING,
    JOB,
    LETTER,
    MEMBER,
    OVERRIDE,
    UPLOAD,
    Rows,
)

COURSES: Rows[Course] = Rows(Course, COURSE)
MEMBERS: Rows[Member] = Rows(Member, MEMBER)
ASSIGNMENTS: Rows[CourseAssignment] = Rows(CourseAssignment, ASSIGNED)
_submits_as = func.coalesce(func.nullif(MEMBER.c.team, ""), MEMBER.c.key)  # as the record has it


def of_person(db: Connection, person: str) -> list[tuple[Course, Member]]:
    """Return the courses that somebody is in, and as what."""
    found = MEMBERS.all(db, person=person, role=[*ROLES])
    pairs = [(COURSES.find(db, id=one.course), one) for one in found]
    known = [(course, member) for course, member in pairs if course]
    return sorted(known, key=lambda pair: (pair[0].title, pair[0].id))


def lock(db: Connection, assignment: str) -> None:
    """Keep all other transactions with this lock waiting until the end of this one.

    It comes before anything that is written, the audit log above all: else two transactions may
    wait for each other, and the server ends one of them.
    """
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


def former_students(db: Connection, course: str) -> list[Member]:
    """Return the students who were removed from a course, sorted by key."""
    return MEMBERS.all(db, "key", course=course, role=FORMER)


def submitting_as(db: Connection, course: str, key: str) -> list[Member]:
    """Return the students who submit as ``key``, sorted by key: one, or a group.

    Pages ask this again and again: a large course is not read for one of its students.
    """
    own = (MEMBER.c.course == course, MEMBER.c.role == STUDENT, _submits_as == key)
    return MEMBERS.list(db, MEMBERS.query.where(*own).order_by(MEMBER.c.key))


def students_of(db: Connection, course: str, key: str) -> list[str]:
    """Return the keys of the students who submit as ``key``: of one, or of a group."""
    return [one.key for one in submitting_as(db, course, key)]


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


def count_kept(db: Connection, assignment: str) -> dict[str, int]:
    """Return how many things people made in an assignment that may not be lost, by their names."""
    tables = {"submission": UPLOAD, "grading": GRADING, "comment": COMMENT, "given mark": OVERRIDE}
    queries = {
        name: select(func.count()).where(table.c.assignment == assignment)
        for name, table in tables.items()
    }
    return {name: int(db.execute(query).scalar_one()) for name, query in queries.items()}


def forget_assignment(db: Connection, assignment: str) -> None:
    """Remove an assignment that nobody has submitted to, and on a server its ledger."""
    for table in (JOB, EXTENSION):
        db.execute(table.delete().where(table.c.assignment == assignment))
    ASSIGNMENTS.remove(db, id=assignment)
    if db.dialect.name == "postgresql":
        db.execute(text(f'DROP SCHEMA IF EXISTS "{schema_of(assignment)}" CASCADE'))


def forget_course(db: Connection, course: str) -> None:
    """Remove a course without assignments, its roster, and mails to its students that wait."""
    db.execute(LETTER.delete().where(LETTER.c.course == course, LETTER.c.state == WAITING))
    MEMBERS.remove(db, course=course)
    COURSES.remove(db, id=course)


def hold(db: Connection, assignment: str) -> bool:
    """See that an assignment stays until the end of a transaction; False if it was removed."""
    held = ASSIGNED.select().where(ASSIGNED.c.id == assignment)
    return db.execute(held.with_for_update(read=True, key_share=True)).fetchone() is not None
