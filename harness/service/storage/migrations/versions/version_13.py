"""As what the files of tests were that were left out."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "13"
down_revision = "12"

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the column."""
    own = sa.text("''")
    op.add_column("assigned", sa.Column("left_out", _TEXT, nullable=False, server_default=own))
