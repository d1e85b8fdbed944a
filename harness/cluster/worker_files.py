"""What a worker keeps: files by their SHA-256 on its disk, case files in memory, environments."""

import contextlib
import fcntl
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.cluster.transfer import UNFINISHED, FetchError, Missing, Source
from harness.core import file_system
from harness.core.errors import UsageError
from harness.environments import environment_archive, environment_cache
from harness.environments.interpreters import Interpreter, PackedEnvironment, fingerprint
from harness.work import canonical_json
from harness.work.canonical_json import Sha256
from harness.work.records import WorkUnit

MEMORY = Path("/dev/shm")
_FILLED = 0.9  # of a cache that was too full: so full it is left
_TMPFS = "tmpfs"
_ROOM, _IN_USE = "gtp-harness-cases-", "in-use-"  # folders of a worker: in memory, in its cache
_HELD = "held"  # the file that its process has locked
_Stamp = tuple[int, int, int]  # inode, bytes and time: what changes when a file does


def of_cases(unit: WorkUnit) -> list[Sha256]:
    """Return what of a unit may be private."""
    beside = (one.sha256 for case in unit.cases for one in case.beside)
    return [*(case.sha256 for case in unit.cases), *beside]


def of_disk(unit: WorkUnit) -> list[Sha256]:
    """Return what else a unit names."""
    folders = [unit.assignment, *([unit.course] if unit.course else [])]
    return [unit.submission.sha256, *(one.sha256 for folder in folders for one in folder.files)]


class Cache:
    """Files by their SHA-256 on the disk, so many bytes at most; processes share it.

    ``in_use`` has links to the files of the unit in hand, or of the last one: another process may
    make room meanwhile.
    """

    def __init__(self, folder: Path, most: int) -> None:
        """Make it where it is not; raises UsageError if that cannot be done."""
        self.folder = folder
        self._most = most
        self._room = 0  # bytes that may come before all files are looked at again
        self._checked: dict[Sha256, _Stamp] = {}  # of the files in use, when they were read
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._own = _HeldFolder(folder, _IN_USE)
            self.in_use = self._own.path / "store"
            self.in_use.mkdir(0o700)
        except OSError as error:
            raise UsageError(f"cannot use {folder} as a cache: {error.strerror}") from None

    def use(self, digests: Iterable[Sha256]) -> list[Missing]:
        """Let these files be in use, and no others; return those that are to be fetched first.

        What the unit before had as well is not read again unless it was touched since.
        """
        names = dict.fromkeys(digests)
        for sha256 in self._checked.keys() - names.keys():
            del self._checked[sha256]
            own = f"{self.in_use}/{sha256}"
            with contextlib.suppress(FileNotFoundError):
                os.utime(own)  # it was used until now
                os.unlink(own)
        return [
            Missing(sha256, self.in_use / sha256) for sha256 in names if not self._is_kept(sha256)
        ]

    def _is_kept(self, sha256: Sha256) -> bool:
        own, before = f"{self.in_use}/{sha256}", self._checked.pop(sha256, None)
        if before is None:  # a link may be there, of a unit that failed
            with contextlib.suppress(FileNotFoundError, FileExistsError):
                os.link(f"{self.folder}/{sha256}", own)
                os.utime(own)
        with contextlib.suppress(FileNotFoundError):
            now = _stamp(own)
            if now == before or file_system.digest(own) == sha256:
                self._checked[sha256] = now
                return True
            Path(own).unlink(missing_ok=True)
        return False

    def keep(self, files: Iterable[Missing]) -> None:
        """Keep what was fetched; others go, those that were not used for longest first."""
        for one in files:
            _share(str(one.place), f"{self.folder}/{one.sha256}")
            self._checked[one.sha256] = stamp = _stamp(one.place)
            self._room -= stamp[1]
        if self._room < 0:
            self._make_room()

    def clear(self) -> None:
        """Stop using files."""
        self._checked.clear()
        for path in self.in_use.iterdir():
            path.unlink()

    def close(self) -> None:
        """Remove what this process has for itself."""
        self._own.close()

    def _make_room(self) -> None:
        """Look at all files; that takes long where there are many, so it is not done each time.

        Then there is some room, which the workers that share it divide among themselves. One that
        comes later may have a little more for a while.
        """
        found = sorted(_list_kept(self.folder))
        size = sum(one.size for one in found)
        if size > self._most:
            for one in found:
                if size > _FILLED * self._most and not one.is_in_use:
                    one.path.unlink(missing_ok=True)  # another worker may have been faster
                    size -= one.size
        workers = sum(1 for _ in self.folder.glob(f"{_IN_USE}*"))
        self._room = max(self._most - size, 0) // max(workers, 1)


