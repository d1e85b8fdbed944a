"""Find out what is wrong with a damaged ledger, and save intact rows into a new one.

A damaged file is only read, from a copy, because SQLite itself would change it. A table is read
from both ends as far as possible, and the rows in between are looked up by their names. A row is
saved if its digests are right; the new ledger signs it again. An attempt is done if its last
result was saved; else the next grading runs it.
"""

import contextlib
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator, Set
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Select, select, update
from sqlalchemy.exc import DBAPIError

from harness.core.errors import LedgerError, UsageError
from harness.grading.ledger import chains, places, sqlite_file
from harness.grading.ledger import ledger_tables as sql
from harness.grading.ledger.chains import KEYS, SIGNED, Chains, Seal, SignedRow
from harness.grading.ledger.ledger import Ledger
from harness.grading.ledger.ledger_server import LedgerDatabase
from harness.grading.ledger.places import LedgerFile, Place, ServerPlace
from harness.grading.ledger.records import Run

_MAGIC = b"SQLite format 3\0"
_MARK = slice(68, 72)  # of the file: where SQLite keeps the application's id
_LONGEST_GAP = 1 << 32  # bytes; of a larger one the header itself is damaged
_BACKUP = "Nothing of it can be read: restore it from a backup"
_ERRORS = 10  # that are told of SQLite's own check
# A damaged name may have bytes that are not text: it names nothing.
_UNREADABLE = (DBAPIError, UnicodeEncodeError)


class Saved(NamedTuple):
    """The result of a salvage for one table."""

    table: str
    saved: int
    lost: tuple[str, ...]  # each in words


class Salvaged(NamedTuple):
    """The result of a salvage."""

    tables: tuple[Saved, ...]
    name: str  # of the new ledger
    key: Path  # where its key lies


class _Damaged:
    """A ledger, a file in copy, read as far as it can be."""

    def __init__(
        self, database: LedgerDatabase, place: Place, wrong: list[str], *, checked: bool
    ) -> None:
        self.database = database
        self._db = database.connection
        self.wrong = wrong  # with the file, before anything in it is looked at
        self.version = database.get_stored_version()
        self.checked = checked
        seal = Seal(b"")
        if checked:
            name = ""
            with contextlib.suppress(*_UNREADABLE):
                name = str(self._db.execute(sql.KEY_NAME).scalar() or "")
            found = chains.read_key(place.key(name))
            if found is None:
                raise LedgerError(
                    f"the key of {place.name} is missing: there is no {place.key(name)}. --key"
                    " names the file; without it, ledger salvage --unchecked saves all rows that"
                    " can be read"
                )
            seal = found
        self.chains = Chains(self._db, seal, place.name)

    def length(self, table: str) -> int | None:
        """Return how many rows a table had; 0 if not counted, None if the count is damaged too."""
        with contextlib.suppress(DBAPIError, LedgerError):
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
        found = sql.METADATA.tables[table]
        names = (*chains.get_own_signed_columns(table), sql.LINK, sql.DIGEST)
        query = select(*(found.c[name] for name in names)).select_from(found)
        keys = [found.c[name] for name in KEYS[table]]
        for order in (keys, [key.desc() for key in keys]):
            ended = yield from self._try(table, query.order_by(*order))
            if ended:
                return
        for value in self._find_known_names(table):
            yield from self._try(table, query.where(keys[0] == value))

    def _try(self, table: str, query: Select[Any]) -> Generator[SignedRow, None, bool]:
        """Yield what a query gives until it fails; return whether it did not."""
        try:
            for row in map(tuple, self._db.execute(query)):
                plan = self._plan(row[1]) if table == "wanted" else ()
                yield chains.parse_signed_row((*row[:2], *plan, *row[2:]))
        except _UNREADABLE:
            return False
        return True

    def _plan(self, basis: object) -> tuple[object, ...]:
        nothing = (None,) * len(sql.PLAN)
        with contextlib.suppress(*_UNREADABLE):
            return tuple(self._db.execute(sql.PLANNED, {"of": basis}).fetchone() or nothing)
        return nothing

    def _find_known_names(self, table: str) -> set[object]:
        """Return the names by which to ask for rows in the middle of a damaged table."""
        if table not in ("result", "build"):
            return set()
        place = SIGNED["wanted"].index("basis" if table == "result" else "build")
        return {row.values[place] for row in self.rows("wanted")}

    def contents(self) -> Iterator[tuple[str, bytes]]:
        """Yield the contents of case files that are what their names say."""
        for sha256 in {row.values[4] for row in self.rows("case_file")}:
            with contextlib.suppress(*_UNREADABLE):
                for (content,) in self._db.execute(sql.CONTENT_OF, {"sha256": sha256}):
                    if not self.checked or hashlib.sha256(content).hexdigest() == sha256:
                        yield str(sha256), content


