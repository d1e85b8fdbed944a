"""Marks that other points would change, and private tests that may be wrong."""

import json
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection

from harness.core.errors import InvalidGradingStateError, UsageError
from harness.core.text import at_most
from harness.grading import grade
from harness.grading.attempts import attempt_plan
from harness.grading.marks.regrading import MarkChange
from harness.service import records
from harness.service.courses import gradings, own_files, point_weights
from harness.service.courses.point_weights import PointWeights, WeighedPart, WeighedTest
from harness.service.jobs import private_cases, result_files
from harness.service.jobs.assignment_context import AssignmentContext
from harness.service.records import CourseAssignment, Grading, Job
from harness.service.settings import Settings
from harness.service.storage import courses, queue, uploads
from harness.service.storage.audit import AuditedTransaction
from harness.service.storage.database import Database


class PreviewedChange(NamedTuple):
    """A mark that would change."""

    key: str  # of the submission
    names: str
    told: str  # from what to what, and why


class PreviewResult(NamedTuple):
    """Effect of other points."""

    changes: tuple[PreviewedChange, ...]
    marks: int  # in the last grading


class Preview:
    """The files of a preview."""

    def __init__(self, assignment_folder: Path, name: str) -> None:
        """``name``: the id of the preview."""
        folder = assignment_folder / "previews"
        self._worth = folder / f"{name}.worth.json"
        self._found = folder / f"{name}.json"
        self._before = folder / f"{name}.before.json"
        self._grading = folder / f"{name}.grading"

    def begin(self, weights: PointWeights, before: str) -> None:
        """Write down what is asked about, as :func:`point_weights.read` gives it.

        ``before``: what is in force, as :func:`describe_in_force` says it.
        """
        self._worth.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._worth.write_text(json.dumps(weights._asdict()))
        self._before.write_text(before)

    @property
    def before(self) -> str:
        """State in force when it was begun."""
        return self._before.read_text()

    @property
    def worth_before(self) -> PointWeights | None:
        """The points and weights that were in force when it was set; None before."""
        return PointWeights(*json.loads(self.before)) if self.grading else None

    @property
    def grading(self) -> str:
        """The ID of the grading that was begun when it was set, or "" before."""
        return self._grading.read_text() if self._grading.exists() else ""

    def note_grading(self, name: str) -> None:
        """Write down which grading is begun, for who sets it once more."""
        self._grading.write_text(name)

    @property
    def weights(self) -> PointWeights:
        """The points and weights that are asked about."""
        return PointWeights(**json.loads(self._worth.read_text()))

    def write(self, result: PreviewResult) -> None:
        """Write down what would change."""
        result_files.save(self._found, result)

    def read(self) -> PreviewResult | None:
        """Return the changes, or None if they are not yet known."""
        return result_files.load(PreviewResult, self._found)


def parts(
    settings: Settings, assignment: CourseAssignment, then: PointWeights | None = None
) -> list[WeighedPart]:
    """Return the parts of an assignment with their tests, as they are in the course.

    ``then``: points and weights that would be in force; None: those that are.
    """
    own = own_files.assignment_of(settings, assignment)
    weights = point_weights.load_weights(assignment) if then is None else then
    private = settings.private_folder(assignment.id)
    return point_weights.list_weighed_parts(point_weights.apply_weights(own, weights), private)


def still_left_out(settings: Settings, assignment: CourseAssignment) -> list[WeighedTest]:
    """Return the tests that do not count in a course, though their files have changed since."""
    own = point_weights.load_weights(assignment)
    return point_weights.still_left_out(parts(settings, assignment), own) if own.weights else []


def would_be_left_out(
    settings: Settings, assignment: CourseAssignment, then: PointWeights
) -> list[WeighedTest]:
    """Return those that would still not count if ``then`` was put in force, for a preview."""
    own = point_weights.load_weights(assignment)
    before = {part: {**new, **own.left_out.get(part, {})} for part, new in then.left_out.items()}
    weighed = parts(settings, assignment)
    return point_weights.still_left_out(weighed, then._replace(left_out=before))


