"""Comments, and marks that a person gives instead of the computed ones."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

revision = "2"
down_revision = "1"

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
_NUMBER: sa.types.TypeEngine[float] = sa.Double().with_variant(sqlite.REAL(), "sqlite")


def _text(*names: str) -> list[sa.Column[Any]]:
    empty = sa.text("''")
    return [sa.Column(name, _TEXT, nullable=False, server_default=empty) for name in names]


def _key(name: str) -> sa.Column[Any]:
    return sa.Column(name, _TEXT, primary_key=True, nullable=False)


def _at() -> sa.Column[Any]:
    return sa.Column("at", _NUMBER, nullable=False, server_default=sa.text("0"))


def _owners() -> list[sa.ForeignKeyConstraint]:
    return [
        sa.ForeignKeyConstraint(["assignment"], ["assigned.id"]),
        sa.ForeignKeyConstraint(["person"], ["person.id"]),
    ]


def upgrade() -> None:
    """Make the tables."""
    op.create_table("comment", _key("id"), *_text("assignment", "key", "person"), _at(),
                    *_text("text"), *_owners())  # fmt: skip
    op.create_index("comment_on", "comment", ["assignment", "key", "at"])
    op.create_table("override", _key("assignment"), _key("key"), *_text("points", "computed"),
                    *_text("reason", "person"), _at(), *_owners())  # fmt: skip
