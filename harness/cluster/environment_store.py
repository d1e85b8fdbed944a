"""Environments on a worker that were built elsewhere and are fetched as archives.

Each is a folder named after the SHA-256 of its archive, and is either whole or absent. Workers of
one machine share them. A lock keeps an environment in place while engines use it, and lets one
worker fetch it for all. The kernel frees the lock of a killed worker, and the next worker that
makes room removes its unfinished folders.
"""

import contextlib
import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from harness import file_system
from harness.cluster.transfer import UNFINISHED, FetchError, Missing, Source
from harness.environments import environment_archive, environment_cache
from harness.environments.interpreters import Interpreter, PackedEnvironment, fingerprint
from harness.errors import UsageError
from harness.work import canonical_json

_ENVIRONMENT, _RECORD = "environment", "record.json"  # in each folder
_PATIENCE = 600.0  # seconds for another worker of this machine that fetches the same
_LOOK = 0.1  # seconds between two looks at a lock
_SOUND = 600.0  # seconds for which an environment that was found to be sound is taken to be so

# A time in which nothing is measured beside.
Quiet = Callable[[], contextlib.AbstractContextManager[object]]


class EnvironmentStore:
    """Environments by the SHA-256 of their archives, within a size limit, except those in use.

    Processes share it.
    """

    def __init__(self, folder: Path, most: int, bases: Sequence[Interpreter]) -> None:
        """``folder``: is there; ``bases``: Pythons of this machine, the best first."""
        self.folder = folder
        self._most = most
        self._bases = {one.base: one for one in reversed(bases)}
        self._sound: dict[str, float] = {}  # when, by SHA-256, monotonic

    @contextlib.contextmanager
    def in_use(
        self, environment: PackedEnvironment, source: Source, quiet: Quiet = contextlib.nullcontext
    ) -> Iterator[str]:
        """Give the Python of an environment, which is not removed meanwhile.

        ``quiet``: a time for unpacking it, in which nothing is measured beside.

        Raises:
            FetchError: it cannot be had.
        """
        with _Lock(self.folder, environment.sha256) as lock:
            lock.wait(fcntl.LOCK_SH)
            while not self._is_there(environment):
                lock.wait(fcntl.LOCK_EX)
                if not self._is_there(environment):
                    self._fetch(environment, source, quiet)
                lock.wait(fcntl.LOCK_SH)  # for a moment nobody had it: it may have been removed
            with contextlib.suppress(OSError):  # a disk that is full
                os.utime(self.folder / environment.sha256)
            yield str(self.folder / environment.sha256 / _ENVIRONMENT / "bin" / "python3")

    def _is_there(self, environment: PackedEnvironment) -> bool:
        folder, now = self.folder / environment.sha256, time.monotonic()
        if not folder.is_dir():
            return False
        if now - self._sound.get(environment.sha256, -_SOUND) >= _SOUND:
            if not _is_sound(folder, environment):
                return False
            self._sound[environment.sha256] = now
        return True

    def _fetch(self, environment: PackedEnvironment, source: Source, quiet: Quiet) -> None:
        base = self._bases.get(environment.base)
        if base is None:
            raise FetchError(f"{environment.base} is not on this worker")
        unfinished = self.folder / f"{UNFINISHED}{environment.sha256}"
        try:
            self._discard(environment.sha256)
            self._make_room(environment)
            file_system.make_new(unfinished)
            archive = unfinished / "archive"
            source.fetch(
                [Missing(canonical_json.Sha256(environment.sha256), archive)], environment.size
            )
            with quiet():
                _unpack(archive, unfinished / _ENVIRONMENT, base, environment)
            archive.unlink()
            record = _UnpackedRecord(
                environment.unpacked, environment_archive.state(unfinished / _ENVIRONMENT)
            )
            (unfinished / _RECORD).write_text(json.dumps(record._asdict()))
            os.sync()  # else, after a power cut, it would be there without its bytes
            unfinished.rename(self.folder / environment.sha256)
        except OSError as error:
            raise FetchError(f"cannot write into {self.folder}: {error.strerror}") from None
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)

    def _discard(self, sha256: str) -> None:
        """Remove an environment, or what a worker that was killed has left of one."""
        unfinished = self.folder / f"{UNFINISHED}{sha256}"
        shutil.rmtree(unfinished, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            (self.folder / sha256).rename(unfinished)  # gone from here on
        shutil.rmtree(unfinished, ignore_errors=True)

    def _make_room(self, environment: PackedEnvironment) -> None:
        needed = environment.size + environment.unpacked
        if needed > self._most:
            raise FetchError(
                f"the environment needs {needed:,} bytes, and this worker keeps {self._most:,}"
                " (--environments-size)"
            )
        found = sorted(_list_kept_environments(self.folder))
        excess = sum(one.size for one in found) + needed - self._most
        for one in found:
            if excess > 0 or not one.size:
                with _Lock(self.folder, one.sha256) as lock:
                    if lock.try_take(fcntl.LOCK_EX):  # no worker uses it
                        self._discard(one.sha256)
                        excess -= one.size


class _StoredEnvironment(NamedTuple):
    """A folder in the store; the least recently used ones come first."""

    used: float
    size: int  # bytes; 0 if it is unfinished or damaged
    sha256: str


def _list_kept_environments(folder: Path) -> Iterator[_StoredEnvironment]:
    for path in folder.iterdir():
        if path.name.startswith(UNFINISHED):
            yield _StoredEnvironment(0.0, 0, path.name.removeprefix(UNFINISHED))
        elif not path.name.startswith("."):
            with contextlib.suppress(FileNotFoundError):  # just removed by another worker
                record = _record(path)
                yield _StoredEnvironment(
                    path.stat().st_mtime, record.size if record else 0, path.name
                )


class _UnpackedRecord(NamedTuple):
    """The stored facts of an environment."""

    size: int  # bytes
    state: str  # see :func:`harness.environments.environment_archive.state`


def _record(folder: Path) -> _UnpackedRecord | None:
    try:
        return canonical_json.read(_UnpackedRecord, (folder / _RECORD).read_bytes(), _RECORD)
    except (OSError, UsageError):
        return None


def _is_sound(folder: Path, environment: PackedEnvironment) -> bool:
    """Whether no file was changed or lost, and the Python is the one that it was made from."""
    record, own = _record(folder), folder / _ENVIRONMENT
    if record is None or environment_archive.state(own) != record.state:
        return False
    try:
        return fingerprint(environment_archive.inspect_unrun(own)) == environment.fingerprint
    except UsageError:
        return False


def _unpack(
    archive: Path, folder: Path, base: Interpreter, environment: PackedEnvironment
) -> None:
    """Unpack an environment, and look whether it is the one that is wanted, without running it."""
    try:
        environment_archive.unpack(archive, folder, base, environment.unpacked)
        environment_cache.open_to_all(folder)
        found = fingerprint(environment_archive.inspect_unrun(folder))
    except environment_archive.DamagedError as error:
        raise FetchError(f"the archive of the environment is not one: {error}") from None
    except (environment_archive.UnsendableError, UsageError) as error:
        raise FetchError(f"the environment does not work here: {error}") from None
    if found != environment.fingerprint:
        raise FetchError("the environment has other packages than it is to have")


class _Lock:
    """The lock of one environment; several may share it. The end of the block releases it."""

    def __init__(self, folder: Path, sha256: str) -> None:
        """Make its file; raises FetchError if that cannot be done."""
        try:
            self._file = os.open(folder / f".{sha256}.lock", os.O_RDONLY | os.O_CREAT, 0o644)
        except OSError as error:
            raise FetchError(f"cannot write into {folder}: {error.strerror}") from None

    def __enter__(self) -> "_Lock":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def wait(self, how: int) -> None:
        """Wait for it, but not for ever: its holder may have been stopped.

        ``how``: shared, or alone (:data:`fcntl.LOCK_EX`).
        """
        ends = time.monotonic() + _PATIENCE
        while not self.try_take(how):
            if time.monotonic() > ends:
                raise FetchError("another worker of this machine does not finish fetching it")
            time.sleep(_LOOK)

    def try_take(self, how: int) -> bool:
        """Take it if it is free; return whether that was so."""
        try:
            fcntl.flock(self._file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
