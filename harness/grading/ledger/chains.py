"""The chains of a ledger's signed tables: rows are added at the end, and all of them checked."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import LedgerError
from harness.grading.ledger import seal
from harness.grading.ledger.seal import Digest, Head, Seal

# The tables with a chain, and the columns that are signed. ``wanted`` is signed with what its
# attempt was planned to be: the attempt itself changes as it is worked on.
PLANNED = ("key", "kind", "name", "sha256", "build")
SIGNED = {
    "seed": ("value",),
    "run": ("id", "started", "version", "assignment", "digest", "options"),
    "case_file": ("run", "position", "kind", "name", "sha256", "path"),
    "submission": ("run", "key", "record"),
    "build": ("basis", "result", "seconds"),
    "wanted": ("run", "basis", *PLANNED),
    "result": (
        *("basis", "number", "token", "result", "started", "pid"),
        *("seconds", "cpu", "memory", "own_cpu", "figures", "last"),
    ),
    "mark": ("id", "run", "key", "given", "marks", "submission", "bases"),
}
KEYS = {  # what names a row of each
    "seed": ("value",),
    "run": ("id",),
    "case_file": ("run", "kind", "name"),
    "submission": ("run", "key"),
    "build": ("basis",),
    "wanted": ("run", "basis"),
    "result": ("basis", "number"),
    "mark": ("id",),
}
TOLD = {"case_file": "case file", "wanted": "attempt"}  # where the table's name is not the word
_WORDS = (("key", "submission"), ("kind", "kind"), ("name", "case file"))
LINK, DIGEST = "link", "signature"  # the two columns that this adds to each


class SignedRow(NamedTuple):
    """A row of a signed table."""

    values: tuple[object, ...]
    link: int  # its place in the chain, from 1; 0: it is not signed
    digest: Digest


def signed_row(row: tuple[Any, ...]) -> SignedRow:
    """Return a row as it is read, its link and its digests last; of a damaged file any type."""
    *values, link, digest = row
    number = link if isinstance(link, int) else 0
    return SignedRow(tuple(values), number, Digest.read(str(digest)))


class Chains:
    """The signed tables of an open ledger. What is written is part of the caller's transaction."""

    def __init__(self, db: sqlite3.Connection, own: Seal, path: Path) -> None:
        self._db = db
        self._seal = own
        self._path = path

    def begin(self) -> None:
        """Give every signed table a chain, which is empty."""
        for table in SIGNED:
            self._db.execute(f"ALTER TABLE {table} ADD COLUMN {LINK} INTEGER NOT NULL DEFAULT 0")
            self._db.execute(f"ALTER TABLE {table} ADD COLUMN {DIGEST} TEXT NOT NULL DEFAULT ''")
            self._set_head(table, Head())

    def take_over(self) -> None:
        """Sign all rows that are there: nobody can tell whether they were changed before."""
        for table in SIGNED:
            rows = self.rows(table)
            for row in rows:
                self._link(table, row.values)
            self._set_head(table, self.head(table)._replace(unsigned=len(rows)))

    def touch(self) -> None:
        """Find out whether all tables have their columns: SQLite complains if not."""
        for table, columns in SIGNED.items():
            names = ", ".join((*columns, f"{table}.{LINK}", f"{table}.{DIGEST}"))
            self._db.execute(f"SELECT {names} {source(table)} LIMIT 0")

    def tampering(self) -> list[str]:
        """Return a sentence for each row that does not hold, and for each that is missing."""
        found = [text for table in SIGNED for text in self._broken_rows(table)]
        query = (
            "SELECT DISTINCT name, sha256, bytes FROM case_file LEFT JOIN content USING (sha256)"
        )
        for name, sha256, content in self._db.execute(query):
            if content is None:
                found.append(f"the content of case file {name} is missing")
            elif hashlib.sha256(content).hexdigest() != sha256:
                found.append(f"the content of case file {name} was changed")
        return found

    def _broken_rows(self, table: str) -> Iterator[str]:
        end = self.head(table)
        rows = self.rows(table)
        for link in sorted(set(range(1, end.length + 1)) - {one.link for one in rows}):
            yield f"{TOLD.get(table, table)} {link} is missing"
        before = seal.START
        seen = {0}
        for one in rows:
            wrong = self.wrong_with(table, one)
            expected = self._seal.of_row(table, one.link, one.values, before)
            if wrong or one.link in seen or one.link > end.length:
                yield f"{self.told(table, one)} {wrong or 'was added'}"
            elif one.link - 1 in seen and one.digest.chained != expected.chained:
                yield f"{self.told(table, one)} does not follow the one before it"
            seen.add(one.link)
            before = one.digest.chained
        if rows and rows[-1].link == end.length and before != end.digest:
            yield f"the end of the table {table} was changed"

    def rows(self, table: str) -> list[SignedRow]:
        """Return the rows of a table in the order in which they were written."""
        names = ", ".join((*SIGNED[table], f"{table}.{LINK}", f"{table}.{DIGEST}"))
        query = f"SELECT {names} {source(table)} ORDER BY {table}.{LINK}"
        return [signed_row(row) for row in self._db.execute(query)]

    def wrong_with(self, table: str, row: SignedRow) -> str:
        """Return what of a row its digests do not hold for; empty: they hold."""
        if not row.link:
            return "was added: it has no digest"
        found = self._seal.of_row(table, row.link, row.values, "")
        if found.own == row.digest.own:
            return ""
        if len(found.parts) != len(row.digest.parts):
            return "has no digest of its own"
        pairs = zip(SIGNED[table], found.parts, row.digest.parts, strict=True)
        changed = [name for name, now, then in pairs if now != then]
        if len(changed) == len(found.parts):
            return "was moved, added or wholly changed"
        return f"was changed after it was written: {', '.join(changed) or 'its digest'}"

    def told(self, table: str, row: SignedRow) -> str:
        """Return a row in words, with the submission and the case file that it is about."""
        values = dict(zip(SIGNED[table], row.values, strict=True))
        if table == "result":
            query = f"SELECT {', '.join(PLANNED)} FROM attempt WHERE basis = ?"
            with contextlib.suppress(sqlite3.DatabaseError):
                plan = self._db.execute(query, (values["basis"],)).fetchone()
                values |= dict(zip(PLANNED, plan or (), strict=False))
        words = [f"{word} {values[name]}" for name, word in _WORDS if values.get(name)]
        about = f" ({', '.join(words)})" if words else ""
        return f"{TOLD.get(table, table)} {row.link}{about}"

    def _link(self, table: str, row: tuple[object, ...]) -> None:
        """Sign a row that is there."""
        keys = KEYS[table]
        names = " AND ".join(f"{name} = ?" for name in keys)
        values = [row[SIGNED[table].index(name)] for name in keys]
        query = f"UPDATE {table} SET {LINK} = ?, {DIGEST} = ? WHERE {names}"
        self._db.execute(query, (*self._next(table, row), *values))

    def append(self, table: str, row: tuple[object, ...]) -> None:
        """Insert a row at the end of its table's chain."""
        values = row if table != "wanted" else row[:2]  # the rest is the attempt's
        names = ", ".join((*SIGNED[table][: len(values)], LINK, DIGEST))
        holes = ", ".join("?" * (len(values) + 2))
        query = f"INSERT INTO {table} ({names}) VALUES ({holes})"
        self._db.execute(query, (*values, *self._next(table, row)))

    def _next(self, table: str, row: tuple[object, ...]) -> tuple[int, str]:
        """Make a table's chain longer by a row; return what the row is to carry."""
        end = self.head(table)
        digest = self._seal.of_row(table, end.length + 1, row, end.digest)
        self._set_head(table, Head(end.length + 1, digest.chained, end.unsigned))
        return end.length + 1, str(digest)

    def head(self, table: str) -> Head:
        """Return the end of a table's chain.

        Raises:
            LedgerError: others have written it.
        """
        query = "SELECT length, digest, unsigned, seal FROM chain WHERE name = ?"
        row = self._db.execute(query, (table,)).fetchone()
        if row is None or row[3] != self._seal.of_head(table, Head(*row[:3])):
            raise LedgerError(
                f"{self._path} was edited or is damaged: how many rows the table {table} has was"
                " changed. gtp-harness ledger salvage saves what holds"
            )
        return Head(*row[:3])

    def clear(self, table: str) -> None:
        """Remove all rows of a table."""
        self._db.execute(f"DELETE FROM {table}")
        self._set_head(table, Head())

    def _set_head(self, table: str, end: Head) -> None:
        row = (table, *end, self._seal.of_head(table, end))
        self._db.execute("INSERT OR REPLACE INTO chain VALUES (?, ?, ?, ?, ?)", row)


def source(table: str) -> str:
    return "FROM wanted LEFT JOIN attempt USING (basis)" if table == "wanted" else f"FROM {table}"
