"""Uploads and whose they are, what workers said of them, gradings, marks and comments."""

import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import Column, Connection, Select, func, select, text

from harness.service import records
from harness.service.storage import tables

_MANY = 500  # ids in one query
UPLOADS = tables.Rows(records.Upload, tables.UPLOAD)
GRADINGS = tables.Rows(records.Grading, tables.GRADING)
MARKS = tables.Rows(records.StudentMark, tables.MARKED)
RECEIVED_BY = tables.Rows(records.MarkRecipient, tables.RECEIVED)
COMMENTS = tables.Rows(records.Comment, tables.COMMENT)
OVERRIDES = tables.Rows(records.Override, tables.OVERRIDE)
ORDER = ("number", "at", "id")  # in which uploads came
_TICK = 0.001  # seconds between two moments of gradings


def give_to(db: Connection, about: str, students: Iterable[str]) -> None:
    """Write down whose something is."""
    if rows := [{"about": about, "student": one} for one in sorted(set(students))]:
        db.execute(tables.BELONGS.insert(), rows)


def forget_owners(db: Connection, about: str) -> None:
    """Remove what says whose something is that is removed."""
    db.execute(tables.BELONGS.delete().filter_by(about=about))


def of_owners(students: Iterable[str]) -> Select[tuple[str]]:
    """Return the query of the ids of what belongs to one of these students."""
    return select(tables.BELONGS.c.about).where(tables.BELONGS.c.student.in_([*students]))


