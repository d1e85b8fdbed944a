"""Gradings of an assignment, and what people add to them: comments, and marks of their own.

Gradings are begun, accepted, released and tried again here; workers do the rest. What a person
says is kept apart from what is computed, and is in the audit log.
"""

import contextlib
import datetime
import json
import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Literal, NamedTuple

from sqlalchemy import Connection

from harness.core.errors import InvalidGradingStateError, UsageError
from harness.core.text import escape_controls, number_of
from harness.grading.exports.exporters import EXPORTS
from harness.grading.records import GivenMark, Marks, counting_mark, decimal, exact
from harness.service import records
from harness.service.courses.deadlines import list_open_dates
from harness.service.records import CourseAssignment, Grading, Job, Override, new_id
from harness.service.storage import courses, lti, queue, uploads
from harness.service.storage.audit import AuditedTransaction
from harness.work import canonical_json

# Gradebooks may have the marks of other assignments: only teachers get them, by their own route.
_GRADEBOOKS = frozenset(one.files[0] for one in EXPORTS if one.download)
State = Literal["running", "concluded", "released", "failed"]


def state(db: Connection, grading: Grading) -> State:
    """Return how far a grading is; ``failed``: it has no marks, and stays so by itself.

    One that failed keeps nobody from beginning another one, or from trying it again.
    """
    if grading.concluded:
        return "released" if grading.released else "concluded"
    jobs = queue.of(db, grading.id)
    is_left = any(job.is_unfinished for job in jobs)
    is_to_be_concluded = grading.run > 0 and all(job.kind != records.CONCLUDE for job in jobs)
    return "running" if is_left or is_to_be_concluded else "failed"


def begin(act: AuditedTransaction, assignment: CourseAssignment, *, public_only: bool) -> Grading:
    """Let all that was submitted be graded.

    Raises:
        InvalidGradingStateError: a grading of the assignment is running.
    """
    _require_none_running(act, assignment.id)
    now = uploads.next_moment(act.db, assignment.id)
    made = uploads.GRADINGS.add(act.db, Grading(new_id(), assignment.id, act.by, now, public_only))
    due = assignment.deadline  # all its submissions have this one
    queue.put(act.db, Job("", records.PLAN, assignment.id, made.id, due=due, person=act.by))
    act.note("grading begun", made.id, public_only=public_only)
    return made


def release(
    act: AuditedTransaction,
    grading: Grading,
    *,
    is_early: bool = False,
    leaves_changes: bool = False,
) -> None:
    """Let students see their marks; arguments and errors as for :func:`require_releasable`."""
    grading = _lock(act, grading)
    told = require_releasable(act, grading, is_early=is_early, leaves_changes=leaves_changes)
    now = uploads.next_moment(act.db, grading.assignment)
    uploads.GRADINGS.change(act.db, {"released": now}, id=grading.id)
    lti.put_scores(act.db, grading.assignment)
    act.note("marks released", grading.id, **told)


def require_releasable(
    act: AuditedTransaction, grading: Grading, *, is_early: bool, leaves_changes: bool
) -> dict[str, object]:
    """Return what the audit log says of a release, if it can be.

    ``is_early``: even while some can still submit. ``leaves_changes``: even if marks would change,
    which then stay as they are until the next grading.

    Raises:
        InvalidGradingStateError: the grading has no marks yet, a later one has some, students can
            still submit, or marks would change.
    """
    if not grading.concluded:
        raise InvalidGradingStateError("there are no marks yet")
    _require_latest(act, grading)
    if (left := _count_open_changes(grading)) and not leaves_changes:
        raise InvalidGradingStateError(
            f"{number_of(left, 'mark')} would change: change them first, or confirm a release"
            " without these changes"
        )
    assigned = courses.ASSIGNMENTS.find(act.db, id=grading.assignment)
    why = list_open_dates(act.db, assigned, datetime.datetime.now()) if assigned else []
    if why and not is_early:
        raise InvalidGradingStateError(
            f"students can still submit: {'; '.join(why)}. Confirm an early release"
        )
    return {name: told for name, told in {"early": why, "unchanged": left}.items() if told}


