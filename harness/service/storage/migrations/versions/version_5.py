"""Histograms of what workers count."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

revision = "5"
down_revision = "4"

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
_NUMBER: sa.types.TypeEngine[float] = sa.Double().with_variant(sqlite.REAL(), "sqlite")
_LARGE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table."""
    zero = sa.text("0")
    op.create_table(
        "figure",
        sa.Column("name", _TEXT, primary_key=True, nullable=False),
        sa.Column("labels", _TEXT, primary_key=True, nullable=False),
        sa.Column("place", sa.Integer(), primary_key=True, nullable=False, autoincrement=False),
        sa.Column("number", _LARGE, nullable=False, server_default=zero),
        sa.Column("total", _NUMBER, nullable=False, server_default=zero),
    )
