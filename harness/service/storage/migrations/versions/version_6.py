"""Whose something is, by students: a later roster may put them into other groups.

Rows kept under a group are given to its present members.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "6"
down_revision = "5"

_TEXT = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
_TEAM = "CASE WHEN member.team = '' THEN member.key ELSE member.team END"
# The students of a course, beside something of an assignment of it.
_STUDENTS = (
    "JOIN assigned ON assigned.id = {0}.assignment"
    " JOIN member ON member.course = assigned.course AND member.role = 'student'"
)
_UPLOADS = (
    f"INSERT INTO belongs (about, student) SELECT upload.id, member.key FROM upload"
    f" {_STUDENTS.format('upload')}"
    f" WHERE upload.key = {_TEAM} OR upload.person = member.person"
)
_COMMENTS = (
    f"INSERT INTO belongs (about, student) SELECT comment.id, member.key FROM comment"
    f" {_STUDENTS.format('comment')} WHERE comment.key = {_TEAM}"
)
_MARKS = (
    f"INSERT INTO received (grading, student, key) SELECT marked.grading, member.key, marked.key"
    f" FROM marked JOIN grading ON grading.id = marked.grading {_STUDENTS.format('grading')}"
    f" WHERE marked.key = {_TEAM}"
)
_MEMBERS = (
    "SELECT assigned.id, member.team, member.key FROM assigned"
    " JOIN member ON member.course = assigned.course"
    " WHERE member.role = 'student' AND member.team <> '' ORDER BY member.key"
)


def _key(name: str, *more: sa.ForeignKey) -> sa.Column[str]:
    return sa.Column(name, _TEXT, *more, primary_key=True, nullable=False)


def upgrade() -> None:
    """Make the tables, and give what groups have to their students."""
    op.create_table("belongs", _key("about"), _key("student"))
    op.create_index("belongs_to", "belongs", ["student"])
    key = sa.Column("key", _TEXT, nullable=False, server_default=sa.text("''"))
    op.create_table("received", _key("grading", sa.ForeignKey("grading.id")), _key("student"), key)
    for statement in (_UPLOADS, _COMMENTS, _MARKS):
        op.execute(statement)
    _divide("extension", ("assignment", "key", "deadline"), by="deadline")
    _divide("override", ("assignment", "key", "points", "computed", "reason", "person", "at"),
            by="at")  # fmt: skip


def _divide(name: str, columns: tuple[str, ...], by: str) -> None:
    """Give rows of groups to their students. A student with two keeps the greater, ``by``."""
    db, table = op.get_bind(), sa.table(name, *(sa.column(one) for one in columns))
    groups: dict[tuple[str, str], list[str]] = {}
    for assignment, team, student in db.execute(sa.text(_MEMBERS)):
        groups.setdefault((assignment, team), []).append(student)
    found = [dict(row._mapping) for row in db.execute(sa.select(table))]
    rows: dict[tuple[str, str], dict[str, object]] = {}
    for row in sorted(found, key=lambda one: one[by]):
        for student in groups.get((row["assignment"], row["key"]), [row["key"]]):
            rows[row["assignment"], student] = {**row, "key": student}
    db.execute(sa.delete(table))
    if rows:
        db.execute(sa.insert(table), list(rows.values()))
