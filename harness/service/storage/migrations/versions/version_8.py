"""Suites of engine authors, and their runs."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

revision = "8"
down_revision = "7"

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
_NUMBER: sa.types.TypeEngine[float] = sa.Double().with_variant(sqlite.REAL(), "sqlite")
_BYTES = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_WHOLE = sa.Integer()


def _key(name: str) -> sa.Column[Any]:
    return sa.Column(name, _TEXT, primary_key=True, nullable=False)


def _text(*names: str) -> list[sa.Column[Any]]:
    empty = sa.text("''")
    return [sa.Column(name, _TEXT, nullable=False, server_default=empty) for name in names]


def _numbers(kind: sa.types.TypeEngine[Any], *names: str) -> list[sa.Column[Any]]:
    zero = sa.text("0")
    return [sa.Column(name, kind, nullable=False, server_default=zero) for name in names]


def _of(column: str, table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{table}.id"])


def upgrade() -> None:
    """Add the tables."""
    make, index = op.create_table, op.create_index
    make("suite", _key("id"), *_text("person", "title"), *_numbers(_NUMBER, "made"),
         *_numbers(_WHOLE, "is_open"), *_text("badge"), *_numbers(_WHOLE, "runs"),
         _of("person", "person"))  # fmt: skip
    index("suite_of", "suite", ["person", "made"])
    index("suite_badge", "suite", ["badge"])
    make("suite_run", _key("id"), *_text("suite"), *_numbers(_WHOLE, "number"),
         *_text("person"), *_numbers(_NUMBER, "at"), *_text("revision", "started", "engine"),
         *_numbers(_BYTES, "size"),
         *_numbers(_WHOLE, "tests", "passed", "failed", "undecided", "broken"),
         _of("suite", "suite"), _of("person", "person"))  # fmt: skip
    index("run_of", "suite_run", ["suite", "number"], unique=True)