def _count_open_changes(grading: Grading) -> int:
    """Return how many marks in force would change, as long as nobody has accepted it."""
    return 0 if grading.accept else len(json.loads(grading.changes))


def accept(act: AuditedTransaction, grading: Grading) -> None:
    """Change the marks in force that would change, if these are still the changes that are shown.

    Raises:
        InvalidGradingStateError: there are no marks yet, or students have seen them, or a later
            grading has marks, or one is running.
    """
    grading = _lock(act, grading)
    if not grading.concluded or grading.released:
        raise InvalidGradingStateError("there is nothing to be changed")
    _require_latest(act, grading)
    _require_none_running(act, grading.assignment, grading.id)
    uploads.GRADINGS.change(act.db, {"accept": 1, "concluded": 0.0, "trouble": ""}, id=grading.id)
    _conclude_anew(act, grading)
    act.note("changes accepted", grading.id)


def try_again(act: AuditedTransaction, grading: Grading) -> None:
    """Try again what the harness failed in.

    Raises:
        InvalidGradingStateError: a later grading has marks, or one is running.
    """
    grading = _lock(act, grading)
    _require_latest(act, grading)
    _require_none_running(act, grading.assignment, grading.id)
    for job in queue.of(act.db, grading.id):
        queue.begin_anew(act.db, job.id)
    queue.again(act.db, records.GRADE, grading.id)  # what is done is not rerun, what broke is
    if grading.concluded:
        _conclude_anew(act, grading)
    uploads.GRADINGS.change(act.db, {"trouble": "", "concluded": 0.0}, id=grading.id)
    act.note("tried again", grading.id)


def begin_tournament(act: AuditedTransaction, grading: Grading) -> None:
    """Let the submissions of a grading play each other, once its marks are released.

    Raises:
        InvalidGradingStateError: they are not, or a later grading has marks.
    """
    grading = _lock(act, grading)
    _require_latest(act, grading)
    if not grading.released:
        raise InvalidGradingStateError("release the marks first")
    job = Job("", records.TOURNAMENT, grading.assignment, grading.id, person=act.by)
    queue.put_anew(act.db, job)
    act.note("tournament begun", grading.id)


def _lock(act: AuditedTransaction, grading: Grading) -> Grading:
    """Return a grading as it is now: it may have changed since a page showed it, or just now."""
    courses.lock(act.db, grading.assignment)
    return uploads.GRADINGS.find(act.db, id=grading.id) or grading


def _conclude_anew(act: AuditedTransaction, grading: Grading) -> None:
    """Recompute marks, even if a worker is computing them now: its results then do not count."""
    queue.put_anew(act.db, Job("", records.CONCLUDE, grading.assignment, grading.id))


def _require_none_running(act: AuditedTransaction, assignment: str, grading: str = "") -> None:
    """Refuse what would let another grading run: whose marks count would be chance."""
    courses.lock(act.db, assignment)  # two people may ask at once
    others = (one for one in uploads.gradings(act.db, assignment) if one.id != grading)
    if any(state(act.db, one) == "running" for one in others):
        raise InvalidGradingStateError(
            "a grading of this assignment is running: wait until it has marks"
        )


class Decisions(NamedTuple):
    """Decisions that a grading waits for."""

    faults: int = 0  # jobs in which the service failed
    changes: int = 0  # marks in force that would change


def find_decisions(db: Connection, grading: Grading) -> Decisions:
    """Return what a grading waits for from a person; nothing while it runs."""
    if state(db, grading) == "running" or uploads.has_marks_after(db, grading):
        return Decisions()
    faults = sum(job.state == records.FAULT for job in queue.of(db, grading.id))
    is_open = grading.concluded and not grading.released
    return Decisions(faults, _count_open_changes(grading) if is_open else 0)


def phrase(decisions: Decisions) -> list[str]:
    """Return what a grading waits for, a phrase each."""
    told = []
    if decisions.faults:
        told.append(f"the harness failed in {number_of(decisions.faults, 'job')}")
    if decisions.changes:
        told.append(f"{number_of(decisions.changes, 'mark')} would change")
    return told


def find_later(db: Connection, grading: Grading) -> Grading | None:
    """Return the grading whose marks are in force in the place of those of an earlier one."""
    has_later = uploads.has_marks_after(db, grading)
    return uploads.in_force(db, grading.assignment) if has_later else None