def ask(act: AuditedTransaction, assignment: CourseAssignment, new: PointWeights) -> str:
    """Let a worker find out which marks would change; return the id of the preview.

    Raises as :func:`point_weights.read`.
    """
    own, made = own_files.assignment_of(act.settings, assignment), records.new_id()
    asked = point_weights.read(own, parts(act.settings, assignment), new)
    before = describe_in_force(act.settings, assignment)
    Preview(act.settings.assignment_folder(assignment.id), made).begin(asked, before)
    queue.put(act.db, Job("", records.PREVIEW, assignment.id, made, person=act.by))
    return made


def put_in_force(
    act: AuditedTransaction, assignment: CourseAssignment, preview: Preview
) -> Grading:
    """Set the points and weights of a preview, and no others, and grade with them.

    Exactly the points shown are set. Marks in force change only if that is accepted. If they were
    set before, only the grading is returned that was begun then.

    Raises:
        InvalidGradingStateError: the changes are not known yet, or others are in force than when
            it was made.
        UsageError: the parts or tests are others by now.
    """
    if preview.read() is None:
        raise InvalidGradingStateError("the changes are not known yet")
    assignment = courses.lock(act.db, assignment.id) or assignment  # it may be set twice at once
    if preview.grading and (made := uploads.GRADINGS.find(act.db, id=preview.grading)):
        return made
    if why := explain_stale(act.settings, assignment, preview):
        raise InvalidGradingStateError(why)
    own = own_files.assignment_of(act.settings, assignment)
    now = point_weights.read(own, parts(act.settings, assignment, PointWeights()), preview.weights)
    values = {name: json.dumps(value) for name, value in now._asdict().items()}
    courses.ASSIGNMENTS.change(act.db, values, id=assignment.id)
    act.note("points set", assignment.id, **now._asdict())
    own_files.require_set_up(act.settings, assignment)
    made = gradings.begin(act, assignment, public_only=is_public_only(act.db, assignment))
    preview.note_grading(made.id)
    return made


def explain_stale(settings: Settings, assignment: CourseAssignment, preview: Preview) -> str:
    """Return why a preview says nothing of what is in force now, or "" if it does."""
    if preview.before == describe_in_force(settings, assignment):
        return ""
    return "the points have changed since this preview was made: make a new preview"


def describe_in_force(settings: Settings, assignment: CourseAssignment) -> str:
    """Return the points and weights in force as a text, to see if they have changed."""
    weights = point_weights.load_weights(assignment)
    own = point_weights.apply_weights(own_files.assignment_of(settings, assignment), weights)
    points = {part.name: str(part.points) for part in own.marks}
    return json.dumps([points, weights.weights], sort_keys=True)


def is_public_only(db: Connection, assignment: CourseAssignment) -> bool:
    """Whether a grading with other points has only public case files, as the last one had."""
    last = uploads.in_force(db, assignment.id)
    return last is not None and last.public_only


def preview(context: AssignmentContext, job: Job) -> None:
    """Compare the marks in force with what they would be."""
    own = Preview(context.folder, job.about)
    with context.database.reading() as db:
        last = uploads.in_force(db, context.assigned.id)
    if last is None:
        own.write(PreviewResult((), 0))
        return
    options = context.options_of(last)
    made = own_files.assignment_of(context.settings, context.assigned)
    then = point_weights.apply_weights(made, own.weights).marks
    options = options._replace(assignment=options.assignment._replace(marks=then))
    found = attempt_plan.load_last_plan(context.ledger, last.run)
    changes = grade.update_marks(options, context.ledger, found, is_preview=True).changes
    told = (PreviewedChange(one.key, names(one), str(one)) for one in changes)
    own.write(PreviewResult(tuple(told), len(found.submissions)))


def names(change: MarkChange) -> str:
    """Return whose mark changes."""
    return ", ".join(one.name or one.key for one in change.students)


# --- Private tests whose expectation the reference does not meet: told before and after a grading
# A worker finds them when it measures the private case files. A test of weight 0 is not told.


_TOLD = 5  # tests in one message


