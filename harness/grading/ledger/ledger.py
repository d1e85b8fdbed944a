"""The ledger: one SQLite file that is the truth of a grading. SQL is here, in chains and salvage.

Whatever a result depends on (the submission's bytes, the case file, the engine's command, the
limits, the version of the harness) has one digest, the attempt's *basis*. An attempt is planned,
leased, and finished once; what has changed has another basis, and the old attempt stays. Marks are
only ever added: the last one that was accepted is in force.

A rollback journal rather than a write-ahead log. Both survive SIGKILL at any moment; but a log is
a second file that belongs to the truth and is lost when somebody copies the first alone, and it
needs shared memory, which network file systems, where homes are, do not give. What the log would
win, writers beside readers, nobody needs: results come a few times in a second. With
``synchronous = FULL`` what was said to be written is so after a power cut, too.

All that marks are made of is signed (:mod:`~harness.grading.ledger.chains`): :meth:`Ledger.check`
tells which rows others changed, added or removed. A result and its digest are one transaction.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from harness.errors import LedgerError, UsageError
from harness.grading.ledger import canonical_json, seal
from harness.grading.ledger.chains import Chains
from harness.grading.ledger.seal import Seal
from harness.text import more

APPLICATION, VERSION = 0x47545047, 3  # "GTPG"; the version of the tables below
UNSIGNED = 2  # the version before, without digests
_PATIENCE = 30.0  # seconds to wait for another process's transaction
_PAGE_SIZE = 8192  # bytes
_SALVAGE = "gtp-harness ledger check tells more, and ledger salvage saves what can be read"
LEASE = 3600.0  # seconds; on this machine a lease ends with its process

_TABLES = """
CREATE TABLE seed (          -- one row: of whatever is chosen so that nobody can know it before
    value TEXT NOT NULL
) STRICT;
CREATE TABLE run (           -- one call of the command
    id INTEGER PRIMARY KEY,
    started TEXT NOT NULL,   -- ISO 8601, UTC
    version TEXT NOT NULL,   -- of the harness
    assignment TEXT NOT NULL,
    digest TEXT NOT NULL,    -- SHA-256 of the assignment file
    options TEXT NOT NULL    -- JSON
) STRICT;
CREATE TABLE content (       -- of case files
    sha256 TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE case_file (     -- what a run asked
    run INTEGER NOT NULL REFERENCES run,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,      -- public, private or image
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL REFERENCES content,
    path TEXT NOT NULL,      -- where it lay, and with it the files that its commands name
    PRIMARY KEY (run, kind, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE submission (    -- what a run graded
    run INTEGER NOT NULL REFERENCES run,
    key TEXT NOT NULL,
    record TEXT NOT NULL,    -- JSON
    PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE build (
    basis TEXT PRIMARY KEY,
    result TEXT NOT NULL,    -- JSON
    seconds REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE attempt (       -- submission × case file
    basis TEXT PRIMARY KEY,
    key TEXT NOT NULL,       -- of the submission
    kind TEXT NOT NULL,
    name TEXT NOT NULL,      -- of the case file
    sha256 TEXT NOT NULL,    -- of its content
    build TEXT NOT NULL,     -- the basis of the submission's build
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'leased', 'done', 'fault')),
    token TEXT NOT NULL DEFAULT '',   -- of the lease: who has it may finish the attempt
    owner TEXT NOT NULL DEFAULT '',   -- whose the lease is: machine, process, its start
    until REAL NOT NULL DEFAULT 0,    -- the end of the lease, seconds since 1970
    faults INTEGER NOT NULL DEFAULT 0,
    fault TEXT NOT NULL DEFAULT ''    -- how the harness broke the last time
) STRICT, WITHOUT ROWID;
CREATE TABLE wanted (        -- the attempts that a run is made of
    run INTEGER NOT NULL REFERENCES run,
    basis TEXT NOT NULL REFERENCES attempt,
    PRIMARY KEY (run, basis)
) STRICT, WITHOUT ROWID;
CREATE TABLE result (
    basis TEXT NOT NULL REFERENCES attempt,
    number INTEGER NOT NULL, -- 1, and 2 for the second run, alone
    token TEXT NOT NULL,
    result TEXT NOT NULL,    -- JSON; null: there was nothing to run
    started TEXT NOT NULL,
    pid INTEGER NOT NULL,
    seconds REAL NOT NULL,
    cpu REAL NOT NULL,       -- seconds of the engine and all it started
    memory INTEGER NOT NULL, -- bytes
    own_cpu REAL NOT NULL,   -- seconds of the harness
    figures TEXT NOT NULL,   -- JSON: these and the times of the replies
    PRIMARY KEY (basis, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE mark (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run,
    key TEXT NOT NULL,       -- of the submission
    given TEXT NOT NULL,     -- when, ISO 8601, UTC
    marks TEXT NOT NULL,     -- JSON
    submission TEXT NOT NULL,  -- JSON
    bases TEXT NOT NULL      -- of the attempts it was made of, one in a line
) STRICT;
CREATE INDEX mark_of ON mark (key, id);
"""
# What version 3 adds to version 2. A row that is not signed has the link 0.
_SIGNING = """
CREATE TABLE signer (        -- one row
    name TEXT NOT NULL,      -- of the key
    taken_over TEXT NOT NULL -- when, if this was a ledger without digests; else empty
) STRICT;
CREATE TABLE chain (         -- the end of each table's chain
    name TEXT PRIMARY KEY,
    length INTEGER NOT NULL,
    digest TEXT NOT NULL,
    unsigned INTEGER NOT NULL,
    seal TEXT NOT NULL       -- the digest of this row
) STRICT, WITHOUT ROWID;
ALTER TABLE result ADD COLUMN last INTEGER NOT NULL DEFAULT 1; -- 0: in doubt, to be run again
"""


class Run(NamedTuple):
    """One call of the command."""

    started: str
    version: str
    assignment: str
    digest: str
    options: str


class Asked(NamedTuple):
    """A case file of a run."""

    kind: str
    name: str
    content: bytes
    path: str  # where it lay
    sha256: str


class Planned(NamedTuple):
    """An attempt that is wanted."""

    basis: str
    key: str
    kind: str
    name: str
    sha256: str
    build: str = ""


class State(NamedTuple):
    """How far an attempt is."""

    state: str  # waiting, leased, done or fault
    faults: int
    fault: str


class Row(NamedTuple):
    """A result as it is written."""

    result: str
    started: str
    pid: int
    seconds: float
    cpu: float
    memory: int
    own_cpu: float
    figures: str


class Given(NamedTuple):
    """A mark as it is written."""

    key: str
    marks: str
    submission: str
    bases: tuple[str, ...]
    run: int = 0
    given: str = ""


class BusyError(UsageError):
    """Another process is at work with the same ledger."""


class Ledger:
    """An open ledger. Every method is one transaction: all of it happens, or nothing."""

    def __init__(self, path: Path, key: Path | None = None) -> None:
        """Open a ledger, or make one.

        ``key``: the file of its key; by default it lies beside the ledger. It is made for a new
        ledger, and for one of version 2, which is taken over.

        Raises:
            LedgerError: it is damaged, or its key is missing.
            UsageError: the file is something else, or cannot be opened.
        """
        self.path = path
        self.key = key or seal.beside(path)
        empty = path.exists() and not path.stat().st_size
        with naming_damage(path):
            self.db = connect(path)
            own = self._make_or_check(was_emptied=empty and not key)
            self.chains = Chains(self.db, own, path)
            self.chains.touch()

    def _make_or_check(self, *, was_emptied: bool) -> Seal:
        with self.changing():
            version = self._version()
            if version == 0:
                if was_emptied and self.key.exists():
                    raise LedgerError(
                        f"{self.path} is empty, but it was a ledger: its key {self.key} is there."
                        " Restore it from a backup, or delete both to begin anew"
                    )
                self._execute_all(_TABLES)
            if version < VERSION:
                found = self._sign(version)
        if version == VERSION:
            return self._find_seal()
        # What says where all tables are then lies at the beginning, which is damaged least often:
        # in the first page, if that is large enough.
        self.db.execute(f"PRAGMA page_size = {_PAGE_SIZE}")
        self.db.execute("VACUUM")
        return found if self.key.exists() else self._find_seal()

    def _version(self) -> int:
        """Return the version of the tables, 0 for none.

        Raises:
            UsageError: it is another database, or of a version that this harness does not know.
        """
        found = (self._number("PRAGMA application_id"), self._number("PRAGMA user_version"))
        if found == (0, 0) and not self._number("SELECT count(*) FROM sqlite_master"):
            return 0
        if found[0] != APPLICATION:
            raise UsageError(f"{self.path} is a database, but not a ledger of gtp-harness")
        if found[1] not in (UNSIGNED, VERSION):
            known = f"found version {found[1]}, expected {VERSION}"
            raise UsageError(f"{self.path} is a ledger of another version: {known}")
        return found[1]

    def _sign(self, version: int) -> Seal:
        """Begin the chains of a ledger without any; its key is not in place yet if it is new."""
        own = seal.read(self.key) or seal.prepare(self.key)
        self.chains = Chains(self.db, own, self.path)
        self._execute_all(_SIGNING)
        self.chains.begin()
        if version == UNSIGNED:
            self._take_over()
        else:
            self.chains.append("seed", (secrets.token_hex(16),))
        taken_over = _now() if version == UNSIGNED else ""
        self.db.execute("INSERT INTO signer VALUES (?, ?)", (own.name, taken_over))
        self.db.execute(f"PRAGMA application_id = {APPLICATION}")
        self.db.execute(f"PRAGMA user_version = {VERSION}")
        return own

    def _take_over(self) -> None:
        """Sign what a ledger of version 2 has: nobody can tell whether it was changed before."""
        for basis, number, text in self.db.execute(
            "SELECT basis, number, result FROM result"
        ).fetchall():
            row = (canonical_json.of_version_2(text), basis, number)
            self.db.execute("UPDATE result SET result = ? WHERE basis = ? AND number = ?", row)
        self.chains.take_over()

    def _find_seal(self) -> Seal:
        """Return the seal of this ledger's key.

        Raises:
            LedgerError: the key is missing, or it is another one.
        """
        (name,) = self.db.execute("SELECT name FROM signer").fetchone() or ("",)
        found = seal.read(self.key) or seal.put_in_place(self.key, name)
        if found is None:
            raise LedgerError(
                f"the key of {self.path} is missing: there is no {self.key}. Without it nobody can"
                " tell whether a mark was edited. --key names the file; if it is lost,"
                " gtp-harness ledger salvage --unchecked makes a new ledger of this one"
            )
        if found.name != name:
            raise LedgerError(f"{self.key} is not the key of {self.path}: --key names the file")
        return found

    def _execute_all(self, statements: str) -> None:
        for statement in statements.split(";\n"):
            self.db.execute(statement)

    def close(self) -> None:
        """Close the file. What was written is written."""
        self.db.close()

    @property
    def seed(self) -> str:
        """Return what nobody knew before this ledger was made, and what it keeps."""
        return str(self.db.execute("SELECT value FROM seed").fetchone()[0])

    # --- runs ---

    def begin(self, run: Run) -> int:
        """Record a call of the command; return its number."""
        with self.changing():
            number = self._next_id("run")
            self.chains.append("run", (number, *run))
            return number

    def last_run(self) -> tuple[int, Run] | None:
        """Return the last call that graded something, with its number."""
        rows = self.db.execute(
            f"SELECT id, {_names(Run)} FROM run WHERE id IN (SELECT run FROM submission)"
            " ORDER BY id DESC LIMIT 1"
        ).fetchall()
        return (rows[0][0], Run(*rows[0][1:])) if rows else None

    def set_cases(self, run: int, cases: Iterable[Asked]) -> None:
        """Record the case files that a run asks, in order."""
        with self.changing():
            for position, (kind, name, content, path, digest) in enumerate(cases):
                self.db.execute("INSERT OR IGNORE INTO content VALUES (?, ?)", (digest, content))
                self.chains.append("case_file", (run, position, kind, name, digest, path))

    def cases(self, run: int) -> list[Asked]:
        """Return what :meth:`set_cases` was given."""
        rows = self.db.execute(
            "SELECT kind, name, bytes, path, sha256 FROM case_file JOIN content USING (sha256)"
            " WHERE run = ? ORDER BY position",
            (run,),
        )
        return [Asked(*row) for row in rows]

    def content(self, sha256: str) -> bytes:
        """Return the content of a case file that some run asked."""
        query = "SELECT bytes FROM content WHERE sha256 = ?"
        return bytes(self.db.execute(query, (sha256,)).fetchone()[0])

    def set_submissions(self, run: int, records: Mapping[str, str]) -> None:
        """Record what a run grades: a record for each key."""
        with self.changing():
            for key, record in records.items():
                self.chains.append("submission", (run, key, record))

    def submissions(self, run: int) -> dict[str, str]:
        """Return what :meth:`set_submissions` was given."""
        query = "SELECT key, record FROM submission WHERE run = ? ORDER BY key"
        return dict(self.db.execute(query, (run,)))

    # --- attempts ---

    def plan(self, run: int, attempts: Iterable[Planned]) -> None:
        """Record the attempts that a run wants; those that are known keep their state."""
        with self.changing():
            for one in attempts:
                self.db.execute(
                    f"INSERT OR IGNORE INTO attempt ({_names(Planned)}) VALUES (?, ?, ?, ?, ?, ?)",
                    one,
                )
                self.chains.append("wanted", (run, *one))

    def wanted(self, run: int) -> list[Planned]:
        """Return what :meth:`plan` was given."""
        query = f"SELECT {_names(Planned)} FROM attempt JOIN wanted USING (basis) WHERE run = ?"
        return [Planned(*row) for row in self.db.execute(query, (run,))]

    def states(self, bases: Iterable[str]) -> dict[str, State]:
        """Return how far attempts are; unknown ones are missing."""
        query = "SELECT state, faults, fault FROM attempt WHERE basis = ?"
        found = ((basis, self.db.execute(query, (basis,)).fetchone()) for basis in bases)
        return {basis: State(*row) for basis, row in found if row}

    def lease(self, bases: Iterable[str]) -> str:
        """Take attempts for this process; return the token to finish them with.

        Those in which the harness broke begin anew; those that are done stay so.

        Raises:
            BusyError: another process that lives has a lease, of these or others.
        """
        token = secrets.token_hex(8)
        with self.changing():
            self._refuse_company()
            self.db.executemany(
                "UPDATE attempt SET state = 'leased', token = ?, owner = ?, until = ?,"
                " faults = 0, fault = '' WHERE basis = ? AND state != 'done'",
                [(token, _owner(), time.time() + LEASE, basis) for basis in bases],
            )
        return token

    def _refuse_company(self) -> None:
        query = "SELECT DISTINCT owner, until FROM attempt WHERE state = 'leased'"
        for owner, until in self.db.execute(query).fetchall():
            if _is_held(owner, until):
                machine, process = owner.split()[:2]
                raise BusyError(
                    f"process {process} on {machine} is grading with {self.path}: wait for its end"
                )

    def release(self, token: str) -> None:
        """Give back what was leased and is not done."""
        with self.changing():
            self.db.execute(
                "UPDATE attempt SET state = 'waiting', token = '', owner = '', until = 0"
                " WHERE token = ? AND state = 'leased'",
                (token,),
            )

    def finish(self, basis: str, token: str, row: Row, number: int, last: bool) -> bool:
        """Write a result, once; False, and nothing is written, without the lease.

        ``number``: of the run of it, from 1. ``last``: the attempt is done with that.
        """
        with self.changing():
            mine = "FROM attempt WHERE basis = ? AND token = ? AND state = 'leased'"
            if not self._number(f"SELECT count(*) {mine}", basis, token):
                return False
            self.chains.append("result", (basis, number, token, *row, int(last)))
            if last:
                self.db.execute("UPDATE attempt SET state = 'done' WHERE basis = ?", (basis,))
            until = time.time() + LEASE
            self.db.execute("UPDATE attempt SET until = ? WHERE token = ?", (until, token))
            return True

    def settle(self, basis: str, token: str) -> None:
        """Let an attempt be done with the results that it has."""
        with self.changing():
            self.db.execute(
                "UPDATE attempt SET state = 'done' WHERE basis = ? AND token = ?", (basis, token)
            )

    def broke(self, basis: str, token: str, fault: str, most: int) -> None:
        """Record that the harness broke; after so many times (``most``) it is not tried again."""
        with self.changing():
            self.db.execute(
                "UPDATE attempt SET faults = faults + 1, fault = ?,"
                " state = CASE WHEN faults + 1 >= ? THEN 'fault' ELSE state END"
                " WHERE basis = ? AND token = ? AND state = 'leased'",
                (fault, most, basis, token),
            )

    def runs(self, basis: str) -> int:
        """Return how often an attempt was run."""
        return self._number("SELECT count(*) FROM result WHERE basis = ?", basis)

    def results(self, basis: str) -> list[tuple[str, str]]:
        """Return (result, figures) of each run of an attempt, in order."""
        query = "SELECT result, figures FROM result WHERE basis = ? ORDER BY number"
        return self.db.execute(query, (basis,)).fetchall()

    def planned(self, basis: str) -> Planned:
        """Return what :meth:`plan` was given."""
        query = f"SELECT {_names(Planned)} FROM attempt WHERE basis = ?"
        return Planned(*self.db.execute(query, (basis,)).fetchone())

    # --- builds ---

    def set_build(self, basis: str, result: str, seconds: float) -> None:
        """Record what came of the build steps; what is known stays."""
        with self.changing():
            if not self._number("SELECT count(*) FROM build WHERE basis = ?", basis):
                self.chains.append("build", (basis, result, seconds))

    def build(self, basis: str) -> str | None:
        """Return what came of the build steps, if they were made."""
        row = self.db.execute("SELECT result FROM build WHERE basis = ?", (basis,)).fetchone()
        return row[0] if row else None

    # --- marks ---

    def give(self, run: int, given: str, marks: Iterable[Given]) -> None:
        """Put marks in force at the time ``given``; those before them stay as history."""
        with self.changing():
            for mark in marks:
                if not self._is_in_force(mark):
                    row = (run, mark.key, given, mark.marks, mark.submission, _lines(mark.bases))
                    self.chains.append("mark", (self._next_id("mark"), *row))

    def _is_in_force(self, mark: Given) -> bool:
        former = self.history(mark.key)[-1:]
        return [one._replace(run=mark.run, given=mark.given) for one in former] == [mark]

    def history(self, key: str) -> list[Given]:
        """Return all marks of a submission that were ever in force, the last one last."""
        query = (
            "SELECT key, marks, submission, bases, run, given FROM mark WHERE key = ? ORDER BY id"
        )
        return [_given(row) for row in self.db.execute(query, (key,))]

    def in_force(self) -> dict[str, Given]:
        """Return the mark of each submission."""
        query = (
            "SELECT key, marks, submission, bases, run, given FROM mark"
            " WHERE id IN (SELECT max(id) FROM mark GROUP BY key) ORDER BY key"
        )
        return {row[0]: _given(row) for row in self.db.execute(query)}

    # --- helpers ---

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Make one transaction; nobody else writes from its beginning on."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def _number(self, query: str, *values: object) -> int:
        return int(self.db.execute(query, values).fetchone()[0])

    def _next_id(self, table: str) -> int:
        return self._number(f"SELECT coalesce(max(id), 0) + 1 FROM {table}")

    # --- chains ---

    def check(self) -> None:
        """Check what marks are made of.

        Raises:
            LedgerError: a row was changed, added or removed by others; it is named.
        """
        with naming_damage(self.path):
            found = self.chains.tampering()
        if found:
            rest = more(len(found) - 1, " (and {} more)")
            raise LedgerError(
                f"{self.path} was edited or is damaged: {found[0]}{rest}. No marks are given."
                " gtp-harness ledger check tells more, and ledger salvage saves what holds"
            )


def connect(path: Path | str) -> sqlite3.Connection:
    """Open a database as a ledger needs it."""
    db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    # What is damaged must be read to be named: bytes that are not UTF-8 are text like others.
    db.text_factory = lambda data: str(data, "utf-8", "surrogateescape")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA foreign_keys = ON")
    return db


@contextlib.contextmanager
def naming_damage(path: Path, advice: str = _SALVAGE) -> Iterator[None]:
    """Turn what SQLite says of a file into a sentence, with ``advice`` what to do.

    Raises:
        LedgerError: it is damaged.
        UsageError: it is not a ledger, or cannot be read or written now.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        if not str(error).startswith(("no such", "malformed")):
            raise UsageError(f"{path} cannot be used as a ledger: {error}") from None
        raise LedgerError(f"{path} is damaged: {error}. {advice}") from None
    except UnicodeDecodeError as error:  # in what SQLite says of damaged names
        raise LedgerError(f"{path} is damaged: {error.reason}. {advice}") from None
    except sqlite3.DatabaseError as error:
        if str(error) == "file is not a database":
            raise UsageError(f"{path} is not a ledger: {error}") from None
        raise LedgerError(f"{path} is damaged: {error}. {advice}") from None


def _names(kind: type[Run | Planned | Row]) -> str:
    return ", ".join(kind._fields)


def _lines(bases: tuple[str, ...]) -> str:
    return "\n".join(bases)


def _given(row: tuple[str, str, str, str, int, str]) -> Given:
    return Given(*row[:3], tuple(row[3].split()), *row[4:])


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _owner() -> str:
    """Return this process as nobody else will ever be: its machine, its number, its start."""
    pid = os.getpid()
    return f"{socket.gethostname()} {pid} {_start(pid)}"


def _start(pid: int) -> str:
    """Return when a process was started, in ticks since the boot of that id; empty: it is not."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
    state, *fields = text[text.rindex(")") + 2 :].split()
    return "" if state in "ZX" else f"{fields[18]}@{boot}"


def _is_held(owner: str, until: float) -> bool:
    """Whether a lease holds: its process lives; on another machine, it has not run out."""
    machine, pid, *start = owner.split()
    if machine == socket.gethostname():
        return pid != str(os.getpid()) and start == [_start(int(pid))]
    return until > time.time()
