"""Open a ledger's database, and make its tables."""

from __future__ import annotations

from sqlalchemy import Column, MetaData, String, Table, insert

from harness.grading.ledger.ledger_database import LedgerDatabase
from harness.grading.ledger.ledger_tables import METADATA, VERSION, VERSION_TABLE
from harness.grading.ledger.places import LedgerFile, ServerPlace


def open_database(place: LedgerFile | ServerPlace) -> LedgerDatabase:
    """Return the database at a place.

    Raises:
        HarnessError: it cannot be opened.
    """
    if isinstance(place, ServerPlace):
        from harness.grading.ledger.ledger_server import ServerDatabase

        return ServerDatabase(place.address, place.name)
    from harness.grading.ledger.sqlite_file import SqliteFile

    return SqliteFile(place.path)


def make_tables(database: LedgerDatabase) -> None:
    """Make all tables in an empty database, with a note of their version."""
    for table in METADATA.tables.values():  # first those that most others depend on: page by page
        table.create(database.connection)
    noted = Table(VERSION_TABLE, MetaData(), Column("version_num", String(32), primary_key=True))
    noted.create(database.connection)
    database.connection.execute(insert(noted), {"version_num": str(VERSION)})
    database.note_version()
