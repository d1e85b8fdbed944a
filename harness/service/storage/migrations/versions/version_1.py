"""The first tables. Those of later versions are not made here: a step never changes."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

revision = "1"
down_revision = None

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
_NUMBER: sa.types.TypeEngine[float] = sa.Double().with_variant(sqlite.REAL(), "sqlite")
_BYTES = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _text(*names: str) -> list[sa.Column[Any]]:
    empty = sa.text("''")
    return [sa.Column(name, _TEXT, nullable=False, server_default=empty) for name in names]


def _numbers(kind: sa.types.TypeEngine[Any], *names: str) -> list[sa.Column[Any]]:
    zero = sa.text("0")
    return [sa.Column(name, kind, nullable=False, server_default=zero) for name in names]


def _key(name: str, kind: sa.types.TypeEngine[Any] = _TEXT) -> sa.Column[Any]:
    return sa.Column(name, kind, primary_key=True, nullable=False, autoincrement=False)


def _of(column: str, table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{table}.id"])


def upgrade() -> None:
    """Make all tables."""
    _people()
    _courses()
    _submissions()
    _queue()
    _audit()


def _people() -> None:
    whole, person = sa.Integer(), _of("person", "person")
    make = op.create_table
    make("person", _key("id"), *_text("name", "email"), *_numbers(whole, "is_admin"),
         *_numbers(_NUMBER, "made"))  # fmt: skip
    make("link", _key("digest"), *_text("person"), *_numbers(whole, "once"),
         *_numbers(_NUMBER, "until"), person)  # fmt: skip
    make("session", _key("digest"), *_text("person"), *_numbers(_NUMBER, "made", "until"),
         _of("person", "person"))  # fmt: skip
    make("token", _key("id"), *_text("digest", "person", "name", "scope"),
         *_numbers(_NUMBER, "made", "until"), _of("person", "person"),
         sa.UniqueConstraint("digest"))  # fmt: skip


def _courses() -> None:
    whole, make = sa.Integer(), op.create_table
    make("course", _key("id"), *_text("title"), *_numbers(_NUMBER, "made"))
    make("member", _key("course"), _key("person"), *_text("role", "key", "name", "ids", "team"),
         _of("course", "course"), _of("person", "person"))  # fmt: skip
    make("assigned", _key("id"), *_text("course", "title", "source", "opens", "deadline"),
         *_text("closes", "deduction"), *_numbers(whole, "grace"), *_numbers(_NUMBER, "made"),
         _of("course", "course"))  # fmt: skip
    make("extension", _key("assignment"), _key("key"), *_text("deadline"),
         _of("assignment", "assigned"))  # fmt: skip


def _submissions() -> None:
    whole, make = sa.Integer(), op.create_table
    make("upload", _key("id"), *_text("assignment", "key", "person", "name", "sha256"),
         *_numbers(_BYTES, "size"), *_numbers(_NUMBER, "at"), *_numbers(whole, "withdrawn"),
         *_text("record"), *_numbers(whole, "run"), _of("assignment", "assigned"),
         _of("person", "person"))  # fmt: skip
    op.create_index("upload_of", "upload", ["assignment", "key", "at"])
    make("grading", _key("id"), *_text("assignment", "person"), *_numbers(_NUMBER, "at"),
         *_numbers(whole, "public_only", "accept", "run"),
         *_numbers(_NUMBER, "concluded", "released"), *_text("changes", "trouble"),
         _of("assignment", "assigned"), _of("person", "person"))  # fmt: skip
    make("marked", _key("grading"), _key("key"), *_text("marks", "shown"),
         _of("grading", "grading"))  # fmt: skip
    make("word", _key("upload"), _key("number", whole), *_text("said"),
         _of("upload", "upload"))  # fmt: skip


def _queue() -> None:
    whole = sa.Integer()
    op.create_table(
        "job", _key("id"), *_text("kind", "assignment", "about", "key", "state"),
        *_numbers(whole, "deaths"), *_text("fault"), *_numbers(whole, "turn"), *_text("due"),
        *_numbers(_NUMBER, "made"), *_text("token", "owner"), *_numbers(_NUMBER, "until"),
        _of("assignment", "assigned"),
    )  # fmt: skip
    op.create_index("job_left", "job", ["state", "turn", "due", "made"])
    op.create_index("job_about", "job", ["about", "kind"])


def _audit() -> None:
    whole = sa.Integer()
    op.create_table("audit", _key("link", whole), *_text("at", "person", "what", "about"),
                    *_text("details", "signature"))  # fmt: skip
    op.create_table("audit_end", _key("one", whole), *_numbers(whole, "length"),
                    *_text("digest", "seal"))  # fmt: skip
