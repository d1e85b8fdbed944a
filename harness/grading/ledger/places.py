"""The places of a ledger, of its key and of the originals; the owner of a lease."""

import contextlib
import hashlib
import os
import socket
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.archives.archive import open_regular, pack_alike
from harness.archives.archive_streams import PIECE, IntakeLimits, Meter
from harness.core import file_system
from harness.core.errors import ArchiveError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlalchemy import Connection

_SCHEMES = ("postgresql://", "postgres://")


class LedgerFile:
    """A file; by default its key is beside it."""

    def __init__(self, path: Path, key: Path | None = None) -> None:
        self.path = path
        self.name = str(path)
        self._key = key

    def key(self, name: str) -> Path:
        """Return where its key lies, whatever name it has."""
        return self._key or self.path.with_name(f"{self.path.name}.key")

    @property
    def is_emptied(self) -> bool:
        """Whether a ledger was here: the file has nothing in it, but its key lies beside it."""
        return not self._key and self.path.exists() and self.is_lost

    @property
    def is_lost(self) -> bool:
        """Whether there is a key, but the file is not there or has nothing in it."""
        has_content = self.path.exists() and self.path.stat().st_size > 0
        return self.key("").exists() and not has_content

    def make_room_for_key(self) -> None:
        """The folder is there: it is the ledger's, or the user named it."""


class ServerPlace:
    """A database on a server; by default its key is in this user's folder of keys."""

    def __init__(self, address: str, key: Path | None = None) -> None:
        """``address``: as libpq reads it.

        Raises:
            UsageError: what of it is the password cannot be told.
        """
        self.address = address
        self._key = key
        self.name = _without_password(address)

    def __repr__(self) -> str:
        return f"Server({self.name})"

    def key(self, name: str) -> Path:
        """Return where its key lies: by the name that the database has for it.

        Others can write that name: it leads out of the folder of keys nowhere.
        """
        return self._key or keys() / f"{Path(name).name}.key"

    def make_room_for_key(self) -> None:
        """Make the folder of keys, if the key is to lie there.

        Raises:
            UsageError: that cannot be done.
        """
        if self._key:
            return
        try:
            keys().mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot make the folder {keys()}: {error.strerror}") from None


Place = LedgerFile | ServerPlace


def of(location: Path | str, key: Path | None = None) -> Place:
    """Return the place that a user names: an address of a server, or else a file.

    Raises:
        UsageError: it is an address, and cannot be read.
    """
    if is_server(location):
        return ServerPlace(str(location), key)
    return LedgerFile(Path(location), key)


def is_server(location: Path | str) -> bool:
    """Whether this is an address rather than a path."""
    return isinstance(location, str) and location.startswith(_SCHEMES)


def keys() -> Path:
    """Return the folder with the keys of ledgers on servers."""
    return Path(file_system.user_data(), "keys")


def _without_password(address: str) -> str:
    """Return an address as it may be shown, without what stands in its query, too."""
    scheme, _, whole = address.partition("://")
    # What ends the part that names user, password and host.
    end = min((whole.find(sign) for sign in "/?#" if sign in whole), default=len(whole))
    login, at, hosts = whole[:end].rpartition("@")
    path = whole[end:].partition("?")[0]
    # ``user:password`` without @ would be a host with a port that is not a number.
    ports = [host.rpartition("]")[2].partition(":")[2] for host in hosts.split(",")]
    are_hosts = all(port.isdigit() or not port for port in ports)
    if "@" in login or "@" in whole[end:] or not are_hosts or "#" in path:
        raise UsageError(
            f"cannot read the address {scheme}://… of the ledger; expected"
            f" {scheme}://USER:PASSWORD@HOST:PORT/DATABASE with @ : / ? # and % in a password"
            " written as %40 %3A %2F %3F %23 and %25, or without password: ~/.pgpass may have it"
        )
    return f"{scheme}://{login.partition(':')[0]}{at}{hosts}{path}"


# --- The owner of a lease: a process with a unique ID; and whether it still lives ----------------


def me() -> str:
    """Return a unique ID of this process: its machine, its number and its start."""
    pid = os.getpid()
    return f"{socket.gethostname()} {pid} {_start(pid)}"


