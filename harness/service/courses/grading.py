"""Gradings of an assignment: begun, accepted, released, tried again. Workers do the rest."""

from __future__ import annotations

import time
from pathlib import Path

from harness.errors import UsageError
from harness.service.records import CONCLUDE, GRADE, PLAN, Assigned, Grading, Job
from harness.service.storage import queue, uploads
from harness.service.storage.audit_log import Act
from harness.service.storage.rows import new_id


class NotNowError(UsageError):
    """What is asked for does not go with how far a grading is."""


def begin(act: Act, assigned: Assigned, *, public_only: bool) -> Grading:
    """Let all that was submitted be graded."""
    made = Grading(new_id(), assigned.id, act.by, time.time(), public_only)
    uploads.GRADINGS.add(act.db, made)
    queue.put(act.db, Job("", PLAN, assigned.id, made.id))
    act.note("grading begun", made.id, public_only=public_only)
    return made


def release(act: Act, grading: Grading) -> None:
    """Let students see their marks.

    Raises:
        NotNowError: there are none yet, or a later grading has marks.
    """
    if not grading.concluded:
        raise NotNowError("there are no marks yet")
    _be_last(act, grading)
    uploads.GRADINGS.change(act.db, {"released": time.time()}, id=grading.id)
    act.note("marks released", grading.id)


def accept(act: Act, grading: Grading) -> None:
    """Change the marks in force that would change.

    Raises:
        NotNowError: there are no marks yet, or students have seen them, or a later grading has
            marks.
    """
    if not grading.concluded or grading.released:
        raise NotNowError("there is nothing to be changed")
    _be_last(act, grading)
    values: dict[str, object] = {"accept": 1, "concluded": 0.0}
    uploads.GRADINGS.change(act.db, values, id=grading.id)
    queue.again(act.db, CONCLUDE, grading.id)
    act.note("changes accepted", grading.id)


def try_again(act: Act, grading: Grading) -> None:
    """Try again what the harness failed in.

    Raises:
        NotNowError: a later grading has marks.
    """
    _be_last(act, grading)
    for job in queue.of(act.db, grading.id):
        queue.begin_anew(act.db, job.id)
    for kind in (GRADE, CONCLUDE):  # what is done is not run again, what broke is
        queue.again(act.db, kind, grading.id)
    values: dict[str, object] = {"trouble": "", "concluded": 0.0}
    uploads.GRADINGS.change(act.db, values, id=grading.id)
    act.note("tried again", grading.id)


def _be_last(act: Act, grading: Grading) -> None:
    """Refuse what would put marks of before in the place of later ones."""
    if uploads.has_marks_after(act.db, grading):
        raise NotNowError("a later grading has marks: go on with that one")


# --- what it wrote -----------------------------------------------------------------------------


def names(folder: Path) -> list[str]:
    """Return the names of all pages and sheets of a grading, from its folder."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in found)


def file(folder: Path, name: str) -> Path | None:
    """Return a file by its name from the folder; None: there is none, or it lies elsewhere."""
    path = (folder / name.replace("\0", "")).resolve()
    return path if path.is_relative_to(folder.resolve()) and path.is_file() else None
