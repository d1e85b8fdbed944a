"""What was handed in, what workers said of it, and gradings."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from harness.service.records import Grading, Marked, Upload
from harness.service.storage.rows import Rows
from harness.service.storage.tables import GRADING, MARKED, UPLOAD, WORD

UPLOADS: Rows[Upload] = Rows(Upload, UPLOAD)
GRADINGS: Rows[Grading] = Rows(Grading, GRADING)
MARKS: Rows[Marked] = Rows(Marked, MARKED)


def of_key(db: Connection, assignment: str, key: str) -> list[Upload]:
    """Return what a student or group handed in, the last one last, withdrawn ones too."""
    return UPLOADS.all(db, "at", "id", assignment=assignment, key=key)


def gradings(db: Connection, assignment: str) -> list[Grading]:
    """Return the gradings of an assignment, the last one last."""
    return GRADINGS.all(db, "at", "id", assignment=assignment)


def released(db: Connection, assignment: str) -> Grading | None:
    """Return the grading whose marks students see: the one that was released last."""
    query = (
        GRADINGS.query.where(GRADING.c.assignment == assignment, GRADING.c.released > 0)
        .order_by(GRADING.c.released.desc())
        .limit(1)
    )
    return next(iter(GRADINGS.list(db, query)), None)


def last_mark(db: Connection, assignment: str, key: str) -> Marked | None:
    """Return the mark of a student or group in the last grading that has one."""
    query = (
        MARKS.query.join(GRADING, GRADING.c.id == MARKED.c.grading)
        .where(GRADING.c.assignment == assignment, MARKED.c.key == key)
        .order_by(GRADING.c.at.desc(), GRADING.c.id.desc())
        .limit(1)
    )
    return next(iter(MARKS.list(db, query)), None)


def say(db: Connection, upload: str, said: str) -> None:
    """Add a word of a worker's about public tests."""
    last = select(func.coalesce(func.max(WORD.c.number), 0)).where(WORD.c.upload == upload)
    number = db.execute(last).scalar_one() + 1
    db.execute(WORD.insert(), {"upload": upload, "number": number, "said": said})


def words(db: Connection, upload: str, after: int = 0) -> list[tuple[int, str]]:
    """Return what was said of an upload, from a number on."""
    query = (
        select(WORD.c.number, WORD.c.said)
        .where(WORD.c.upload == upload, WORD.c.number > after)
        .order_by(WORD.c.number)
    )
    return [(row.number, row.said) for row in db.execute(query)]


def forget_words(db: Connection, upload: str) -> None:
    """Remove what was said of an upload: it is begun anew."""
    db.execute(WORD.delete().where(WORD.c.upload == upload))
