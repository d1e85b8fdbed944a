"""Ledgers of both kinds for tests, and what looks into them as others would."""

import sqlite3
from contextlib import closing

import pytest

from harness.grading.ledger.ledger import BuildRow, FinishedRun
from harness.grading.ledger.places import LedgerFile, ServerPlace

KINDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.processes)]


def place_of(kind, request, folder, name="ledger.sqlite"):
    """Return a new place for a ledger of a kind; its key lies in the folder."""
    if kind == "sqlite":
        return LedgerFile(folder / name)
    return ServerPlace(request.getfixturevalue("database"), folder / f"{name}.key")


def execute(place, *statements):
    """Execute statements beside the ledger; return the rows of the last one."""
    if isinstance(place, LedgerFile):
        with closing(sqlite3.connect(place.path)) as db, db:
            return [db.execute(statement).fetchall() for statement in statements][-1]
    import psycopg

    with psycopg.connect(place.address, autocommit=True) as db:
        cursors = [db.execute(statement) for statement in statements]
        return cursors[-1].fetchall() if cursors[-1].description else []


def finish(ledger, basis, token, row, number, last):
    return ledger.finish_all(token, [FinishedRun(basis, row, number, last)])


def set_build(ledger, *row):
    return ledger.finish_all("", [], [BuildRow(*row)])
