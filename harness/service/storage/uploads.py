"""Uploads, what workers said of them, and gradings."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, func, select

from harness.service.records import Grading, Held, Marked, Received, Upload
from harness.service.storage import owner_rows
from harness.service.storage.rows import Rows
from harness.service.storage.tables import GRADING, MARKED, RECEIVED, UPLOAD, WORD

UPLOADS: Rows[Upload] = Rows(Upload, UPLOAD)
GRADINGS: Rows[Grading] = Rows(Grading, GRADING)
MARKS: Rows[Marked] = Rows(Marked, MARKED)
RECEIVED_BY: Rows[Received] = Rows(Received, RECEIVED)
ORDER = ("number", "at", "id")  # in which uploads came
_TICK = 0.001  # seconds between two moments of gradings


def list_held(
    db: Connection, assignment: str, students: Iterable[str] | None = None
) -> list[Held]:
    """Return the submissions, the last one last, withdrawn ones too.

    ``students``: keys; what belongs to one of them. None: everybody's.
    """
    query = UPLOADS.query.where(UPLOAD.c.assignment == assignment)
    if students is not None:
        query = query.where(UPLOAD.c.id.in_(owner_rows.abouts(students)))
    found = UPLOADS.list(db, query.order_by(*(UPLOAD.c[name] for name in ORDER)))
    owners = owner_rows.students(db, (one.id for one in found))
    return [Held(one, owners.get(one.id, frozenset())) for one in found]


def next_number(db: Connection, assignment: str) -> int:
    """Return the number of the next upload of an assignment."""
    last = select(func.coalesce(func.max(UPLOAD.c.number), 0))
    number: int = db.execute(last.where(UPLOAD.c.assignment == assignment)).scalar_one()
    return number + 1


def next_moment(db: Connection, assignment: str) -> float:
    """Return the time now, for a grading: later than all that gradings of the assignment have.

    Whose marks are in force, and which ones students see, goes by these times; a clock may be set
    back.
    """
    last = (func.coalesce(func.max(GRADING.c[one]), 0) for one in ("at", "concluded", "released"))
    row = db.execute(select(*last).where(GRADING.c.assignment == assignment)).one()
    return max(time.time(), float(max(row)) + _TICK)


def gradings(db: Connection, assignment: str) -> list[Grading]:
    """Return the gradings of an assignment, the last one last."""
    return GRADINGS.all(db, "at", "id", assignment=assignment)


def measure(db: Connection, assignment: str, person: str) -> tuple[int, int]:
    """Return how often somebody has submitted to an assignment, and how many bytes."""
    query = select(func.count(), func.coalesce(func.sum(UPLOAD.c.size), 0)).where(
        UPLOAD.c.assignment == assignment, UPLOAD.c.person == person
    )
    count, size = db.execute(query).one()
    return int(count), int(size)


def find_released(db: Connection, assignment: str) -> Grading | None:
    """Return the grading whose marks students see: the one that was released last."""
    query = (
        GRADINGS.query.where(GRADING.c.assignment == assignment, GRADING.c.released > 0)
        .order_by(GRADING.c.released.desc())
        .limit(1)
    )
    return next(iter(GRADINGS.list(db, query)), None)


def in_force(db: Connection, assignment: str) -> Grading | None:
    """Return the grading whose marks are in force: the one that was concluded last."""
    query = (
        GRADINGS.query.where(GRADING.c.assignment == assignment, GRADING.c.concluded > 0)
        .order_by(GRADING.c.concluded.desc())
        .limit(1)
    )
    return next(iter(GRADINGS.list(db, query)), None)


def has_marks_after(db: Connection, grading: Grading) -> bool:
    """Return whether a grading of the same assignment that was begun later was concluded."""
    later = GRADINGS.query.where(
        GRADING.c.assignment == grading.assignment,
        GRADING.c.at > grading.at,
        GRADING.c.concluded > 0,
    )
    return bool(GRADINGS.list(db, later.limit(1)))


def last_mark(db: Connection, assignment: str, key: str, students: Sequence[str]) -> Marked | None:
    """Return the mark in the last grading in which one of these students got one.

    ``key``: if they got several there, the one under it comes first.
    """
    got = (RECEIVED.c.grading == MARKED.c.grading) & (RECEIVED.c.key == MARKED.c.key)
    query = (
        MARKS.query.join(GRADING, GRADING.c.id == MARKED.c.grading)
        .join(RECEIVED, got)
        .where(GRADING.c.assignment == assignment, RECEIVED.c.student.in_(students))
        .order_by(GRADING.c.at.desc(), GRADING.c.id, MARKED.c.key != key, MARKED.c.key)
        .limit(1)
    )
    return next(iter(MARKS.list(db, query)), None)


def mark_of(db: Connection, grading: str, student: str) -> Marked | None:
    """Return the mark that a student got in a grading."""
    got = RECEIVED_BY.find(db, grading=grading, student=student)
    return MARKS.find(db, grading=grading, key=got.key) if got else None


def say(db: Connection, upload: str, said: str, instead_of: int = 0) -> int:
    """Add a word of a worker's about public tests; return its number, which grows.

    ``instead_of``: the number of a word that it takes the place of; 0: none.
    """
    number = _last_number(db, upload) + 1
    db.execute(WORD.insert(), {"upload": upload, "number": number, "said": said})
    if instead_of:
        db.execute(WORD.delete().where(WORD.c.upload == upload, WORD.c.number == instead_of))
    return number


def _last_number(db: Connection, upload: str) -> int:
    last = select(func.coalesce(func.max(WORD.c.number), 0)).where(WORD.c.upload == upload)
    number: int = db.execute(last).scalar_one()
    return number


def words(db: Connection, ids: Iterable[str]) -> dict[str, list[tuple[int, str]]]:
    """Return the messages about uploads with their numbers, by the ids of those that have some."""
    found: dict[str, list[tuple[int, str]]] = {}
    query = WORD.select().where(WORD.c.upload.in_([*ids])).order_by(WORD.c.upload, WORD.c.number)
    for row in db.execute(query):
        found.setdefault(row.upload, []).append((row.number, row.said))
    return found


def list_read(db: Connection, ids: Iterable[str]) -> set[str]:
    """Return which of these uploads were read by their checks."""
    query = select(UPLOAD.c.id).where(UPLOAD.c.id.in_([*ids]), UPLOAD.c.record != "")
    return {*db.execute(query).scalars()}


def forget_words(db: Connection, upload: str, begun: str) -> None:
    """Remove the messages about an upload, because it starts again.

    ``begun``: what tells this to those who had some of them. Its number, and all later ones, are
    new to them.
    """
    if last := _last_number(db, upload):
        db.execute(WORD.delete().where(WORD.c.upload == upload))
        db.execute(WORD.insert(), {"upload": upload, "number": last + 1, "said": begun})
