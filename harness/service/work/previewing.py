"""Marks that other points would change, before anything is in force: ``grade`` compares them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from harness.grading import grade
from harness.grading.marks.regrading import MarkChange
from harness.service.courses import making
from harness.service.records import Job
from harness.service.storage import uploads
from harness.service.work.grounds import Ground
from harness.work import canonical_json


class Changed(NamedTuple):
    """A mark that would change."""

    key: str  # of the submission
    names: str
    told: str  # from what to what, and why


class Previewed(NamedTuple):
    """What other points would change."""

    changes: tuple[Changed, ...]
    marks: int  # in the last grading


class Preview:
    """The file of a preview."""

    def __init__(self, made: Path, name: str) -> None:
        """``made``: the folder of the assignment; ``name``: the id of the preview."""
        self._points = made / "previews" / f"{name}.points.json"
        self._found = made / "previews" / f"{name}.json"

    def begin(self, points: Mapping[str, str]) -> None:
        """Write down which points are asked about, as :func:`making.read_points` gives them."""
        self._points.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._points.write_text(json.dumps(points))

    @property
    def points(self) -> dict[str, str]:
        """The points that are asked about."""
        found: dict[str, str] = json.loads(self._points.read_text())
        return found

    def write(self, found: Previewed) -> None:
        """Write down what would change."""
        unfinished = self._found.with_suffix(".new")
        unfinished.write_text(canonical_json.dumps(found))
        unfinished.replace(self._found)

    def read(self) -> Previewed | None:
        """Return what would change; None: it is not known yet."""
        if not self._found.exists():
            return None
        return canonical_json.loads(Previewed, self._found.read_text())


def preview(ground: Ground, job: Job) -> None:
    """Compare the marks in force with what they would be."""
    own = Preview(ground.settings.made(ground.assigned.id), job.about)
    with ground.database.reading() as db:
        last = uploads.in_force(db, ground.assigned.id)
    if last is None:
        own.write(Previewed((), 0))
        return
    wanted = ground.graded_as(last)
    wanted = wanted._replace(assignment=making.with_points(wanted.assignment, own.points))
    found = grade.load_last_plan(ground.ledger, last.run)
    changes = grade.current_marks(wanted, ground.ledger, found).changes
    told = (Changed(one.key, names(one), str(one)) for one in changes)
    own.write(Previewed(tuple(told), len(found.submissions)))


def names(change: MarkChange) -> str:
    """Return whose mark changes."""
    return ", ".join(one.name or one.key for one in change.students)
