"""The place of a ledger, a file or a database on a PostgreSQL server, and of its key.

The address of a server may contain a password, which only the server may see. So an address in
which the beginning and end of the password are not certain is refused.
"""

from __future__ import annotations

from pathlib import Path

from harness import paths
from harness.errors import UsageError

_SCHEMES = ("postgresql://", "postgres://")
_REST = "/?#"  # what ends the part of an address that names user, password and host


class LedgerFile:
    """A file; by default its key is beside it."""

    def __init__(self, path: Path, key: Path | None = None) -> None:
        self.path = path
        self.own_key = key

    @property
    def name(self) -> str:
        """Return its path."""
        return str(self.path)

    def key(self, name: str) -> Path:
        """Return where its key lies, whatever name it has."""
        return self.own_key or self.path.with_name(f"{self.path.name}.key")

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


def of(where: Path | str, key: Path | None = None) -> LedgerFile | ServerPlace:
    """Return the place that a user names: an address of a server, or else a file.

    Raises:
        UsageError: it is an address, and cannot be read.
    """
    if is_server(where):
        return ServerPlace(str(where), key)
    return LedgerFile(Path(where), key)


def is_server(where: Path | str) -> bool:
    """Whether this is an address rather than a path."""
    return isinstance(where, str) and where.startswith(_SCHEMES)


def keys() -> Path:
    """Return the folder with the keys of ledgers on servers."""
    return Path(paths.user_data(), "keys")


def _without_password(address: str) -> str:
    """Return an address as it may be shown, without what stands in its query, too."""
    scheme, _, whole = address.partition("://")
    end = min((whole.find(sign) for sign in _REST if sign in whole), default=len(whole))
    login, at, hosts = whole[:end].rpartition("@")
    path = whole[end:].partition("?")[0]
    if "@" in login or "@" in whole[end:] or not _are_hosts(hosts) or "#" in path:
        raise UsageError(
            f"cannot read the address {scheme}://… of the ledger; expected"
            f" {scheme}://USER:PASSWORD@HOST:PORT/DATABASE with @ : / ? # and % in a password"
            " written as %40 %3A %2F %3F %23 and %25, or without password: ~/.pgpass may have it"
        )
    return f"{scheme}://{login.partition(':')[0]}{at}{hosts}{path}"


def _are_hosts(text: str) -> bool:
    """Whether this can be hosts with ports; ``user:password`` without @ would be none."""
    ports = (host.rpartition("]")[2].partition(":")[2] for host in text.split(","))
    return all(port.isdigit() or not port for port in ports)