def _stamp(path: str | Path) -> _Stamp:
    told = os.stat(path)
    return told.st_ino, told.st_size, told.st_mtime_ns


class _CachedFile(NamedTuple):
    """A file of a cache; those that were not used for longest are the first."""

    used: float
    size: int
    is_in_use: bool
    path: Path


def _list_kept(folder: Path) -> Iterator[_CachedFile]:
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # just removed by another worker
            told = path.lstat()
            if stat.S_ISREG(told.st_mode):
                yield _CachedFile(told.st_mtime, told.st_size, told.st_nlink > 1, path)


def _share(source: str, target: str) -> None:
    """Put a file in its place for all, instead of a damaged one if there is one."""
    try:
        os.link(source, target)
    except FileExistsError:
        beside = f"{source}.shared"
        os.link(source, beside)
        os.replace(beside, target)
        Path(beside).unlink(missing_ok=True)  # it stays where both are the same file


class Memory:
    """A folder in a memory file system, for the case files of one unit at a time."""

    def __init__(self) -> None:
        """Make it; raises UsageError if no memory file system can be written to."""
        if not _is_in_memory(MEMORY):
            raise UsageError(
                f"{MEMORY} is not a memory file system here: case files may be private, and are"
                " not to lie on a worker's disk"
            )
        self._own = _HeldFolder(MEMORY, _ROOM)
        self.folder = self._own.path / "store"
        self.room = self._own.path / "room"  # where they are laid out under their names
        self.room.mkdir()
        self._own.path.chmod(0o711)  # as root, engines run as somebody else
        self.room.chmod(0o711)
        self.folder.mkdir(0o700)

    def places(self, digests: Iterable[Sha256]) -> list[Missing]:
        """Return where files are to be fetched to."""
        return [Missing(sha256, self.folder / sha256) for sha256 in dict.fromkeys(digests)]

    def clear(self) -> None:
        """Remove what is there."""
        for name in os.listdir(self.folder):
            os.unlink(f"{self.folder}/{name}")

    def close(self) -> None:
        """Remove the folder."""
        self._own.close()


def _is_in_memory(place: Path) -> bool:
    """Whether a folder is the root of a memory file system that can be written to."""
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    kinds = {line.split()[1]: line.split()[2] for line in mounts}
    return kinds.get(str(place)) == _TMPFS and os.access(place, os.W_OK)


class _HeldFolder:
    """A new folder, locked as long as this process lives. Close it.

    Those of processes that were killed are removed when the next one is made: the kernel has freed
    what they held.
    """

    def __init__(self, place: Path, prefix: str) -> None:
        """Make it in ``place``, and remove those there whose processes have ended.

        Raises:
            OSError: that cannot be done.
        """
        for path in place.glob(f"{prefix}*/{_HELD}"):
            with contextlib.suppress(OSError), path.open("a") as held:  # another user's, or held
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if path.stat().st_size:  # or just made, and not locked yet
                    shutil.rmtree(path.parent, ignore_errors=True)
        self._made = tempfile.TemporaryDirectory(prefix=prefix, dir=place)
        self.path = Path(self._made.name)
        self._held = (self.path / _HELD).open("w")
        fcntl.flock(self._held, fcntl.LOCK_EX)
        print(os.getpid(), file=self._held, flush=True)

    def close(self) -> None:
        """Remove the folder."""
        self._held.close()
        self._made.cleanup()


# --- Environments that were built elsewhere and are fetched as archives --------------------------
# Each is a folder named after the SHA-256 of its archive, and is either whole or absent. Workers
# of one machine share them. A lock keeps an environment in place while engines use it, and lets
# one worker fetch it for all. The kernel frees the lock of a killed worker, and the next worker
# that makes room removes its unfinished folders.


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
            source.fetch([Missing(Sha256(environment.sha256), archive)], environment.size)
            with quiet():
                _unpack(archive, unfinished / _ENVIRONMENT, base, environment)
            archive.unlink()
            unpacked = environment_archive.state(unfinished / _ENVIRONMENT)
            record = _UnpackedRecord(environment.unpacked, unpacked)
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
