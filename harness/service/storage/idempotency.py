"""Idempotency keys: what a request made that is sent again when its answer was lost."""

from __future__ import annotations

import time
from typing import NamedTuple

from sqlalchemy import Connection, text

from harness.service.storage.tables import REPEATED, Rows

LASTS = 86400.0  # seconds that a key is known


class Repeated(NamedTuple):
    """A request under an idempotency key."""

    person: str
    key: str
    digest: str  # of where it went and of what was sent
    made: str  # the ID of the new object; empty if not yet known
    at: float


REPEATS: Rows[Repeated] = Rows(Repeated, REPEATED)
# Another request with the same key, in another transaction, waits here for the end of that one.
_CLAIM = text(
    "INSERT INTO repeated (person, key, digest, made, at)"
    " VALUES (:person, :key, :digest, '', :at) ON CONFLICT DO NOTHING"
)


def claim(db: Connection, person: str, key: str, digest: str) -> Repeated:
    """Return the request under a key: this one, with nothing made yet, or the one before."""
    now = time.time()
    db.execute(REPEATED.delete().where(REPEATED.c.at < now - LASTS))
    db.execute(_CLAIM, {"person": person, "key": key, "digest": digest, "at": now})
    found = REPEATS.find(db, person=person, key=key)
    assert found is not None  # it was written, by this transaction or by one before
    return found


def keep(db: Connection, repeated: Repeated, made: str) -> None:
    """Write down what a request made."""
    REPEATS.change(db, {"made": made}, person=repeated.person, key=repeated.key)
