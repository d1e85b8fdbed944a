"""The service's database: a file, or schemas on a PostgreSQL server; used, probed and copied.

Several processes use it at once, each with a pool. On SQLite a log is written ahead, so that
readers of pages do not wait for workers that write; ``synchronous = FULL``: what a student has a
receipt for is there after a power cut.
"""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, NullPool, create_engine, event, inspect, select, text
from sqlalchemy.exc import DBAPIError, DisconnectionError
from sqlalchemy.pool import QueuePool

from harness.core.errors import ServerError, UsageError
from harness.grading.ledger import chains, ledger_server
from harness.grading.ledger.places import LedgerFile, ServerPlace
from harness.service.settings import OWN_SCHEMA, Settings, schema_of
from harness.service.storage import data_folder
from harness.service.storage.audit import AuditedTransaction, AuditLog
from harness.service.storage.tables import METADATA, SERVICE_VERSION, VERSION

SERVICE = ledger_server.ServerWords(
    use="now", lost="Start the server, or correct the address", damaged="Restore it from a backup"
)
_PATIENCE = 30.0  # seconds to wait for another's transaction
CONNECTIONS = 20  # that a process keeps at most: those beyond are opened for one answer each
_AGAIN = 5.0  # seconds before a server that cannot be used is tried again
_SPACE, _MAKING = 0x47545047, 17  # of a lock of the server's


def require_version(name: str, version: str) -> None:
    """See that tables are those of this version; ``version``: "" if there are none yet.

    Raises:
        UsageError: they are of another version.
    """
    if version not in ("", VERSION):
        raise UsageError(
            f"{name} was made by another version of gtp-harness: it has tables of version"
            f" {version}, and this one needs version {VERSION}. Use the gtp-harness that made it,"
            " or another --data"
        )