def _require_latest(act: AuditedTransaction, grading: Grading) -> None:
    """Refuse what would put marks of before in the place of later ones."""
    if uploads.has_marks_after(act.db, grading):
        raise InvalidGradingStateError("a later grading has marks: continue with that one")


class UnmarkedStudent(NamedTuple):
    """A student of the course without a mark in a grading."""

    member: records.Member
    why: str


def list_unmarked(db: Connection, grading: Grading, course: str) -> list[UnmarkedStudent]:
    """Return the students of the course whom a grading gave no mark; none before there are any."""
    if not grading.concluded:
        return []
    got = uploads.RECEIVED_BY.all(db, grading=grading.id)
    known, marked = {one.student for one in got}, {one.key for one in got}
    unmarked = []
    for one in courses.students(db, course):
        if one.key not in known:
            why = "in the course, or in a group, since this grading: grade again"
            if one.team in marked:
                why = f"new in {one.team}: no mark until the change of that one is accepted"
            unmarked.append(UnmarkedStudent(one, why))
    return unmarked


def names(folder: Path) -> list[str]:
    """Return the names of all pages and sheets of a grading, from its folder."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in found if name not in _GRADEBOOKS)


def path_of_file(folder: Path, name: str) -> Path | None:
    """Return a file by its name from the folder; None if it is missing or lies elsewhere."""
    top, path = folder.resolve(), (folder / name.replace("\0", "")).resolve()
    if path.parent == top and path.name in _GRADEBOOKS:
        return None
    with contextlib.suppress(OSError):  # such as a name that no file can have
        return path if path.is_relative_to(top) and path.is_file() else None
    return None


# --- Comments, and marks given by a person: apart from what is computed, and in the audit log ----


_LONGEST = 4000  # characters


class Decision(NamedTuple):
    """A mark as somebody of the staff wants it."""

    points: str
    reason: str


def comment(
    act: AuditedTransaction, assignment: CourseAssignment, key: str, text: str
) -> records.Comment:
    """Say something to a student or a group; raises UsageError if it is empty, or very long."""
    courses.lock(act.db, assignment.id)
    said = _check_text("comment", text)
    made = records.Comment(new_id(), assignment.id, key, act.by, time.time(), said)
    uploads.COMMENTS.add(act.db, made)
    uploads.give_to(act.db, made.id, courses.students_of(act.db, assignment.course, key))
    lti.put_scores(act.db, assignment.id)
    act.note("comment", assignment.id, key=key, comment=made.id)
    return made


def remove_comment(
    act: AuditedTransaction, assignment: CourseAssignment, key: str, one: records.Comment
) -> None:
    """Remove a comment for a student or a group. The audit log keeps what it said.

    ``key``: of the student or group now, on whose page the audit log tells it.
    """
    courses.lock(act.db, assignment.id)
    students = sorted(uploads.owners_of(act.db, [one.id]).get(one.id, ()))
    if uploads.COMMENTS.remove(act.db, id=one.id):  # nobody else has, meanwhile
        uploads.forget_owners(act.db, one.id)
        lti.put_scores(act.db, assignment.id)
        told = {"comment": one.id, "students": students, "author": one.person, "text": one.text}
        act.note("comment removed", assignment.id, key=key, **told)


def decide(act: AuditedTransaction, assignment: CourseAssignment, key: str, new: Decision) -> None:
    """Give a student, or each of a group, a mark instead of the one that was computed last.

    Raises:
        InvalidGradingStateError: none was computed yet.
        UsageError: as :func:`override`.
    """
    students = courses.students_of(act.db, assignment.course, key)
    if (marked := uploads.last_mark(act.db, assignment.id, key, students)) is None:
        raise InvalidGradingStateError("there is no computed mark yet: grade first")
    override(act, assignment, key, canonical_json.loads(Marks, marked.marks), new)


def override(
    act: AuditedTransaction, assignment: CourseAssignment, key: str, marks: Marks, new: Decision
) -> None:
    """Give a student, or each of a group, a mark instead of the computed one or of a former one.

    Raises:
        UsageError: the points are not between 0 and what can be reached; there is no reason.
    """
    courses.lock(act.db, assignment.id)
    found = exact(new.points)
    if found is None or found > marks.of:
        raise UsageError(f"points: found {new.points!r}, expected 0 to {decimal(marks.of)}")
    then = "withheld" if marks.withheld else str(marks)
    said = _check_text("reason", new.reason)
    students = courses.students_of(act.db, assignment.course, key)
    made = Override(assignment.id, "", str(found), then, said, act.by, time.time())
    for student in students:
        uploads.OVERRIDES.remove(act.db, assignment=assignment.id, key=student)
        uploads.OVERRIDES.add(act.db, made._replace(key=student))
    details = {"points": str(found), "computed": then, "why": said}
    act.note("mark overridden", assignment.id, key=key, students=students, **details)
    export_anew(act, assignment)


def end_override(act: AuditedTransaction, assignment: CourseAssignment, key: str) -> None:
    """Let the computed mark count again for a student, or for all of a group."""
    courses.lock(act.db, assignment.id)
    students = courses.students_of(act.db, assignment.course, key)
    own = [{"assignment": assignment.id, "key": one} for one in students]
    if sum(uploads.OVERRIDES.remove(act.db, **one) for one in own):
        act.note("override ended", assignment.id, key=key, students=students)
        export_anew(act, assignment)


def export_anew(act: AuditedTransaction, assignment: CourseAssignment) -> None:
    """Let the pages and sheets of the marks in force be written anew: others count now.

    Those that are released go to the platforms, too. The caller has locked the assignment.
    """
    lti.put_scores(act.db, assignment.id)
    if grading := uploads.in_force(act.db, assignment.id):
        queue.put_anew(act.db, Job("", records.EXPORT, assignment.id, grading.id))


def list_outdated(db: Connection, grading: Grading) -> list[str]:
    """Return a sentence for each given mark that was given when other points could be reached.

    It stays as it is when points change: 4 of 4 is then 4 of 8, and nobody may have meant that.
    ``grading``: no later one has marks.
    """
    most = {
        one.key: decimal(canonical_json.loads(Marks, one.marks).of)
        for one in uploads.MARKS.all(db, grading=grading.id)
    }
    own = uploads.overrides(db, grading.assignment)
    got = uploads.RECEIVED_BY.all(db, "student", grading=grading.id, student=[*own])
    pairs = [(own[one.student], most[one.key]) for one in got]
    return [
        f"{one.key}: {decimal(Fraction(one.points))} of {then}, and now {now} can be reached"
        for one, now in pairs
        # Without a mark at that time nobody knows what could be reached.
        if (then := one.computed.partition(" of ")[2]) not in ("", now)
    ]


class SharedOverride(NamedTuple):
    """A mark that was given to some of those who submitted together."""

    who: tuple[str, ...]  # their keys; empty: all of them
    override: Override


def shared_overrides(
    overrides: Mapping[str, Override], students: Sequence[str]
) -> list[SharedOverride]:
    """Return the marks that were given to some students, alike ones once.

    ``overrides``: by the keys of students.
    """
    sharing: dict[Override, list[str]] = {}
    for one in students:
        if one in overrides:
            sharing.setdefault(overrides[one]._replace(key=""), []).append(one)
    return [
        SharedOverride(() if len(who) == len(students) else tuple(who), one)
        for one, who in sharing.items()
    ]


def format_counting_mark(marks: Marks, given_mark: Override | None) -> str:
    """Return the mark that counts, such as ``4.5 of 5``, or "" if there is none yet."""
    counts = counting_mark(marks, as_given(given_mark) if given_mark else None)
    return "" if counts.withheld else str(counts)


def as_given(given_mark: Override) -> GivenMark:
    """Return a mark as exports have it."""
    return GivenMark(given_mark.key, Fraction(given_mark.points), given_mark.reason)


def _check_text(name: str, text: str) -> str:
    said = escape_controls(text.replace("\r\n", "\n")).strip()
    if not 0 < len(said) <= _LONGEST:
        raise UsageError(f"{name}: found {len(said)} characters, expected 1 to {_LONGEST:,}")
    return said
