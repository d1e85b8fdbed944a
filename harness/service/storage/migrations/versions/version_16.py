"""Assignments that teachers hide from students."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "16"
down_revision = "15"


def upgrade() -> None:
    """Add the column."""
    own = sa.text("0")
    op.add_column("assigned", sa.Column("hidden", sa.Integer, nullable=False, server_default=own))
