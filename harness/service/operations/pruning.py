"""Retention of a service's data: what goes after how long, and what goes now.

While the marks of an assignment may be asked for, what they stand on stays, whatever the rules of
its originals and of the audit log say. That time counts from the last thing that happened in it: a
date of it, a submission, a grading. Marks, ledgers and what gradings wrote never go.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection

from harness.errors import UsageError
from harness.service.courses.making import moment
from harness.service.jobs.result_files import check_page
from harness.service.settings import Settings
from harness.service.storage import courses, pruning
from harness.service.storage.audit import AuditedTransaction
from harness.service.storage.database import Database

DAY = 86400.0
FOREVER = "forever"
_MOST = 36500  # days
_FRESH = 3600.0  # seconds in which a file may belong to what is not written down yet
# How long things are kept, in days; None: for ever.
DEFAULTS: dict[str, int | None] = {
    "logs": 90,
    "mail": 30,
    "sessions": 30,
    "checks": 365,
    "marks": 1095,
    "originals": 1095,
    "audit": None,
}
Rules = Mapping[str, int | None]


class Pruned(NamedTuple):
    """Pruned data of one kind."""

    kind: str
    number: int
    size: int  # bytes of files


class _PruningContext(NamedTuple):
    """Data, time and rules of a pruning."""

    settings: Settings
    db: Connection
    rules: Rules
    now: float

    def before(self, kind: str) -> float:
        """Return the time before which things of a kind go."""
        days = self.rules[kind]
        return 0.0 if days is None else self.now - days * DAY


class _Deletion(NamedTuple):
    """Data to delete: files, plus a callback for rows."""

    number: int
    files: Sequence[Path] = ()
    rest: Callable[[AuditedTransaction], object] = lambda act: None


def read(text: str) -> Rules:
    """Return the rules of ``logs=30,audit=forever``; raises UsageError if they are not such."""
    found = dict(DEFAULTS)
    for one in filter(None, text.split(",")):
        kind, _, days = one.partition("=")
        if kind not in DEFAULTS:
            raise UsageError(f"--keep: found {kind!r}, expected one of {', '.join(DEFAULTS)}")
        if days != FOREVER and not (days.isdecimal() and 0 < int(days) <= _MOST):
            raise UsageError(f"--keep {kind}: found {days!r}, expected 1 to {_MOST} or {FOREVER}")
        found[kind] = None if days == FOREVER else int(days)
    return found


def prune(
    settings: Settings, database: Database, *, is_dry: bool = False, now: float = 0.0
) -> list[Pruned]:
    """Let all go whose time is over; ``is_dry``: only say what would.

    Each kind goes in a transaction of its own, with a line in the audit log. Files go in it, too:
    one that is there without its row is found by the next call.
    """
    rules = read(settings.keep)
    found = []
    for kind, look in _LOOKS.items():
        if rules[kind] is not None:
            with database.acting() as act:
                context = _PruningContext(settings, act.db, rules, now or time.time())
                number, files, rest = look(context)
                size = sum(path.stat().st_size for path in files)
                if number and not is_dry:
                    rest(act)
                    act.note("pruned", "", kind=kind, count=number, bytes=size)
                    for path in files:  # last: another service's database refuses the line before
                        path.unlink(missing_ok=True)
                found.append(Pruned(kind, number, size))
    return found


def _old_files(context: _PruningContext, kind: str, folder: Path, pattern: str) -> list[Path]:
    before = context.before(kind)
    return [path for path in sorted(folder.glob(pattern)) if path.stat().st_mtime < before]


def _logs(context: _PruningContext) -> _Deletion:
    files = _old_files(context, "logs", context.settings.logs, "*.jsonl")
    return _Deletion(len(files), files)


def _mail(context: _PruningContext) -> _Deletion:
    before = context.before("mail")
    files = _old_files(context, "mail", context.settings.letters, "*.eml")
    count = pruning.letters(context.db, before)
    return _Deletion(count + len(files), files, lambda act: pruning.forget_letters(act.db, before))


def _sessions(context: _PruningContext) -> _Deletion:
    before = context.before("sessions")
    count = pruning.count_ended(context.db, before)
    return _Deletion(count, rest=lambda act: pruning.forget_ended(act.db, before))


def _checks(context: _PruningContext) -> _Deletion:
    """Find the results of public tests, which students read: a grading has its own."""
    before = context.before("checks")
    pages = [
        check_page(context.settings.assignment_folder(assignment), upload)
        for assignment, upload in pruning.list_checked(context.db, before)
    ]
    both = (path for page in pages for path in (page, page.with_suffix(".json")))
    files = [path for path in both if path.exists()]
    return _Deletion(len(files), files, lambda act: pruning.forget_words(act.db, before))


def _originals(context: _PruningContext) -> _Deletion:
    """Find what no assignment needs whose marks may be asked for, or whose time is not over."""
    pruning.hold_uploads(context.db)
    keeping = _recent(context, "marks") | _recent(context, "originals")
    known = pruning.originals(context.db)
    files = [
        path
        for path in sorted(context.settings.originals.glob("[0-9a-f]*"))
        if not known.get(path.name, set()) & keeping
        and path.stat().st_mtime < context.now - _FRESH
    ]
    return _Deletion(
        len(files), files, lambda act: [act.note("original pruned", one.name) for one in files]
    )


def _audit(context: _PruningContext) -> _Deletion:
    """Find the oldest lines, but none since an assignment was made whose marks are asked for."""
    asked = _recent(context, "marks")
    made = [one.made for one in courses.ASSIGNMENTS.all(context.db) if one.id in asked]
    before = min([context.before("audit"), *made])
    last = pruning.old_lines(context.db, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(before)))
    count = pruning.lines_until(context.db, last)
    return _Deletion(count, rest=lambda act: act.log.cut(act.db, last))


_LOOKS: dict[str, Callable[[_PruningContext], _Deletion]] = {
    "logs": _logs,
    "mail": _mail,
    "sessions": _sessions,
    "checks": _checks,
    "originals": _originals,
    "audit": _audit,
}


def _recent(context: _PruningContext, kind: str) -> set[str]:
    """Return the assignments in which something happened within the time of a rule."""
    events, before, found = pruning.last_events(context.db), context.before(kind), set()
    for one in courses.ASSIGNMENTS.all(context.db, "id"):
        own = courses.extensions(context.db, one.id).values()
        dates = map(moment, (one.opens, one.deadline, one.closes, *own))
        times = [date.timestamp() for date in dates if date]
        if max(events.get(one.id, 0.0), one.made, *times) >= before:
            found.add(one.id)
    return found
