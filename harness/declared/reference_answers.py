"""Answers of a reference, kept on disk: what was asked once is not asked again.

One SQLite file for each state of a reference, in the cache. An answer's key is a digest of the
whole conversation up to its command, with the contents of the files that commands name.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import takewhile
from pathlib import Path

from harness import paths
from harness.records import Reply

_VERSION = b"1"  # of the way in which answers are kept
_AT_ONCE = 500  # keys of one query
_REMEMBERED = 50_000  # answers at hand
_PATIENCE = 10.0  # seconds to wait for another process that writes

Said = tuple[str, bytes]  # a command, and what is in the file that it names


def keys(conversation: Iterable[Said]) -> Iterator[bytes]:
    """Yield the key of the answer to each command of a conversation."""
    digest = blake2b(_VERSION, digest_size=16)
    for command, content in conversation:
        line = command.encode("utf-8", "surrogateescape")
        digest.update(b"%d %b\n%d %b\n" % (len(line), line, len(content), content))
        yield digest.digest()


class ReferenceAnswers:
    """The answers of one reference. Where nothing can be kept, they last as long as this does."""

    def __init__(self, name: str) -> None:
        """``name``: a digest of all that the answers depend on beside what is asked."""
        self._path = Path(paths.cache(), "references", f"{name}.sqlite")
        # A conversation is asked again with each command more: what was just read is at hand.
        self._recent: dict[bytes, Reply] = {}
        self._connections: dict[int, sqlite3.Connection] = {}  # by process: none may be shared

    def find_known(self, wanted: Sequence[bytes]) -> list[Reply]:
        """Return the answers to the first commands of a conversation, up to one not known."""
        if len(self._recent) > _REMEMBERED:
            self._recent.clear()
        self._read([key for key in wanted if key not in self._recent])
        return [self._recent[key] for key in takewhile(self._recent.__contains__, wanted)]

    def _read(self, wanted: Sequence[bytes]) -> None:
        """Remember those answers that are kept."""
        for start in range(0, len(wanted), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            query = f"SELECT key, reply FROM answer WHERE key IN ({marks})"
            for key, reply in self._connection.execute(query, some):
                self._recent[key] = Reply(*json.loads(reply))

    def keep(self, keys_: Iterable[bytes], replies: Iterable[Reply]) -> None:
        """Keep answers."""
        found = dict(zip(keys_, replies, strict=True))
        self._recent.update(found)
        rows = ((key, json.dumps(reply)) for key, reply in found.items())
        with contextlib.suppress(sqlite3.OperationalError), self._connection as connection:
            connection.executemany("INSERT OR IGNORE INTO answer VALUES (?, ?)", rows)

    @property
    def _connection(self) -> sqlite3.Connection:
        found = self._connections.get(os.getpid())
        if found is None:
            self._connections.clear()
            found = self._connections[os.getpid()] = self._open()
        return found

    def _open(self) -> sqlite3.Connection:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return _prepare(sqlite3.connect(self._path, timeout=_PATIENCE))
        except (OSError, sqlite3.Error):
            return _prepare(sqlite3.connect(":memory:"))


def _prepare(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")  # what is lost is asked again
    connection.execute(
        "CREATE TABLE IF NOT EXISTS answer (key BLOB PRIMARY KEY, reply TEXT) WITHOUT ROWID"
    )
    return connection
