"""Courses, their members and assignments; suites of engine authors, and their runs."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select, text

from harness.core.text import natural_order
from harness.service import records
from harness.service.settings import schema_of
from harness.service.storage import queue, tables

COURSES = tables.Rows(records.Course, tables.COURSE)
MEMBERS = tables.Rows(records.Member, tables.MEMBER)
ASSIGNMENTS = tables.Rows(records.CourseAssignment, tables.ASSIGNED)
# As the record has it.
_submits_as = func.coalesce(func.nullif(tables.MEMBER.c.team, ""), tables.MEMBER.c.key)


def of_person(db: Connection, person: str) -> list[tuple[records.Course, records.Member]]:
    """Return the courses that somebody is in, and as what."""
    found = MEMBERS.all(db, person=person, role=[*records.ROLES])
    pairs = [(course, one) for one in found if (course := COURSES.find(db, id=one.course))]
    return sorted(pairs, key=lambda pair: (pair[0].title, pair[0].id))


def lock(db: Connection, assignment: str) -> records.CourseAssignment | None:
    """Return an assignment, or None; other transactions that lock it wait until this one ends.

    It comes before anything that is written, the audit log above all: else two transactions may
    wait for each other, and the server ends one of them.
    """
    return ASSIGNMENTS.first(db, ASSIGNMENTS.query.filter_by(id=assignment).with_for_update())


def lock_course(db: Connection, course: str) -> records.Course | None:
    """Return a course, or None; other transactions that lock it wait until this one ends.

    Those that add members, and so only refer to the course, do not wait.
    """
    return COURSES.first(db, COURSES.query.filter_by(id=course).with_for_update(key_share=True))


def students(db: Connection, course: str, role: str = records.STUDENT) -> list[records.Member]:
    """Return the students of a course, sorted by key as people count.

    ``role``: :data:`records.FORMER` for those who were removed from it.
    """
    found = MEMBERS.all(db, course=course, role=role)
    return sorted(found, key=lambda one: natural_order(one.key))


def submitting_as(db: Connection, course: str, key: str) -> list[records.Member]:
    """Return the students who submit as ``key``, sorted by key: one, or a group.

    Pages ask this again and again: a large course is not read for one of its students.
    """
    query = MEMBERS.query.filter_by(course=course, role=records.STUDENT).where(_submits_as == key)
    return MEMBERS.list(db, query.order_by(tables.MEMBER.c.key))


def students_of(db: Connection, course: str, key: str) -> list[str]:
    """Return the keys of the students who submit as ``key``: of one, or of a group."""
    return [one.key for one in submitting_as(db, course, key)]


def extensions(db: Connection, assignment: str) -> dict[str, str]:
    """Return the extended deadlines of students by their keys."""
    rows = db.execute(tables.EXTENSION.select().filter_by(assignment=assignment))
    return {row.key: row.deadline for row in rows}


def extend(db: Connection, assignment: str, keys: Iterable[str], deadline: str) -> None:
    """Give students a deadline of their own; empty for the common one."""
    for key in keys:
        own = {"assignment": assignment, "key": key}
        db.execute(tables.EXTENSION.delete().filter_by(**own))
        if deadline:
            db.execute(tables.EXTENSION.insert(), {**own, "deadline": deadline})


def count_kept(db: Connection, assignment: str) -> dict[str, int]:
    """Return how many things people made in an assignment that may not be lost, by their names."""
    kept = {
        "submission": tables.UPLOAD,
        "grading": tables.GRADING,
        "comment": tables.COMMENT,
        "given mark": tables.OVERRIDE,
    }
    return {name: tables.count(db, one.c.assignment == assignment) for name, one in kept.items()}


def forget_assignment(db: Connection, assignment: str) -> None:
    """Remove an assignment that nobody has submitted to, and on a server its ledger."""
    for table in (tables.JOB, tables.EXTENSION, tables.LTI_LINE, tables.LTI_SCORE):
        db.execute(table.delete().filter_by(assignment=assignment))
    ASSIGNMENTS.remove(db, id=assignment)
    _drop_ledger(db, assignment)


def _drop_ledger(db: Connection, assignment: str) -> None:
    if db.dialect.name == "postgresql":
        db.execute(text(f'DROP SCHEMA IF EXISTS "{schema_of(assignment)}" CASCADE'))


def forget_course(db: Connection, course: str) -> None:
    """Remove a course without assignments, its roster, and mails to its students that wait."""
    db.execute(tables.LETTER.delete().filter_by(course=course, state=records.WAITING))
    links = select(tables.LTI_COURSE.c.id).where(tables.LTI_COURSE.c.course == course)
    db.execute(tables.LTI_USER.delete().where(tables.LTI_USER.c.link.in_(links)))
    db.execute(tables.LTI_COURSE.delete().filter_by(course=course))
    MEMBERS.remove(db, course=course)
    COURSES.remove(db, id=course)


def hold(db: Connection, assignment: str) -> records.CourseAssignment | None:
    """Return an assignment as it is now, which stays until the end of a transaction, or None."""
    query = ASSIGNMENTS.query.filter_by(id=assignment)
    return ASSIGNMENTS.first(db, query.with_for_update(read=True, key_share=True))


# --- Suites of engine authors, and their runs ----------------------------------------------------


SUITES = tables.Rows(records.Suite, tables.SUITE)
RUNS = tables.Rows(records.SuiteRun, tables.SUITE_RUN)
_RAN = tables.SUITE_RUN.c.started != ""


def last_ended(db: Connection, suite: str) -> records.SuiteRun | None:
    """Return the last run that is over, whether it found something or could not be run."""
    return RUNS.first(db, _runs(suite, _RAN | (tables.SUITE_RUN.c.trouble != "")))


def all_runs(db: Connection, suite: str, most: int) -> list[records.SuiteRun]:
    """Return the last runs, the last one first, with those that have found nothing yet."""
    return RUNS.list(db, _runs(suite).limit(most))


def _runs(suite: str, *clauses: ColumnElement[bool]) -> Select[Any]:
    query = RUNS.query.filter_by(suite=suite).where(*clauses)
    return query.order_by(tables.SUITE_RUN.c.number.desc())


def forget_bench(db: Connection, bench: str) -> None:
    """Remove what engines were run as, and on a server the ledger of it."""
    assigned = ASSIGNMENTS.find(db, id=bench)
    queue.JOBS.remove(db, assignment=bench)
    ASSIGNMENTS.remove(db, id=bench)
    if assigned:
        COURSES.remove(db, id=assigned.course)
    _drop_ledger(db, bench)


def list_bench_courses(db: Connection) -> set[str]:
    """Return the courses that were made only for engines to be run in."""
    benches = select(tables.SUITE.c.bench).where(tables.SUITE.c.bench != "")
    query = select(tables.ASSIGNED.c.course).where(tables.ASSIGNED.c.id.in_(benches))
    return set(db.scalars(query))


def lock_suite(db: Connection, suite: str) -> records.Suite:
    """Return a suite; all other transactions with this lock wait until the end of this one."""
    (found,) = SUITES.list(db, SUITES.query.filter_by(id=suite).with_for_update())
    return found


def next_number(db: Connection, suite: str) -> int:
    """Return the number of a suite's next run; another transaction waits for the end of this."""
    own = tables.SUITE
    db.execute(own.update().filter_by(id=suite).values(runs=own.c.runs + 1))
    return int(db.execute(select(own.c.runs).where(own.c.id == suite)).scalar_one())


def last_runs(
    db: Connection, suite: str, most: int, before: int | None = None
) -> list[records.SuiteRun]:
    """Return the last runs that found something, the last one first.

    ``before``: the number of a run; None: all.
    """
    clauses = () if before is None else (tables.SUITE_RUN.c.number < before,)
    return RUNS.list(db, _runs(suite, _RAN, *clauses).limit(most))


def older(db: Connection, suite: str, count: int) -> list[records.SuiteRun]:
    """Return the runs of a suite without the last ones."""
    return RUNS.list(db, _runs(suite).offset(count))


def bytes_of(db: Connection, person: str) -> int:
    """Return how many bytes the documents in somebody's suites have."""
    query = (
        select(func.coalesce(func.sum(tables.SUITE_RUN.c.size), 0))
        .join(tables.SUITE, tables.SUITE.c.id == tables.SUITE_RUN.c.suite)
        .where(tables.SUITE.c.person == person)
    )
    return int(db.execute(query).scalar_one())
