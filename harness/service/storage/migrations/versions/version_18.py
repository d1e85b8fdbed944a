"""Whether the operator has shut a person out."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "18"
down_revision = "17"


def upgrade() -> None:
    """Add the column."""
    own = sa.text("0")
    op.add_column(
        "person", sa.Column("is_shut_out", sa.Integer(), nullable=False, server_default=own)
    )
