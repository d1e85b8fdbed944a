"""The groups of students as rosters spell them, to tell groups with the same key apart."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "19"
down_revision = "18"

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the column."""
    own = sa.text("''")
    op.add_column("member", sa.Column("team_name", _TEXT, nullable=False, server_default=own))
