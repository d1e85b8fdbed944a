"""What parts of an assignment are worth in a course."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "9"
down_revision = "8"

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the column."""
    own = sa.text("''")
    op.add_column("assigned", sa.Column("points", _TEXT, nullable=False, server_default=own))
