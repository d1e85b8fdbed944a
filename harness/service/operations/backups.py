"""Backups: all that a service cannot make again, in a folder, and a service made of it.

The order of copying is that of writing backwards: a row of the service's tables is copied before
the ledger and the original that it speaks of, and those are only added to. So a backup of a
service that runs has all that it speaks of. What was under way is done again after a restore.
"""

import contextlib
import hashlib
import json
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from harness.errors import LedgerError, UsageError
from harness.grading.ledger import chains
from harness.grading.ledger.ledger import Ledger
from harness.grading.ledger.places import LedgerFile, ServerPlace
from harness.service.courses import gradebooks
from harness.service.jobs import result_files
from harness.service.records import EXPORT, Job
from harness.service.settings import Settings
from harness.service.storage import courses, data_folder, database, queue, uploads

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
    if chains.find(key) is None:  # no service could be made of what is copied
        raise UsageError(f"the key of the audit log is missing: there is no {key}")
    _make_new(target)
    with contextlib.ExitStack() as undo:
        undo.callback(shutil.rmtree, target, ignore_errors=True)
        made = _copy_all(settings, target)
        keyless = _name_keyless(database.list_ledgers(settings))
        undo.pop_all()
    return made._replace(keyless=keyless)


def _copy_all(settings: Settings, target: Path) -> BackupSummary:
    place, data = settings.own_place(), settings.data
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
            with result_files.lock_folder(folder, shared=True):  # none is written anew meanwhile
                _copy_folder(folder, target / folder.relative_to(data))
                _copy_file(result_files.path_of_evidence_places(folder), target, data)
                _copy_file(gradebooks.notes_of(folder), target, data)
    zone = data / data_folder.ZONE_FILE  # there is none if the service was never started
    if zone.exists():
        shutil.copy2(zone, target / zone.name)
    files = {path: _digest(target / path) for path in _files(target)}
    made = {"format": _FORMAT, "at": time.time(), "server": isinstance(place, ServerPlace)}
    (target / _LIST).write_text(json.dumps({**made, "files": files}, indent=1), encoding="utf-8")
    return _measure(target, files)


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


def _copy_file(source: Path, target: Path, room: Path) -> None:
    """Copy a file, which may be missing, from a folder to the same place in another one."""
    try:
        if source.is_file():
            shutil.copy2(source, target / source.relative_to(room))
    except OSError as error:
        raise UsageError(f"cannot copy {source}: {error.strerror}") from None


def _files(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield path.relative_to(folder).as_posix()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _measure(folder: Path, files: dict[str, str]) -> BackupSummary:
    return BackupSummary(len(files), sum((folder / name).stat().st_size for name in files))


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
            if name != _DUMP:
                _put_file(source, name, settings.data)
        keyless = verify(settings)
        # They were copied a little later than the tables.
        with closing(database.Database(settings)) as made, made.changing() as db:
            for assigned in courses.ASSIGNMENTS.all(db, "id"):
                if grading := uploads.in_force(db, assigned.id):
                    queue.put_anew(db, Job("", EXPORT, assigned.id, grading.id))
        undo.pop_all()
    return _measure(source, files)._replace(keyless=keyless)


def _put_file(source: Path, name: str, data: Path) -> None:
    try:
        (data / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copy2(source / name, data / name)
        data_folder.close_to_others(data / name)
    except OSError as error:  # which names the file that is read, whatever is full
        raise OSError(error.errno, error.strerror, str(data / name)) from None


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
        if not path.is_file() or _digest(path) != digest:
            raise UsageError(f"{path} is missing, or differs from the backed-up file")
    return files


def verify(settings: Settings) -> tuple[str, ...]:
    """Check the audit log and every ledger of a service; name ledgers without a key.

    A ledger without its key is as it was copied, but nothing in it can be checked.

    Raises:
        LedgerError: a row was changed, added or removed.
    """
    with closing(database.Database(settings)) as made, made.reading() as db:
        wrong = made.log.tampering(db)
    if wrong:
        raise LedgerError(f"the audit log was edited: {wrong[0]}")
    ledgers = database.list_ledgers(settings)
    for one in ledgers:
        if not one.key_is_missing:
            with closing(Ledger(one.place)) as ledger:
                ledger.check()
    return _name_keyless(ledgers)


def _name_keyless(ledgers: Iterable[database.AssignmentLedger]) -> tuple[str, ...]:
    return tuple(one.describe() for one in ledgers if one.key_is_missing)
