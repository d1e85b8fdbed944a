"""The data of a service: backups, a service made of one, and what goes after how long."""

import contextlib
import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection

from harness.core import file_system
from harness.core.errors import LedgerError, UsageError
from harness.grading.ledger import chains
from harness.grading.ledger.ledger import Ledger
from harness.grading.ledger.places import LedgerFile, ServerPlace
from harness.service.courses import gradebooks
from harness.service.courses.making import moment
from harness.service.jobs import result_files
from harness.service.records import EXPORT, Job
from harness.service.settings import Settings
from harness.service.storage import courses, data_folder, database, people, queue, uploads
from harness.service.storage.audit import AuditedTransaction, AuditLog
from harness.service.storage.database import Database

# --- Backups: all that a service cannot make again, in a folder, and a service made of it --------
# The order of copying is that of writing backwards: a row of the service's tables is copied before
# the ledger and the original that it speaks of, and those are only added to. So a backup of a
# service that runs has all that it speaks of. What was under way is done again after a restore.

_LIST = "backup.json"  # written last: a folder without it is not a whole backup
_DUMP = "database.dump"
_FORMAT = 1
_COPIED = ("assignments", "rosters", "suites", "originals", "keys")  # folders, in this order


class BackupSummary(NamedTuple):
    """A backup, or a service made of one."""

    files: int
    size: int  # bytes
    keyless: tuple[str, ...] = ()  # ledgers without a key, and where it should be


def back_up(settings: Settings, target: Path) -> BackupSummary:
    """Copy a service, which may run, into a new folder. If that fails, nothing of it stays.

    A ledger whose key is missing is copied, too, and named.

    Raises:
        HarnessError: something cannot be copied.
        UsageError: the settings name no service, its key is missing, or the folder exists.
    """
    place = settings.own_place()
    if not settings.keys.is_dir():
        raise UsageError(f"found no service in {settings.data}: give its --data")
    if isinstance(place, LedgerFile) and not place.path.exists():
        raise UsageError(f"there is no {place.path}: give the service's --database")
    key = place.key("")
    if chains.find_key(key) is None:  # no service could be made of what is copied
        raise UsageError(f"the key of the audit log is missing: there is no {key}")
    _make_new(target)
    data = settings.data
    with contextlib.ExitStack() as undo:
        undo.callback(shutil.rmtree, target, ignore_errors=True)
        if isinstance(place, ServerPlace):
            database.dump(place, target / _DUMP)
        else:
            with database.still(place.path):  # jobs under way may continue, none begins or ends
                database.copy_file(place.path, target / place.path.name)
                for path in sorted((data / "assignments").glob("*/ledger.sqlite")):
                    database.copy_file(path, target / path.relative_to(data))
        for name in _COPIED:
            _copy_folder(data / name, target / name)
        for assignment in sorted((data / "assignments").glob("*")):
            for folder in result_files.folders_of_all(assignment):
                _copy_results(folder, target, data)
        zone = data / data_folder.ZONE_FILE  # there is none if the service was never started
        if zone.exists():
            shutil.copy2(zone, target / zone.name)
        files = {
            path.relative_to(target).as_posix(): file_system.digest(path)
            for path in sorted(target.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }
        made = {"format": _FORMAT, "at": time.time(), "server": isinstance(place, ServerPlace)}
        told = json.dumps({**made, "files": files}, indent=1)
        (target / _LIST).write_text(told, encoding="utf-8")
        ledgers = database.list_ledgers(settings)
        keyless = tuple(one.describe() for one in ledgers if one.key_is_missing)
        undo.pop_all()
    size = sum((target / name).stat().st_size for name in files)
    return BackupSummary(len(files), size, keyless)


def _copy_results(folder: Path, target: Path, data: Path) -> None:
    """Copy what a grading wrote, with what lies beside it; none is written anew meanwhile."""
    with result_files.lock_folder(folder, shared=True):
        _copy_folder(folder, target / folder.relative_to(data))
        for path in (result_files.path_of_evidence_places(folder), gradebooks.notes_of(folder)):
            try:
                if path.is_file():
                    shutil.copy2(path, target / path.relative_to(data))
            except OSError as error:
                raise UsageError(f"cannot copy {path}: {error.strerror}") from None


def _make_new(target: Path) -> None:
    try:
        target.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        raise UsageError(f"{target} exists: name a new folder") from None
    except OSError as error:
        raise UsageError(f"cannot make {target}: {error.strerror}") from None


def _copy_folder(source: Path, target: Path) -> None:
    """Copy a folder without unfinished files and files that are copied separately."""
    ignored = shutil.ignore_patterns("ledger.sqlite*", ".unfinished-*", "*.new", "gradings")
    try:
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, ignore=ignored, dirs_exist_ok=True)
    except shutil.Error as error:  # (source, target, why) of each file
        path, there, why = error.args[0][0]
        reason = str(why).rpartition("] ")[2].partition(": ")[0]
        raise UsageError(f"cannot copy {path} to {there}: {reason}") from None
    except OSError as error:
        raise UsageError(f"cannot copy {source}: {error.strerror}") from None


