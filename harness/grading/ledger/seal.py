"""The key of a ledger and its digests, which reveal rows that were edited without the key.

A signed table is a chain: its rows are numbered in the order of writing (their
*link*), and each carries digests under the key, keyed BLAKE2b (RFC 7693):

- of its table, its link and its values: it was not changed, moved or made up;
- of that one and of the row before: all rows have the same history;
- of each value, short ones: they show which value was changed.

The end of the chain (the number of rows and the last digest) is sealed with the key as well, so
rows cannot be cut off. (Nothing in the file reveals that it was replaced by an older copy.)

The key is in a file of its own, which only its owner can read. It is made with the ledger: first
under another name, and renamed when the ledger names its key. So a ledger that was interrupted
while it was made can be distinguished from one that has lost its key.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from harness.errors import UsageError

START = ""  # the digest before the first row
_PENDING = ".new"  # of a key whose ledger does not know it yet
_BYTES = 32


class Head(NamedTuple):
    """The end of a chain."""

    length: int = 0
    digest: str = START  # of the last row, with all before it
    unsigned: int = 0  # always; every seal is made of it too


class Digest(NamedTuple):
    """The digests of a row; stored as words with blanks between them."""

    own: str
    chained: str
    parts: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((self.own, self.chained, *self.parts))

    @classmethod
    def read(cls, text: str) -> Digest:
        """Read what ``str`` wrote; of other text come digests that hold for nothing."""
        words = text.split(" ")
        return cls(words[0], words[1] if len(words) > 1 else "", tuple(words[2:]))


class Seal:
    """Make digests with one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    @property
    def name(self) -> str:
        """Return what tells this key from others without giving it away."""
        return self._mac(b"name", 8)

    def of_row(self, table: str, link: int, values: Sequence[object], before: str) -> Digest:
        """Return the digests of a row; ``before``: ``chained`` of the row before."""
        place = _join_values(table, link)
        parts = [self._mac(place + _join_values(i, value), 16) for i, value in enumerate(values)]
        own = self._mac(place + _join_values(*parts), 16)
        chained = self._mac(_join_values("chain", own, before), 16)
        return Digest(own, chained, tuple(part[:8] for part in parts))

    def of_head(self, table: str, head: Head) -> str:
        """Return the digest of the end of a table's chain."""
        return self._mac(_join_values("head", table, *head), 16)

    def _mac(self, data: bytes, size: int) -> str:
        return blake2b(data, digest_size=size, key=self._key).hexdigest()


def _join_values(*values: object) -> bytes:
    """Return values as bytes that no other values have. SQLite keeps 1 and 1.0 as one number."""
    texts = (repr(float(one)) if isinstance(one, int | float) else str(one) for one in values)
    return b"".join(
        b"%d:%b" % (len(data), data)
        for data in (one.encode(errors="surrogateescape") for one in texts)
    )


# --- the file ----------------------------------------------------------------------------------


def read(path: Path) -> Seal | None:
    """Return the seal of a key's file, or None if the file is missing.

    Raises:
        UsageError: it is not a key, or cannot be read.
    """
    try:
        text = path.read_text(encoding="ascii")
        key = bytes.fromhex(text)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"cannot read the ledger's key {path}: {error.strerror}") from None
    except ValueError:
        key = b""
    if len(key) != _BYTES:
        raise UsageError(f"{path} is not a ledger's key: expected {2 * _BYTES} hexadecimal digits")
    return Seal(key)


def find(path: Path) -> Seal | None:
    """Return the seal of a key's file, or of one that its maker is about to put there, or None.

    Raises as :func:`read`.
    """
    # Its maker may put it in place between two looks.
    return read(path) or read(_pending_path(path)) or read(path)


def prepare(place: Callable[[str], Path]) -> Seal:
    """Make a key and write it beside its place; :func:`put_in_place` is to follow.

    ``place``: where a key of some name is to lie.

    Raises:
        UsageError: it cannot be written.
    """
    key = secrets.token_bytes(_BYTES)
    path = place(Seal(key).name)
    pending = _pending_path(path)
    try:
        pending.unlink(missing_ok=True)
        handle = os.open(pending, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(f"{key.hex()}\n")
            file.flush()
            os.fsync(handle)
    except OSError as error:
        raise UsageError(f"cannot write the ledger's key {path}: {error.strerror}") from None
    return Seal(key)


def put_in_place(path: Path, name: str) -> Seal | None:
    """Let a prepared key be the one at ``path`` if its name is ``name``; return its seal.

    None if nobody has prepared such a key. Another process may put it in place at the same time.
    """
    found = read(_pending_path(path))
    if found is None or found.name != name:
        return read(path)
    try:
        with contextlib.suppress(FileNotFoundError):  # the other process was quicker
            _pending_path(path).rename(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise UsageError(f"cannot write the ledger's key {path}: {error.strerror}") from None
    return found


def _pending_path(path: Path) -> Path:
    return path.with_name(path.name + _PENDING)
