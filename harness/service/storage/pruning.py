"""Rows that may go when their time is over."""

from sqlalchemy import Connection, Table, func, select, text

from harness.service.records import WAITING
from harness.service.storage import tables

_ENDING: tuple[Table, ...] = (tables.SESSION, tables.LINK, tables.TOKEN)


def count_ended(db: Connection, before: float) -> int:
    """Return how many sessions, links and tokens ended before a time."""
    return sum(tables.count(db, one.c["until"] < before) for one in _ENDING)


def forget_ended(db: Connection, before: float) -> None:
    """Remove the sessions, links and tokens that ended before a time."""
    for one in _ENDING:
        db.execute(one.delete().where(one.c["until"] < before))


def letters(db: Connection, before: float) -> int:
    """Return how many letters were made before a time and no longer wait."""
    return tables.count(db, tables.LETTER.c.made < before, tables.LETTER.c.state != WAITING)


def forget_letters(db: Connection, before: float) -> None:
    """Remove the letters that were made before a time and no longer wait."""
    own = tables.LETTER.c
    db.execute(tables.LETTER.delete().where(own.made < before, own.state != WAITING))


def list_checked(db: Connection, before: float) -> list[tuple[str, str]]:
    """Return the assignments and ids of what was submitted before a time."""
    own = tables.UPLOAD.c
    query = select(own.assignment, own.id).where(own["at"] < before).order_by(own.id)
    return [(row[0], row[1]) for row in db.execute(query)]


def forget_words(db: Connection, before: float) -> None:
    """Remove what workers said of uploads of before a time, while they ran public tests."""
    old = select(tables.UPLOAD.c.id).where(tables.UPLOAD.c["at"] < before)
    db.execute(tables.WORD.delete().where(tables.WORD.c.upload.in_(old)))


def last_events(db: Connection) -> dict[str, float]:
    """Return when something was last submitted, graded or run, by the ids of assignments."""
    found: dict[str, float] = {}
    upload, grading, run = tables.UPLOAD.c, tables.GRADING.c, tables.SUITE_RUN.c
    engines = select(tables.SUITE.c.bench, func.max(run["at"])).group_by(tables.SUITE.c.bench)
    for query in (
        select(upload.assignment, func.max(upload["at"])).group_by(upload.assignment),
        select(grading.assignment, func.max(grading["at"])).group_by(grading.assignment),
        select(grading.assignment, func.max(grading.concluded)).group_by(grading.assignment),
        engines.join(tables.SUITE_RUN, run.suite == tables.SUITE.c.id),
    ):
        for assignment, time in db.execute(query):
            found[assignment] = max(found.get(assignment, 0.0), time)
    return found


def originals(db: Connection) -> dict[str, set[str]]:
    """Map the SHA-256 of submitted bytes to the assignments that they were submitted for."""
    found: dict[str, set[str]] = {}
    run = tables.SUITE_RUN.c
    uploads = select(tables.UPLOAD.c.sha256, tables.UPLOAD.c.assignment)
    engines = select(run.sha256, tables.SUITE.c.bench).where(run.sha256 != "")
    engines = engines.join(tables.SUITE, tables.SUITE.c.id == run.suite)
    for query in (uploads.distinct(), engines.distinct()):
        for sha256, assignment in db.execute(query):
            found.setdefault(sha256, set()).add(assignment)
    return found


def hold_uploads(db: Connection) -> None:
    """Block submissions until the end of a transaction; a file being written is kept anyway."""
    if db.dialect.name == "postgresql":
        db.execute(text("LOCK TABLE upload IN SHARE MODE"))


def old_lines(db: Connection, before: str) -> int:
    """Return the number of the last line of the audit log before which all are older."""
    later = select(func.min(tables.AUDIT.c.link)).where(tables.AUDIT.c["at"] >= before)
    first = db.execute(later).scalar_one()
    return tables.largest(db, tables.AUDIT.c.link) if first is None else int(first) - 1


def lines_until(db: Connection, last: int) -> int:
    """Return how many lines of the audit log there are up to a number."""
    return tables.count(db, tables.AUDIT.c.link <= last)
