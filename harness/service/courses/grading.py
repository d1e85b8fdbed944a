"""Gradings of an assignment: begun, accepted, released, tried again. Workers do the rest."""

from __future__ import annotations

import contextlib
import datetime
import json
from pathlib import Path
from typing import Literal, NamedTuple

from sqlalchemy import Connection

from harness.errors import UsageError
from harness.grading.exports.exporters import EXPORTS
from harness.service.courses.late_terms import list_open_dates
from harness.service.records import (
    CONCLUDE,
    FAULT,
    GRADE,
    PLAN,
    Assigned,
    Grading,
    Job,
    Member,
)
from harness.service.storage import courses, queue, uploads
from harness.service.storage.audit import Act
from harness.service.storage.tables import new_id
from harness.text import number_of

# Gradebooks may have the marks of other assignments: only teachers get them, by their own route.
_GRADEBOOKS = frozenset(one.files[0] for one in EXPORTS if one.download)

State = Literal["running", "concluded", "released", "failed"]


class NotNowError(UsageError):
    """What is asked for does not go with how far a grading is."""


def state(db: Connection, grading: Grading) -> State:
    """Return how far a grading is; ``failed``: it has no marks, and stays so by itself.

    One that failed keeps nobody from beginning another one, or from trying it again.
    """
    if grading.concluded:
        return "released" if grading.released else "concluded"
    jobs = queue.of(db, grading.id)
    is_left = any(job.is_unfinished for job in jobs)
    is_to_be_concluded = grading.run > 0 and all(job.kind != CONCLUDE for job in jobs)
    return "running" if is_left or is_to_be_concluded else "failed"


def begin(act: Act, assigned: Assigned, *, public_only: bool) -> Grading:
    """Let all that was submitted be graded.

    Raises:
        NotNowError: a grading of the assignment is running.
    """
    _be_alone(act, assigned.id)
    now = uploads.next_moment(act.db, assigned.id)
    made = Grading(new_id(), assigned.id, act.by, now, public_only)
    uploads.GRADINGS.add(act.db, made)
    due = assigned.deadline  # all its submissions have this one
    queue.put(act.db, Job("", PLAN, assigned.id, made.id, due=due, person=act.by))
    act.note("grading begun", made.id, public_only=public_only)
    return made


def release(
    act: Act, grading: Grading, *, is_early: bool = False, leaves_changes: bool = False
) -> None:
    """Let students see their marks; arguments and errors as for :func:`require_releasable`."""
    grading = _lock(act, grading)
    told = require_releasable(act, grading, is_early=is_early, leaves_changes=leaves_changes)
    now = uploads.next_moment(act.db, grading.assignment)
    uploads.GRADINGS.change(act.db, {"released": now}, id=grading.id)
    act.note("marks released", grading.id, **told)


def require_releasable(
    act: Act, grading: Grading, *, is_early: bool, leaves_changes: bool
) -> dict[str, object]:
    """Return what the audit log says of a release, if it can be.

    ``is_early``: even while some can still submit. ``leaves_changes``: even if marks would change,
    which then stay as they are until the next grading.

    Raises:
        NotNowError: the grading has no marks yet, a later one has some, students can still submit,
            or marks would change.
    """
    if not grading.concluded:
        raise NotNowError("there are no marks yet")
    _be_last(act, grading)
    if (left := _count_open_changes(grading)) and not leaves_changes:
        raise NotNowError(
            f"{number_of(left, 'mark')} would change: change them first, or confirm a release"
            " without these changes"
        )
    assigned = courses.ASSIGNMENTS.find(act.db, id=grading.assignment)
    why = list_open_dates(act.db, assigned, datetime.datetime.now()) if assigned else []
    if why and not is_early:
        raise NotNowError(f"students can still submit: {'; '.join(why)}. Confirm an early release")
    told: dict[str, object] = {"early": why} if why else {}
    return told | ({"unchanged": left} if left else {})


def _count_open_changes(grading: Grading) -> int:
    """Return how many marks in force would change, as long as nobody has accepted it."""
    return 0 if grading.accept else len(json.loads(grading.changes))


def accept(act: Act, grading: Grading) -> None:
    """Change the marks in force that would change, if these are still the changes that are shown.

    Raises:
        NotNowError: there are no marks yet, or students have seen them, or a later grading has
            marks, or one is running.
    """
    grading = _lock(act, grading)
    if not grading.concluded or grading.released:
        raise NotNowError("there is nothing to be changed")
    _be_last(act, grading)
    _be_alone(act, grading.assignment, grading.id)
    values: dict[str, object] = {"accept": 1, "concluded": 0.0, "trouble": ""}
    uploads.GRADINGS.change(act.db, values, id=grading.id)
    _conclude_anew(act, grading)
    act.note("changes accepted", grading.id)


