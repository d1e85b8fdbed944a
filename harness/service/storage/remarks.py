"""What people add to what is computed: comments, and marks of their own."""

from __future__ import annotations

from sqlalchemy import Connection

from harness.service.records import Comment, Override
from harness.service.storage.rows import Rows
from harness.service.storage.tables import COMMENT, OVERRIDE

COMMENTS: Rows[Comment] = Rows(Comment, COMMENT)
OVERRIDES: Rows[Override] = Rows(Override, OVERRIDE)


def comments(db: Connection, assignment: str, key: str) -> list[Comment]:
    """Return the comments on what a student or group did, the last one last."""
    return COMMENTS.all(db, "at", "id", assignment=assignment, key=key)


def overrides(db: Connection, assignment: str) -> dict[str, Override]:
    """Return the marks that people gave in an assignment, by the keys."""
    return {one.key: one for one in OVERRIDES.all(db, assignment=assignment)}
