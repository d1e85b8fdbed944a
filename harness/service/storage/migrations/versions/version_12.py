"""Which upload of an assignment of a teacher's own holds, and which one a grading used."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "12"
down_revision = "11"


def upgrade() -> None:
    """Add the columns."""
    for table in ("assigned", "grading"):
        own = sa.Column("edition", sa.Integer(), nullable=False, server_default=sa.text("0"))
        op.add_column(table, own)