def _start(pid: int) -> str:
    """Return when a process started, in ticks since the boot with that ID; "" if it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
    state, *fields = text[text.rindex(")") + 2 :].split()
    return "" if state in "ZX" else f"{fields[18]}@{boot}"


def now(db: "Connection") -> float:
    """Return the time by which leases end: the server's, if there is one, whatever ours is."""
    if db.dialect.name != "postgresql":
        return time.time()
    return float(db.exec_driver_sql("SELECT extract(epoch FROM clock_timestamp())").scalar_one())


def is_held(lease: Any, holding: set[str] | None, at: float, *, by_me: bool = False) -> bool:
    """Whether a lease holds: its process lives; on another machine, it has not run out.

    ``lease``: a row with token, owner and until. ``holding``: the tokens of all connections, where
    that is known. ``at``: the time, of :func:`now`. ``by_me``: if it is this process's own,
    whether it holds.
    """
    if holding is not None and lease.token not in holding:
        return False
    machine, pid, *start = lease.owner.split()
    if machine != socket.gethostname():
        return bool(lease.until > at)
    return by_me if pid == str(os.getpid()) else start == [_start(int(pid))]


# --- The store of originals: every submitted file under the SHA-256 of its bytes -----------------
# A mark can be defended only with the bytes it was given for. A folder is packed first, alike each
# time, so that it has one digest too.


_LIMITS = IntakeLimits()
_UNFINISHED = ".unfinished-"
_FORGOTTEN = 3600.0  # seconds after which an unfinished file is a killed process's


class Store:
    """A folder of originals."""

    def __init__(self, folder: Path) -> None:
        """Open it, or make it.

        Raises:
            UsageError: that cannot be done.
        """
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for path in folder.glob(f"{_UNFINISHED}*"):
                with contextlib.suppress(FileNotFoundError):
                    if path.stat().st_mtime < time.time() - _FORGOTTEN:
                        path.unlink()
        except OSError as error:
            raise UsageError(f"cannot use {folder} as a store: {error.strerror}") from None

    def path(self, sha256: str) -> Path:
        """Return where bytes are kept, by their SHA-256."""
        return self._folder / sha256

    def keep(self, source: Path, limits: IntakeLimits = _LIMITS) -> str:
        """Keep a file's bytes, whatever they are, and return their SHA-256.

        Raises:
            ArchiveError: they are more than intake takes.
            UsageError: the file cannot be read, or not be written.
        """
        with open_regular(str(source)) as file:
            Meter(limits, os.fstat(file.fileno()).st_size)
            sha256 = hashlib.sha256()
            unfinished = self._open_unfinished()
            try:
                with unfinished.open("wb") as copy:
                    while piece := file.read(PIECE):
                        sha256.update(piece)
                        copy.write(piece)
                    if not self._has(sha256.hexdigest()):
                        copy.flush()
                        os.fsync(copy.fileno())
                        unfinished.chmod(0o444)
                        unfinished.replace(self.path(sha256.hexdigest()))
            except OSError as error:
                raise UsageError(f"cannot keep {source}: {error.strerror}") from error
            finally:
                unfinished.unlink(missing_ok=True)
        return sha256.hexdigest()

    def keep_folder(self, source: Path, names: Mapping[str, str]) -> str:
        """Keep files of a folder as a tar, with the names they have in it; return its SHA-256.

        Raises as :meth:`keep`.
        """
        size, most = sum((source / name).stat().st_size for name in names), _LIMITS.compressed
        if size > most:
            raise ArchiveError(f"its files have {size:,} bytes; the limit is {most:,}")
        packed = self._open_unfinished()
        try:
            pack_alike(packed, source, names)
            return self.keep(packed)
        finally:
            packed.unlink(missing_ok=True)

    def _has(self, sha256: str) -> bool:
        """Whether these bytes are kept, and whole."""
        try:
            return file_system.digest(self.path(sha256)) == sha256
        except FileNotFoundError:
            return False

    def _open_unfinished(self) -> Path:
        try:
            handle, name = tempfile.mkstemp(prefix=_UNFINISHED, dir=self._folder)
        except OSError as error:
            raise UsageError(f"cannot write into {self._folder}: {error.strerror}") from error
        os.close(handle)
        return Path(name)
