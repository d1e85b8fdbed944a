"""What people add to what is computed: comments, and marks of their own."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection

from harness.service.records import Comment, Override
from harness.service.storage import owner_rows
from harness.service.storage.rows import Rows
from harness.service.storage.tables import COMMENT, OVERRIDE

COMMENTS: Rows[Comment] = Rows(Comment, COMMENT)
OVERRIDES: Rows[Override] = Rows(Override, OVERRIDE)


def comments(db: Connection, assignment: str, students: Iterable[str]) -> list[Comment]:
    """Return the comments for some of these students, the last one last."""
    query = COMMENTS.query.where(
        COMMENT.c.assignment == assignment, COMMENT.c.id.in_(owner_rows.abouts(students))
    )
    return COMMENTS.list(db, query.order_by(COMMENT.c.at, COMMENT.c.id))


def overrides(db: Connection, assignment: str) -> dict[str, Override]:
    """Return the marks that people gave in an assignment, by the keys of students."""
    return {one.key: one for one in OVERRIDES.all(db, assignment=assignment)}
