"""Comments, and marks given by a person: apart from what is computed, and in the audit log."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import NamedTuple

from harness.errors import UsageError
from harness.grading.records import Marks, decimal
from harness.service.courses.making import exact
from harness.service.records import Assigned, Comment, Override
from harness.service.storage import remarks
from harness.service.storage.audit import Act
from harness.service.storage.rows import new_id
from harness.visible import escape_controls

_LONGEST = 4000  # characters


class Decision(NamedTuple):
    """A mark as somebody of the staff wants it."""

    points: str
    reason: str


def comment(act: Act, assigned: Assigned, key: str, text: str) -> Comment:
    """Say something to a student or a group.

    Raises:
        UsageError: it is empty, or very long.
    """
    made = Comment(new_id(), assigned.id, key, act.by, time.time(), _said("comment", text))
    remarks.COMMENTS.add(act.db, made)
    act.note("comment", assigned.id, key=key, comment=made.id)
    return made


def override(act: Act, assigned: Assigned, key: str, computed: Marks, told: Decision) -> Override:
    """Give a mark instead of the computed one, or of one that was given before.

    Raises:
        UsageError: the points are not between 0 and what can be reached; there is no reason.
    """
    found = exact(told.points)
    if found is None or found > computed.of:
        raise UsageError(f"points: found {told.points!r}, expected 0 to {decimal(computed.of)}")
    then = "withheld" if computed.withheld else str(computed)
    said = _said("reason", told.reason)
    made = Override(assigned.id, key, str(found), then, said, act.by, time.time())
    remarks.OVERRIDES.remove(act.db, assignment=assigned.id, key=key)
    remarks.OVERRIDES.add(act.db, made)
    act.note("mark overridden", assigned.id, key=key, points=made.points, computed=then, why=said)
    return made


def end_override(act: Act, assigned: Assigned, key: str) -> None:
    """Let the computed mark count again."""
    if remarks.OVERRIDES.remove(act.db, assignment=assigned.id, key=key):
        act.note("override ended", assigned.id, key=key)


def given(computed: Marks, own: Override | None) -> str:
    """Return the mark that counts, such as ``4.5 of 5``; empty: there is none yet."""
    if own:
        return f"{decimal(Fraction(own.points))} of {decimal(computed.of)}"
    return "" if computed.withheld else str(computed)


def _said(name: str, text: str) -> str:
    said = escape_controls(text.replace("\r\n", "\n")).strip()
    if not 0 < len(said) <= _LONGEST:
        raise UsageError(f"{name}: found {len(said)} characters, expected 1 to {_LONGEST:,}")
    return said