def try_again(act: Act, grading: Grading) -> None:
    """Try again what the harness failed in.

    Raises:
        NotNowError: a later grading has marks, or one is running.
    """
    grading = _lock(act, grading)
    _be_last(act, grading)
    _be_alone(act, grading.assignment, grading.id)
    for job in queue.of(act.db, grading.id):
        queue.begin_anew(act.db, job.id)
    queue.again(act.db, GRADE, grading.id)  # what is done is not rerun, what broke is
    if grading.concluded:
        _conclude_anew(act, grading)
    values: dict[str, object] = {"trouble": "", "concluded": 0.0}
    uploads.GRADINGS.change(act.db, values, id=grading.id)
    act.note("tried again", grading.id)


def _lock(act: Act, grading: Grading) -> Grading:
    """Return a grading as it is now: it may have changed since a page showed it, or just now."""
    courses.lock(act.db, grading.assignment)
    return uploads.GRADINGS.find(act.db, id=grading.id) or grading


def _conclude_anew(act: Act, grading: Grading) -> None:
    """Recompute marks, even if a worker is computing them now: its results then do not count."""
    queue.put_anew(act.db, Job("", CONCLUDE, grading.assignment, grading.id))


def _be_alone(act: Act, assignment: str, own: str = "") -> None:
    """Refuse what would let two gradings run: whose marks count would be chance.

    ``own``: the grading that may be running.
    """
    courses.lock(act.db, assignment)  # two people may ask at once
    others = (one for one in uploads.gradings(act.db, assignment) if one.id != own)
    if any(state(act.db, one) == "running" for one in others):
        raise NotNowError("a grading of this assignment is running: wait until it has marks")


def list_decisions(db: Connection, grading: Grading) -> list[str]:
    """Return what a grading waits for from a person, a phrase each; [] while it runs."""
    if state(db, grading) == "running" or uploads.has_marks_after(db, grading):
        return []
    faults = sum(job.state == FAULT for job in queue.of(db, grading.id))
    found = [f"the harness failed in {number_of(faults, 'job')}"] if faults else []
    changes = _count_open_changes(grading)
    if changes and grading.concluded and not grading.released:
        found.append(f"{number_of(changes, 'mark')} would change")
    return found


def find_later(db: Connection, grading: Grading) -> Grading | None:
    """Return the grading whose marks are in force in the place of those of an earlier one."""
    return (
        uploads.in_force(db, grading.assignment) if uploads.has_marks_after(db, grading) else None
    )


def _be_last(act: Act, grading: Grading) -> None:
    """Refuse what would put marks of before in the place of later ones."""
    if uploads.has_marks_after(act.db, grading):
        raise NotNowError("a later grading has marks: continue with that one")


# --- whom it gave no mark ----------------------------------------------------------------------


class Unmarked(NamedTuple):
    """A student of the course without a mark in a grading."""

    member: Member
    why: str


def list_unmarked(db: Connection, grading: Grading, course: str) -> list[Unmarked]:
    """Return the students of the course whom a grading gave no mark; none before there are any."""
    if not grading.concluded:
        return []
    got = uploads.RECEIVED_BY.all(db, grading=grading.id)
    known, marked = {one.student for one in got}, {one.key for one in got}
    return [
        Unmarked(one, _why_unmarked(one, is_group_marked=one.team in marked))
        for one in courses.students(db, course)
        if one.key not in known
    ]


def _why_unmarked(member: Member, *, is_group_marked: bool) -> str:
    if is_group_marked:
        return f"new in {member.team}: no mark until the change of that one is accepted"
    return "in the course, or in a group, since this grading: grade again"


# --- what it wrote -----------------------------------------------------------------------------


def names(folder: Path) -> list[str]:
    """Return the names of all pages and sheets of a grading, from its folder."""
    found = (path for path in folder.rglob("*") if path.is_file())
    every = (path.relative_to(folder).as_posix() for path in found)
    return sorted(name for name in every if name not in _GRADEBOOKS)


def file(folder: Path, name: str) -> Path | None:
    """Return a file by its name from the folder; None if it is missing or lies elsewhere."""
    top, path = folder.resolve(), (folder / name.replace("\0", "")).resolve()
    if path.parent == top and path.name in _GRADEBOOKS:
        return None
    with contextlib.suppress(OSError):  # such as a name that no file can have
        return path if path.is_relative_to(top) and path.is_file() else None
    return None
