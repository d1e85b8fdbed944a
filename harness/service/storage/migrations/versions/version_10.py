"""Engines of authors that are run by the service."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "10"
down_revision = "9"

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
_NEW = {"suite": ("bench",), "suite_run": ("name", "sha256", "trouble")}


def upgrade() -> None:
    """Add the columns."""
    empty = sa.text("''")
    for table, names in _NEW.items():
        for name in names:
            column = sa.Column(name, _TEXT, nullable=False, server_default=empty)
            op.add_column(table, column)
