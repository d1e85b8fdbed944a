"""The ids of students as a roster writes them: two of them may have the same key."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "17"
down_revision = "16"

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the column."""
    own = sa.text("''")
    op.add_column("member", sa.Column("roster_id", _TEXT, nullable=False, server_default=own))
