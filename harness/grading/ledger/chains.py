"""The key and the signed chains of a ledger, which reveal rows that were edited."""

import contextlib
import hashlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, delete, insert, select
from sqlalchemy.exc import DBAPIError

from harness.core.errors import LedgerError, UsageError
from harness.grading.ledger import ledger_tables as sql

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

    row: str
    chained: str
    parts: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((self.row, self.chained, *self.parts))

    @classmethod
    def read(cls, text: str) -> "Digest":
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
        return hashlib.blake2b(data, digest_size=size, key=self._key).hexdigest()


def _join_values(*values: object) -> bytes:
    """Return values as bytes that no other values have. SQLite keeps 1 and 1.0 as one number."""
    texts = (repr(float(one)) if isinstance(one, int | float) else str(one) for one in values)
    parts = (text.encode(errors="surrogateescape") for text in texts)
    return b"".join(b"%d:%b" % (len(part), part) for part in parts)


# --- the file ----------------------------------------------------------------------------------


def read_key(path: Path) -> Seal | None:
    """Return the seal of a key's file, or None if the file is missing.

    Raises:
        UsageError: it is not a key, or cannot be read.
    """
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"cannot read the ledger's key {path}: {error.strerror}") from None
    except ValueError:
        key = b""
    if len(key) != _BYTES:
        raise UsageError(f"{path} is not a ledger's key: expected {2 * _BYTES} hexadecimal digits")
    return Seal(key)


def find_key(path: Path) -> Seal | None:
    """Return the seal of a key's file, or of one that its maker is about to put there, or None.

    Raises as :func:`read_key`.
    """
    # Its maker may put it in place between two looks.
    return read_key(path) or read_key(_pending_path(path)) or read_key(path)


def prepare_key(place: Callable[[str], Path]) -> Seal:
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
    found = read_key(_pending_path(path))
    if found is None or found.name != name:
        return read_key(path)
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


def require_key(path: Path, name: str, ledger: str) -> Seal:
    """Return the seal of the key with this name; one that is prepared is put in place.

    ``ledger``: its name, in messages.

    Raises:
        LedgerError: the key is missing, or it is another one.
    """
    found = read_key(path) or put_in_place(path, name)
    if found is None:
        raise LedgerError(
            f"the key of {ledger} is missing: there is no {path}. Without it nobody can"
            " tell whether a mark was edited. --key names the file; if it is lost,"
            " gtp-harness ledger salvage --unchecked makes a new ledger of this one"
        )
    if found.name != name:
        raise LedgerError(f"{path} is not the key of {ledger}: --key names the file")
    return found


def _pending_path(path: Path) -> Path:
    return path.with_name(path.name + _PENDING)


# --- The chains of a ledger's signed tables: add rows at the end, and check all rows -------------


# The tables with a chain, and the columns that are signed. ``wanted`` is signed with what its
# attempt was planned to be: the attempt itself changes as it is worked on.
SIGNED = {
    "seed": ("value",),
    "run": ("id", "started", "version", "assignment", "digest", "options"),
    "case_file": ("run", "position", "kind", "name", "sha256", "path"),
    "submission": ("run", "key", "record"),
    "build": ("basis", "result", "seconds"),
    "wanted": ("run", "basis", *sql.PLAN),
    "result": (
        *("basis", "number", "token", "result", "started", "pid"),
        *("seconds", "cpu", "memory", "own_cpu", "figures", "last"),
    ),
    "mark": ("id", "run", "key", "given", "marks", "submission", "bases"),
}
KEYS = {  # what names a row of each
    table: tuple(sql.METADATA.tables[table].primary_key.columns.keys()) or columns
    for table, columns in SIGNED.items()
}
TOLD = {"case_file": "case file", "wanted": "attempt"}  # where the table's name is not the word
_WORDS = (("key", "submission"), ("kind", "kind"), ("name", "case file"))

_INSERT = {table: insert(sql.METADATA.tables[table]) for table in SIGNED}


class SignedRow(NamedTuple):
    """A row of a signed table."""

    values: tuple[object, ...]
    link: int  # its place in the chain, from 1; 0 if it is not signed
    digest: Digest


def parse_signed_row(row: tuple[Any, ...]) -> SignedRow:
    """Return a row as it is read, its link and its digests last; of a damaged file any type."""
    *values, link, digest = row
    number = link if isinstance(link, int) else 0
    return SignedRow(tuple(values), number, Digest.read(str(digest)))


