"""Who wanted a job: nobody waits behind many of one person, in whichever courses."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "14"
down_revision = "13"

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the column."""
    own = sa.text("''")
    op.add_column("job", sa.Column("person", _TEXT, nullable=False, server_default=own))
