"""The run of an autograder: grades one submission as a class of one, and writes the result.

A result is written only when there is a mark. Whatever goes wrong before that leaves no
``results.json``: then Gradescope shows "The autograder failed to execute correctly" and gives no
points, neither 0 nor any others, and the teacher sees standard output.
"""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import NamedTuple

from harness import ClassResult, ClassWideError, Graded, GradeOptions, find_assignment, grade
from harness.assignments import needs
from harness.assignments.assignment import Assignment
from harness.assignments.python import with_python
from harness.gradescope import autograder_settings, metadata
from harness.gradescope.autograder_settings import GradescopeSettings
from harness.gradescope.metadata import Times
from harness.grading.exports import gradescope
from harness.grading.exports.gradescope import Later
from harness.grading.exports.showing import feedback
from harness.grading.records import PRIVATE
from harness.grading.taking_in.sources import folder_source
from harness.report.views import Views


class MarkingNotes(NamedTuple):
    """What the teacher is told on standard output."""

    mark: str
    sandbox: str  # empty if nothing was run


def mark(root: Path) -> MarkingNotes:
    """Grade ``root/submission``, and write ``root/results/results.json``.

    ``root``: a folder laid out as Gradescope's ``/autograder``.

    Raises:
        HarnessError: there is no mark; no result is left then.
    """
    target = root / "results" / "results.json"
    target.unlink(missing_ok=True)
    source = root / "source"
    wanted = autograder_settings.read(source)
    times = metadata.read(root / metadata.FILE)
    found = find_assignment(str(source / wanted.assignment))
    needs.require(found)
    with with_python(_set_due_date(found, times)) as found, _room() as room:
        result = _grade(found, _sheet(Path(room), root, times), source, wanted)
    (one,) = result.graded
    if one.marks.withheld:
        faults = "; ".join(dict.fromkeys(found.fault for found in one.attempts if found.fault))
        raise ClassWideError(f"the harness failed, and there is no mark: {faults}")
    _write(target, _text(one, result, wanted))
    return MarkingNotes(str(one.marks), result.sandbox)


def _room() -> tempfile.TemporaryDirectory[str]:
    """Give a folder that nobody else may enter, for the ledger."""
    return tempfile.TemporaryDirectory(prefix="gtp-harness-gradescope-")


def _set_due_date(found: Assignment, times: Times) -> Assignment:
    """Return the assignment with the due date that Gradescope has, if it has one.

    What is refused then is Gradescope's business: it knows who got an extension.
    """
    if times.due is None:
        return found
    return found._replace(late=found.late._replace(deadline=times.due, refused_after=None))


def _sheet(room: Path, root: Path, times: Times) -> Path:
    """Write the CSV of a class of one; return its path."""
    path = room / "class.csv"
    pieces = sorted(folder_source.pieces([root / "submission"]), key=lambda piece: piece.order)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["student", "file", "time"])
        for piece in pieces:
            name = str(piece.handed.path) if piece.handed else ""
            rows.writerow([piece.student.key, name, times.created.isoformat()])
    return path


def _grade(
    found: Assignment, sheet: Path, source: Path, wanted: GradescopeSettings
) -> ClassResult:
    room = sheet.parent
    return grade(
        GradeOptions(
            assignment=found,
            source=sheet,
            output=room,
            private=tuple(str(source / one) for one in wanted.private),
            public_only=wanted.public_only,
            images=False,  # what they show is for a teacher, who sees nothing of them here
            budget=wanted.budget,
            go_on=True,  # a class of one always fails alike
        )
    )


def _text(one: Graded, result: ClassResult, wanted: GradescopeSettings) -> str:
    found = result.assignment
    private = frozenset(part.name for part in found.marks if part.judged_by == PRIVATE)
    shown = feedback(one, result, Views(found.specification, found.place))
    return gradescope.results(shown, Later(wanted.private_visibility, private))


def _write(target: Path, text: str) -> None:
    """Write a file that is there as a whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(".unfinished")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(target)
