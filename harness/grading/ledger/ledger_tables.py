"""The tables of a ledger, alike on SQLite and PostgreSQL, and its statements."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

VERSION = 3  # of these tables
VERSION_TABLE = "ledger_version"  # where it is noted, on a server too
LINK, DIGEST = "link", "signature"  # what a row of a signed table carries

METADATA = sa.MetaData()
TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
NUMBER: TypeEngine[float] = sa.Double().with_variant(sqlite.REAL(), "sqlite")
BYTES = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _column(name: str, kind: TypeEngine[Any], *more: Any, **rest: Any) -> sa.Column[Any]:
    """Return a column that is never empty."""
    return sa.Column(name, kind, *more, nullable=False, **rest)


def _table(name: str, *parts: SchemaItem, rowid: bool = False) -> sa.Table:
    return sa.Table(name, METADATA, *parts, sqlite_strict=True, sqlite_with_rowid=rowid)


def _make_signed_table(name: str, *parts: SchemaItem, rowid: bool = False) -> sa.Table:
    """Return a table with a chain. A row that is not signed has the link 0."""
    link = _column(LINK, sa.Integer(), server_default=sa.text("0"))
    digest = _column(DIGEST, TEXT, server_default=sa.text("''"))
    return _table(name, *parts, link, digest, rowid=rowid)


SEED = _make_signed_table(  # one row: of whatever is chosen so that nobody can know it before
    "seed",
    _column("value", TEXT),
    rowid=True,
)
RUN = _make_signed_table(  # one call of the command
    "run",
    _column("id", sa.Integer(), primary_key=True, autoincrement=False),
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
    _column("bytes", sa.LargeBinary()),
)
CASE_FILE = _make_signed_table(  # what a run asked
    "case_file",
    _column("run", sa.Integer(), sa.ForeignKey("run.id"), primary_key=True),
    _column("position", sa.Integer()),
    _column("kind", TEXT, primary_key=True),  # public, private or image
    _column("name", TEXT, primary_key=True),
    _column("sha256", TEXT, sa.ForeignKey("content.sha256")),
    _column("path", TEXT),  # where it lay, and with it the files that its commands name
)
SUBMISSION = _make_signed_table(  # what a run graded
    "submission",
    _column("run", sa.Integer(), sa.ForeignKey("run.id"), primary_key=True),
    _column("key", TEXT, primary_key=True),
    _column("record", TEXT),  # JSON
)
BUILD = _make_signed_table(
    "build",
    _column("basis", TEXT, primary_key=True),
    _column("result", TEXT),  # JSON
    _column("seconds", NUMBER),
)
_STATES = sa.CheckConstraint("state IN ('waiting', 'leased', 'done', 'fault')")
ATTEMPT = _table(  # submission × case file
    "attempt",
    _column("basis", TEXT, primary_key=True),
    _column("key", TEXT),  # of the submission
    _column("kind", TEXT),
    _column("name", TEXT),  # of the case file
    _column("sha256", TEXT),  # of its content
    _column("build", TEXT),  # the basis of the submission's build
    _column("state", TEXT, _STATES, server_default=sa.text("'waiting'")),
    _column("token", TEXT, server_default=sa.text("''")),  # of the lease: who has it may finish
    _column("owner", TEXT, server_default=sa.text("''")),  # of it: machine, process, its start
    _column("until", NUMBER, server_default=sa.text("0")),  # its end, seconds since 1970
    _column("faults", sa.Integer(), server_default=sa.text("0")),
    _column("fault", TEXT, server_default=sa.text("''")),  # how the harness failed the last time
)
WANTED = _make_signed_table(  # the attempts that a run is made of
    "wanted",
    _column("run", sa.Integer(), sa.ForeignKey("run.id"), primary_key=True),
    _column("basis", TEXT, sa.ForeignKey("attempt.basis"), primary_key=True),
)
RESULT = _make_signed_table(
    "result",
    _column("basis", TEXT, sa.ForeignKey("attempt.basis"), primary_key=True),
    _column("number", sa.Integer(), primary_key=True, autoincrement=False),  # 2: rerun, alone
    _column("token", TEXT),
    _column("result", TEXT),  # JSON; null: there was nothing to run
    _column("started", TEXT),
    _column("pid", sa.Integer()),
    _column("seconds", NUMBER),
    _column("cpu", NUMBER),  # seconds of the engine and all it started
    _column("memory", BYTES),  # bytes
    _column("own_cpu", NUMBER),  # seconds of the harness
    _column("figures", TEXT),  # JSON: these and the times of the replies
    _column("last", sa.Integer(), server_default=sa.text("1")),  # 0: in doubt, to be rerun
)
MARK = _make_signed_table(
    "mark",
    _column("id", sa.Integer(), primary_key=True, autoincrement=False),
    _column("run", sa.Integer(), sa.ForeignKey("run.id")),
    _column("key", TEXT),  # of the submission
    _column("given", TEXT),  # when, ISO 8601, UTC
    _column("marks", TEXT),  # JSON
    _column("submission", TEXT),  # JSON
    _column("bases", TEXT),  # of the attempts it was made of, one in a line
    rowid=True,
)
sa.Index("mark_of", MARK.c.key, MARK.c.id)
SIGNER = _table(  # one row
    "signer",
    _column("name", TEXT),  # of the key
    _column("taken_over", TEXT),  # empty
    rowid=True,
)
CHAIN = _table(  # the end of each table's chain
    "chain",
    _column("name", TEXT, primary_key=True),
    _column("length", sa.Integer()),
    _column("digest", TEXT),
    _column("unsigned", sa.Integer()),
    _column("seal", TEXT),  # the digest of this row
)


# --- The statements of a ledger. They are made once: to make one takes longer than to execute it -


# --- all of the ledger ---

SEED_VALUE = select(SEED.c.value)
KEY_NAME = select(SIGNER.c.name)
SIGN = sa.insert(SIGNER)

# --- runs ---

_GRADED = RUN.c.id.in_(select(SUBMISSION.c.run))
_RUN = select(
    RUN.c.id, RUN.c.started, RUN.c.version, RUN.c.assignment, RUN.c.digest, RUN.c.options
)
LAST_RUN = _RUN.where(_GRADED).order_by(RUN.c.id.desc()).limit(1)
RUN_OF = _RUN.where(RUN.c.id == bindparam("run"))
CASES = (
    select(
        CASE_FILE.c.kind, CASE_FILE.c.name, CONTENT.c.bytes, CASE_FILE.c.path, CASE_FILE.c.sha256
    )
    .join_from(CASE_FILE, CONTENT)
    .where(CASE_FILE.c.run == bindparam("run"))
    .order_by(CASE_FILE.c.position)
)
CONTENT_OF = select(CONTENT.c.bytes).where(CONTENT.c.sha256 == bindparam("sha256"))
SUBMISSIONS = (
    select(SUBMISSION.c.key, SUBMISSION.c.record)
    .where(SUBMISSION.c.run == bindparam("run"))
    .order_by(SUBMISSION.c.key)
)

# --- attempts ---

WITHDRAWN = "withdrawn"  # instead of a result, or of a build: what comes before counts no more
# How many rows an attempt has up to the last that withdrew its results.
_WITHDRAWN_ROWS = (
    select(sa.func.coalesce(sa.func.max(RESULT.c.number), 0))
    .where(RESULT.c.basis == ATTEMPT.c.basis, RESULT.c.result == WITHDRAWN)
    .scalar_subquery()
)
_ONE = ATTEMPT.c.basis == bindparam("of")
_SOME = ATTEMPT.c.basis.in_(bindparam("bases", expanding=True))
_LEASED = ATTEMPT.c.state == "leased"
_BY = ATTEMPT.c.token == bindparam("by")
PLAN = ("key", "kind", "name", "sha256", "build")  # what an attempt was planned to be
_PLANNED = [ATTEMPT.c[name] for name in PLAN]
_LEASES = (ATTEMPT.c.token, ATTEMPT.c.owner, ATTEMPT.c.until)

PLANNED = select(*_PLANNED).where(_ONE)
WANTED_OF = (
    select(ATTEMPT.c.basis, *_PLANNED)
    .join_from(ATTEMPT, WANTED)
    .where(WANTED.c.run == bindparam("run"))
    .order_by(ATTEMPT.c.basis)
)
STATES = select(ATTEMPT.c.basis, ATTEMPT.c.state, ATTEMPT.c.faults, ATTEMPT.c.fault).where(_SOME)
MINE = (
    select(ATTEMPT.c.basis, _WITHDRAWN_ROWS.label("withdrawn"))
    .where(_SOME, _BY, _LEASED)
    .order_by(ATTEMPT.c.basis)
    .with_for_update(of=ATTEMPT)
)
IDLE = (
    select(ATTEMPT.c.basis, ATTEMPT.c.build)
    .where(_SOME, ATTEMPT.c.state != "leased")
    .order_by(ATTEMPT.c.basis)
    .with_for_update()
)
WAIT_AGAIN = update(ATTEMPT).where(_SOME).values(state="waiting", token="", faults=0, fault="")
LEASES = select(*_LEASES).where(_LEASED).distinct()
# Of these, anyone who locks one has it; others pass it over instead of waiting.
NOT_DONE = (
    select(ATTEMPT.c.basis, ATTEMPT.c.state, *_LEASES)
    .where(_SOME, ATTEMPT.c.state.in_(("waiting", "leased")))
    .with_for_update(skip_locked=True)
)
TAKE = (
    update(ATTEMPT)
    .where(_SOME, ATTEMPT.c.state != "done")
    .values(
        state="leased", token=bindparam("by"), owner=bindparam("whose"), until=bindparam("end")
    )
)
BEGIN_ANEW = update(ATTEMPT).where(_BY, _LEASED).values(faults=0, fault="")
TRY_AGAIN = (
    update(ATTEMPT)
    .where(_SOME, ATTEMPT.c.state == "fault")
    .values(state="waiting", faults=0, fault="")
)
RELEASE = update(ATTEMPT).where(_BY, _LEASED).values(state="waiting", token="", owner="", until=0)
RENEW = update(ATTEMPT).where(_BY).values(until=bindparam("end"))
DONE = update(ATTEMPT).where(_SOME).values(state="done")
SETTLE = update(ATTEMPT).where(_ONE, _BY).values(state="done")
_MORE = ATTEMPT.c.faults + 1
BROKE = (
    update(ATTEMPT)
    .where(_ONE, _BY, _LEASED)
    .values(
        faults=_MORE,
        fault=bindparam("why"),
        state=sa.case((bindparam("most") <= _MORE, "fault"), else_=ATTEMPT.c.state),
    )
)

# --- results ---

RESULTS = (
    select(RESULT.c.result, RESULT.c.figures, RESULT.c.started)
    .where(RESULT.c.basis == bindparam("of"))
    .order_by(RESULT.c.number)
)
FIGURES = (  # without the results, which are long
    select(RESULT.c.basis, RESULT.c.figures, RESULT.c.result == WITHDRAWN)
    .where(RESULT.c.basis.in_(bindparam("bases", expanding=True)))
    .order_by(RESULT.c.basis, RESULT.c.number)
)
LAST_NUMBERS = (
    select(RESULT.c.basis, sa.func.max(RESULT.c.number))
    .where(RESULT.c.basis.in_(bindparam("bases", expanding=True)))
    .group_by(RESULT.c.basis)
)
# A build that is made again has the name of the first with a number behind it. The bounds are such
# that they hold in every collation of a server, those that pass over blanks too.
BUILDS_OF = (
    select(BUILD.c.result)
    .where(BUILD.c.basis >= bindparam("of"), BUILD.c.basis <= bindparam("last"))
    .order_by(BUILD.c[LINK])
)

# --- marks ---

_MARK = select(MARK.c.key, MARK.c.marks, MARK.c.submission, MARK.c.bases, MARK.c.run, MARK.c.given)
HISTORY = _MARK.where(MARK.c.key == bindparam("key")).order_by(MARK.c.id)
_LAST = select(sa.func.max(MARK.c.id)).group_by(MARK.c.key)
IN_FORCE = _MARK.where(MARK.c.id.in_(_LAST)).order_by(MARK.c.key)
LARGEST_IDS = {
    table.name: select(sa.func.coalesce(sa.func.max(table.c.id), 0)) for table in (RUN, MARK)
}

# --- chains ---

END = select(CHAIN.c.length, CHAIN.c.digest, CHAIN.c.unsigned, CHAIN.c.seal).where(
    CHAIN.c.name == bindparam("of")
)
HELD_END = END.with_for_update()
SET_END = update(CHAIN).where(CHAIN.c.name == bindparam("of"))
CASE_CONTENTS = (
    select(CASE_FILE.c.name, CASE_FILE.c.sha256, CONTENT.c.bytes)
    .join_from(CASE_FILE, CONTENT, isouter=True)
    .distinct()
)
