"""The ledgers of a service, read without bringing its tables up to today's."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import NamedTuple

from sqlalchemy import NullPool, create_engine, text

from harness.errors import ServerError
from harness.grading.ledger import ledger_server
from harness.grading.ledger.places import LedgerFile, ServerPlace
from harness.service.settings import Settings, schema_of
from harness.service.storage.database import SERVICE

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
    found = _of_server(place) if isinstance(place, ServerPlace) else _of_file(place)
    every = [AssignmentLedger(*one, settings.ledger(one[0])) for one in found]
    return [one for one in every if isinstance(one.place, ServerPlace) or one.place.path.exists()]


def _of_file(place: LedgerFile) -> list[tuple[str, str, str]]:
    """Return the assignments."""
    try:
        with contextlib.closing(sqlite3.connect(f"{place.path.as_uri()}?mode=ro", uri=True)) as db:
            return db.execute(_ASSIGNED).fetchall()
    except sqlite3.Error as error:
        raise ServerError(f"{place.name} cannot be used now: {error}") from None


def _of_server(place: ServerPlace) -> list[tuple[str, str, str]]:
    """Return the assignments with a ledger."""
    engine = create_engine(
        "postgresql+psycopg://",
        creator=ledger_server.opener(place.address, place.name),
        poolclass=NullPool,
        hide_parameters=True,
    )
    with ledger_server.naming_errors(place.name, SERVICE), engine.connect() as db:
        every = [(one[0], one[1], one[2]) for one in db.execute(text(_ASSIGNED))]
        return [
            one
            for one in every
            if db.execute(text(_HAS_LEDGER), {"table": f'"{schema_of(one[0])}".mark'}).scalar()
        ]
