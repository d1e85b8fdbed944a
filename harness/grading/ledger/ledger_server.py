"""The interface of a ledger to its database, and the one on a PostgreSQL server.

A statement by itself is a transaction of its own; :meth:`LedgerDatabase.changing` and
:meth:`LedgerDatabase.reading` make one of several.
"""

import contextlib
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sqlalchemy import Connection, NullPool, Table, create_engine, inspect, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, PendingRollbackError, SQLAlchemyError

from harness.core import requirements
from harness.core.errors import HarnessError, LedgerError, ServerError, UsageError
from harness.grading.ledger.ledger_tables import METADATA, VERSION, VERSION_TABLE

if TYPE_CHECKING:
    import psycopg

_INSERTS: dict[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}


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

    def changing(self) -> contextlib.AbstractContextManager[None]:
        """Make one transaction: all of it happens, or nothing."""
        return self._transaction(self.begin)

    def reading(self) -> contextlib.AbstractContextManager[None]:
        """Read as if all was read at one moment."""
        return self._transaction(self.begin_reading)

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

    def own_errors(self, most: int) -> list[str]:
        """Return what the database itself finds wrong with its files, so many at most.

        A server looks after its files itself.
        """
        return []

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

    def require_version(self, version: int) -> int:
        """Return the version of the tables.

        Raises:
            HarnessError: it is another one than today's.
        """
        if version != VERSION:
            raise self.refusal(
                f"{self.name} is a ledger of another version: found version {version},"
                f" expected {VERSION}"
            )
        return version

    def insert_new(self, table: Table, rows: Iterable[Mapping[str, object]]) -> None:
        """Insert the rows whose keys are not in the table yet."""
        if values := list(rows):
            insert = _INSERTS[self.connection.dialect.name]
            self.connection.execute(insert(table).on_conflict_do_nothing(), values)


# --- a ledger on a PostgreSQL server, which many processes and machines use at once ------------
# A process with leases also holds a lock of the server, which ends with the connection. So the
# leases of a process that died, or that can no longer reach the server, are free at once.


# A connection is lost after so long a silence of the other end. Seconds; milliseconds.
_SILENCE = {
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}
# What libpq does if the address says nothing else.
_PATIENCE = {"connect_timeout": "10", **_SILENCE, "application_name": "gtp-harness"}
_SETTINGS = (
    # The server, too: by itself it would keep the locks of a machine that is gone for two hours.
    *(f"SET tcp_{name.removeprefix('tcp_')} = {value}" for name, value in _SILENCE.items()),
    "SET synchronous_commit = on",  # what was said to be written is so after a power cut
    "SET lock_timeout = '30s'",
    "SET standard_conforming_strings = on",
)
# What it logs of an error is raised as well, and told in a sentence: nobody reads it twice.
logging.getLogger("psycopg").addHandler(logging.NullHandler())
_SPACE = 0x47545047  # of the locks, that others' are not meant
# By SQLSTATE or its first two letters (PostgreSQL's manual, appendix A).
_DAMAGED = ("42P01", "42703", "XX")  # no such table, no such column, internal
_ADVICE = {
    "25006": "It is read-only: a standby, or set so",
    "42501": "The user needs the rights to make tables there, and to read and write them",
    "53": "The server lacks room",
    "55P03": "Others keep it busy",
}


class ServerWords(NamedTuple):
    """The words about a server for those who use it for something."""

    use: str  # "cannot be used …"
    lost: str  # a sentence: what to do when it is away
    damaged: str  # the same when it is damaged


LEDGER = ServerWords(
    use="as a ledger",
    lost="Results are kept; the same command continues",
    damaged="gtp-harness ledger check tells more, and ledger salvage saves what can be read",
)


