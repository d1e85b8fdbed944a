"""Compute marks from the ledger, with everything known about each submission and the class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.assignments.assignment import Assignment
from harness.grading.attempts.assembly import AttemptReader
from harness.grading.attempts.attempt_plan import PlannedCase
from harness.grading.attempts.set_aside import SetAside
from harness.grading.ledger.ledger import Ledger, MarkRow, PlannedAttempt
from harness.grading.marks import findings, marking, regrading, suspicion
from harness.grading.marks.regrading import MarkChange
from harness.grading.records import IMAGE, PUBLIC, Attempt, ClassResult, Graded, Marks, Submission
from harness.judging.diagnosis import diagnoses, failures
from harness.judging.mutant_replay import Memory
from harness.records import Diagnosis, FileResult
from harness.work import canonical_json
from oracle import __version__


class Marker:
    """Compute marks from the ledger."""

    def __init__(
        self,
        assignment: Assignment,
        ledger: Ledger,
        cases: Sequence[PlannedCase],
        started: str,
        book: SetAside | None = None,
    ) -> None:
        """``cases``: those that are graded with; ``started``: when, as the ledger has it.

        ``book``: of machines whose results count for nothing.
        """
        self._assignment = assignment
        self._ledger = ledger
        self._cases = cases
        self._started = started
        own = ((case.kind, case.name, case.read()) for case in cases if case.kind != IMAGE)
        self._tested = marking.find_tested(assignment, own)
        paths = {(case.kind, case.name): case.path for case in cases}
        self._reader = AttemptReader(ledger, assignment, paths, book)
        self._diagnoser = _Diagnoser(assignment.place)

    def mark_submission(self, submission: Submission, planned: Iterable[PlannedAttempt]) -> Graded:
        """Return all that is known of a submission, with the mark that it should get."""
        attempts = self._reader.attempts(planned)
        marks = marking.marks(self._assignment, submission, attempts, self._tested)
        return self._make_graded(submission, attempts, marks)

    def load_former(self, given: MarkRow) -> Graded:
        """Return what a mark in force was made of, with that mark."""
        attempts = self._reader.attempts(map(self._ledger.get_planned, given.bases), given.given)
        submission = canonical_json.loads(Submission, given.submission)
        return self._make_graded(submission, attempts, canonical_json.loads(Marks, given.marks))

    def changes(self, old: Iterable[Graded], new: Iterable[Graded]) -> tuple[MarkChange, ...]:
        """Return the marks that would change."""
        return regrading.changes(list(old), list(new), self._assignment, self._tested)

    def _make_graded(
        self, submission: Submission, attempts: tuple[Attempt, ...], marks: Marks
    ) -> Graded:
        found = self._diagnoser.of(attempts)
        return Graded(submission, attempts, marks, suspicion.suspicion(attempts), found)

    def result(self, graded: Sequence[Graded]) -> ClassResult:
        """Return the whole class."""
        return ClassResult(
            self._assignment,
            tuple(sorted(graded, key=lambda one: one.submission.key)),
            findings.items(graded),
            "; ".join(sorted(self._reader.sandboxes)),
            self._started,
            __version__,
            tuple((case.kind, case.name, case.sha256) for case in self._cases),
            "; ".join(sorted(self._reader.pythons)),
        )


class _Diagnoser:
    """Diagnose submissions by their public tests; private ones must reveal nothing to students.

    Submissions with the same answers get the same diagnosis, which is computed once.
    """

    def __init__(self, place: Path) -> None:
        """``place``: the folder from which the names of case files go."""
        self._place = place
        self._memory: Memory = {}
        self._known: dict[object, tuple[Diagnosis, ...]] = {}

    def of(self, attempts: Iterable[Attempt]) -> tuple[Diagnosis, ...]:
        """Return what explains all failures of a submission, as far as known."""
        files = [one.result for one in attempts if one.kind == PUBLIC and one.result]
        if not any(map(failures, files)):
            return ()
        answers = tuple(map(_answers, files))
        if answers not in self._known:
            self._known[answers] = diagnoses([*map(self._restore_path, files)], self._memory)
        return self._known[answers]

    def _restore_path(self, file: FileResult) -> FileResult:
        """Return a result with the path at which its case file lies, and the files it names."""
        return file._replace(case=file.case._replace(path=str(self._place / file.case.path)))


def _answers(file: FileResult) -> tuple[object, ...]:
    """Return all that a diagnosis depends on."""
    failures = tuple((failure.kind, failure.step) for failure in file.failures)
    return file.case, tuple(reply and reply.raw for reply in file.replies), failures
