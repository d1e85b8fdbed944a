"""The order in which submissions came, which a clock that is set back does not tell."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "20"
down_revision = "19"


def upgrade() -> None:
    """Add the column. Submissions of before have 0, and are in the order of their times."""
    own = sa.text("0")
    op.add_column("upload", sa.Column("number", sa.Integer(), nullable=False, server_default=own))