def restore(source: Path, settings: Settings) -> BackupSummary:
    """Make a service of a backup, in a new folder and, if it had one, in an empty database.

    If that fails, nothing of it stays.

    Raises:
        HarnessError: it cannot be written, or what was written does not hold.
        UsageError: it is not a whole backup, or the folder exists.
    """
    files = _check_files(source, settings)
    place = settings.own_place()
    _make_new(settings.data)
    with contextlib.ExitStack() as undo:
        undo.callback(shutil.rmtree, settings.data, ignore_errors=True)
        if isinstance(place, ServerPlace):
            database.load(place, source / _DUMP)
            undo.callback(database.unload, place)
        for name in files:
            copy = settings.data / name
            try:
                if name != _DUMP:
                    copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    shutil.copy2(source / name, copy)
                    data_folder.close_to_others(copy)
            except OSError as error:  # which names the file that is read, whatever is full
                raise OSError(error.errno, error.strerror, str(copy)) from None
        keyless = verify(settings)
        # They were copied a little later than the tables.
        with closing(Database(settings)) as made, made.changing() as db:
            for assigned in courses.ASSIGNMENTS.all(db, "id"):
                if grading := uploads.in_force(db, assigned.id):
                    queue.put_anew(db, Job("", EXPORT, assigned.id, grading.id))
        undo.pop_all()
    size = sum((source / name).stat().st_size for name in files)
    return BackupSummary(len(files), size, keyless)


def _check_files(source: Path, settings: Settings) -> dict[str, str]:
    """Return the files of a backup, which are as they were written."""
    try:
        found = json.loads((source / _LIST).read_text(encoding="utf-8"))
        files: dict[str, str] = found["files"]
        is_ours = found["format"] == _FORMAT
    except (OSError, ValueError, TypeError, KeyError):
        raise UsageError(f"{source} is not a whole backup: {_LIST} cannot be read") from None
    if not is_ours:
        raise UsageError(f"{source} was made by another version of gtp-harness")
    if found["server"] is not bool(settings.database):
        there = "a database on a server" if found["server"] else "files"
        way = "with" if found["server"] else "without"
        raise UsageError(f"{source} has {there}: restore it {way} --database")
    for name, digest in files.items():
        path = source / name
        if not path.is_file() or file_system.digest(path) != digest:
            raise UsageError(f"{path} is missing, or differs from the backed-up file")
    return files


def verify(settings: Settings) -> tuple[str, ...]:
    """Check the audit log and every ledger of a service; name ledgers without a key.

    A ledger without its key is as it was copied, but nothing in it can be checked.

    Raises:
        LedgerError: a row was changed, added or removed.
    """
    with closing(Database(settings)) as made, made.reading() as db:
        wrong = made.log.tampering(db)
    if wrong:
        raise LedgerError(f"the audit log was edited: {wrong[0]}")
    ledgers = database.list_ledgers(settings)
    for one in ledgers:
        if not one.key_is_missing:
            with closing(Ledger(one.place)) as ledger:
                ledger.check()
    return tuple(one.describe() for one in ledgers if one.key_is_missing)


