"""The bytes of a unit on a worker: a bounded cache on the disk, and memory for case files.

Case files, and what their commands name, lie in a memory file system while their unit is done, and
never on the disk: private ones are among them, and a worker does not know which.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import http.client
import os
import shutil
import ssl
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from harness.cluster import roles
from harness.errors import HarnessError, UsageError
from harness.work.records import Sha256, WorkUnit

MEMORY = Path("/dev/shm")
LARGEST = 1 << 30  # bytes of one file
_PATIENCE = 30.0  # seconds without a byte
_PIECE = 1 << 20
_UNFINISHED = ".unfinished-"
_TMPFS = "tmpfs"
_ROOM, _HELD = "gtp-harness-cases-", "held"  # the folder of a worker, and its lock in there


class FetchError(HarnessError):
    """Bytes cannot be had: the unit is to go to another worker."""


class Source:
    """Where the bytes of one unit come from."""

    def __init__(self, address: str, token: str, tls: ssl.SSLContext | None) -> None:
        """``address``: such as https://10.0.0.1:4711; ``tls``: needed for https."""
        place = urlsplit(address)
        self._host, self._port = place.hostname or "", place.port or 0
        self._token = token
        self._tls = tls if place.scheme == "https" else None
        if (tls is None) is (place.scheme == "https"):
            raise FetchError(f"{address} is not served as this worker was told: with TLS, or not")

    def begin(self) -> None:
        """Tell that the unit is in hand.

        Raises:
            FetchError: the server has given it to another one, or cannot be reached.
        """
        with self._asked("begin"):
            pass

    def fetch(self, sha256: Sha256, into: Path) -> None:
        """Write bytes into a file, which is there as a whole or not at all.

        Raises:
            FetchError: they cannot be had, or are others.
        """
        handle, name = tempfile.mkstemp(prefix=_UNFINISHED, dir=into.parent)
        unfinished = Path(name)
        try:
            with os.fdopen(handle, "wb") as file, self._asked(sha256) as answer:
                found, size = hashlib.sha256(), 0
                while piece := answer.read(_PIECE):
                    found.update(piece)
                    file.write(piece)
                    size += len(piece)
                    if size > LARGEST:
                        raise FetchError(f"{sha256} has more than {LARGEST} bytes")
            if found.hexdigest() != sha256:
                raise FetchError(f"the server has sent other bytes than {sha256}")
            unfinished.chmod(0o444)
            unfinished.replace(into)
        except OSError as error:
            raise FetchError(f"cannot write into {into.parent}: {error.strerror}") from None
        finally:
            unfinished.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _asked(self, what: str) -> Iterator[http.client.HTTPResponse]:
        connection = self._connection()
        try:
            connection.connect()
            self._check_server(connection)
            connection.request("GET", f"/{self._token}/{what}")
            answer = connection.getresponse()
            if answer.status >= http.client.BAD_REQUEST:
                raise FetchError(f"the server has not given {what} ({answer.status})")
            yield answer
        except (OSError, http.client.HTTPException) as error:
            raise FetchError(f"the server cannot be reached: {error}") from None
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        if self._tls:
            return http.client.HTTPSConnection(
                self._host, self._port, timeout=_PATIENCE, context=self._tls
            )
        return http.client.HTTPConnection(self._host, self._port, timeout=_PATIENCE)

    def _check_server(self, connection: http.client.HTTPConnection) -> None:
        """Make sure that it is a server that answers, not another worker."""
        if self._tls and roles.role(connection.sock.getpeercert()) != roles.SERVER:  # type: ignore[union-attr]
            raise FetchError(f"{self._host}:{self._port} has no certificate of a server")


class Cache:
    """Files by their SHA-256 on the disk, so many bytes at most; processes share it."""

    def __init__(self, folder: Path, most: int) -> None:
        """Make it where it is not.

        Raises:
            UsageError: that cannot be done.
        """
        self.folder = folder
        self._most = most
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot make {folder}: {error.strerror}") from None

    def bring(self, wanted: Collection[Sha256], source: Source) -> None:
        """Let files be there; others go, those that were not used for longest first.

        Raises:
            FetchError: they cannot be had.
        """
        for sha256 in dict.fromkeys(wanted):
            path = self.folder / sha256
            if not _is_whole(path, sha256):
                source.fetch(sha256, path)
            os.utime(path)
        self._make_room(set(wanted))

    def _make_room(self, kept: set[Sha256]) -> None:
        found = [(path.stat().st_mtime, path) for path in self.folder.iterdir() if path.is_file()]
        size = sum(path.stat().st_size for _, path in found)
        for _, path in sorted(found):
            if size <= self._most:
                return
            if path.name not in kept:
                with contextlib.suppress(FileNotFoundError):  # another worker was faster
                    size -= path.stat().st_size
                    path.unlink()


def _is_whole(path: Path, sha256: str) -> bool:
    try:
        with path.open("rb") as file:
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
                f"{MEMORY} is no memory file system here: case files may be private, and are not"
                " to lie on a worker's disk"
            )
        _sweep()
        self._room = tempfile.TemporaryDirectory(prefix=_ROOM, dir=MEMORY)
        self._held = Path(self._room.name, _HELD).open("w")  # noqa: SIM115 - as long as we live
        fcntl.flock(self._held, fcntl.LOCK_EX)
        print(os.getpid(), file=self._held, flush=True)
        self.folder = Path(self._room.name, "store")
        self.room = Path(self._room.name, "room")  # where they are laid out under their names
        self.room.mkdir()
        Path(self._room.name).chmod(0o711)  # as root, engines run as somebody else
        self.room.chmod(0o711)
        self.clear()

    def bring(self, wanted: Collection[Sha256], source: Source) -> None:
        """Let files be there; raises as :meth:`Cache.bring`."""
        for sha256 in dict.fromkeys(wanted):
            source.fetch(sha256, self.folder / sha256)

    def clear(self) -> None:
        """Remove what is there."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(0o700)

    def close(self) -> None:
        """Remove the folder."""
        self._held.close()
        self._room.cleanup()


def _sweep() -> None:
    """Remove the folders of workers that were killed: the kernel has freed what they held."""
    for path in MEMORY.glob(f"{_ROOM}*/{_HELD}"):
        with contextlib.suppress(OSError), path.open("a") as held:  # another user's, or held
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.stat().st_size:  # or just made, and not locked yet
                shutil.rmtree(path.parent, ignore_errors=True)


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