class ServerDatabase(LedgerDatabase):
    """A connection to a server."""

    refusal: ClassVar[type[HarnessError]] = ServerError
    begin = "BEGIN ISOLATION LEVEL READ COMMITTED"
    begin_reading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    def __init__(self, address: str, name: str) -> None:
        """``address``: for libpq; ``name``: for people, without a password.

        Raises:
            ServerError: there is no connection to be had.
            UsageError: psycopg is not installed, or the address cannot be read.
        """
        requirements.require(f"the ledger {name}", "postgresql", "psycopg")
        engine = create_engine(
            "postgresql+psycopg://",
            creator=opener(address, name),
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
            hide_parameters=True,
        )
        with naming_errors(name):
            super().__init__(name, engine.connect())
            try:
                encoding = self.connection.exec_driver_sql("SHOW server_encoding").scalar_one()
                if encoding != "UTF8":
                    raise ServerError(
                        f"{self.name} has the encoding {encoding}, and a ledger needs UTF8:"
                        " CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
                    )
            except BaseException:
                self.close()
                raise

    def version(self) -> int:
        """As in the base. All tables of a ledger lie in one schema, with no others."""
        tables = set(inspect(self.connection).get_table_names())
        if not tables & {VERSION_TABLE, *METADATA.tables}:
            return 0
        if VERSION_TABLE not in tables:
            raise ServerError(
                f"{self.name} has tables of others, but is not a ledger of gtp-harness: give it a"
                " database of its own"
            )
        return self.require_version(self.get_stored_version())

    def get_stored_version(self) -> int:
        query = f"SELECT version_num FROM {VERSION_TABLE}"
        found = self.connection.exec_driver_sql(query).scalar() or ""
        return int(found) if found.isdigit() else 0

    def note_version(self) -> None:
        """As in the base: it was noted with the tables."""

    def settle(self) -> None:
        """As in the base: there is nothing to be done."""

    def lock(self, what: str, *, shared: bool = False) -> None:
        name = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
        query = text(f"SELECT {name}({_SPACE}, hashtext(:what))")
        self.connection.execute(query, {"what": what})

    def hold(self, token: str) -> None:
        query = text("SELECT pg_advisory_lock(:number)")
        self.connection.execute(query, {"number": _number(token)})

    def let_go(self, token: str) -> None:
        query = text("SELECT pg_advisory_unlock(:number)")
        self.connection.execute(query, {"number": _number(token)})

    def holds(self, token: str) -> bool:
        """As in the base: the server knows, see :meth:`list_held_tokens`."""
        return True

    def list_held_tokens(self) -> set[str] | None:
        query = (
            "SELECT classid::bigint, objid::bigint FROM pg_locks WHERE locktype = 'advisory'"
            " AND objsubid = 1 AND granted"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        rows = self.connection.exec_driver_sql(query)
        return {f"{high << 32 | low:016x}" for high, low in rows}

    def naming_errors(self) -> contextlib.AbstractContextManager[None]:
        return naming_errors(self.name)


def _number(token: str) -> int:
    """Return the number of a token's lock, which has 64 bits with a sign."""
    return int.from_bytes(bytes.fromhex(token), signed=True)


def opener(address: str, name: str) -> "Callable[[], psycopg.Connection[Any]]":
    """Return what opens a connection as we want it; ``name``: of the address, for people.

    Calling it raises UsageError if libpq does not take the address.
    """

    def connect() -> "psycopg.Connection[Any]":
        import psycopg
        from psycopg.conninfo import conninfo_to_dict

        try:
            given = conninfo_to_dict(address)
        except psycopg.ProgrammingError:  # what it says has a part of the address in it
            raise UsageError(f"cannot read the address {name}: libpq does not take it") from None
        wanted: dict[str, Any] = {**_PATIENCE, **given}
        connection = psycopg.connect(**wanted, autocommit=True)
        for setting in _SETTINGS:
            connection.execute(setting)
        return connection

    return connect


@contextlib.contextmanager
def naming_errors(name: str, wording: ServerWords = LEDGER) -> Iterator[None]:
    """Turn what a server says into sentences; ``name``: of its address, for people.

    Raises:
        LedgerError: a table is damaged.
        ServerError: the server cannot be used now.
    """
    try:
        yield
    except PendingRollbackError:
        raise ServerError(f"the connection to {name} is lost. {wording.lost}") from None
    except DBAPIError as error:
        said = error.orig
        state = getattr(said, "sqlstate", None) or ""
        primary = getattr(getattr(said, "diag", None), "message_primary", None)
        what = primary or _last_reason(str(said))
        if state.startswith(_DAMAGED):
            raise LedgerError(f"{name} is damaged: {what}. {wording.damaged}") from None
        if error.connection_invalidated:
            lost = f"the connection to {name} is lost: {what}. {wording.lost}"
            raise ServerError(lost) from None
        advice = _ADVICE.get(state) or _ADVICE.get(state[:2]) or wording.lost
        raise ServerError(f"{name} cannot be used {wording.use}: {what}. {advice}") from None


def _last_reason(message: str) -> str:
    """Return why a server cannot be reached: of several tries the last, on one line."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    reasons = (line for line in lines if "failed" in line or "error" in line)
    reason = next(reasons, "".join(lines[:1]))
    return reason.rpartition("FATAL:")[2].strip().rstrip(".")
