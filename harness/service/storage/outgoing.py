"""Queue of messages to other systems: letters, marks, and questions about members.

A row waits until its ``due`` time, and is leased while it is delivered. None is lost: one that was
not taken waits for another try, later and later.
"""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Connection, select

from harness.service.records import WAITING
from harness.service.storage.database import Database
from harness.service.storage.tables import Rows

_LEASE = 300.0  # seconds for one delivery, longer than all its time limits
_SOON = 60.0  # seconds before the second try
_TURN = ("state", "tries", "due")
T = TypeVar("T", bound=Any)


def deliver_next(
    database: Database, rows: Rows[T], deliver: Callable[[T], dict[str, object]], latest: float
) -> bool:
    """Deliver the next row that is due; False if there is none.

    ``deliver`` returns what then changes in the row; if that leaves it waiting, it is tried again
    after ``latest`` seconds at most.

    Raises:
        ServerError: the database cannot be used now.
    """
    own, now = rows.table.c, time.time()
    is_due = (own.state == WAITING, own.due <= now)
    with database.reading() as db:  # asked often: it writes nothing
        if db.execute(select(own.due).where(*is_due).limit(1)).fetchone() is None:
            return False
    with database.changing() as db:
        query = rows.query.where(*is_due).order_by(own.due, *rows.table.primary_key)
        found = rows.first(db, query.with_for_update(skip_locked=True))
        if found is None:
            return False
        # It is due again after the lease.
        taken: T = found._replace(tries=found.tries + 1, due=now + _LEASE)
        key = _key_of(rows, taken)
        rows.change(db, {"tries": taken.tries, "due": taken.due}, **key)
    values = {"due": 0.0, **deliver(taken)}
    values["due"] = values["due"] or next_try(taken.tries, latest)
    with database.changing() as db:
        if not rows.change(db, values, **key, tries=taken.tries, due=taken.due):
            # It was put anew meanwhile, and has another turn.
            rows.change(db, {n: v for n, v in values.items() if n not in _TURN}, **key)
    return True


def _key_of(rows: Rows[T], record: T) -> dict[str, object]:
    return {one.name: getattr(record, one.name) for one in rows.table.primary_key}


def next_try(tries: int, latest: float) -> float:
    """Return when something is tried again that failed so often."""
    wait: float = min(_SOON * 2 ** min(tries - 1, 10), latest)
    return time.time() + wait


def put_off(db: Connection, rows: Rows[T], until: float, **named: object) -> None:
    """Let nothing of these that is due be tried before a time: the other side is away."""
    query = rows.query.filter_by(state=WAITING, **named).where(rows.table.c.due <= time.time())
    # One that is being put anew stays as it is: nobody waits here.
    for one in rows.list(db, query.with_for_update(skip_locked=True)):
        rows.change(db, {"due": until}, **_key_of(rows, one))


def try_now(db: Connection, rows: Rows[T], **named: object) -> None:
    """Let all of these that wait be tried now."""
    rows.change(db, {"due": time.time(), "tries": 0}, state=WAITING, **named)