def find(
    settings: Settings,
    assignment: CourseAssignment,
    measurement: private_cases.MeasuredCases,
    then: PointWeights | None = None,
) -> list[str]:
    """Return a sentence for each private test that may be wrong, and counts.

    ``then``: points and weights that would be in force; None: those that are.
    """
    found = measurement.caught
    wrong = [(one.name, test) for one in found.files for test in one.answers] if found else []
    weights = point_weights.load_weights(assignment) if then is None else then
    left_out: set[str] = set()  # names of private tests with weight 0 in each part
    if wrong and weights.weights:
        tests = [test for part in parts(settings, assignment, weights) for test in part.tests]
        left_out = {test.name for test in tests} - {test.name for test in tests if test.weight}
    return [
        f"{name}{f', test {test.id}' if test.id >= 0 else ''}, line {test.line}"
        f" ({test.command}): the file expects {test.expected}, but the reference answers"
        f" {test.answer}."
        for name, test in wrong
        if f"{name}:{test.id}" not in left_out
    ]


def find_now(settings: Settings, assignment: CourseAssignment) -> list[str]:
    """Return what :func:`find` says of the private case files and points as they are."""
    return find(settings, assignment, private_cases.load_measured(settings, assignment))


def explain_unchecked(database: Database, measurement: private_cases.MeasuredCases) -> str:
    """Return why nobody knows if private tests are wrong, or "" if that is known."""
    if measurement.caught or not measurement.paths:
        return ""
    with database.reading() as db:
        job = queue.JOBS.find(db, kind=records.MEASURE, about=measurement.about)
    if job and job.state == records.FAULT:
        return (
            f"the private tests could not be checked ({job.fault.rstrip('.')}): add one of them"
            " again to try once more"
        )
    return "the private tests are still being checked: try again in a moment"


def require_none(
    database: Database,
    settings: Settings,
    assignment: CourseAssignment,
    how: str,
    then: PointWeights | None = None,
) -> None:
    """See before a grading that no private test may be wrong.

    ``how``: how to grade anyway. ``then``: as for :func:`find`.

    Raises:
        InvalidGradingStateError: some may be, or nobody knows yet.
    """
    measured = private_cases.load_measured(settings, assignment)
    if why := explain_unchecked(database, measured):
        with database.acting() as act:  # who waits must not wait for a job that there is not
            private_cases.let_measure(act, assignment, (records.DONE,))
        raise InvalidGradingStateError(f"{why}, or {how}")
    if found := find(settings, assignment, measured, then):
        told = " ".join(at_most(found, _TOLD, "And {} more."))
        raise InvalidGradingStateError(
            f"some private tests may be wrong: correct them, or {how}. {told}"
        )


def require_gradable(
    database: Database, settings: Settings, assignment: CourseAssignment, how: tuple[str, str]
) -> None:
    """See before a grading that nothing is missing and no private test may be wrong.

    ``how``: to grade without private tests, and to grade though some may be wrong; each is empty
    if that is wanted.

    Raises:
        UsageError: something is missing.
        InvalidGradingStateError: as :func:`require_none`.
    """
    own_files.require_set_up(settings, assignment)
    without, anyway = how
    if without:
        if part := private_cases.lack_some(settings, assignment):
            raise UsageError(
                f"{part!r} needs private case files, and there are none: add some on the page of"
                f" the private case files, or {without}"
            )
        if anyway:
            require_none(database, settings, assignment, anyway)


def list_doubts(
    database: Database, settings: Settings, assignment: CourseAssignment, preview: Preview
) -> tuple[list[str], str]:
    """Return a sentence for each private test that may be wrong if a preview's points are set.

    Also why nobody knows, or "".
    """
    if preview.grading or _is_public_only(database, assignment):
        return [], ""
    measured = private_cases.load_measured(settings, assignment)
    found = find(settings, assignment, measured, preview.weights)
    return found, explain_unchecked(database, measured)


def require_settable(
    database: Database,
    settings: Settings,
    assignment: CourseAssignment,
    preview: Preview,
    how: str,
) -> None:
    """See before the points of a preview are set as :func:`require_none` does before a grading.

    ``how``, and what it raises: as there; ``how`` is empty if that is wanted.
    """
    if how and not (preview.grading or _is_public_only(database, assignment)):
        require_none(database, settings, assignment, how, preview.weights)


def _is_public_only(database: Database, assignment: CourseAssignment) -> bool:
    with database.reading() as db:
        return is_public_only(db, assignment)