def owners_of(db: Connection, ids: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return by ids whose each is; one that is nobody's is missing."""
    found: dict[str, set[str]] = {}
    wanted = [*ids]
    for start in range(0, len(wanted), _MANY):
        some = wanted[start : start + _MANY]
        for row in db.execute(tables.BELONGS.select().where(tables.BELONGS.c.about.in_(some))):
            found.setdefault(row.about, set()).add(row.student)
    return {about: frozenset(heap) for about, heap in found.items()}


# --- Uploads, what workers said of them, and gradings --------------------------------------------


def list_held(
    db: Connection, assignment: str, students: Iterable[str] | None = None
) -> list[records.OwnedUpload]:
    """Return the submissions, the last one last, withdrawn ones too.

    ``students``: keys; what belongs to one of them. None: everybody's.
    """
    query = UPLOADS.query.filter_by(assignment=assignment)
    if students is not None:
        query = query.where(tables.UPLOAD.c.id.in_(of_owners(students)))
    found = UPLOADS.list(db, query.order_by(*(tables.UPLOAD.c[name] for name in ORDER)))
    owners = owners_of(db, (one.id for one in found))
    return [records.OwnedUpload(one, owners.get(one.id, frozenset())) for one in found]


def next_number(db: Connection, assignment: str) -> int:
    """Return the number of the next upload of an assignment."""
    own = tables.UPLOAD.c
    return tables.largest(db, own.number, own.assignment == assignment) + 1


def next_moment(db: Connection, assignment: str) -> float:
    """Return the time now, for a grading: later than all that gradings of the assignment have.

    Whose marks are in force, and which ones students see, goes by these times; a clock may be set
    back.
    """
    own = tables.GRADING.c
    last = (func.coalesce(func.max(one), 0) for one in (own.at, own.concluded, own.released))
    row = db.execute(select(*last).where(own.assignment == assignment)).one()
    return max(time.time(), float(max(row)) + _TICK)


def gradings(db: Connection, assignment: str) -> list[records.Grading]:
    """Return the gradings of an assignment, the last one last."""
    return GRADINGS.all(db, "at", "id", assignment=assignment)


def measure(db: Connection, assignment: str, person: str) -> tuple[int, int]:
    """Return how often somebody has submitted to an assignment, and how many bytes."""
    own = tables.UPLOAD.c
    totals = select(func.count(), func.coalesce(func.sum(own.size), 0))
    is_own = own.assignment == assignment, own.person == person
    number, size = db.execute(totals.where(*is_own)).one()
    return int(number), int(size)


def find_released(db: Connection, assignment: str) -> records.Grading | None:
    """Return the grading whose marks students see: the one that was released last."""
    return _last_grading(db, assignment, tables.GRADING.c.released)


def in_force(db: Connection, assignment: str) -> records.Grading | None:
    """Return the grading whose marks are in force: the one that was concluded last."""
    return _last_grading(db, assignment, tables.GRADING.c.concluded)


def _last_grading(db: Connection, assignment: str, at: Column[float]) -> records.Grading | None:
    query = GRADINGS.query.filter_by(assignment=assignment).where(at > 0)
    return GRADINGS.first(db, query.order_by(at.desc()))


def has_marks_after(db: Connection, grading: records.Grading) -> bool:
    """Return whether a grading of the same assignment that was begun later was concluded."""
    is_later = (tables.GRADING.c.at > grading.at) & (tables.GRADING.c.concluded > 0)
    return tables.count(db, tables.GRADING.c.assignment == grading.assignment, is_later) > 0


def last_mark(
    db: Connection, assignment: str, key: str, students: Sequence[str]
) -> records.StudentMark | None:
    """Return the mark in the last grading in which one of these students got one.

    ``key``: if they got several there, the one under it comes first.
    """
    grading, marked, received = tables.GRADING.c, tables.MARKED.c, tables.RECEIVED.c
    got = (received.grading == marked.grading) & (received.key == marked.key)
    query = (
        MARKS.query.join(tables.GRADING, grading.id == marked.grading)
        .join(tables.RECEIVED, got)
        .where(grading.assignment == assignment, received.student.in_(students))
        .order_by(grading.at.desc(), grading.id, marked.key != key, marked.key)
    )
    return MARKS.first(db, query)


class ReleasedMark(NamedTuple):
    """The mark of a student in the grading that was released last."""

    grading: records.Grading
    marked: records.StudentMark
    override: records.Override | None  # that counts instead


def find_released_mark(db: Connection, assignment: str, student: str) -> ReleasedMark | None:
    """Return the mark that a student sees, or None if there is none."""
    released = find_released(db, assignment)
    marked = mark_of(db, released.id, student) if released else None
    if released is None or marked is None:
        return None
    return ReleasedMark(released, marked, OVERRIDES.find(db, assignment=assignment, key=student))


def mark_of(db: Connection, grading: str, student: str) -> records.StudentMark | None:
    """Return the mark that a student got in a grading."""
    got = RECEIVED_BY.find(db, grading=grading, student=student)
    return MARKS.find(db, grading=grading, key=got.key) if got else None


def say(db: Connection, upload: str, word: str, instead_of: int = 0) -> int:
    """Add a word of a worker's about public tests; return its number, which grows.

    ``instead_of``: the number of a word that it takes the place of; 0: none.
    """
    number = tables.largest(db, tables.WORD.c.number, tables.WORD.c.upload == upload) + 1
    db.execute(tables.WORD.insert(), {"upload": upload, "number": number, "said": word})
    if instead_of:
        db.execute(tables.WORD.delete().filter_by(upload=upload, number=instead_of))
    return number


def words(db: Connection, ids: Iterable[str]) -> dict[str, list[tuple[int, str]]]:
    """Return the messages about uploads with their numbers, by the ids of those that have some."""
    found: dict[str, list[tuple[int, str]]] = {}
    own = tables.WORD.c
    query = tables.WORD.select().where(own.upload.in_([*ids])).order_by(own.upload, own.number)
    for row in db.execute(query):
        found.setdefault(row.upload, []).append((row.number, row.said))
    return found


def list_read(db: Connection, ids: Iterable[str]) -> set[str]:
    """Return which of these uploads were read by their checks."""
    own = tables.UPLOAD.c
    return {*db.scalars(select(own.id).where(own.id.in_([*ids]), own.record != ""))}


def forget_words(db: Connection, upload: str, begun: str) -> None:
    """Remove the messages about an upload, because it starts again.

    ``begun``: what tells this to those who had some of them. Its number, and all later ones, are
    new to them.
    """
    if last := tables.largest(db, tables.WORD.c.number, tables.WORD.c.upload == upload):
        db.execute(tables.WORD.delete().filter_by(upload=upload))
        db.execute(tables.WORD.insert(), {"upload": upload, "number": last + 1, "said": begun})


# --- What may go when its time is over, and what still needs it ----------------------------------


def list_checked(db: Connection, before: float) -> list[tuple[str, str]]:
    """Return the assignments and ids of what was submitted before a time."""
    own = tables.UPLOAD.c
    query = select(own.assignment, own.id).where(own["at"] < before).order_by(own.id)
    return [(row[0], row[1]) for row in db.execute(query)]


def forget_old_words(db: Connection, before: float) -> None:
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
        for assignment, last in db.execute(query):
            found[assignment] = max(found.get(assignment, 0.0), last)
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


# --- What people add to what is computed: comments, and marks of their own -----------------------


def comments(db: Connection, assignment: str, students: Iterable[str]) -> list[records.Comment]:
    """Return the comments for some of these students, the last one last."""
    own = tables.COMMENT.c
    query = COMMENTS.query.where(own.assignment == assignment, own.id.in_(of_owners(students)))
    return COMMENTS.list(db, query.order_by(own.at, own.id))


def overrides(db: Connection, assignment: str) -> dict[str, records.Override]:
    """Return the marks that people gave in an assignment, by the keys of students."""
    return {one.key: one for one in OVERRIDES.all(db, assignment=assignment)}
