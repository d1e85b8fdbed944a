"""What single tests of an assignment are worth in a course."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "11"
down_revision = "10"

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the column."""
    own = sa.text("''")
    op.add_column("assigned", sa.Column("weights", _TEXT, nullable=False, server_default=own))
