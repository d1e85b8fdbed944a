"""The interface of a ledger to its database, a file or a server.

A statement by itself is a transaction of its own; :meth:`LedgerDatabase.changing` and
:meth:`LedgerDatabase.reading` make one of several.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from harness.errors import HarnessError, UsageError
from harness.grading.ledger.ledger_tables import VERSION

_INSERTS: dict[str, Callable[[Table], Any]] = {
    "sqlite": sqlite.insert,
    "postgresql": postgresql.insert,
}


class LedgerDatabase(ABC):
    """A connection to a database. It is not shared by threads or processes."""

    refusal: ClassVar[type[HarnessError]] = UsageError  # a database that cannot be used

    def __init__(self, name: str, connection: Connection) -> None:
        """``name``: what it is called in messages."""
        self.name = name
        self.connection = connection

    def close(self) -> None:
        """Close it. What was written is written."""
        with contextlib.suppress(SQLAlchemyError):
            self.connection.close()
            self.connection.engine.dispose()

    def reconnect(self) -> bool:
        """Return whether there is a connection, or can be again with all that it held."""
        return not (self.connection.invalidated or self.connection.closed)

    # --- transactions ---

    begin: ClassVar[str]  # SQL: a transaction that writes
    begin_reading: ClassVar[str]  # SQL: a transaction that sees one moment

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Make one transaction: all of it happens, or nothing."""
        with self._transaction(self.begin):
            yield

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Read as if all was read at one moment."""
        with self._transaction(self.begin_reading):
            yield

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        self.connection.exec_driver_sql(begin)
        try:
            yield
        except BaseException:
            with contextlib.suppress(SQLAlchemyError):  # what is lost is rolled back by itself
                self.connection.exec_driver_sql("ROLLBACK")
            raise
        self.connection.exec_driver_sql("COMMIT")

    # --- what differs ---

    @abstractmethod
    def version(self) -> int:
        """Return the version of the ledger's tables, 0 if nothing is there.

        Raises:
            HarnessError: something else is there.
        """

    @abstractmethod
    def get_stored_version(self) -> int:
        """Return the version that a ledger says it has; it may be damaged."""

    @abstractmethod
    def own_errors(self, most: int) -> list[str]:
        """Return what the database itself finds wrong with its files, so many at most."""

    @abstractmethod
    def note_version(self) -> None:
        """Write down that the tables are those of today."""

    @abstractmethod
    def settle(self) -> None:
        """Do what is to be done once when tables were made, after that transaction."""

    @abstractmethod
    def lock(self, what: str, *, shared: bool = False) -> None:
        """Hold off others that lock the same until this transaction ends.

        ``shared``: not those that share it, too.
        """

    @abstractmethod
    def hold(self, token: str) -> None:
        """Let others see that leases with this token hold as long as this connection."""

    @abstractmethod
    def let_go(self, token: str) -> None:
        """Take back :meth:`hold`."""

    @abstractmethod
    def holds(self, token: str) -> bool:
        """Whether this process holds leases with this token: not if its ledger is closed."""

    @abstractmethod
    def list_held_tokens(self) -> set[str] | None:
        """Return the tokens that any connection holds; None: here that is not known."""

    @abstractmethod
    def naming_errors(self) -> contextlib.AbstractContextManager[None]:
        """Turn what the database says into sentences.

        Raises:
            LedgerError: it is damaged.
            HarnessError: it cannot be used now.
        """

    # --- what does not ---

    def require_version(self, found: int) -> int:
        """Return the version of the tables.

        Raises:
            HarnessError: it is another one than today's.
        """
        if found != VERSION:
            raise self.refusal(
                f"{self.name} is a ledger of another version: found version {found},"
                f" expected {VERSION}"
            )
        return found

    def insert_new(self, table: Table, rows: Iterable[Mapping[str, object]]) -> None:
        """Insert the rows whose keys are not in the table yet."""
        if values := list(rows):
            insert = _INSERTS[self.connection.dialect.name]
            self.connection.execute(insert(table).on_conflict_do_nothing(), values)
