"""A ledger that is one SQLite file, and the opening of a ledger's database, a file or a server."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from harness.core.errors import BusyError, LedgerError, UsageError
from harness.grading.ledger.ledger_server import LEDGER, LedgerDatabase, ServerDatabase
from harness.grading.ledger.ledger_tables import VERSION
from harness.grading.ledger.places import LedgerFile, Place

APPLICATION = 0x47545047  # "GTPG": by this the file is known as a ledger
_PATIENCE = 30.0  # seconds to wait for another process's transaction
_HOLDING: set[str] = set()  # tokens of leases that open ledgers of this process have
_LOCKED = ("SQLITE_BUSY", "SQLITE_LOCKED")  # and what they begin
_PAGE_SIZE = 8192  # bytes


class SqliteFile(LedgerDatabase):
    """An open file."""

    begin = "BEGIN IMMEDIATE"  # nobody else writes from its beginning on
    begin_reading = "BEGIN"

    def __init__(self, path: Path, name: str = "", advice: str = LEDGER.damaged) -> None:
        """``name``: in messages, if it is not the path. ``advice``: what to do if it is damaged.

        Raises:
            LedgerError: it is damaged.
            UsageError: it cannot be opened; a BusyError if others keep it locked.
        """
        self._advice = advice
        self._tokens: set[str] = set()

        def connect() -> sqlite3.Connection:
            db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
            # What is damaged must be read to be named: bytes that are not UTF-8 are text, too.
            db.text_factory = lambda data: str(data, "utf-8", "surrogateescape")
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA foreign_keys = ON")
            return db

        engine = create_engine(
            "sqlite://", creator=connect, poolclass=NullPool, isolation_level="AUTOCOMMIT"
        )
        with _naming_errors(name or str(path), advice):
            super().__init__(name or str(path), engine.connect())

    def version(self) -> int:
        """As in the base; what a file is for and its version stand in its first bytes."""
        found = (self._number("PRAGMA application_id"), self.get_stored_version())
        if found == (0, 0) and not self._number("SELECT count(*) FROM sqlite_master"):
            return 0
        if found[0] != APPLICATION:
            raise UsageError(f"{self.name} is a database, but not a ledger of gtp-harness")
        return self.require_version(found[1])

    def get_stored_version(self) -> int:
        return self._number("PRAGMA user_version")

    def note_version(self) -> None:
        self.connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION}")
        self.connection.exec_driver_sql(f"PRAGMA user_version = {VERSION}")

    def settle(self) -> None:
        """Let what says where all tables are lie where damage is least often: in the first page.

        It does, if that is large enough.
        """
        self.connection.exec_driver_sql(f"PRAGMA page_size = {_PAGE_SIZE}")
        self.connection.exec_driver_sql("VACUUM")

    def lock(self, what: str, *, shared: bool = False) -> None:
        """As in the base; SQLite lets only one process write anyway."""

    def hold(self, token: str) -> None:
        """As in the base; a process can see only its own connections here."""
        self._tokens.add(token)
        _HOLDING.add(token)

    def let_go(self, token: str) -> None:
        self._tokens.discard(token)
        _HOLDING.discard(token)

    def holds(self, token: str) -> bool:
        return token in _HOLDING

    def reconnect(self) -> bool:
        """As in the base; a file is opened again if an interrupt within a statement closed it."""
        if self.connection.invalidated:
            self.connection.rollback()  # of what ended with it; the next statement opens the file
        return not self.connection.closed

    def close(self) -> None:
        """As in the base; what could not be given back, because the file was locked, is free."""
        _HOLDING.difference_update(self._tokens)
        super().close()

    def list_held_tokens(self) -> set[str] | None:
        return None

    def naming_errors(self) -> contextlib.AbstractContextManager[None]:
        return _naming_errors(self.name, self._advice)

    def own_errors(self, most: int) -> list[str]:
        try:
            found = self.connection.exec_driver_sql(f"PRAGMA integrity_check({most})").fetchall()
        except DBAPIError as error:
            return [str(original(error))]
        return [text for (text,) in found if text != "ok"]

    def _number(self, query: str) -> int:
        return int(self.connection.exec_driver_sql(query).scalar_one())


@contextlib.contextmanager
def _naming_errors(name: str, advice: str) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:  # in what SQLite says of damaged names
        raise LedgerError(f"{name} is damaged: {error.reason}. {advice}") from None
    except (DBAPIError, sqlite3.Error) as error:
        raise _sentence(name, original(error), advice) from None


def _sentence(name: str, error: BaseException, advice: str) -> LedgerError | UsageError:
    text, is_operational = str(error), isinstance(error, sqlite3.OperationalError)
    if is_operational and getattr(error, "sqlite_errorname", "").startswith(_LOCKED):
        return BusyError(f"{name} was locked by another process for too long: try again")
    if is_operational and not text.startswith(("no such", "malformed")):
        return UsageError(f"{name} cannot be used as a ledger: {text}")
    if not is_operational and text == "file is not a database":
        return UsageError(f"{name} is not a ledger: {text}")
    return LedgerError(f"{name} is damaged: {text}. {advice}")


def original(error: BaseException) -> BaseException:
    """Return what the driver said, without what SQLAlchemy says of it."""
    return getattr(error, "orig", None) or error


def open_database(place: Place) -> LedgerDatabase:
    """Return the database at a place.

    Raises:
        HarnessError: it cannot be opened.
    """
    if isinstance(place, LedgerFile):
        return SqliteFile(place.path)
    return ServerDatabase(place.address, place.name)
