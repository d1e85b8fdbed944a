"""The names of teachers: a list of the staff has them.

The person who makes a course was a member of it without a name.
"""

from __future__ import annotations

from alembic import op

revision = "15"
down_revision = "14"

_NAMES = (
    "UPDATE member SET name = (SELECT person.name FROM person WHERE person.id = member.person)"
    " WHERE role = 'teacher' AND name = ''"
)


def upgrade() -> None:
    """Write the names."""
    op.execute(_NAMES)
