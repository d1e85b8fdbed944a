"""A damaged ledger: what is wrong with it, and what of it can be saved into a new one.

The damaged file is only read, from a copy: SQLite itself would change it. A table is read from
both ends as far as that goes, and what lies between is asked for by its names. A row is saved if
its digests hold; the new ledger signs it anew. An attempt is done if its last result was saved;
else the next grading runs it.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from harness.errors import LedgerError, UsageError
from harness.grading.ledger import canonical_json, chains, ledger, seal
from harness.grading.ledger.chains import KEYS, PLANNED, SIGNED, Chains, SignedRow
from harness.grading.ledger.ledger import Ledger, Run
from harness.grading.ledger.seal import Seal

_MAGIC = b"SQLite format 3\0"
_MARK = slice(68, 72)  # of the file: where SQLite keeps the application's id
_LONGEST_GAP = 1 << 32  # bytes; of a larger one the header itself is damaged
_BACKUP = "Nothing of it can be read: restore it from a backup"
_ERRORS = 10  # that are told of SQLite's own check
# A damaged name may have bytes that are no text: it names nothing.
_UNREADABLE = (sqlite3.DatabaseError, UnicodeEncodeError)


class Saved(NamedTuple):
    """What a salvage did with one table."""

    table: str
    saved: int
    lost: tuple[str, ...]  # each in words


class _Damaged:
    """A copy of a ledger, read as far as it can be."""

    def __init__(
        self, db: sqlite3.Connection, path: Path, key: Path, wrong: list[str], *, checked: bool
    ) -> None:
        self._db = db
        self._wrong = wrong
        (self.version,) = db.execute("PRAGMA user_version").fetchone()
        self.is_signed = self.version != ledger.UNSIGNED
        own = seal.read(key) if self.is_signed and checked else Seal(b"")
        if own is None:
            raise LedgerError(
                f"the key of {path} is missing: there is no {key}. --key names the file; without"
                " it, ledger salvage --unchecked saves all rows that can be read"
            )
        self.checked = checked and self.is_signed
        self.chains = Chains(db, own, path)

    def errors(self) -> list[str]:
        """Return what SQLite itself finds wrong with the file."""
        try:
            found = self._db.execute(f"PRAGMA integrity_check({_ERRORS})").fetchall()
        except sqlite3.DatabaseError as error:
            return [*self._wrong, str(error)]
        return [*self._wrong, *(text for (text,) in found if text != "ok")]

    def length(self, table: str) -> int | None:
        """Return how many rows a table had, 0 if nobody counted; None: that is damaged, too."""
        with contextlib.suppress(sqlite3.DatabaseError, LedgerError):
            return self.chains.head(table).length if self.checked else 0
        return None

    def rows(self, table: str) -> list[SignedRow]:
        """Return all rows of a table that can be read, in the order of their links."""
        found: dict[object, SignedRow] = {}
        places = [SIGNED[table].index(name) for name in KEYS[table]]
        for row in self._read(table):
            found.setdefault(tuple(row.values[place] for place in places), row)
        return sorted(found.values(), key=lambda one: one.link)

    def _read(self, table: str) -> Iterator[SignedRow]:
        columns = [name for name in SIGNED[table] if table != "wanted" or name not in PLANNED]
        names = ", ".join(self._name(name) for name in columns)
        signing = f"{chains.LINK}, {chains.DIGEST}" if self.is_signed else "0, ''"
        query = f"SELECT {names}, {signing} FROM {table}"
        for order in ("", " DESC"):
            by = ", ".join(name + order for name in KEYS[table])
            ended = yield from self._try(table, f"{query} ORDER BY {by}")
            if ended:
                return
        for value in self._known(table):
            yield from self._try(table, f"{query} WHERE {KEYS[table][0]} = ?", value)

    def _name(self, column: str) -> str:
        return "1" if column == "last" and not self.is_signed else column

    def _try(self, table: str, query: str, *values: object) -> Generator[SignedRow, None, bool]:
        """Yield what a query gives until it fails; return whether it did not."""
        try:
            for row in self._db.execute(query, values):
                yield self._whole(table, row)
        except _UNREADABLE:
            return False
        return True

    def _whole(self, table: str, row: tuple[object, ...]) -> SignedRow:
        if table == "wanted":
            row = (*row[:2], *self._plan(row[1]), *row[2:])
        found = chains.signed_row(row)
        if table == "result" and not self.is_signed:
            place = SIGNED[table].index("result")
            text = canonical_json.of_version_2(str(found.values[place]))
            values = (*found.values[:place], text, *found.values[place + 1 :])
            found = found._replace(values=values)
        return found

    def _plan(self, basis: object) -> tuple[object, ...]:
        query = f"SELECT {', '.join(PLANNED)} FROM attempt WHERE basis = ?"
        with contextlib.suppress(*_UNREADABLE):
            return self._db.execute(query, (basis,)).fetchone() or (None,) * len(PLANNED)
        return (None,) * len(PLANNED)

    def _known(self, table: str) -> set[object]:
        """Return the names by which to ask for rows in the middle of a damaged table."""
        if table not in ("result", "build"):
            return set()
        place = SIGNED["wanted"].index("basis" if table == "result" else "build")
        return {row.values[place] for row in self.rows("wanted")}

    def contents(self) -> Iterator[tuple[str, bytes]]:
        """Yield the contents of case files that are what their names say."""
        for sha256 in {row.values[4] for row in self.rows("case_file")}:
            with contextlib.suppress(*_UNREADABLE):
                query = "SELECT bytes FROM content WHERE sha256 = ?"
                for (content,) in self._db.execute(query, (sha256,)):
                    if not self.checked or hashlib.sha256(content).hexdigest() == sha256:
                        yield str(sha256), content


@contextlib.contextmanager
def _opened(path: Path, key: Path | None, *, checked: bool = True) -> Iterator[_Damaged]:
    """Open a copy of a ledger.

    Raises:
        LedgerError: so much of it is damaged that nothing can be read, or there is no key.
        UsageError: it is not a ledger.
    """
    with tempfile.TemporaryDirectory(prefix="gtp-harness-ledger-") as folder:
        copy = Path(folder, "ledger")
        wrong = _copy(path, copy)
        with ledger.naming_damage(path, _BACKUP), contextlib.closing(ledger.connect(copy)) as db:
            yield _Damaged(db, path, key or seal.beside(path), wrong, checked=checked)


def _copy(path: Path, copy: Path) -> list[str]:
    """Copy a ledger's file; return what is wrong with it at once."""
    try:
        for end in ("", "-journal", "-wal"):
            if not end or Path(f"{path}{end}").exists():
                shutil.copyfile(f"{path}{end}", f"{copy}{end}")
        with copy.open("r+b") as file:
            return _mend_start(file, path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def _mend_start(file: BinaryIO, path: Path) -> list[str]:
    """Let SQLite read a file whatever follows: its first bytes, and as many as these promise."""
    start = file.read(100)
    if not start:
        raise LedgerError(f"{path} is empty: nothing can be saved")
    if start[_MARK] != ledger.APPLICATION.to_bytes(4):
        raise UsageError(f"{path} is not a ledger, or its first bytes are damaged")
    wrong = []
    if not start.startswith(_MAGIC):
        wrong.append("its first bytes are not SQLite's")
        file.seek(0)
        file.write(_MAGIC)
    promised = int.from_bytes(start[16:18]) * int.from_bytes(start[28:32])
    size = file.seek(0, 2)
    if size < promised <= size + _LONGEST_GAP:
        wrong.append(f"it ends after {size:,} of {promised:,} bytes")
        file.truncate(promised)
    return wrong


# --- checking ----------------------------------------------------------------------------------


def check(path: Path, key: Path | None = None) -> tuple[list[str], list[str]]:
    """Return sentences about a ledger: what it has, and what is wrong with it.

    Raises:
        LedgerError: nothing of it can be read, or its key is missing.
        UsageError: it is not a ledger.
    """
    with _opened(path, key) as found:
        wrong = [f"the file is damaged: {text}" for text in found.errors()]
        facts = [f"{path} is a ledger of version {found.version}"]
        if not found.is_signed:
            facts.append("it is not signed: the next grade takes it over, and signs it as it is")
            return facts, wrong
        rows = {table: len(found.rows(table)) for table in SIGNED}
        facts.append(f"{rows['result']} results, {rows['mark']} marks")
        try:
            wrong += found.chains.tampering()
            unsigned = found.chains.head("result").unsigned
        except sqlite3.DatabaseError as error:
            return facts, [*wrong, f"not all of it can be read: {error}"]
        except LedgerError as error:
            return facts, [*wrong, str(error)]
        if unsigned:
            facts.append(
                f"{unsigned} results were taken over from version 2: whether they were edited"
                " before that cannot be told"
            )
        return facts, wrong


# --- saving ------------------------------------------------------------------------------------


def salvage(
    path: Path, new: Path, key: Path | None = None, *, checked: bool = True
) -> list[Saved]:
    """Save what holds of a ledger into a new one, which gets a key of its own.

    ``checked``: False, all that can be read, whether its digests hold or not.

    Raises:
        LedgerError: nothing of it can be read, or its key is missing.
        UsageError: it is not a ledger; or there is a file ``new`` already.
    """
    for place in (new, seal.beside(new)):
        if place.exists():
            raise UsageError(f"{place} exists already: nothing is overwritten")
    with _opened(path, key, checked=checked) as found, contextlib.closing(Ledger(new)) as into:
        return _Salvage(found, into).run()


class _Salvage:
    def __init__(self, found: _Damaged, into: Ledger) -> None:
        self._found = found
        self._db = into.db
        self._into = into
        self._rows: dict[str, list[SignedRow]] = {}
        self._lost: dict[str, list[str]] = {}

    def run(self) -> list[Saved]:
        """Save what can be saved, all in one transaction."""
        for table in SIGNED:
            self._sort(table)
        with self._into.changing():
            self._write()
        saved = {table: len(rows) for table, rows in self._rows.items()}
        return [Saved(table, saved[table], tuple(self._lost[table])) for table in SIGNED]

    def _sort(self, table: str) -> None:
        """Part the rows of a table into those that hold and those that do not."""
        rows, of = self._found.rows(table), self._found.chains
        wrong = {row: of.wrong_with(table, row) if self._found.checked else "" for row in rows}
        self._rows[table] = [row for row in rows if not wrong[row] and None not in row.values]
        self._lost[table] = [
            f"{of.told(table, row)} {text or 'is not whole'}"
            for row, text in wrong.items()
            if text or None in row.values
        ]
        name = chains.TOLD.get(table, table)
        length = self._found.length(table)
        if length is None:
            self._lost[table].append(f"how many rows the table {table} had cannot be told")
        missing = set(range(1, (length or 0) + 1)) - {row.link for row in rows}
        self._lost[table] += [f"{name} {link} cannot be read" for link in sorted(missing)]

    def _write(self) -> None:
        if self._rows["seed"]:
            self._into.chains.clear("seed")
            self._append("seed")
        self._append("run")
        for mark in self._rows["mark"]:  # a mark is saved without the run that gave it, too
            self._make_run(mark.values[SIGNED["mark"].index("run")])
        known = {row.values[0] for row in self._rows["run"]}
        for row in self._found.contents():
            self._db.execute("INSERT OR IGNORE INTO content VALUES (?, ?)", row)
        contents = {text for (text,) in self._db.execute("SELECT sha256 FROM content")}
        self._keep("case_file", lambda row: row.values[0] in known and row.values[4] in contents)
        self._keep("submission", lambda row: row.values[0] in known)
        self._keep("wanted", lambda row: row.values[0] in known)
        self._plan()
        for table in ("case_file", "submission", "wanted", "build"):
            self._append(table)
        self._write_results()
        self._append("mark")

    def _make_run(self, number: object) -> None:
        query = "SELECT count(*) FROM run WHERE id = ?"
        if not self._db.execute(query, (number,)).fetchone()[0]:
            self._into.chains.append("run", (number, *[""] * len(Run._fields)))

    def _keep(self, table: str, holds: Callable[[SignedRow], bool]) -> None:
        """Give up rows that hold themselves, but what they are about is lost."""
        for row in self._rows[table]:
            if not holds(row):
                told = self._found.chains.told(table, row)
                self._lost[table].append(f"{told} is about something that is lost")
        self._rows[table] = [row for row in self._rows[table] if holds(row)]

    def _plan(self) -> None:
        for row in self._rows["wanted"]:
            names = ", ".join(("basis", *PLANNED))
            query = f"INSERT OR IGNORE INTO attempt ({names}) VALUES (?, ?, ?, ?, ?, ?)"
            self._db.execute(query, row.values[1:])

    def _write_results(self) -> None:
        """Write the results of each attempt from the first on, without a gap."""
        attempts = {text for (text,) in self._db.execute("SELECT basis FROM attempt")}
        number, last = (SIGNED["result"].index(name) for name in ("number", "last"))
        numbers: dict[object, set[object]] = {}
        for row in self._rows["result"]:
            numbers.setdefault(row.values[0], set()).add(row.values[number])
        self._keep(
            "result",
            lambda row: (
                row.values[0] in attempts
                and set(range(1, int(str(row.values[number])))) <= numbers[row.values[0]]
            ),
        )
        self._append("result")
        for row in self._rows["result"]:
            if row.values[last]:
                query = "UPDATE attempt SET state = 'done' WHERE basis = ?"
                self._db.execute(query, (row.values[0],))

    def _append(self, table: str) -> None:
        for row in self._rows[table]:
            self._into.chains.append(table, row.values)


def lost_in_all(saved: Iterable[Saved]) -> int:
    """Return how many rows a salvage could not save."""
    return sum(len(one.lost) for one in saved)