@contextlib.contextmanager
def _open(place: Place, *, checked: bool = True) -> Iterator[_Damaged]:
    """Open a ledger as it is; a file in copy.

    Raises:
        LedgerError: so much of it is damaged that nothing can be read, or there is no key.
        ServerError: the server cannot be used now.
        UsageError: it is not a ledger.
    """
    with contextlib.ExitStack() as stack:
        wrong: list[str] = []
        database: LedgerDatabase
        if isinstance(place, LedgerFile):
            folder = tempfile.TemporaryDirectory(prefix="gtp-harness-ledger-")
            copy = Path(stack.enter_context(folder), "ledger")
            wrong = _copy(place.path, copy)
            database = sqlite_file.SqliteFile(copy, place.name, _BACKUP)
        else:
            database = sqlite_file.open_database(place)
        stack.enter_context(contextlib.closing(database))
        stack.enter_context(database.naming_errors())
        if isinstance(place, ServerPlace) and not database.version():
            raise UsageError(f"{place.name} is not a ledger: it has no tables")
        yield _Damaged(database, place, wrong, checked=checked)


def _copy(path: Path, copy: Path) -> list[str]:
    """Copy a ledger's file, so that SQLite can read the copy; return what is wrong with it."""
    try:
        for end in ("", "-journal", "-wal"):
            if not end or Path(f"{path}{end}").exists():
                shutil.copyfile(f"{path}{end}", f"{copy}{end}")
        with copy.open("r+b") as file:
            start = file.read(100)
            if not start:
                raise LedgerError(f"{path} is empty: nothing can be saved")
            if start[_MARK] != sqlite_file.APPLICATION.to_bytes(4):
                raise UsageError(f"{path} is not a ledger, or its first bytes are damaged")
            wrong = []
            # SQLite reads a file that begins so, if it is as long as its first bytes say.
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
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


# --- checking ----------------------------------------------------------------------------------


def check(location: Path | str, key: Path | None = None) -> tuple[list[str], list[str]]:
    """Return sentences about a ledger: what it has, and what is wrong with it.

    Raises:
        LedgerError: nothing of it can be read, or its key is missing.
        ServerError: the server cannot be used now.
        UsageError: it is not a ledger.
    """
    place = places.of(location, key)
    with _open(place) as found:
        errors = (*found.wrong, *found.database.own_errors(_ERRORS))
        wrong = [f"the file is damaged: {text}" for text in errors]
        facts = [f"{place.name} is a ledger of version {found.version}"]
        rows = {table: len(found.rows(table)) for table in SIGNED}
        facts.append(f"{rows['result']} results, {rows['mark']} marks")
        try:
            with found.database.reading():
                wrong += found.chains.tampering()
        except DBAPIError as error:
            wrong.append(f"not all of it can be read: {sqlite_file.original(error)}")
        except LedgerError as error:
            wrong.append(str(error))
        return facts, wrong


# --- saving ------------------------------------------------------------------------------------


def salvage(
    source: Path | str, target: Path | str, key: Path | None = None, *, checked: bool = True
) -> Salvaged:
    """Save what holds of a ledger into a new one, which gets a key of its own.

    ``checked``: False, all that can be read, whether its digests hold or not.

    Raises:
        LedgerError: nothing of it can be read, or its key is missing.
        ServerError: a server cannot be used now.
        UsageError: it is not a ledger; or there is something at the new place already.
    """
    place, new = places.of(source, key), places.of(target)
    _refuse_what_exists(new)
    with _open(place, checked=checked) as found, contextlib.closing(Ledger(new)) as ledger:
        with ledger.naming_errors():
            saved = _Salvage(found, ledger).run()
        return Salvaged(saved, ledger.name, ledger.key)


def _refuse_what_exists(place: Place) -> None:
    if isinstance(place, LedgerFile):
        existing = [one for one in (place.path, place.key("")) if one.exists()]
        if existing:
            raise UsageError(f"{existing[0]} exists already: nothing is overwritten")
        return
    database = sqlite_file.open_database(place)
    with contextlib.closing(database), database.naming_errors():
        if database.version():
            raise UsageError(f"{place.name} is a ledger already: nothing is overwritten")


