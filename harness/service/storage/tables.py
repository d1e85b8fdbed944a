"""The service's own tables, alike on SQLite and PostgreSQL, and the records of their rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar, get_type_hints

import sqlalchemy as sa
from sqlalchemy import Column, ColumnElement, Connection, ForeignKey, Index, Select, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.types import TypeEngine

from harness.service import records

METADATA = sa.MetaData()
VERSION = "1"  # of these tables: a service refuses those of another one
_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
_NUMBER: TypeEngine[float] = sa.Double().with_variant(sqlite.REAL(), "sqlite")
_BYTES = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _text(name: str, *more: Any, **rest: Any) -> Column[Any]:
    default = None if rest.get("primary_key") else sa.text("''")
    return Column(name, _TEXT, *more, nullable=False, server_default=default, **rest)


def _key(name: str, *more: Any) -> Column[Any]:
    return _text(name, *more, primary_key=True)


def _number(name: str, **rest: Any) -> Column[Any]:
    return Column(name, _NUMBER, nullable=False, server_default=sa.text("0"), **rest)


def _whole(name: str, kind: TypeEngine[Any] | None = None, **rest: Any) -> Column[Any]:
    default = None if rest.get("primary_key") else sa.text("0")
    return Column(name, kind or sa.Integer(), nullable=False, server_default=default, **rest)


_COLUMNS: dict[type, Callable[..., Column[Any]]] = {
    str: _text, float: _number, int: _whole, bool: _whole,
}  # fmt: skip


def _table(name: str, record: type, *keys: str, **references: str) -> Table:
    """Return a table with a column for each field of a record, called as the field.

    ``keys``: fields of the primary key. ``references``: tables whose ids fields are.
    """
    columns = []
    for field, kind in get_type_hints(record).items():
        more: list[Any] = [_BYTES] if field == "size" else []
        if field in references:
            more = [ForeignKey(f"{references[field]}.id")]
        is_key = field in keys
        columns.append(_COLUMNS[kind](field, *more, primary_key=is_key, autoincrement=False))
    return Table(name, METADATA, *columns)


SERVICE_VERSION = Table("service_version", METADATA, _key("version_num"))

# --- people ---

PERSON = _table("person", records.Person, "id")
LINK = _table("link", records.Link, "digest", person="person")
SESSION = _table("session", records.Session, "digest", person="person")
TOKEN = _table("token", records.Token, "id", person="person")
TOKEN.append_column(_text("digest", unique=True))
REPEATED = _table("repeated", records.RepeatedRequest, "person", "key", person="person")
LETTER = _table("letter", records.Letter, "id")
Index("letter_due", LETTER.c.state, LETTER.c.due)
Index("letter_to", LETTER.c.address, LETTER.c.made)


# --- courses ---

COURSE = _table("course", records.Course, "id")
_IN_COURSE = {"course": "course", "person": "person"}
MEMBER = _table("member", records.Member, "course", "person", **_IN_COURSE)
ASSIGNED = _table("assigned", records.CourseAssignment, "id", course="course")
EXTENSION = Table(
    "extension",
    METADATA,
    _key("assignment", ForeignKey("assigned.id")),
    _key("key"),  # of a student
    _text("deadline"),  # local
)

# --- submissions, and their results ---

BELONGS = Table(  # whose something is: a later roster may put them into other groups
    "belongs",
    METADATA,
    _key("about"),  # the id of an upload or a comment
    _key("student"),  # the key
)
Index("belongs_to", BELONGS.c.student)

_ASSIGNED_BY = {"assignment": "assigned", "person": "person"}
UPLOAD = _table("upload", records.Upload, "id", **_ASSIGNED_BY)
Index("upload_of", UPLOAD.c.assignment, UPLOAD.c.key, UPLOAD.c.at)
GRADING = _table("grading", records.Grading, "id", **_ASSIGNED_BY)
MARKED = _table("marked", records.StudentMark, "grading", "key", grading="grading")
RECEIVED = _table("received", records.MarkRecipient, "grading", "student", grading="grading")
WORD = Table(  # what a worker said while it ran public tests, for who watches
    "word",
    METADATA,
    _key("upload", ForeignKey("upload.id")),
    _whole("number", primary_key=True, autoincrement=False),
    _text("said"),  # JSON
)
COMMENT = _table("comment", records.Comment, "id", **_ASSIGNED_BY)  # for whom: BELONGS
Index("comment_on", COMMENT.c.assignment, COMMENT.c.key, COMMENT.c.at)
OVERRIDE = _table("override", records.Override, "assignment", "key", **_ASSIGNED_BY)

# --- suites of engine authors ---

SUITE = _table("suite", records.Suite, "id", person="person")
Index("suite_of", SUITE.c.person, SUITE.c.made)
Index("suite_badge", SUITE.c.badge)
SUITE_RUN = _table("suite_run", records.SuiteRun, "id", suite="suite", person="person")
Index("run_of", SUITE_RUN.c.suite, SUITE_RUN.c.number, unique=True)

# --- platforms that open the service from their courses (LTI 1.3) ---

LTI_PLATFORM = _table("lti_platform", records.Platform, "id")
Index("lti_platform_client", LTI_PLATFORM.c.issuer, LTI_PLATFORM.c.client_id, unique=True)
LTI_COURSE = _table("lti_course", records.CourseLink, "id", platform="lti_platform", **_IN_COURSE)
_CONTEXT = LTI_COURSE.c.platform, LTI_COURSE.c.deployment, LTI_COURSE.c.context
Index("lti_course_context", *_CONTEXT, unique=True)
_OF_LINK = {"link": "lti_course"}
LTI_USER = _table("lti_user", records.PlatformUser, "link", "subject", person="person", **_OF_LINK)
LTI_LINE = _table(
    "lti_line", records.GradebookLine, "link", "assignment", assignment="assigned", **_OF_LINK
)
LTI_SCORE = _table(
    "lti_score", records.Score, "link", "assignment", "key", assignment="assigned", **_OF_LINK
)
Index("lti_score_due", LTI_SCORE.c.state, LTI_SCORE.c.due)
LTI_SECRET = _table("lti_secret", records.LaunchSecret, "digest")

# --- the queue ---

JOB = _table("job", records.Job, "id", assignment="assigned")
Index("job_left", JOB.c.state, JOB.c.turn, JOB.c.due, JOB.c.made)
Index("job_about", JOB.c.about, JOB.c.kind)

# --- what workers count ---

FIGURE = Table(  # histograms of durations; labels are JSON
    "figure",
    METADATA,
    _key("name"),
    _key("labels"),
    _whole("place", primary_key=True, autoincrement=False),  # of the bucket
    _whole("number", _BYTES),
    _number("total"),
)

# --- the audit log ---

AUDIT = _table("audit", records.AuditEntry, "link")
AUDIT.append_column(_text("signature"))
AUDIT_END = Table(  # 1: how long the log is; 0: how much of its beginning was cut off
    "audit_end",
    METADATA,
    _whole("one", primary_key=True, autoincrement=False),
    _whole("length"),
    _text("digest"),
    _text("seal"),
)


# --- From rows to records: the columns of a table that a record has, by the same names -----------


T = TypeVar("T", bound=tuple[Any, ...])


def count(db: Connection, *clauses: ColumnElement[bool]) -> int:
    """Return how many rows there are with these clauses."""
    return int(db.execute(sa.select(sa.func.count()).where(*clauses)).scalar_one())


def largest(db: Connection, column: Column[Any], *clauses: ColumnElement[bool]) -> int:
    """Return the largest value of a column in the rows with these clauses, or 0."""
    query = sa.select(sa.func.coalesce(sa.func.max(column), 0)).where(*clauses)
    return int(db.execute(query).scalar_one())


def tally(db: Connection, *columns: Column[Any]) -> list[tuple[Any, ...]]:
    """Return the values of columns that occur together, each with how many rows have them."""
    query = sa.select(*columns, sa.func.count()).group_by(*columns)
    return [tuple(row) for row in db.execute(query)]


def _as_kept(values: Mapping[str, object]) -> dict[str, object]:
    return {name: int(one) if isinstance(one, bool) else one for name, one in values.items()}


class Rows(Generic[T]):
    """The rows of a table as records of one type."""

    def __init__(self, kind: type[T], table: Table) -> None:
        fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
        self._kind = kind
        self.table = table
        self.query: Select[Any] = sa.select(*(table.c[name] for name in fields))
        kinds = get_type_hints(kind)
        self._bools = [place for place, name in enumerate(fields) if kinds[name] is bool]
        self._queries: dict[tuple[object, object], Select[Any]] = {}

    def add(self, db: Connection, record: T) -> T:
        """Write a record; return it."""
        db.execute(self.table.insert(), _as_kept(record._asdict()))  # type: ignore[attr-defined]
        return record

    def find(self, db: Connection, **named: object) -> T | None:
        """Return the record with these values; None if there is none."""
        query = self._kept("find", named, lambda query: query.limit(1))
        row = db.execute(query, named).fetchone()
        return self.read(row) if row is not None else None

    def all(self, db: Connection, *order: str, **named: object) -> list[T]:
        """Return the records with these values, in the order of some columns."""
        columns = (self.table.c[name] for name in order)
        query = self._kept(order, named, lambda query: query.order_by(*columns))
        return [self.read(row) for row in db.execute(query, named)]

    def page(
        self, db: Connection, order: Sequence[str], after: str, limit: int, **named: object
    ) -> list[T] | None:
        """Return the first records with these values after one of them.

        ``order``: of some columns; the last one is an id. ``after``: such an id; empty: from the
        beginning on. None if there is no such record.
        """
        columns = [self.table.c[name] for name in order]
        query = self._kept("page", named, lambda query: query)
        if after:
            row = db.execute(query.where(columns[-1] == after), named).fetchone()
            if row is None:
                return None
            last = self.read(row)
            former = sa.tuple_(*(getattr(last, name) for name in order))
            query = query.where(sa.tuple_(*columns) > former)
        found = db.execute(query.order_by(*columns).limit(limit), named)
        return [self.read(row) for row in found]

    def list(self, db: Connection, query: Select[Any]) -> list[T]:
        """Return the records of a query that began with ``query``."""
        return [self.read(row) for row in db.execute(query)]

    def first(self, db: Connection, query: Select[Any]) -> T | None:
        """Return the first record of a query that began with ``query``; None if there is none."""
        row = db.execute(query.limit(1)).fetchone()
        return self.read(row) if row is not None else None

    def change(self, db: Connection, values: Mapping[str, object], **named: object) -> int:
        """Change the rows with these values; return how many they were."""
        query = self.table.update().filter_by(**named)
        return db.execute(query.values(_as_kept(values))).rowcount

    def remove(self, db: Connection, **named: object) -> int:
        """Remove the rows with these values; return how many they were."""
        return db.execute(self.table.delete().filter_by(**named)).rowcount

    def read(self, row: Iterable[Any]) -> T:
        """Return a row as a record."""
        values = [*row]
        for place in self._bools:
            values[place] = bool(values[place])
        return self._kind(*values)

    def _kept(
        self, purpose: object, named: dict[str, object], end: Callable[[Select[Any]], Select[Any]]
    ) -> Select[Any]:
        """Return the query for rows with such values, made once for each purpose.

        To make one takes longer than to execute it. The values are its parameters: those are not
        kept. A list means one of its values.
        """
        lists = tuple((name, isinstance(value, list)) for name, value in named.items())
        if (purpose, lists) not in self._queries:
            clauses: list[ColumnElement[bool]] = []
            for name, is_list in lists:
                column = self.table.c[name]
                value: sa.BindParameter[Any] = sa.bindparam(name, expanding=is_list)
                clauses.append(column.in_(value) if is_list else column == value)
            self._queries[purpose, lists] = end(self.query.where(*clauses))
        return self._queries[purpose, lists]
