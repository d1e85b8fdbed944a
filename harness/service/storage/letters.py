"""Mails to be sent: rows that wait until a server takes them. No secret is in one."""

from __future__ import annotations

import time

from sqlalchemy import Connection, func, select

from harness.service.records import ASKED, WAITING, Letter
from harness.service.storage.rows import Rows
from harness.service.storage.tables import LETTER

LETTERS: Rows[Letter] = Rows(Letter, LETTER)


def waiting(db: Connection, kind: str) -> int:
    """Return how many letters of a kind wait."""
    query = select(func.count()).where(LETTER.c.kind == kind, LETTER.c.state == WAITING)
    return int(db.execute(query).scalar_one())


def count_asked(db: Connection, address: str, since: float) -> int:
    """Return how often a letter to an address was asked for since a time."""
    query = select(func.count()).where(
        LETTER.c.kind == ASKED, LETTER.c.address == address, LETTER.c.made >= since
    )
    return int(db.execute(query).scalar_one())


def forget_asked(db: Connection, before: float) -> None:
    """Remove letters asked for before a time that no longer wait."""
    db.execute(
        LETTER.delete().where(
            LETTER.c.kind == ASKED, LETTER.c.state != WAITING, LETTER.c.made < before
        )
    )


def take(db: Connection, lease: float) -> Letter | None:
    """Return the next letter that is due, which is due again after so many seconds; or None."""
    now = time.time()
    query = (
        LETTERS.query.where(LETTER.c.state == WAITING, LETTER.c.due <= now)
        .order_by(LETTER.c.due, LETTER.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    found = next(iter(LETTERS.list(db, query)), None)
    if found is None:
        return None
    taken = found._replace(tries=found.tries + 1, due=now + lease)
    LETTERS.change(db, {"tries": taken.tries, "due": taken.due}, id=taken.id)
    return taken


def is_due(db: Connection) -> bool:
    """Whether a letter may be due; asked often, it writes nothing."""
    query = select(LETTER.c.id).where(LETTER.c.state == WAITING, LETTER.c.due <= time.time())
    return db.execute(query.limit(1)).fetchone() is not None


def census(db: Connection) -> dict[str, int]:
    """Return how many letters there are in each state."""
    rows = db.execute(select(LETTER.c.state, func.count()).group_by(LETTER.c.state))
    return {row[0]: row[1] for row in rows}
