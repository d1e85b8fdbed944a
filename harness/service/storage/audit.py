"""The audit log: who did what to what, as it is kept and as people read it.

It only grows, and is keyed as a ledger's chains are: each line carries digests under the key, of
itself and of all before it; how long the log is is sealed, too. Who edits a line, adds one or cuts
some off without the key is noticed.
"""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from harness.errors import LedgerError
from harness.grading.ledger.chains import START, Digest, Head, Seal
from harness.service.local_times import describe_logged_date
from harness.service.records import AuditEntry
from harness.service.storage import people
from harness.service.storage.tables import AUDIT, AUDIT_END

_NAME, _CUT = "audit", "audit that was cut off"
_ONE = select(AUDIT_END.c.length, AUDIT_END.c.digest, AUDIT_END.c.seal)
_END = _ONE.where(AUDIT_END.c.one == 1)
_BEGINNING = _ONE.where(AUDIT_END.c.one == 0)  # the part that was cut off, with the key


class AuditedTransaction(NamedTuple):
    """A transaction in which somebody does something, which is noted in it."""

    db: Connection
    log: AuditLog
    by: str  # a person's id; empty: the service itself

    def note(self, what: str, about: str, **details: object) -> None:
        """Note what was done, and to what."""
        self.log.note(self.db, self.by, what, about, **details)


class AuditLog:
    """The audit log under its key."""

    def __init__(self, seal: Seal) -> None:
        self._seal = seal

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
        row = AuditEntry(end.length + 1, now, person, what, about, told)
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

    def entries(self, db: Connection, about: Sequence[str] = ()) -> list[AuditEntry]:
        """Return its lines, the newest first; ``about``: those of these things alone."""
        query = select(*(AUDIT.c[name] for name in AuditEntry._fields)).order_by(
            AUDIT.c.link.desc()
        )
        if about:
            query = query.where(AUDIT.c.about.in_(about))
        return [AuditEntry(*row) for row in db.execute(query)]

    def tampering(self, db: Connection) -> list[str]:
        """Return a sentence for each entry that was changed."""
        end = self._head(db)
        query = select(*(AUDIT.c[name] for name in AuditEntry._fields), AUDIT.c.signature)
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


# --- The audit log as people read it: with the names of who did something, or about one thing ----


_SERVICE = "the service"
_DATES = ("opens", "deadline", "closes")  # details that are a teacher's dates
_PEOPLE = ("author",)  # details that are ids of people
# What a page about one student need not repeat, and what nobody reads.
_LEFT_OUT = ("key", "students", "sha256", "comment")


class HistoryLine(NamedTuple):
    """A line of the audit log as people read it."""

    number: int
    at: str  # ISO 8601, UTC
    who: str
    what: str
    about: str  # an id
    details: str  # such as ``deadline: 29 Jan 2026, 23:55 CET, key: ada``

    @property
    def seconds(self) -> float:
        """Its time, as pages tell times: since 1970."""
        return datetime.datetime.fromisoformat(self.at).timestamp()


def read_history(db: Connection, log: AuditLog, about: str = "") -> list[HistoryLine]:
    """Return the lines of a log, the oldest first.

    ``about``: an id; those lines alone that say what was done to it, by it or with it.
    """
    names = _names(db)
    found = [
        one
        for one in log.entries(db)
        if not about or (about in (one.about, one.person, *_texts(_details(one))))
    ]
    return [_line(one, names) for one in reversed(found)]


def _texts(value: object) -> list[str]:
    """Return all texts in a value of JSON."""
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [str(value)]


def of_student(
    db: Connection, log: AuditLog, assignment: str, keys: Sequence[str], uploads: Sequence[str]
) -> list[HistoryLine]:
    """Return what was done for a student or group in an assignment, the newest first.

    ``keys``: of the group and of its students; ``uploads``: the ids of what they submitted.
    """
    names = _names(db)
    return [
        _line(one, names, _LEFT_OUT)
        for one in log.entries(db, [assignment, *uploads])
        if one.about != assignment or _details(one).get("key") in keys
    ]


def check(db: Connection, log: AuditLog) -> list[str]:
    """Return a sentence for each line that was changed, or [] for an intact log."""
    try:
        return log.tampering(db)
    except LedgerError as error:
        return [str(error)]


def _names(db: Connection) -> dict[str, str]:
    return {"": _SERVICE, **{one.id: one.name for one in people.PEOPLE.all(db)}}


def _line(entry: AuditEntry, names: dict[str, str], left_out: Sequence[str] = ()) -> HistoryLine:
    told = {key: one for key, one in _details(entry).items() if key not in left_out}
    details = ", ".join(f"{key}: {_say(value, key, names)}" for key, value in told.items())
    who = names.get(entry.person, entry.person)
    return HistoryLine(entry.link, entry.at, who, entry.what, entry.about, details)


def _say(value: object, key: str, names: dict[str, str]) -> str:
    if key in _PEOPLE and isinstance(value, str):
        return names.get(value, value)
    if key in _DATES and isinstance(value, str):
        return describe_logged_date(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _details(entry: AuditEntry) -> dict[str, Any]:
    found = json.loads(entry.details) if entry.details else {}
    return found if isinstance(found, dict) else {}