class _Salvage:
    def __init__(self, damaged_ledger: _Damaged, target: Ledger) -> None:
        self._found = damaged_ledger
        self._db = target.db
        self._into = target
        self._rows: dict[str, list[SignedRow]] = {}
        self._lost: dict[str, list[str]] = {}

    def run(self) -> tuple[Saved, ...]:
        """Save what can be saved, all in one transaction."""
        for table in SIGNED:
            self._sort(table)
        with self._into.database.changing():
            self._write()
        return tuple(
            Saved(table, len(rows), tuple(self._lost[table])) for table, rows in self._rows.items()
        )

    def _sort(self, table: str) -> None:
        """Part the rows of a table into those that hold and those that do not."""
        rows, of = self._found.rows(table), self._found.chains
        wrong = {row: of.find_damage(table, row) if self._found.checked else "" for row in rows}
        self._rows[table] = [row for row in rows if not wrong[row] and None not in row.values]
        self._lost[table] = [
            f"{of.describe_row(table, row)} {text or 'is not whole'}"
            for row, text in wrong.items()
            if text or None in row.values
        ]
        length = self._found.length(table)
        if length is None:
            self._lost[table].append(f"how many rows the table {table} had cannot be told")
        missing = set(range(1, (length or 0) + 1)) - {row.link for row in rows}
        name = chains.TOLD.get(table, table)
        self._lost[table] += [f"{name} {link} cannot be read" for link in sorted(missing)]

    def _write(self) -> None:
        if self._rows["seed"]:
            self._into.chains.clear("seed")
            self._append("seed")
        self._append("run")
        known = {row.values[0] for row in self._rows["run"]}
        given = {row.values[SIGNED["mark"].index("run")] for row in self._rows["mark"]}
        empty = [""] * len(Run._fields)
        self._into.chains.extend("run", [(one, *empty) for one in sorted(given - known, key=str)])
        contents = dict(self._found.contents())
        rows = [{"sha256": name, "bytes": contents[name]} for name in sorted(contents)]
        self._into.database.insert_new(sql.CONTENT, rows)
        self._keep("case_file", lambda row: row.values[0] in known and row.values[4] in contents)
        self._keep("submission", lambda row: row.values[0] in known)
        self._keep("wanted", lambda row: row.values[0] in known)
        attempts = self._plan()
        for table in ("case_file", "submission", "wanted", "build"):
            self._append(table)
        self._write_results(attempts)
        self._append("mark")

    def _keep(self, table: str, holds: Callable[[SignedRow], bool]) -> None:
        """Give up rows that are intact, but refer to lost ones."""
        for row in self._rows[table]:
            if not holds(row):
                told = self._found.chains.describe_row(table, row)
                self._lost[table].append(f"{told} is about something that is lost")
        self._rows[table] = [row for row in self._rows[table] if holds(row)]

    def _plan(self) -> set[object]:
        """Record all attempts that were wanted; return their names."""
        wanted = [row.values[1:] for row in self._rows["wanted"]]
        plans = [dict(zip(("basis", *sql.PLAN), one, strict=True)) for one in wanted]
        self._into.database.insert_new(sql.ATTEMPT, plans)
        return {one[0] for one in wanted}

    def _write_results(self, attempts: Set[object]) -> None:
        """Write the results of each attempt from the first on, without a gap."""
        number, last, text = map(SIGNED["result"].index, ("number", "last", "result"))
        numbers: dict[object, set[object]] = {}
        for row in self._rows["result"]:
            numbers.setdefault(row.values[0], set()).add(row.values[number])

        def holds(row: SignedRow) -> bool:
            if row.values[0] not in attempts:
                return False
            return set(range(1, int(str(row.values[number])))) <= numbers[row.values[0]]

        self._keep("result", holds)
        self._append("result")
        for row in self._rows["result"]:
            if row.values[last] or row.values[text] == sql.WITHDRAWN:
                state = "done" if row.values[last] else "waiting"
                query = update(sql.ATTEMPT).where(sql.ATTEMPT.c.basis == row.values[0])
                self._db.execute(query.values(state=state))

    def _append(self, table: str) -> None:
        self._into.chains.extend(table, [row.values for row in self._rows[table]])
