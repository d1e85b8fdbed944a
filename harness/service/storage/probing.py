"""Whether the service's database can be used, told without changing anything of it."""

from __future__ import annotations

import contextlib
import sqlite3

from sqlalchemy import NullPool, create_engine, text

from harness.errors import ServerError, UsageError
from harness.grading.ledger import ledger_server
from harness.grading.ledger.places import LedgerFile, ServerPlace
from harness.service.settings import Settings
from harness.service.storage.database import SERVICE, refuse_later
from harness.service.storage.tables import VERSION_TABLE

_OF_FILE = f"SELECT 1 FROM sqlite_master WHERE name = '{VERSION_TABLE}'"
_OF_SERVER = f"SELECT 1 WHERE to_regclass('{VERSION_TABLE}') IS NOT NULL"
_VERSION = f"SELECT version_num FROM {VERSION_TABLE}"
_MAY_MAKE = "SELECT has_database_privilege(current_database(), 'CREATE')"


def probe(settings: Settings) -> str:
    """Return what the database is, in words.

    Raises:
        ServerError: it cannot be used now.
        UsageError: it is damaged, of a later version, or the user may not make tables there.
    """
    place = settings.own_place()
    return _of_server(place) if isinstance(place, ServerPlace) else _of_file(place)


def _of_file(place: LedgerFile) -> str:
    if not place.path.exists():
        return f"{place.name} will be made"
    try:
        with contextlib.closing(sqlite3.connect(f"{place.path.as_uri()}?mode=ro", uri=True)) as db:
            said = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
            row = db.execute(_OF_FILE).fetchone() and db.execute(_VERSION).fetchone()
    except sqlite3.Error as error:
        raise ServerError(f"{place.name} cannot be used now: {error}") from None
    if said != "ok":
        raise UsageError(f"{place.name} is damaged: {said}. Restore it from a backup")
    refuse_later(place.name, row[0] if row else "")
    if not place.key("").exists():
        raise UsageError(f"its key is missing: there is no {place.key('')}. Restore it")
    return place.name


def _of_server(place: ServerPlace) -> str:
    engine = create_engine(
        "postgresql+psycopg://",
        creator=ledger_server.opener(place.address, place.name),
        poolclass=NullPool,
        hide_parameters=True,
    )
    with ledger_server.naming_errors(place.name, SERVICE), engine.connect() as db:
        may = bool(db.execute(text(_MAY_MAKE)).scalar_one())
        has_tables = db.execute(text(_OF_SERVER)).scalar()
        version = db.execute(text(_VERSION)).scalar() if has_tables else ""
    refuse_later(place.name, version or "")
    if not may:
        raise UsageError(
            f"{place.name}: the user may not make schemas: GRANT CREATE ON DATABASE … TO …"
        )
    return place.name
