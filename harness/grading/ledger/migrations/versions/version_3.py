"""From version 2, a file without digests, to version 3: every row that is signed can carry one.

Nothing is signed here: that needs the key. There never was a version 2 on a server.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = None  # a ledger of version 2 has no revision

_SIGNED = ("seed", "run", "case_file", "submission", "build", "wanted", "result", "mark")


def upgrade() -> None:
    """Add the columns and tables of digests."""
    op.create_table(
        "signer",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("taken_over", sa.Text, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "chain",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("length", sa.Integer, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("unsigned", sa.Integer, nullable=False),
        sa.Column("seal", sa.Text, nullable=False),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    _add("result", "last", sa.Integer(), "1")
    for table in _SIGNED:
        _add(table, "link", sa.Integer(), "0")
        _add(table, "signature", sa.Text(), "''")


def _add(table: str, name: str, kind: sa.types.TypeEngine[Any], default: str) -> None:
    column = sa.Column(name, kind, nullable=False, server_default=sa.text(default))
    op.add_column(table, column)
