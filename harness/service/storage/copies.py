"""Copies of databases: of a SQLite file that is in use, and of our schemas on a server.

Each copy is of one moment. A server's are made and read by its own programs, which are told the
password in their environment: everybody sees the arguments of a process.
"""

import contextlib
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import text

from harness.errors import ServerError, UsageError
from harness.grading.ledger import ledger_server
from harness.grading.ledger.places import LedgerFile, ServerPlace
from harness.service.settings import Settings, own_schema, schema_of
from harness.service.storage.database import SERVICE, server_engine

_PATIENCE = 30.0  # seconds to wait for another's transaction


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
    schemas = (f"--schema={own_schema()}", f"--schema={schema_of('*')}")
    _run("pg_dump", place, "--format=custom", "--no-owner", *schemas, f"--file={target}")


def load(place: ServerPlace, source: Path) -> None:
    """Write what :func:`dump` copied into a database that has none of it: all, or nothing.

    Raises as :func:`dump`.
    """
    options = ("--single-transaction", "--exit-on-error", "--no-owner")
    _run("pg_restore", place, *options, source)


def unload(place: ServerPlace) -> None:
    """Remove all that :func:`load` wrote.

    Raises as :func:`dump`.
    """
    with ledger_server.naming_errors(place.name, SERVICE), server_engine(place).begin() as db:
        ids = db.execute(text(f"SELECT id FROM {own_schema()}.assigned")).scalars()
        for name in (*map(schema_of, ids), own_schema()):
            db.execute(text(f'DROP SCHEMA IF EXISTS "{name}" CASCADE'))


def _run(program: str, place: ServerPlace, *arguments: str | Path) -> None:
    path = shutil.which(program)
    if path is None:
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
        with (
            ledger_server.naming_errors(place.name, SERVICE),
            server_engine(place).connect() as db,
        ):
            rows = [
                one
                for one in db.execute(text(_ASSIGNED)).fetchall()
                if db.execute(text(_HAS_LEDGER), {"table": f'"{schema_of(one[0])}".mark'}).scalar()
            ]
    else:
        address = f"{place.path.as_uri()}?mode=ro"
        try:
            with contextlib.closing(sqlite3.connect(address, uri=True)) as file:
                rows = file.execute(_ASSIGNED).fetchall()
        except sqlite3.Error as error:
            raise ServerError(f"{place.name} cannot be used now: {error}") from None
    every = [AssignmentLedger(one[0], one[1], one[2], settings.ledger(one[0])) for one in rows]
    return [one for one in every if isinstance(one.place, ServerPlace) or one.place.path.exists()]
