"""The tables of a ledger, alike on SQLite and PostgreSQL.

Texts are compared by their bytes on both, so that all orders are the same everywhere.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

VERSION = 3  # of these tables
VERSION_TABLE = "ledger_version"  # where it is noted, on a server too
LINK, DIGEST = "link", "signature"  # what a row of a signed table carries

METADATA = MetaData()
TEXT = Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
NUMBER: TypeEngine[float] = Double().with_variant(sqlite.REAL(), "sqlite")
BYTES = BigInteger().with_variant(Integer(), "sqlite")


def _column(name: str, kind: TypeEngine[Any], *more: Any, **rest: Any) -> Column[Any]:
    """Return a column that is never empty."""
    return Column(name, kind, *more, nullable=False, **rest)


def _table(name: str, *parts: SchemaItem, rowid: bool = False) -> Table:
    return Table(name, METADATA, *parts, sqlite_strict=True, sqlite_with_rowid=rowid)


def _make_signed_table(name: str, *parts: SchemaItem, rowid: bool = False) -> Table:
    """Return a table with a chain. A row that is not signed has the link 0."""
    link = _column(LINK, Integer(), server_default=text("0"))
    digest = _column(DIGEST, TEXT, server_default=text("''"))
    return _table(name, *parts, link, digest, rowid=rowid)


SEED = _make_signed_table(  # one row: of whatever is chosen so that nobody can know it before
    "seed",
    _column("value", TEXT),
    rowid=True,
)
RUN = _make_signed_table(  # one call of the command
    "run",
    _column("id", Integer(), primary_key=True, autoincrement=False),
    _column("started", TEXT),  # ISO 8601, UTC
    _column("version", TEXT),  # of the harness
    _column("assignment", TEXT),
    _column("digest", TEXT),  # SHA-256 of the assignment file
    _column("options", TEXT),  # JSON
    rowid=True,
)
CONTENT = _table(  # of case files
    "content",
    _column("sha256", TEXT, primary_key=True),
    _column("bytes", LargeBinary()),
)
CASE_FILE = _make_signed_table(  # what a run asked
    "case_file",
    _column("run", Integer(), ForeignKey("run.id"), primary_key=True),
    _column("position", Integer()),
    _column("kind", TEXT, primary_key=True),  # public, private or image
    _column("name", TEXT, primary_key=True),
    _column("sha256", TEXT, ForeignKey("content.sha256")),
    _column("path", TEXT),  # where it lay, and with it the files that its commands name
)
SUBMISSION = _make_signed_table(  # what a run graded
    "submission",
    _column("run", Integer(), ForeignKey("run.id"), primary_key=True),
    _column("key", TEXT, primary_key=True),
    _column("record", TEXT),  # JSON
)
BUILD = _make_signed_table(
    "build",
    _column("basis", TEXT, primary_key=True),
    _column("result", TEXT),  # JSON
    _column("seconds", NUMBER),
)
_STATES = CheckConstraint("state IN ('waiting', 'leased', 'done', 'fault')")
ATTEMPT = _table(  # submission × case file
    "attempt",
    _column("basis", TEXT, primary_key=True),
    _column("key", TEXT),  # of the submission
    _column("kind", TEXT),
    _column("name", TEXT),  # of the case file
    _column("sha256", TEXT),  # of its content
    _column("build", TEXT),  # the basis of the submission's build
    _column("state", TEXT, _STATES, server_default=text("'waiting'")),
    # of the lease: its holder may finish the attempt
    _column("token", TEXT, server_default=text("''")),
    # whose the lease is: machine, process, its start
    _column("owner", TEXT, server_default=text("''")),
    # the end of the lease, seconds since 1970
    _column("until", NUMBER, server_default=text("0")),
    _column("faults", Integer(), server_default=text("0")),
    # how the harness failed the last time
    _column("fault", TEXT, server_default=text("''")),
)
WANTED = _make_signed_table(  # the attempts that a run is made of
    "wanted",
    _column("run", Integer(), ForeignKey("run.id"), primary_key=True),
    _column("basis", TEXT, ForeignKey("attempt.basis"), primary_key=True),
)
RESULT = _make_signed_table(
    "result",
    _column("basis", TEXT, ForeignKey("attempt.basis"), primary_key=True),
    # 1, and 2 for the second run, alone
    _column("number", Integer(), primary_key=True, autoincrement=False),
    _column("token", TEXT),
    _column("result", TEXT),  # JSON; null: there was nothing to run
    _column("started", TEXT),
    _column("pid", Integer()),
    _column("seconds", NUMBER),
    _column("cpu", NUMBER),  # seconds of the engine and all it started
    _column("memory", BYTES),  # bytes
    _column("own_cpu", NUMBER),  # seconds of the harness
    _column("figures", TEXT),  # JSON: these and the times of the replies
    _column("last", Integer(), server_default=text("1")),  # 0: in doubt, to be rerun
)
MARK = _make_signed_table(
    "mark",
    _column("id", Integer(), primary_key=True, autoincrement=False),
    _column("run", Integer(), ForeignKey("run.id")),
    _column("key", TEXT),  # of the submission
    _column("given", TEXT),  # when, ISO 8601, UTC
    _column("marks", TEXT),  # JSON
    _column("submission", TEXT),  # JSON
    _column("bases", TEXT),  # of the attempts it was made of, one in a line
    rowid=True,
)
Index("mark_of", MARK.c.key, MARK.c.id)
SIGNER = _table(  # one row
    "signer",
    _column("name", TEXT),  # of the key
    _column("taken_over", TEXT),  # empty
    rowid=True,
)
CHAIN = _table(  # the end of each table's chain
    "chain",
    _column("name", TEXT, primary_key=True),
    _column("length", Integer()),
    _column("digest", TEXT),
    _column("unsigned", Integer()),
    _column("seal", TEXT),  # the digest of this row
)
