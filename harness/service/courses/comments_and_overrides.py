"""Comments, and marks given by a person: apart from what is computed, and in the audit log."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from sqlalchemy import Connection

from harness.errors import UsageError
from harness.escaping import escape_controls
from harness.grading.records import GivenMark, Marks, counting_mark, decimal
from harness.service.courses.grading import NotNowError
from harness.service.courses.point_weights import exact
from harness.service.records import EXPORT, Assigned, Comment, Grading, Job, Marked, Override
from harness.service.storage import courses, queue, uploads
from harness.service.storage.audit import Act
from harness.service.storage.tables import new_id
from harness.work import canonical_json

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
    made = Comment(new_id(), assigned.id, key, act.by, time.time(), _check_text("comment", text))
    uploads.COMMENTS.add(act.db, made)
    uploads.give_to(act.db, made.id, courses.students_of(act.db, assigned.course, key))
    act.note("comment", assigned.id, key=key, comment=made.id)
    return made


def remove_comment(act: Act, assigned: Assigned, key: str, one: Comment) -> None:
    """Remove a comment for a student or a group. The audit log keeps what it said.

    ``key``: of the student or group now, on whose page the audit log tells it.
    """
    students = sorted(uploads.owners_of(act.db, [one.id]).get(one.id, ()))
    if uploads.COMMENTS.remove(act.db, id=one.id):  # nobody else has, meanwhile
        uploads.forget_owners(act.db, one.id)
        told = {"comment": one.id, "students": students, "author": one.person, "text": one.text}
        act.note("comment removed", assigned.id, key=key, **told)


def decide(act: Act, assigned: Assigned, key: str, told: Decision) -> None:
    """Give a student, or each of a group, a mark instead of the one that was computed last.

    Raises:
        NotNowError: none was computed yet.
        UsageError: as :func:`override`.
    """
    students = courses.students_of(act.db, assigned.course, key)
    marked = uploads.last_mark(act.db, assigned.id, key, students)
    if marked is None:
        raise NotNowError("there is no computed mark yet: grade first")
    override(act, assigned, key, canonical_json.loads(Marks, marked.marks), told)


def are_shown(db: Connection, assigned: str, student: str) -> bool:
    """Whether a student may see mark and comments: the mark was released."""
    released = uploads.find_released(db, assigned)
    return released is not None and uploads.mark_of(db, released.id, student) is not None


def override(act: Act, assigned: Assigned, key: str, computed: Marks, told: Decision) -> None:
    """Give a student, or each of a group, a mark instead of the computed one or of a former one.

    Raises:
        UsageError: the points are not between 0 and what can be reached; there is no reason.
    """
    courses.lock(act.db, assigned.id)
    found = exact(told.points)
    if found is None or found > computed.of:
        raise UsageError(f"points: found {told.points!r}, expected 0 to {decimal(computed.of)}")
    then = "withheld" if computed.withheld else str(computed)
    said = _check_text("reason", told.reason)
    students = courses.students_of(act.db, assigned.course, key)
    made = Override(assigned.id, "", str(found), then, said, act.by, time.time())
    for student in students:
        uploads.OVERRIDES.remove(act.db, assignment=assigned.id, key=student)
        uploads.OVERRIDES.add(act.db, made._replace(key=student))
    told_ = {"points": str(found), "computed": then, "why": said}
    act.note("mark overridden", assigned.id, key=key, students=students, **told_)
    export_anew(act, assigned)


def end_override(act: Act, assigned: Assigned, key: str) -> None:
    """Let the computed mark count again for a student, or for all of a group."""
    courses.lock(act.db, assigned.id)
    students = courses.students_of(act.db, assigned.course, key)
    named = {"assignment": assigned.id}
    if sum(uploads.OVERRIDES.remove(act.db, key=one, **named) for one in students):
        act.note("override ended", assigned.id, key=key, students=students)
        export_anew(act, assigned)


def export_anew(act: Act, assigned: Assigned) -> None:
    """Let the pages and sheets of the marks in force be written anew: others count now.

    The caller has locked the assignment.
    """
    if grading := uploads.in_force(act.db, assigned.id):
        queue.put_anew(act.db, Job("", EXPORT, assigned.id, grading.id))


def list_outdated(db: Connection, grading: Grading) -> list[str]:
    """Return a sentence for each given mark that was given when other points could be reached.

    It stays as it is when points change: 4 of 4 is then 4 of 8, and nobody may have meant that.
    ``grading``: no later one has marks.
    """
    most = {one.key: _most(one) for one in uploads.MARKS.all(db, grading=grading.id)}
    own = uploads.overrides(db, grading.assignment)
    got = uploads.RECEIVED_BY.all(db, "student", grading=grading.id, student=[*own])
    pairs = [(own[one.student], most[one.key]) for one in got]
    return [
        f"{one.key}: {decimal(Fraction(one.points))} of {then}, and now {now} can be reached"
        for one, now in pairs
        # Without a mark at that time nobody knows what could be reached.
        if (then := one.computed.partition(" of ")[2]) not in ("", now)
    ]


def _most(one: Marked) -> str:
    return decimal(canonical_json.loads(Marks, one.marks).of)


class Together(NamedTuple):
    """A mark that was given to some of those who submitted together."""

    who: tuple[str, ...]  # their keys; empty: all of them
    override: Override


def together(own: Mapping[str, Override], students: Sequence[str]) -> list[Together]:
    """Return the marks that were given to some students, alike ones once.

    ``own``: by the keys of students.
    """
    heaps: dict[Override, list[str]] = {}
    for one in students:
        if one in own:
            heaps.setdefault(own[one]._replace(key=""), []).append(one)
    all_ = len(students)
    return [Together(() if len(who) == all_ else tuple(who), o) for o, who in heaps.items()]


def format_counting_mark(computed: Marks, own: Override | None) -> str:
    """Return the mark that counts, such as ``4.5 of 5``, or "" if there is none yet."""
    counts = counting_mark(computed, as_given(own) if own else None)
    return "" if counts.withheld else str(counts)


def as_given(own: Override) -> GivenMark:
    """Return a mark as exports have it."""
    return GivenMark(own.key, Fraction(own.points), own.reason)


def _check_text(name: str, text: str) -> str:
    said = escape_controls(text.replace("\r\n", "\n")).strip()
    if not 0 < len(said) <= _LONGEST:
        raise UsageError(f"{name}: found {len(said)} characters, expected 1 to {_LONGEST:,}")
    return said
