"""Files on a worker: a bounded cache of bytes by SHA-256, and environments built elsewhere."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import http.client
import json
import os
import shutil
import ssl
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from harness import file_system
from harness.cluster import tls
from harness.cluster.bytes_server import MOST_AT_ONCE, SIZES
from harness.environments import environment_archive, environment_cache
from harness.environments.environment_archive import DamagedError, UnsendableError
from harness.environments.interpreters import Interpreter, PackedEnvironment, fingerprint
from harness.errors import HarnessError, UsageError
from harness.work import records
from harness.work.records import Sha256, WorkUnit

MEMORY = Path("/dev/shm")
LARGEST = 1 << 30  # bytes of one file
_PATIENCE = 30.0  # seconds without a byte
_PIECE = 1 << 20
_LINE, _HEADERS, _DIGITS = 1 << 16, 100, 18  # of an answer: bytes, lines, and those of a number
_FILLED = 0.9  # of a cache that was too full: so full it is left
_UNFINISHED = ".unfinished-"
_TMPFS = "tmpfs"
_ROOM, _IN_USE = "gtp-harness-cases-", "in-use-"  # folders of a worker: in memory, in its cache


class FetchError(HarnessError):
    """Bytes cannot be had: the unit is to go to another worker."""


class Missing(NamedTuple):
    """A file that is to be fetched."""

    sha256: Sha256
    place: Path  # where it is to lie


class _BytesResponse:
    """The answer to a request, read from a connection.

    :mod:`http.client` makes a message of the headers, which takes longer than to read the files.
    """

    def __init__(self, reader: BufferedReader) -> None:
        """Read what comes before the bytes; raises HTTPException if it is something else."""
        self._reader = reader
        first = reader.readline(_LINE)
        if not first:
            raise http.client.RemoteDisconnected("it has hung up")
        version, _, rest = first.partition(b" ")
        if not version.startswith(b"HTTP/1.") or not rest[:3].isdigit():
            raise http.client.BadStatusLine(repr(first[:60]))
        self.status = int(rest[:3])
        self.headers = dict(self._read_headers())
        self.left = _as_count(self.headers.get("content-length", "")) or 0  # bytes to come

    def _read_headers(self) -> Iterator[tuple[str, str]]:
        for _ in range(_HEADERS):
            line = self._reader.readline(_LINE)
            name, colon, value = line.decode("latin-1").partition(":")
            if not colon:
                break
            yield name.lower(), value.strip()
        if line not in {b"\r\n", b"\n"}:
            raise http.client.HTTPException("the headers of an answer have no end")

    def read(self, most: int) -> bytes:
        """Return so many bytes at most, or none at the end."""
        piece = self._reader.read(min(most, self.left))
        self.left -= len(piece)
        return piece


class ByteConnection:
    """A connection to who gives out bytes, kept from one unit to the next; to be closed.

    A greeting by TLS costs more than all files of a usual unit.
    """

    def __init__(self, address: str, tls: ssl.SSLContext | None) -> None:
        """``address``: such as https://10.0.0.1:4711; ``tls``: needed for https.

        Raises:
            FetchError: the one is with TLS, and the other is not.
        """
        place = urlsplit(address)
        is_secure = place.scheme == "https"
        if (tls is None) is is_secure:
            raise FetchError(f"{address} is not served as this worker was told: with TLS, or not")
        self.address = address
        self._host = place.netloc
        self._reader: BufferedReader | None = None
        self._connection = (
            http.client.HTTPSConnection(place.netloc, timeout=_PATIENCE, context=tls)
            if is_secure
            else http.client.HTTPConnection(place.netloc, timeout=_PATIENCE)
        )

    def close(self) -> None:
        """End the connection."""
        if self._reader:
            self._reader.close()
            self._reader = None
        self._connection.close()

    @contextlib.contextmanager
    def ask(self, token: str, names: Sequence[Sha256]) -> Iterator[_BytesResponse]:
        """Give the answer to a request for files.

        Raises:
            FetchError: it is an error, or there is none.
        """
        with contextlib.ExitStack() as failing:
            failing.callback(self.close)  # of what is not read to its end, the rest is there
            answer = self._answer(f"/{token}/{','.join(names)}")
            if answer.status >= http.client.BAD_REQUEST:
                what = ", ".join(names)
                raise FetchError(f"the server has not given {what} ({answer.status})")
            yield answer
            if not answer.left:
                failing.pop_all()

    def _answer(self, path: str) -> _BytesResponse:
        """Ask; once more if the server has hung up since the last unit."""
        try:
            if self._reader:
                with contextlib.suppress(ConnectionError, ssl.SSLEOFError):
                    return self._request(path, self._reader)
                self.close()
            return self._request(path, self._connect())
        except (OSError, http.client.HTTPException) as error:
            raise _unreachable_error(error) from None

    def _connect(self) -> BufferedReader:
        """Make a connection; return what is read from it."""
        self._connection.connect()
        found = self._connection.sock
        if isinstance(found, ssl.SSLSocket) and tls.role(found.getpeercert()) != tls.SERVER:
            raise FetchError(f"{self.address} has no certificate of a server")
        reader = self._connection.sock.makefile("rb", _PIECE)
        assert isinstance(reader, BufferedReader)
        self._reader = reader
        return reader

    def _request(self, path: str, reader: BufferedReader) -> _BytesResponse:
        asked = f"GET {path} HTTP/1.1\r\nHost: {self._host}\r\n\r\n"
        self._connection.sock.sendall(asked.encode())
        return _BytesResponse(reader)


class Source:
    """Where the bytes of one unit come from."""

    def __init__(self, connection: ByteConnection, token: str) -> None:
        self._connection = connection
        self._token = token

    def fetch(self, wanted: Sequence[Missing], most: int = LARGEST) -> None:
        """Write bytes into files, each as a whole or not at all.

        All come with one answer. The server then knows that the unit is in hand.
        ``most``: bytes of each.

        Raises:
            FetchError: they cannot be had, or are others.
        """
        for first in range(0, len(wanted), MOST_AT_ONCE):
            some = wanted[first : first + MOST_AT_ONCE]
            with self._connection.ask(self._token, [one.sha256 for one in some]) as answer:
                for one, size in zip(some, _sizes(answer, len(some)), strict=True):
                    if size > most:
                        raise FetchError(f"{one.sha256} has more than {most} bytes")
                    _write(answer, size, one)


def _unreachable_error(error: Exception) -> FetchError:
    return FetchError(f"the server cannot be reached: {error}")


def _sizes(answer: _BytesResponse, count: int) -> list[int]:
    """Return how many bytes of an answer belong to each file."""
    found = map(_as_count, answer.headers.get(SIZES.lower(), "").split(","))
    sizes = [one for one in found if one is not None]
    if len(sizes) != count:
        raise FetchError("the server has not told how large the files are")
    return sizes


def _as_count(text: str) -> int | None:
    """Return a number from 0, or None if a text is something else."""
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else None


def _write(answer: _BytesResponse, size: int, missing: Missing) -> None:
    """Write so many bytes of an answer into a file."""
    folder, name = os.path.split(missing.place)
    unfinished = f"{folder}/{_UNFINISHED}{os.getpid()}-{name}"
    try:
        try:
            _write_new(unfinished, _pieces(answer, size), missing.sha256)
            os.replace(unfinished, missing.place)
        except BaseException:
            Path(unfinished).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FetchError(f"cannot write into {folder}: {error.strerror}") from None


def _write_new(path: str, pieces: Iterable[bytes], sha256: Sha256) -> None:
    """Write a file that everybody may read and nobody write, unless its bytes are others."""
    with open(path, "wb") as file:
        os.fchmod(file.fileno(), 0o444)
        found = hashlib.sha256()
        for piece in pieces:
            found.update(piece)
            file.write(piece)
    if found.hexdigest() != sha256:
        raise FetchError(f"the server has sent other bytes than {sha256}")


def _pieces(answer: _BytesResponse, size: int) -> Iterator[bytes]:
    """Yield the next so many bytes of an answer."""
    try:
        while size:
            piece = answer.read(min(size, _PIECE))
            if not piece:
                raise FetchError("the server has sent less than it told")
            size -= len(piece)
            yield piece
    except (OSError, http.client.HTTPException) as error:
        raise _unreachable_error(error) from None


class Cache:
    """Files by their SHA-256 on the disk, so many bytes at most; processes share it.

    ``in_use`` has links to the files of the unit in hand, or of the last one: another process may
    make room meanwhile.
    """

    def __init__(self, folder: Path, most: int) -> None:
        """Make it where it is not.

        Raises:
            UsageError: that cannot be done.
        """
        self.folder = folder
        self._most = most
        self._room = 0  # bytes that may come before all files are looked at again
        self._checked: dict[Sha256, _Stamp] = {}  # of the files in use, when they were read
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._own = HeldFolder(folder, _IN_USE)
            self.in_use = self._own.path / "store"
            self.in_use.mkdir(0o700)
        except OSError as error:
            raise UsageError(f"cannot use {folder} as a cache: {error.strerror}") from None

    def use(self, wanted: Iterable[Sha256]) -> list[Missing]:
        """Let these files be in use, and no others; return those that are to be fetched first.

        What the unit before had as well is not read again unless it was touched since.
        """
        names = dict.fromkeys(wanted)
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
        try:
            now = _stamp(own)
        except FileNotFoundError:
            return False
        if now != before and not _is_whole(own, sha256):
            Path(own).unlink(missing_ok=True)
            return False
        self._checked[sha256] = now
        return True

    def keep(self, fetched: Iterable[Missing]) -> None:
        """Keep what was fetched; others go, those that were not used for longest first."""
        for one in fetched:
            _share(str(one.place), f"{self.folder}/{one.sha256}")
            self._checked[one.sha256] = stamp = _stamp(one.place)
            self._room -= stamp.size
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


class _Stamp(NamedTuple):
    """What changes of a file when it is written or replaced."""

    inode: int
    size: int
    modified: int


def _stamp(path: str | Path) -> _Stamp:
    told = os.stat(path)
    return _Stamp(told.st_ino, told.st_size, told.st_mtime_ns)


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


def _share(own: str, shared: str) -> None:
    """Put a file in its place for all, instead of a damaged one if there is one."""
    try:
        os.link(own, shared)
    except FileExistsError:
        beside = f"{own}.shared"
        os.link(own, beside)
        os.replace(beside, shared)
        Path(beside).unlink(missing_ok=True)  # it stays where both are the same file


def _is_whole(path: str, sha256: str) -> bool:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except FileNotFoundError:
        return False


class Memory:
    """A folder in a memory file system, for the case files of one unit at a time."""

    def __init__(self) -> None:
        """Make it.

        Raises:
            UsageError: there is no memory file system to be written to.
        """
        if not _is_in_memory(MEMORY):
            raise UsageError(
                f"{MEMORY} is not a memory file system here: case files may be private, and are"
                " not to lie on a worker's disk"
            )
        self._own = HeldFolder(MEMORY, _ROOM)
        self.folder = self._own.path / "store"
        self.room = self._own.path / "room"  # where they are laid out under their names
        self.room.mkdir()
        self._own.path.chmod(0o711)  # as root, engines run as somebody else
        self.room.chmod(0o711)
        self.folder.mkdir(0o700)

    def places(self, wanted: Iterable[Sha256]) -> list[Missing]:
        """Return where files are to be fetched to."""
        return [Missing(sha256, self.folder / sha256) for sha256 in dict.fromkeys(wanted)]

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


def of_cases(unit: WorkUnit) -> list[Sha256]:
    """Return what of a unit may be private."""
    beside = (one.sha256 for case in unit.cases for one in case.beside)
    return [*(case.sha256 for case in unit.cases), *beside]


def of_disk(unit: WorkUnit) -> list[Sha256]:
    """Return what else a unit names."""
    folders = [unit.assignment, *([unit.course] if unit.course else [])]
    return [unit.submission.sha256, *(one.sha256 for folder in folders for one in folder.files)]


# --- Folders of processes that may be killed: a later process removes those without an owner -----


_HELD = "held"


class HeldFolder:
    """A new folder, locked as long as this process lives. Close it."""

    def __init__(self, place: Path, prefix: str) -> None:
        """Make it in ``place``, and remove those there whose processes have ended.

        Raises:
            OSError: that cannot be done.
        """
        # Those of processes that were killed go: the kernel has freed what they held.
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


# --- Store environments on a worker that were built elsewhere and fetched as archives ------------
# Each is a folder named after the SHA-256 of its archive, and is either whole or absent. Workers
# of one machine share them. A lock keeps an environment in place while engines use it, and lets
# one worker fetch it for all. The kernel frees the lock of a killed worker, and the next worker
# that makes room removes its unfinished folders.


_ENVIRONMENT, _RECORD = "environment", "record.json"  # in each folder
_ENVIRONMENT_PATIENCE = 600.0  # seconds for another worker of this machine that fetches the same
_LOOK = 0.1  # seconds between two looks at a lock
_SOUND = 600.0  # seconds for which an environment that was found to be sound is taken to be so


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

    @contextmanager
    def in_use(
        self,
        environment: PackedEnvironment,
        source: Source,
        quiet: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext,
    ) -> Iterator[str]:
        """Give the Python of an environment, which is not removed meanwhile.

        ``quiet``: a time for unpacking it, in which nothing is measured beside.

        Raises:
            FetchError: it cannot be had.
        """
        with _Lock(self.folder, environment.sha256) as lock:
            lock.share()
            while not self._is_there(environment):
                lock.take_alone()
                if not self._is_there(environment):
                    self._fetch(environment, source, quiet)
                lock.share()  # for a moment nobody had it: it may have been removed
            with contextlib.suppress(OSError):  # a disk that is full
                os.utime(self.folder / environment.sha256)
            yield str(self.folder / environment.sha256 / _ENVIRONMENT / "bin" / "python3")

    def _is_there(self, environment: PackedEnvironment) -> bool:
        """Whether an environment is there, as it was unpacked, with its Python."""
        folder, now = self.folder / environment.sha256, time.monotonic()
        if not folder.is_dir():
            return False
        if now - self._sound.get(environment.sha256, -_SOUND) >= _SOUND:
            if not _is_sound(folder, environment):
                return False
            self._sound[environment.sha256] = now
        return True

    def _fetch(
        self,
        environment: PackedEnvironment,
        source: Source,
        quiet: Callable[[], AbstractContextManager[object]],
    ) -> None:
        base = self._bases.get(environment.base)
        if base is None:
            raise FetchError(f"{environment.base} is not on this worker")
        unfinished = self.folder / f"{_UNFINISHED}{environment.sha256}"
        try:
            self._discard(environment.sha256)
            self._make_room(environment)
            file_system.make_new(unfinished)
            archive = unfinished / "archive"
            source.fetch([Missing(Sha256(environment.sha256), archive)], environment.size)
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
        unfinished = self.folder / f"{_UNFINISHED}{sha256}"
        shutil.rmtree(unfinished, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            (self.folder / sha256).rename(unfinished)  # gone from here on
        shutil.rmtree(unfinished, ignore_errors=True)

    # --- room ---

    def _make_room(self, environment: PackedEnvironment) -> None:
        """Remove those that were not used for longest, and what was left unfinished."""
        needed = environment.size + environment.unpacked
        if needed > self._most:
            raise FetchError(
                f"the environment needs {needed:,} bytes, and this worker keeps {self._most:,}"
                " (--environments-size)"
            )
        found = sorted(_list_kept_environments(self.folder))
        excess = sum(one.size for one in found) + needed - self._most
        for one in found:
            if (excess > 0 or not one.size) and self._is_discarded(one.sha256):
                excess -= one.size

    def _is_discarded(self, sha256: str) -> bool:
        """Remove an environment if no worker uses it; return whether that was so."""
        with _Lock(self.folder, sha256) as lock:
            if is_free := lock.try_alone():
                self._discard(sha256)
            return is_free


class _StoredEnvironment(NamedTuple):
    """A folder in the store; the least recently used ones come first."""

    used: float
    size: int  # bytes; 0 if it is unfinished or damaged
    sha256: str


def _list_kept_environments(folder: Path) -> Iterator[_StoredEnvironment]:
    for path in folder.iterdir():
        if path.name.startswith(_UNFINISHED):
            yield _StoredEnvironment(0.0, 0, path.name.removeprefix(_UNFINISHED))
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
        return records.read(_UnpackedRecord, (folder / _RECORD).read_bytes(), _RECORD)
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
    except DamagedError as error:
        raise FetchError(f"the archive of the environment is not one: {error}") from None
    except (UnsendableError, UsageError) as error:
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

    def __enter__(self) -> _Lock:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def share(self) -> None:
        """Wait until nobody has it alone."""
        self._wait(fcntl.LOCK_SH)

    def take_alone(self) -> None:
        """Wait until nobody else has it."""
        self._wait(fcntl.LOCK_EX)

    def try_alone(self) -> bool:
        """Take it alone if nobody else has it; return whether that was so."""
        return self._is_taken(fcntl.LOCK_EX)

    def _wait(self, how: int) -> None:
        """Wait for it, but not for ever: its holder may have been stopped."""
        ends = time.monotonic() + _ENVIRONMENT_PATIENCE
        while not self._is_taken(how):
            if time.monotonic() > ends:
                raise FetchError("another worker of this machine does not finish fetching it")
            time.sleep(_LOOK)

    def _is_taken(self, how: int) -> bool:
        try:
            fcntl.flock(self._file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
