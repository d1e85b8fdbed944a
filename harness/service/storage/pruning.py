"""What rows may go when their time is over, and which must not."""

from __future__ import annotations

from sqlalchemy import Connection, Table, func, select, text

from harness.service.records import WAITING
from harness.service.storage.tables import (
    AUDIT,
    GRADING,
    LETTER,
    LINK,
    SESSION,
    SUITE,
    SUITE_RUN,
    TOKEN,
    UPLOAD,
    WORD,
    count,
)

_ENDING: tuple[Table, ...] = (SESSION, LINK, TOKEN)


def count_ended(db: Connection, before: float) -> int:
    """Return how many sessions, links and tokens ended before a time."""
    return sum(count(db, one.c["until"] < before) for one in _ENDING)


def forget_ended(db: Connection, before: float) -> None:
    """Remove the sessions, links and tokens that ended before a time."""
    for one in _ENDING:
        db.execute(one.delete().where(one.c["until"] < before))


def letters(db: Connection, before: float) -> int:
    """Return how many letters were made before a time and no longer wait."""
    return count(db, LETTER.c.made < before, LETTER.c.state != WAITING)


def forget_letters(db: Connection, before: float) -> None:
    """Remove the letters that were made before a time and no longer wait."""
    db.execute(LETTER.delete().where(LETTER.c.made < before, LETTER.c.state != WAITING))


def list_checked(db: Connection, before: float) -> list[tuple[str, str]]:
    """Return the assignments and ids of what was submitted before a time."""
    query = select(UPLOAD.c.assignment, UPLOAD.c.id).where(UPLOAD.c["at"] < before)
    return [(row[0], row[1]) for row in db.execute(query.order_by(UPLOAD.c.id))]


def forget_words(db: Connection, before: float) -> None:
    """Remove what workers said of uploads of before a time, while they ran public tests."""
    old = select(UPLOAD.c.id).where(UPLOAD.c["at"] < before)
    db.execute(WORD.delete().where(WORD.c.upload.in_(old)))


def last_events(db: Connection) -> dict[str, float]:
    """Return when something was last submitted, graded or run, by the ids of assignments."""
    found: dict[str, float] = {}
    queries = [
        select(table.c.assignment, func.max(table.c[column])).group_by(table.c.assignment)
        for table, column in ((UPLOAD, "at"), (GRADING, "at"), (GRADING, "concluded"))
    ]
    engines = select(SUITE.c.bench, func.max(SUITE_RUN.c["at"]))
    engines = engines.join(SUITE_RUN, SUITE_RUN.c.suite == SUITE.c.id)
    for query in (*queries, engines.group_by(SUITE.c.bench)):
        for row in db.execute(query):
            found[row[0]] = max(found.get(row[0], 0.0), row[1])
    return found


def originals(db: Connection) -> dict[str, set[str]]:
    """Map the SHA-256 of submitted bytes to the assignments that they were submitted for."""
    found: dict[str, set[str]] = {}
    uploads = select(UPLOAD.c.sha256, UPLOAD.c.assignment)
    engines = (
        select(SUITE_RUN.c.sha256, SUITE.c.bench)
        .join(SUITE, SUITE.c.id == SUITE_RUN.c.suite)
        .where(SUITE_RUN.c.sha256 != "")
    )
    for query in (uploads.distinct(), engines.distinct()):
        for row in db.execute(query):
            found.setdefault(row[0], set()).add(row[1])
    return found


def hold_uploads(db: Connection) -> None:
    """Block submissions until the end of a transaction; a file being written is kept anyway."""
    if db.dialect.name == "postgresql":
        db.execute(text("LOCK TABLE upload IN SHARE MODE"))


def old_lines(db: Connection, before: str) -> int:
    """Return the number of the last line of the audit log before which all are older."""
    later = select(func.min(AUDIT.c.link)).where(AUDIT.c["at"] >= before)
    first = db.execute(later).scalar_one()
    last = db.execute(select(func.max(AUDIT.c.link))).scalar_one() or 0
    return int(last if first is None else first - 1)


def lines_until(db: Connection, last: int) -> int:
    """Return how many lines of the audit log there are up to a number."""
    return count(db, AUDIT.c.link <= last)
