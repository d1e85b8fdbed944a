"""Suites of engine authors, and their runs."""

from __future__ import annotations

from sqlalchemy import Connection, func, select, text

from harness.service.records import Suite, SuiteRun
from harness.service.settings import schema_of
from harness.service.storage import courses, queue
from harness.service.storage.tables import ASSIGNED, SUITE, SUITE_RUN, Rows

SUITES: Rows[Suite] = Rows(Suite, SUITE)
RUNS: Rows[SuiteRun] = Rows(SuiteRun, SUITE_RUN)
_RAN = SUITE_RUN.c.started != ""


def last_ended(db: Connection, suite: str) -> SuiteRun | None:
    """Return the last run that is over, whether it found something or could not be run."""
    is_over = _RAN | (SUITE_RUN.c.trouble != "")
    query = RUNS.query.where(SUITE_RUN.c.suite == suite, is_over)
    found = RUNS.list(db, query.order_by(SUITE_RUN.c.number.desc()).limit(1))
    return found[0] if found else None


def all_runs(db: Connection, suite: str, most: int) -> list[SuiteRun]:
    """Return the last runs, the last one first, with those that have found nothing yet."""
    query = RUNS.query.where(SUITE_RUN.c.suite == suite)
    return RUNS.list(db, query.order_by(SUITE_RUN.c.number.desc()).limit(most))


def forget_bench(db: Connection, bench: str) -> None:
    """Remove what engines were run as, and on a server the ledger of it."""
    assigned = courses.ASSIGNMENTS.find(db, id=bench)
    queue.JOBS.remove(db, assignment=bench)
    courses.ASSIGNMENTS.remove(db, id=bench)
    if assigned:
        courses.COURSES.remove(db, id=assigned.course)
    if db.dialect.name == "postgresql":
        db.execute(text(f'DROP SCHEMA IF EXISTS "{schema_of(bench)}" CASCADE'))


def list_bench_courses(db: Connection) -> set[str]:
    """Return the courses that were made only for engines to be run in."""
    benches = select(SUITE.c.bench).where(SUITE.c.bench != "")
    query = select(ASSIGNED.c.course).where(ASSIGNED.c.id.in_(benches))
    return set(db.execute(query).scalars())


def lock(db: Connection, suite: str) -> Suite:
    """Return a suite; all other transactions with this lock wait until the end of this one."""
    (found,) = SUITES.list(db, SUITES.query.where(SUITE.c.id == suite).with_for_update())
    return found


def next_number(db: Connection, suite: str) -> int:
    """Return the number of a suite's next run; another transaction waits for the end of this."""
    db.execute(SUITE.update().where(SUITE.c.id == suite).values(runs=SUITE.c.runs + 1))
    return int(db.execute(select(SUITE.c.runs).where(SUITE.c.id == suite)).scalar_one())


def last_runs(db: Connection, suite: str, most: int, before: int | None = None) -> list[SuiteRun]:
    """Return the last runs that found something, the last one first.

    ``before``: the number of a run; None: all.
    """
    query = RUNS.query.where(SUITE_RUN.c.suite == suite, _RAN)
    if before is not None:
        query = query.where(SUITE_RUN.c.number < before)
    return RUNS.list(db, query.order_by(SUITE_RUN.c.number.desc()).limit(most))


def older(db: Connection, suite: str, kept: int) -> list[SuiteRun]:
    """Return the runs of a suite without the last ones."""
    query = RUNS.query.where(SUITE_RUN.c.suite == suite)
    return RUNS.list(db, query.order_by(SUITE_RUN.c.number.desc()).offset(kept))


def bytes_of(db: Connection, person: str) -> int:
    """Return how many bytes the documents in somebody's suites have."""
    query = (
        select(func.coalesce(func.sum(SUITE_RUN.c.size), 0))
        .join(SUITE, SUITE.c.id == SUITE_RUN.c.suite)
        .where(SUITE.c.person == person)
    )
    return int(db.execute(query).scalar_one())