class Database:
    """The service's tables. It may be shared by threads, not by processes."""

    def __init__(self, settings: Settings) -> None:
        """Open it; make what is not there.

        Raises:
            ServerError: its server cannot be used now.
            UsageError: it cannot be opened, its key is missing, another version made it, or it is
                new and the folder belongs to another one.
        """
        self._settings = settings
        self._place = settings.own_place()
        self.engine = _engine(self._place)
        self._turns = threading.Lock()
        if isinstance(self._place, ServerPlace):  # one that is away leaves no folder behind
            with self.naming_errors(), self.engine.connect():
                pass
        for folder in (settings.data, settings.keys):
            data_folder.make_folder(folder)
        self._reader = self.engine
        if isinstance(self._place, ServerPlace):
            # There each statement would see what was written since, so that a row could differ
            # between two questions. Transactions of SQLite see one moment anyway.
            self._reader = self.engine.execution_options(isolation_level="REPEATABLE READ")
        with self.naming_errors():
            self.log = self._open_log()

    @classmethod
    def patiently(cls, settings: Settings) -> "Database":
        """Open it as soon as its server can be used; raises as the constructor otherwise."""
        while True:
            try:
                return cls(settings)
            except ServerError as error:
                print(f"gtp-harness serve: {error}", file=sys.stderr, flush=True)
                time.sleep(_AGAIN)

    def close(self) -> None:
        """Close all its connections."""
        self.engine.dispose()

    @contextlib.contextmanager
    def changing(self) -> Iterator[Connection]:
        """Give one transaction that writes: all of it happens, or nothing."""
        with self.naming_errors(), self._take_turn(), self.engine.connect() as db:
            db.info["writes"] = True
            with db.begin():
                yield db

    @contextlib.contextmanager
    def acting(self, by: str = "") -> Iterator[AuditedTransaction]:
        """Give a transaction in which a person does something, by the id; "": the service."""
        with self.changing() as db:
            yield AuditedTransaction(db, self.log, by, self._settings)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give one transaction that only reads; all its statements see the same moment."""
        with self.naming_errors(), self._reader.connect() as db:
            db.info["writes"] = False
            with db.begin():
                yield db

    @contextlib.contextmanager
    def _take_turn(self) -> Iterator[None]:
        """Let one thread write to a file at a time, the others wait.

        SQLite would let each of them try again and again: some come late, and some never.
        """
        if isinstance(self._place, ServerPlace):
            yield
            return
        if not self._turns.acquire(timeout=_PATIENCE):
            raise ServerError(f"{self._place.name} cannot be used now: it is busy")
        try:
            yield
        finally:
            self._turns.release()

    @contextlib.contextmanager
    def naming_errors(self) -> Iterator[None]:
        """Turn what the database says into sentences.

        Raises:
            ServerError: the server, or the file, cannot be used now.
        """
        if isinstance(self._place, ServerPlace):
            with ledger_server.naming_errors(self._place.name, SERVICE):
                yield
            return
        try:
            yield
        except DBAPIError as error:
            raise ServerError(f"{self._place.name} cannot be used now: {error.orig}") from None

    def make_ledger_schema(self, assignment: str) -> None:
        """Make room on a server for the ledger of an assignment; a file needs none."""
        if isinstance(self._place, ServerPlace):
            with self.changing() as db:
                db.execute(text(f'CREATE SCHEMA IF NOT EXISTS "{schema_of(assignment)}"'))

    def _open_log(self) -> AuditLog:
        """Return the audit log, with its key; both are made with the tables, by one process.

        With the key of another database, what is in the folder would be unknown here, and pruned.
        """
        path = self._place.key("")
        made: chains.Seal | None = None
        with self.changing() as db:
            if isinstance(self._place, ServerPlace):
                db.execute(text(f"SELECT pg_advisory_xact_lock({_SPACE}, {_MAKING})"))
                db.execute(text(f"CREATE SCHEMA IF NOT EXISTS {OWN_SCHEMA}"))
            if inspect(db).has_table(SERVICE_VERSION.name):
                require_version(self._place.name, db.execute(select(SERVICE_VERSION)).scalar_one())
            else:
                METADATA.create_all(db)
                db.execute(SERVICE_VERSION.insert(), {"version_num": VERSION})
            if not AuditLog.is_begun(db):
                if path.exists():
                    raise UsageError(
                        f"{self._place.name} has no service in it, and {path} is the key of"
                        " another database: give the --database of before, or another --data"
                    )
                made = chains.prepare_key(self._place.key)
                AuditLog(made).begin(db)
        if made:
            chains.put_in_place(path, made.name)
            return AuditLog(made)
        if (kept := chains.find_key(path)) is None:
            raise UsageError(
                f"the key of the audit log is missing: there is no {path}."
                " Restore it from a backup"
            )
        return AuditLog(kept)


def _server_engine(place: ServerPlace, **options: Any) -> Engine:
    """Return an engine for a server, with a connection for each use unless ``options`` pool."""
    return create_engine(
        "postgresql+psycopg://",
        creator=ledger_server.opener(place.address, place.name),
        hide_parameters=True,
        **(options or {"poolclass": NullPool}),
    )


def _engine(place: LedgerFile | ServerPlace) -> Engine:
    if isinstance(place, ServerPlace):
        return _server_engine(
            place,
            pool_pre_ping=True,
            pool_size=CONNECTIONS,
            max_overflow=4,
            isolation_level="READ COMMITTED",
        )
    # Connections are kept: the last one to be closed has the whole log written into the file.
    engine = create_engine(
        "sqlite://",
        creator=lambda: _file(place.path),
        poolclass=QueuePool,
        pool_size=CONNECTIONS,
        max_overflow=-1,
        hide_parameters=True,
    )
    # Who writes has the file from the beginning on.
    how = {True: "BEGIN IMMEDIATE", False: "BEGIN"}
    event.listen(engine, "begin", lambda db: db.exec_driver_sql(how[bool(db.info.get("writes"))]))
    event.listen(engine, "connect", lambda _, record: record.info.update(of=_identity(place.path)))
    event.listen(engine, "checkout", lambda _, record, __: _still(record.info["of"], place.path))
    return engine


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the identity of a file, which another of its name does not have; None without one."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _still(of: tuple[int, int] | None, path: Path) -> None:
    """Let a connection to a file that was removed or replaced be made anew: all would be lost."""
    if of != _identity(path):
        raise DisconnectionError(f"{path} is not the file that was opened")


def _file(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA foreign_keys = ON")
    return db


# --- Whether the service's database can be used, told without changing anything of it ------------


_OF_FILE = f"SELECT 1 FROM sqlite_master WHERE name = '{SERVICE_VERSION.name}'"
_OF_SERVER = f"SELECT 1 WHERE to_regclass('{SERVICE_VERSION.name}') IS NOT NULL"
_VERSION = f"SELECT version_num FROM {SERVICE_VERSION.name}"
_MAY_MAKE = "SELECT has_database_privilege(current_database(), 'CREATE')"


def probe(settings: Settings) -> str:
    """Return what the database is, in words.

    Raises:
        ServerError: it cannot be used now.
        UsageError: it is damaged, of another version, or the user may not make tables there.
    """
    place = settings.own_place()
    if isinstance(place, ServerPlace):
        with _on_server(place) as db:
            may = bool(db.execute(text(_MAY_MAKE)).scalar_one())
            has_tables = db.execute(text(_OF_SERVER)).scalar()
            version = db.execute(text(_VERSION)).scalar() if has_tables else ""
        require_version(place.name, version or "")
        if not may:
            raise UsageError(
                f"{place.name}: the user may not make schemas: GRANT CREATE ON DATABASE … TO …"
            )
        return place.name
    if not place.path.exists():
        return f"{place.name} will be made"
    with _reading_file(place) as file:
        said = str(file.execute("PRAGMA quick_check(1)").fetchone()[0])
        row = file.execute(_OF_FILE).fetchone() and file.execute(_VERSION).fetchone()
    if said != "ok":
        raise UsageError(f"{place.name} is damaged: {said}. Restore it from a backup")
    require_version(place.name, row[0] if row else "")
    if not place.key("").exists():
        raise UsageError(f"its key is missing: there is no {place.key('')}. Restore it")
    return place.name


@contextlib.contextmanager
def _on_server(place: ServerPlace) -> Iterator[Connection]:
    """Give a transaction, in a connection for it alone."""
    with ledger_server.naming_errors(place.name, SERVICE), _server_engine(place).begin() as db:
        yield db


@contextlib.contextmanager
def _reading_file(place: LedgerFile) -> Iterator[sqlite3.Connection]:
    try:
        with contextlib.closing(sqlite3.connect(f"{place.path.as_uri()}?mode=ro", uri=True)) as db:
            yield db
    except sqlite3.Error as error:
        raise ServerError(f"{place.name} cannot be used now: {error}") from None


# --- Copies: of a file that is in use, and of our schemas on a server; each is of one moment -----
# A server's are made and read by its own programs, which are told the password in their
# environment: everybody sees the arguments of a process.


def copy_file(source: Path, target: Path) -> None:
    """Copy a database in a file, even while others write into it.

    Raises:
        ServerError: it cannot be read, or the copy not be written.
    """
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with (
            contextlib.closing(sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True)) as old,
            contextlib.closing(sqlite3.connect(target)) as new,
        ):
            old.backup(new)
            new.execute("PRAGMA journal_mode = DELETE")  # one file, whole in itself
    except sqlite3.Error as error:
        raise ServerError(f"cannot copy {source} to {target}: {error}") from None


@contextlib.contextmanager
def still(source: Path) -> Iterator[None]:
    """Let nobody write into a database in a file meanwhile; who wants to waits.

    Raises:
        ServerError: others keep it locked.
    """
    with contextlib.closing(sqlite3.connect(source, _PATIENCE, isolation_level=None)) as db:
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise ServerError(f"{source} cannot be copied now: {error}") from None
        yield
        db.execute("ROLLBACK")


def dump(place: ServerPlace, target: Path) -> None:
    """Copy all schemas of a service on a server into a file.

    Raises:
        ServerError: the server cannot be used now.
        UsageError: its programs are not installed.
    """
    schemas = (f"--schema={OWN_SCHEMA}", f"--schema={schema_of('*')}")
    _run("pg_dump", place, "--format=custom", "--no-owner", *schemas, f"--file={target}")


def load(place: ServerPlace, source: Path) -> None:
    """Write what :func:`dump` copied into a database that has none of it: all, or nothing.

    Raises as :func:`dump`.
    """
    _run("pg_restore", place, "--single-transaction", "--exit-on-error", "--no-owner", source)


def unload(place: ServerPlace) -> None:
    """Remove all that :func:`load` wrote; raises as :func:`dump`."""
    with _on_server(place) as db:
        ids = db.execute(text(f"SELECT id FROM {OWN_SCHEMA}.assigned")).scalars()
        for name in (*map(schema_of, ids), OWN_SCHEMA):
            db.execute(text(f'DROP SCHEMA IF EXISTS "{name}" CASCADE'))


def _run(program: str, place: ServerPlace, *arguments: str | Path) -> None:
    if (path := shutil.which(program)) is None:
        raise UsageError(f"{program} is not installed (Debian: apt install postgresql-client)")
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    address = conninfo_to_dict(place.address)
    password = address.pop("password", None)
    address.pop("options", None)  # these programs choose schemas themselves
    done = subprocess.run(
        [path, "--no-password", f"--dbname={make_conninfo('', **address)}", *arguments],
        env={**os.environ, **({"PGPASSWORD": str(password)} if password else {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise ServerError(f"{program} of {place.name}: {said[0] if said else 'it failed'}")


_ASSIGNED = (
    "SELECT assigned.id, assigned.title, course.title FROM assigned"
    " JOIN course ON course.id = assigned.course ORDER BY 3, 2, 1"
)
_HAS_LEDGER = "SELECT to_regclass(:table) IS NOT NULL"


class AssignmentLedger(NamedTuple):
    """A ledger, and the assignment that it belongs to."""

    assignment: str  # the id
    title: str
    course: str  # the title
    place: LedgerFile | ServerPlace

    @property
    def key_is_missing(self) -> bool:
        """Whether nobody can check the ledger or write into it."""
        return not self.place.key("").exists()

    def describe(self) -> str:
        """Return what the ledger is of, and where its key should be."""
        return f"{self.title} ({self.course}): {self.place.key('')}"


def list_ledgers(settings: Settings) -> list[AssignmentLedger]:
    """Return the ledgers that there are: the first job about an assignment makes its own.

    Raises:
        ServerError: the database cannot be used now.
    """
    place = settings.own_place()
    rows: list[Any]
    if isinstance(place, ServerPlace):
        with _on_server(place) as db:
            rows = [
                one
                for one in db.execute(text(_ASSIGNED)).fetchall()
                if db.execute(text(_HAS_LEDGER), {"table": f'"{schema_of(one[0])}".mark'}).scalar()
            ]
    else:
        with _reading_file(place) as file:
            rows = file.execute(_ASSIGNED).fetchall()
    every = [AssignmentLedger(one[0], one[1], one[2], settings.ledger(one[0])) for one in rows]
    return [one for one in every if isinstance(one.place, ServerPlace) or one.place.path.exists()]
