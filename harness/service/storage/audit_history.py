"""The audit log as people read it: with the names of who did something, or about one thing."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection

from harness.errors import LedgerError
from harness.service.local_times import describe_logged_date
from harness.service.records import Entry
from harness.service.storage import people
from harness.service.storage.audit_log import Log

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
        """When it was, as pages tell times: since 1970."""
        return datetime.datetime.fromisoformat(self.at).timestamp()


def read(db: Connection, log: Log, about: str = "") -> list[HistoryLine]:
    """Return the lines of a log, the oldest first.

    ``about``: an id; those lines alone that say what was done to it, by it or with it.
    """
    names = _names(db)
    found = [one for one in log.entries(db) if not about or _has(one, about)]
    return [_line(one, names) for one in reversed(found)]


def _has(entry: Entry, about: str) -> bool:
    return about in (entry.about, entry.person, *_texts(_details(entry)))


def _texts(value: object) -> list[str]:
    """Return all texts in a value of JSON."""
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [str(value)]


def of_student(
    db: Connection, log: Log, assignment: str, keys: Sequence[str], uploads: Sequence[str]
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


def check(db: Connection, log: Log) -> list[str]:
    """Return a sentence for each line that was changed, or [] for an intact log."""
    try:
        return log.tampering(db)
    except LedgerError as error:
        return [str(error)]


def _names(db: Connection) -> dict[str, str]:
    return {"": _SERVICE, **{one.id: one.name for one in people.PEOPLE.all(db)}}


def _line(entry: Entry, names: dict[str, str], left_out: Sequence[str] = ()) -> HistoryLine:
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


def _details(entry: Entry) -> dict[str, Any]:
    found = json.loads(entry.details) if entry.details else {}
    return found if isinstance(found, dict) else {}
