"""Whose uploads and comments are: of single students, whatever groups a roster makes of them."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, Select, select

from harness.service.storage.tables import BELONGS

_MANY = 500  # ids in one query


def give(db: Connection, about: str, students: Iterable[str]) -> None:
    """Write down whose something is."""
    rows = [{"about": about, "student": one} for one in sorted(set(students))]
    if rows:
        db.execute(BELONGS.insert(), rows)


def forget(db: Connection, about: str) -> None:
    """Remove what says whose something is that is removed."""
    db.execute(BELONGS.delete().where(BELONGS.c.about == about))


def abouts(students: Iterable[str]) -> Select[tuple[str]]:
    """Return the query of the ids of what belongs to one of these students."""
    return select(BELONGS.c.about).where(BELONGS.c.student.in_([*students]))


def students(db: Connection, ids: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return by ids whose each is; one that is nobody's is missing."""
    found: dict[str, set[str]] = {}
    wanted = [*ids]
    for start in range(0, len(wanted), _MANY):
        some = wanted[start : start + _MANY]
        for row in db.execute(BELONGS.select().where(BELONGS.c.about.in_(some))):
            found.setdefault(row.about, set()).add(row.student)
    return {about: frozenset(heap) for about, heap in found.items()}
