"""The audit log: who did what to what, as it is kept and as people read it.

It only grows, and is keyed as a ledger's chains are: each line carries digests under the key, of
itself and of all before it; how long the log is is sealed, too. Who edits a line, adds one or cuts
some off without the key is noticed.
"""

import datetime
import json
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from harness.core.errors import LedgerError
from harness.grading.ledger.chains import START, Digest, Head, Seal
from harness.service.local_times import describe_date
from harness.service.records import AuditEntry
from harness.service.settings import Settings
from harness.service.storage import people
from harness.service.storage.tables import AUDIT, AUDIT_END, count, largest

_NAME, _CUT = "audit", "audit that was cut off"
_ONE = select(AUDIT_END.c.length, AUDIT_END.c.digest, AUDIT_END.c.seal)
_END = _ONE.where(AUDIT_END.c.one == 1)
_BEGINNING = _ONE.where(AUDIT_END.c.one == 0)  # the part that was cut off, with the key
_LINES = select(*(AUDIT.c[name] for name in AuditEntry._fields))


class AuditedTransaction(NamedTuple):
    """A transaction in which somebody does something in a service, which is noted in it."""

    db: Connection
    log: "AuditLog"
    by: str  # a person's id; empty: the service itself
    settings: Settings

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
        db.execute(AUDIT_END.insert(), {"one": 1, **self._seal_head(_NAME, Head())})

    def note(self, db: Connection, by: str, what: str, about: str = "", **details: object) -> None:
        """Add a line, in the transaction of what it tells of; raises as :meth:`cut`."""
        end = self._head(db, hold=True)
        told = json.dumps(details, sort_keys=True, ensure_ascii=False) if details else ""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        row = AuditEntry(end.length + 1, now, by, what, about, told)
        digest = self._seal.of_row(_NAME, row.link, row[1:], end.digest)
        db.execute(AUDIT.insert(), {**row._asdict(), "signature": str(digest)})
        sealed = self._seal_head(_NAME, Head(row.link, digest.chained))
        db.execute(AUDIT_END.update().where(AUDIT_END.c.one == 1).values(sealed))

    def cut(self, db: Connection, last: int) -> None:
        """Remove the lines up to a number, by the rules of retention. What is left still holds.

        Raises:
            LedgerError: how long it is was changed by others.
        """
        self._head(db, hold=True)
        kept = db.execute(select(AUDIT.c.signature).where(AUDIT.c.link == last)).scalar_one()
        head = Head(last, Digest.read(kept).chained)
        db.execute(AUDIT.delete().where(AUDIT.c.link <= last))
        db.execute(AUDIT_END.delete().where(AUDIT_END.c.one == 0))
        db.execute(AUDIT_END.insert(), {"one": 0, **self._seal_head(_CUT, head)})

    @staticmethod
    def find_old(db: Connection, before: str) -> tuple[int, int]:
        """Return the number of the last line of before a time, and how many lines these are."""
        later = select(func.min(AUDIT.c.link)).where(AUDIT.c["at"] >= before)
        first = db.execute(later).scalar_one()
        last = largest(db, AUDIT.c.link) if first is None else int(first) - 1
        return last, count(db, AUDIT.c.link <= last)

    def entries(self, db: Connection, about: Sequence[str] = ()) -> list[AuditEntry]:
        """Return its lines, the newest first; ``about``: those of these things alone."""
        query = _LINES.order_by(AUDIT.c.link.desc())
        if about:
            query = query.where(AUDIT.c.about.in_(about))
        return [AuditEntry(*row) for row in db.execute(query)]

    def tampering(self, db: Connection) -> list[str]:
        """Return a sentence for each entry that was changed."""
        end = self._head(db)
        rows = db.execute(_LINES.add_columns(AUDIT.c.signature).order_by(AUDIT.c.link)).fetchall()
        found: list[str] = []
        first = Head(0, START)
        if (cut := db.execute(_BEGINNING).fetchone()) is not None:
            first = Head(cut.length, cut.digest)
            if cut.seal != self._seal.of_head(_CUT, first):  # somebody else wrote it
                return ["the note about removed entries was changed"]
        before = first.digest
        for place, row in enumerate(rows, first.length + 1):
            kept = Digest.read(row[-1])
            if row.link != place:
                return [*found, f"line {place} is missing"]
            if kept.chained != self._seal.of_row(_NAME, row.link, row[1:-1], before).chained:
                found.append(f"line {row.link} was changed or added")
            before = kept.chained
        length = first.length + len(rows)
        if (length, before) != (end.length, end.digest):
            found.append(f"its end was changed: found {length} lines, expected {end.length}")
        return found

    def _head(self, db: Connection, *, hold: bool = False) -> Head:
        row = db.execute(_END.with_for_update() if hold else _END).one()
        end = Head(row.length, row.digest)
        if row.seal != self._seal.of_head(_NAME, end):
            raise LedgerError("the audit log was edited: how many lines it has was changed")
        return end

    def _seal_head(self, name: str, head: Head) -> dict[str, object]:
        seal = self._seal.of_head(name, head)
        return {"length": head.length, "digest": head.digest, "seal": seal}


# --- The audit log as people read it: with the names of who did something, or about one thing ----


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
    return {"": "the service", **{one.id: one.name for one in people.PEOPLE.all(db)}}


def _line(entry: AuditEntry, names: dict[str, str], left_out: Sequence[str] = ()) -> HistoryLine:
    told = {key: one for key, one in _details(entry).items() if key not in left_out}
    details = ", ".join(f"{key}: {_say(value, key, names)}" for key, value in told.items())
    who = names.get(entry.person, entry.person)
    return HistoryLine(entry.link, entry.at, who, entry.what, entry.about, details)


def _say(value: object, key: str, names: dict[str, str]) -> str:
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if key == "author":
        return names.get(value, value)
    return describe_date(value) if key == "deadline" else value


def _details(entry: AuditEntry) -> dict[str, Any]:
    found = json.loads(entry.details) if entry.details else {}
    return found if isinstance(found, dict) else {}
