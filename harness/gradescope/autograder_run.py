"""Settings of an autograder, and how they travel in its zip."""

from __future__ import annotations

import csv
import datetime
import json
import tempfile
from pathlib import Path
from typing import NamedTuple

from harness import ClassResult, ClassWideError, Graded, GradeOptions, find_assignment, grade
from harness.assignments import needs
from harness.assignments.assignment import Assignment
from harness.assignments.needs import with_python
from harness.clock_changes import to_local, to_seconds
from harness.errors import UsageError
from harness.grading.exports import gradescope
from harness.grading.exports.gradescope import Later
from harness.grading.exports.showing import feedback
from harness.grading.ingest.sources import listing
from harness.grading.records import PRIVATE
from harness.report.views import Views

FILE = "gtp-harness.json"  # in the zip
# When students see the points and tests of private case files. Source: Gradescope's autograder
# specifications, "Controlling Test Case Visibility".
VISIBILITIES = ("visible", "after_due_date", "after_published", "hidden")
_BEFORE_END = 120.0  # seconds for what is not a test: reading, building, writing


class GradescopeSettings(NamedTuple):
    """The decisions. Paths are relative to the folder of the zip's contents."""

    assignment: str  # its folder
    private: tuple[str, ...]  # files or folders of case files, besides the assignment's own
    public_only: bool
    timeout: float  # seconds after which Gradescope ends an autograder, and gives 0 points
    private_visibility: str  # one of VISIBILITIES

    @property
    def budget(self) -> float:
        """Seconds for all case files of a submission."""
        return self.timeout - _BEFORE_END


def to_json(settings: GradescopeSettings) -> str:
    """Return settings as JSON."""
    return json.dumps(settings._asdict(), indent=1) + "\n"


def read(folder: Path) -> GradescopeSettings:
    """Return the settings of an autograder.

    ``folder``: with the contents of its zip.

    Raises:
        UsageError: there are none, or they are not what :func:`to_json` wrote.
    """
    path = folder / FILE
    try:
        found = GradescopeSettings(**json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, TypeError):
        raise UsageError(
            f"{path} is not what gtp-harness gradescope wrote: make the zip again"
        ) from None
    return found._replace(private=tuple(found.private))


# --- ``submission_metadata.json``: when a submission was made, and when it was due ---------------
# Source: "Submission Metadata" of Gradescope's documentation.


METADATA_FILE = "submission_metadata.json"


class Times(NamedTuple):
    """Local times of this machine, as an assignment's deadline is one."""

    created: datetime.datetime
    due: datetime.datetime | None  # the latest of all who handed it in; None: never


def read_metadata(path: Path) -> Times:
    """Return the times of a submission.

    A student may have got an extension, which stands with the student. Of a group the latest one
    counts.

    Raises:
        UsageError: the file cannot be read, or a time is not one.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise UsageError(f"{path} is not JSON") from None
    found = _object(found)
    users = found.get("users")
    students = users if isinstance(users, list) else []
    dates = [_object(_object(one).get("assignment")).get("due_date") for one in students]
    extended = [_time(path, "due_date", date) for date in dates if date]
    common = _object(found.get("assignment")).get("due_date")
    due = extended or ([_time(path, "due_date", common)] if common else [])
    last = max(due, key=to_seconds, default=None)
    return Times(_time(path, "created_at", found.get("created_at")), last)


def _object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _time(path: Path, name: str, value: object) -> datetime.datetime:
    try:
        time = datetime.datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        time = None
    if time is None:
        expected = "a time such as 2026-01-29T23:55:00-07:00"
        raise UsageError(f"{path}: {name}: found {value!r}, expected {expected}")
    return to_local(time)


# --- The run of an autograder: grades one submission as a class of one, and writes the result ----
# A result is written only when there is a mark. Whatever goes wrong before that leaves no
# ``results.json``: then Gradescope shows "The autograder failed to execute correctly" and gives no
# points, neither 0 nor any others, and the teacher sees standard output.


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
    wanted = read(source)
    times = read_metadata(root / METADATA_FILE)
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


def _set_due_date(assignment: Assignment, times: Times) -> Assignment:
    """Return the assignment with the due date that Gradescope has, if it has one.

    What is refused then is Gradescope's business: it knows who got an extension.
    """
    if times.due is None:
        return assignment
    return assignment._replace(
        late=assignment.late._replace(deadline=times.due, refused_after=None)
    )


def _sheet(room: Path, root: Path, times: Times) -> Path:
    """Write the CSV of a class of one; return its path."""
    path = room / "class.csv"
    pieces = sorted(listing.folder_pieces([root / "submission"]), key=lambda piece: piece.order)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["student", "file", "time"])
        for piece in pieces:
            name = str(piece.handed.path) if piece.handed else ""
            rows.writerow([piece.student.key, name, times.created.isoformat()])
    return path


def _grade(
    assignment: Assignment, sheet: Path, source: Path, settings: GradescopeSettings
) -> ClassResult:
    room = sheet.parent
    return grade(
        GradeOptions(
            assignment=assignment,
            source=sheet,
            output=room,
            private=tuple(str(source / one) for one in settings.private),
            public_only=settings.public_only,
            images=False,  # what they show is for a teacher, who sees nothing of them here
            budget=settings.budget,
            go_on=True,  # a class of one always fails alike
        )
    )


def _text(one: Graded, result: ClassResult, settings: GradescopeSettings) -> str:
    found = result.assignment
    private = frozenset(part.name for part in found.marks if part.judged_by == PRIVATE)
    shown = feedback(one, result, Views(found.specification, found.place))
    return gradescope.results(shown, Later(settings.private_visibility, private))


def _write(target: Path, text: str) -> None:
    """Write a file that is there as a whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(".unfinished")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(target)
