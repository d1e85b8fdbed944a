"""Mails to be sent."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

revision = "7"
down_revision = "6"

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
_NUMBER: sa.types.TypeEngine[float] = sa.Double().with_variant(sqlite.REAL(), "sqlite")


def upgrade() -> None:
    """Add the table."""
    empty, zero = sa.text("''"), sa.text("0")
    op.create_table(
        "letter",
        sa.Column("id", _TEXT, primary_key=True, nullable=False),
        sa.Column("kind", _TEXT, nullable=False, server_default=empty),
        sa.Column("address", _TEXT, nullable=False, server_default=empty),
        sa.Column("person", _TEXT, nullable=False, server_default=empty),
        sa.Column("course", _TEXT, nullable=False, server_default=empty),
        sa.Column("state", _TEXT, nullable=False, server_default=empty),
        sa.Column("tries", sa.Integer(), nullable=False, server_default=zero),
        sa.Column("due", _NUMBER, nullable=False, server_default=zero),
        sa.Column("made", _NUMBER, nullable=False, server_default=zero),
        sa.Column("trouble", _TEXT, nullable=False, server_default=empty),
    )
    op.create_index("letter_due", "letter", ["state", "due"])
    op.create_index("letter_to", "letter", ["address", "made"])
