"""The audit log: who did what to what. It only grows, and is keyed as a ledger's chains are.

Each line carries digests under the key, of itself and of all before it; how long the log is is
sealed, too. Who edits a line, adds one or cuts some off without the key is noticed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from harness.errors import LedgerError
from harness.grading.ledger.seal import START, Digest, Head, Seal
from harness.service.records import Entry
from harness.service.storage.tables import AUDIT, AUDIT_END

_NAME, _CUT = "audit", "audit that was cut off"
_ONE = select(AUDIT_END.c.length, AUDIT_END.c.digest, AUDIT_END.c.seal)
_END = _ONE.where(AUDIT_END.c.one == 1)
_BEGINNING = _ONE.where(AUDIT_END.c.one == 0)  # the part that was cut off, with the key


class Act(NamedTuple):
    """A transaction in which somebody does something, which is noted in it."""

    db: Connection
    log: Log
    by: str  # a person's id; empty: the service itself

    def note(self, what: str, about: str, **details: object) -> None:
        """Note what was done, and to what."""
        self.log.note(self.db, self.by, what, about, **details)


class Log:
    """The audit log under its key."""

    def __init__(self, own: Seal) -> None:
        self._seal = own

    @staticmethod
    def is_begun(db: Connection) -> bool:
        """Whether there is one."""
        return db.execute(_END).fetchone() is not None

    def begin(self, db: Connection) -> None:
        """Begin it, empty."""
        db.execute(insert(AUDIT_END), {"one": 1, **self._end(Head())})

    def note(
        self, db: Connection, person: str, what: str, about: str = "", **details: object
    ) -> None:
        """Add a line, in the transaction of what it tells of.

        Raises:
            LedgerError: how long it is was changed by others.
        """
        end = self._head(db, hold=True)
        told = json.dumps(details, sort_keys=True, ensure_ascii=False) if details else ""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        row = Entry(end.length + 1, now, person, what, about, told)
        digest = self._seal.of_row(_NAME, row.link, row[1:], end.digest)
        db.execute(insert(AUDIT), {**row._asdict(), "signature": str(digest)})
        db.execute(
            update(AUDIT_END)
            .where(AUDIT_END.c.one == 1)
            .values(self._end(Head(row.link, digest.chained)))
        )

    def cut(self, db: Connection, last: int) -> None:
        """Remove the lines up to a number, by the rules of retention. What is left still holds.

        Raises:
            LedgerError: how long it is was changed by others.
        """
        self._head(db, hold=True)
        kept = db.execute(select(AUDIT.c.signature).where(AUDIT.c.link == last)).scalar_one()
        head = Head(last, Digest.read(kept).chained)
        db.execute(delete(AUDIT).where(AUDIT.c.link <= last))
        db.execute(delete(AUDIT_END).where(AUDIT_END.c.one == 0))
        db.execute(insert(AUDIT_END), {"one": 0, **self._seal_head(_CUT, head)})

    def entries(self, db: Connection, about: Sequence[str] = ()) -> list[Entry]:
        """Return its lines, the newest first; ``about``: those of these things alone."""
        query = select(*(AUDIT.c[name] for name in Entry._fields)).order_by(AUDIT.c.link.desc())
        if about:
            query = query.where(AUDIT.c.about.in_(about))
        return [Entry(*row) for row in db.execute(query)]

    def tampering(self, db: Connection) -> list[str]:
        """Return a sentence for each entry that was changed."""
        end = self._head(db)
        query = select(*(AUDIT.c[name] for name in Entry._fields), AUDIT.c.signature)
        rows = db.execute(query.order_by(AUDIT.c.link)).fetchall()
        found: list[str] = []
        first = self._beginning(db)
        if first is None:
            return ["the note about removed entries was changed"]
        before = first.digest
        for place, row in enumerate(rows, first.length + 1):
            kept = Digest.read(row[-1])
            if row.link != place:
                return [*found, f"line {place} is missing"]
            if kept.chained != self._seal.of_row(_NAME, row.link, row[1:-1], before).chained:
                found.append(f"line {row.link} was changed or added")
            before = kept.chained
        count = first.length + len(rows)
        if (count, before) != (end.length, end.digest):
            found.append(f"its end was changed: found {count} lines, expected {end.length}")
        return found

    def _head(self, db: Connection, *, hold: bool = False) -> Head:
        row = db.execute(_END.with_for_update() if hold else _END).one()
        end = Head(row.length, row.digest)
        if row.seal != self._seal.of_head(_NAME, end):
            raise LedgerError("the audit log was edited: how many lines it has was changed")
        return end

    def _beginning(self, db: Connection) -> Head | None:
        """Return the last line that was cut off; None: somebody else wrote that."""
        row = db.execute(_BEGINNING).fetchone()
        if row is None:
            return Head(0, START)
        head = Head(row.length, row.digest)
        return head if row.seal == self._seal.of_head(_CUT, head) else None

    def _end(self, end: Head) -> dict[str, object]:
        return self._seal_head(_NAME, end)

    def _seal_head(self, name: str, head: Head) -> dict[str, object]:
        return {
            "length": head.length,
            "digest": head.digest,
            "seal": self._seal.of_head(name, head),
        }