class Chains:
    """The signed tables of an open ledger. Writing is part of the caller's transaction."""

    def __init__(self, db: Connection, seal: Seal, name: str) -> None:
        """``name``: of the ledger, in messages."""
        self._db = db
        self._seal = seal
        self._name = name

    def begin(self) -> None:
        """Give every signed table a chain, which is empty."""
        for table in SIGNED:
            self._db.execute(insert(sql.CHAIN), self._head_row(table, Head()))

    def touch(self) -> None:
        """Find out whether all tables have their columns: the database complains if not."""
        for table in SIGNED:
            self._db.execute(_select(table).limit(0))

    def tampering(self) -> list[str]:
        """Return a sentence for each row that does not hold, and for each that is missing."""
        found = [text for table in SIGNED for text in self._find_broken_rows(table)]
        for name, sha256, content in self._db.execute(sql.CASE_CONTENTS):
            if content is None:
                found.append(f"the content of case file {name} is missing")
            elif hashlib.sha256(content).hexdigest() != sha256:
                found.append(f"the content of case file {name} was changed")
        return found

    def _find_broken_rows(self, table: str) -> Iterator[str]:
        end = self.head(table)
        rows = self.rows(table)
        for link in sorted(set(range(1, end.length + 1)) - {one.link for one in rows}):
            yield f"{TOLD.get(table, table)} {link} is missing"
        before = START
        seen = {0}
        for one in rows:
            wrong = self.find_damage(table, one)
            expected = self._seal.of_row(table, one.link, one.values, before)
            if wrong or one.link in seen or one.link > end.length:
                yield f"{self.describe_row(table, one)} {wrong or 'was added'}"
            elif one.link - 1 in seen and one.digest.chained != expected.chained:
                yield f"{self.describe_row(table, one)} does not follow the one before it"
            seen.add(one.link)
            before = one.digest.chained
        if rows and rows[-1].link == end.length and before != end.digest:
            yield f"the end of the table {table} was changed"

    def rows(self, table: str) -> list[SignedRow]:
        """Return the rows of a table in the order of writing."""
        found = self._db.execute(_select(table).order_by(sql.METADATA.tables[table].c[sql.LINK]))
        return [parse_signed_row(tuple(row)) for row in found]

    def find_damage(self, table: str, row: SignedRow) -> str:
        """Return how a row contradicts its digests, or "" if they match."""
        if not row.link:
            return "was added: it has no digest"
        found = self._seal.of_row(table, row.link, row.values, "")
        if found.row == row.digest.row:
            return ""
        if len(found.parts) != len(row.digest.parts):
            return "has no digest of its own"
        pairs = zip(SIGNED[table], found.parts, row.digest.parts, strict=True)
        changed = [name for name, now, then in pairs if now != then]
        if len(changed) == len(found.parts):
            return "was moved, added or wholly changed"
        return f"was changed after it was written: {', '.join(changed) or 'its digest'}"

    def describe_row(self, table: str, row: SignedRow) -> str:
        """Return a row in words, with the submission and the case file that it is about."""
        values = dict(zip(SIGNED[table], row.values, strict=True))
        if table == "result":
            with contextlib.suppress(DBAPIError):
                plan = self._db.execute(sql.PLANNED, {"of": values["basis"]}).fetchone()
                values |= dict(zip(sql.PLAN, plan or (), strict=False))
        words = [f"{word} {values[name]}" for name, word in _WORDS if values.get(name)]
        about = f" ({', '.join(words)})" if words else ""
        return f"{TOLD.get(table, table)} {row.link}{about}"

    def append(self, table: str, row: Sequence[object]) -> None:
        """Insert a row at the end of its table's chain."""
        self.extend(table, [row])

    def extend(self, table: str, rows: Iterable[Sequence[object]]) -> None:
        """Insert rows at the end of their table's chain, one after the other."""
        end = self.hold(table)
        names = get_own_signed_columns(table)
        written = []
        for row in rows:
            digest = self._seal.of_row(table, end.length + 1, row, end.digest)
            end = Head(end.length + 1, digest.chained, end.unsigned)
            values = dict(zip(names, row, strict=False))  # of an attempt wanted, its name alone
            written.append(values | {sql.LINK: end.length, sql.DIGEST: str(digest)})
        if written:
            self._db.execute(_INSERT[table], written)
            self._set_head(table, end)

    def hold(self, table: str) -> Head:
        """Return :meth:`head`; nobody else makes the chain longer in this transaction."""
        return self.head(table, sql.HELD_END)

    def head(self, table: str, query: Select[Any] = sql.END) -> Head:
        """Return the end of a table's chain.

        Raises:
            LedgerError: others have written it.
        """
        row = self._db.execute(query, {"of": table}).fetchone()
        if row is None or row[3] != self._seal.of_head(table, Head(*row[:3])):
            raise LedgerError(
                f"{self._name} was edited or is damaged: how many rows the table {table} has was"
                " changed. gtp-harness ledger salvage saves what holds"
            )
        return Head(*row[:3])

    def clear(self, table: str) -> None:
        """Remove all rows of a table."""
        self._db.execute(delete(sql.METADATA.tables[table]))
        self._set_head(table, Head())

    def _set_head(self, table: str, end: Head) -> None:
        self._db.execute(sql.SET_END, {"of": table, **self._head_row(table, end)})

    def _head_row(self, table: str, end: Head) -> dict[str, object]:
        return {"name": table, **end._asdict(), "seal": self._seal.of_head(table, end)}


def get_own_signed_columns(table: str) -> tuple[str, ...]:
    """Return the signed columns that a table has itself."""
    return tuple(name for name in SIGNED[table] if table != "wanted" or name not in sql.PLAN)


def _select(table: str) -> Select[Any]:
    """Return the query of all signed rows of a table."""
    found = sql.METADATA.tables[table]
    own = [found.c[name] for name in get_own_signed_columns(table)]
    if table != "wanted":
        return select(*own, found.c[sql.LINK], found.c[sql.DIGEST])
    planned = [sql.ATTEMPT.c[name] for name in sql.PLAN]
    query = select(*own, *planned, found.c[sql.LINK], found.c[sql.DIGEST])
    return query.join_from(found, sql.ATTEMPT, found.c.basis == sql.ATTEMPT.c.basis, isouter=True)
