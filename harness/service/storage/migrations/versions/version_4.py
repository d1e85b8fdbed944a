"""What an assistant may do."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "4"
down_revision = "3"

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the column."""
    empty = sa.text("''")
    op.add_column("member", sa.Column("may", _TEXT, nullable=False, server_default=empty))
