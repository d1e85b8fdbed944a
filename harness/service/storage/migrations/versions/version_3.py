"""Idempotency keys of the API."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

revision = "3"
down_revision = "2"

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
_NUMBER: sa.types.TypeEngine[float] = sa.Double().with_variant(sqlite.REAL(), "sqlite")


def upgrade() -> None:
    """Add the table."""
    empty, zero = sa.text("''"), sa.text("0")
    op.create_table(
        "repeated",
        sa.Column("person", _TEXT, primary_key=True, nullable=False),
        sa.Column("key", _TEXT, primary_key=True, nullable=False),
        sa.Column("digest", _TEXT, nullable=False, server_default=empty),
        sa.Column("made", _TEXT, nullable=False, server_default=empty),
        sa.Column("at", _NUMBER, nullable=False, server_default=zero),
        sa.ForeignKeyConstraint(["person"], ["person.id"]),
    )