# --- Pruning: what goes after how long, and what goes now ----------------------------------------
# While the marks of an assignment may be asked for, what they stand on stays, whatever the rules
# of its originals and of the audit log say. That time counts from the last thing that happened in
# it: a date of it, a submission, a grading. Marks, ledgers and what gradings wrote never go.

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


def read_rules(text: str) -> Rules:
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
    rules = read_rules(settings.keep)
    found = []
    for kind, look in _LOOKS.items():
        if rules[kind] is not None:
            with database.acting() as act:
                context = _PruningContext(settings, act.db, rules, now or time.time())
                number, files, rest = look(context, context.before(kind))
                size = sum(path.stat().st_size for path in files)
                if number and not is_dry:
                    rest(act)
                    act.note("pruned", "", kind=kind, count=number, bytes=size)
                    for path in files:  # last: another service's database refuses the line before
                        path.unlink(missing_ok=True)
                found.append(Pruned(kind, number, size))
    return found


def _old_files(before: float, folder: Path, pattern: str) -> list[Path]:
    return [path for path in sorted(folder.glob(pattern)) if path.stat().st_mtime < before]


def _logs(context: _PruningContext, before: float) -> _Deletion:
    files = _old_files(before, context.settings.logs, "*.jsonl")
    return _Deletion(len(files), files)


def _mail(context: _PruningContext, before: float) -> _Deletion:
    files = _old_files(before, context.settings.letters, "*.eml")
    count = people.count_settled(context.db, before)
    return _Deletion(count + len(files), files, lambda act: people.forget_settled(act.db, before))


def _sessions(context: _PruningContext, before: float) -> _Deletion:
    count = people.count_ended(context.db, before)
    return _Deletion(count, rest=lambda act: people.forget_ended(act.db, before))


def _checks(context: _PruningContext, before: float) -> _Deletion:
    """Find the results of public tests, which students read: a grading has its own."""
    pages = [
        result_files.check_page(context.settings.assignment_folder(assignment), upload)
        for assignment, upload in uploads.list_checked(context.db, before)
    ]
    both = (path for page in pages for path in (page, page.with_suffix(".json")))
    files = [path for path in both if path.exists()]
    return _Deletion(len(files), files, lambda act: uploads.forget_old_words(act.db, before))


def _originals(context: _PruningContext, before: float) -> _Deletion:
    """Find what no assignment needs whose marks may be asked for, or whose time is not over."""
    uploads.hold_uploads(context.db)
    keeping = _recent(context, context.before("marks")) | _recent(context, before)
    known = uploads.originals(context.db)
    files = [
        path
        for path in sorted(context.settings.originals.glob("[0-9a-f]*"))
        if not known.get(path.name, set()) & keeping
        and path.stat().st_mtime < context.now - _FRESH
    ]
    return _Deletion(
        len(files), files, lambda act: [act.note("original pruned", one.name) for one in files]
    )


def _audit(context: _PruningContext, before: float) -> _Deletion:
    """Find the oldest lines, but none since an assignment was made whose marks are asked for."""
    asked = _recent(context, context.before("marks"))
    made = [one.made for one in courses.ASSIGNMENTS.all(context.db) if one.id in asked]
    before = min([before, *made])
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(before))
    last, count = AuditLog.find_old(context.db, at)
    return _Deletion(count, rest=lambda act: act.log.cut(act.db, last))


_LOOKS: dict[str, Callable[[_PruningContext, float], _Deletion]] = {
    "logs": _logs,
    "mail": _mail,
    "sessions": _sessions,
    "checks": _checks,
    "originals": _originals,
    "audit": _audit,
}


def _recent(context: _PruningContext, before: float) -> set[str]:
    """Return the assignments in which something happened from a time on."""
    events, found = uploads.last_events(context.db), set()
    for one in courses.ASSIGNMENTS.all(context.db, "id"):
        own = courses.extensions(context.db, one.id).values()
        dates = map(moment, (one.opens, one.deadline, one.closes, *own))
        times = [date.timestamp() for date in dates if date]
        if max(events.get(one.id, 0.0), one.made, *times) >= before:
            found.add(one.id)
    return found
