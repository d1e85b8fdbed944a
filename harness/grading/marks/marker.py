"""Marks from the ledger, with all that is known of each submission, suspicions too."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import comb
from pathlib import Path
from typing import NamedTuple

from harness.assignments.assignment import Assignment
from harness.core.records import Build, CaseFile, Diagnosis, FileResult, Verdict
from harness.grading import records
from harness.grading.attempts.attempt_plan import GradingPlan
from harness.grading.attempts.variants import origin
from harness.grading.ledger.records import MarkRow, PlannedAttempt
from harness.grading.marks import findings, marking, regrading
from harness.grading.marks.regrading import MarkChange
from harness.grading.records import Attempt, ClassResult, Graded, Marks, Submission, Suspicion
from harness.judging.diagnosis import diagnoses, failures
from harness.judging.mutant_replay import Memory
from harness.reading import casefile
from harness.reading.expectation import in_a_sentence
from harness.vocabulary.transformations import KINDS, ORDER
from harness.work import canonical_json, fairness
from harness.work.records import NOTHING, Measurements, add_measurements
from oracle import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.grading.ledger.ledger import Ledger

THRESHOLD = 0.01


class VariantPair(NamedTuple):
    """A public test and one of its images, both judged."""

    kind: str  # of change
    test: marking.TestResult
    image: marking.TestResult


def suspicion(attempts: Sequence[Attempt]) -> Suspicion | None:
    """Return what speaks for answers hard-coded, where it is beyond chance.

    ``attempts``: of one submission, at the public case files and at their images
    (:func:`harness.grading.attempts.variants.image_of`), which have the same names.
    """
    found = list(pairs(attempts))
    likely = chance(found)
    lost = [pair for pair in found if pair.test.passed and not pair.image.passed]
    if likely >= THRESHOLD or not lost:
        return None
    passed = [pair for pair in found if pair.test.passed]
    count = len({pair.test.key for pair in passed})
    kinds = ", ".join(
        f"{sum(pair.kind == kind for pair in lost)} of {total} {_WORDS[kind]}"
        for kind in KINDS
        if (total := sum(pair.kind == kind for pair in passed))
    )
    kind, test, image = lost[0]
    told = (
        f"{test.attempt.case}:{test.step.line}, '{test.step.command}', was answered right. Its"
        f" variant ({_WORDS[kind]}: '{image.step.command}') expected"
        f" {in_a_sentence(image.step.pattern)}; the reply was {marking.quote(image.reply)}."
        f" Failed: {kinds}."
    )
    return Suspicion(count, len(passed), len(lost), likely, told)


def pairs(attempts: Sequence[Attempt]) -> Iterator[VariantPair]:
    """Yield the public tests with each of their images."""
    judged = [one for one in marking.tests(attempts) if one.passed is not None]
    public = (one for one in judged if one.attempt.kind == records.PUBLIC)
    originals = {(one.attempt.case, one.step.line): one for one in public}
    for image in (one for one in judged if one.attempt.kind == records.IMAGE):
        kind, line = origin(image.step)
        test = originals.get((image.attempt.case, line))
        if test is not None and not _was_cut_off(image):
            yield VariantPair(kind, test, image)


def _was_cut_off(image: marking.TestResult) -> bool:
    """Whether the engine had broken before it came to a test."""
    result = image.attempt.result
    if image.verdict is not Verdict.NOT_RUN or result is None:
        return False
    first = next(one.step for one in result.outcomes if one.verdict is Verdict.NOT_RUN)
    return result.case.steps[first].line != image.step.line


# --- the numbers -------------------------------------------------------------------------------


def chance(pairs: Iterable[VariantPair]) -> float:
    """Return the largest of the kinds' chances; 1 where there is no image."""
    tables: dict[str, list[VariantPair]] = {}
    for pair in pairs:
        if pair.kind != ORDER:
            tables.setdefault(pair.kind, []).append(pair)
    chances = []
    for table in tables.values():
        failed = sum(not pair.test.passed for pair in table)
        chances.append(fisher(failed, sum(not pair.image.passed for pair in table), len(table)))
    return max(chances, default=1.0)


def fisher(first: int, second: int, size: int) -> float:
    """Return the chance of at least ``second`` of ``first + second`` in the second half by chance.

    Both halves have ``size`` members: the upper tail of the hypergeometric distribution.

    >>> fisher(0, 3, 3)
    0.05
    """
    drawn = first + second
    ways = sum(comb(size, k) * comb(size, drawn - k) for k in range(second, min(drawn, size) + 1))
    return ways / comb(2 * size, drawn)


_WORDS = {
    "symmetry": "turned or mirrored",
    "colors": "with the colors exchanged",
    "larger": "on a larger board",
    "order": "set up in another order",
}


# --- Read the attempts behind marks from the ledger; run nothing ---------------------------------


_ORDER = (records.PUBLIC, records.PRIVATE, records.IMAGE)
_NOT_YET = "it was not run yet"
_SET_ASIDE = "it was run on {}, which was set aside since: grade again to run it elsewhere"


class AttemptReader:
    """Read attempts, with the case files that were run, from the ledger itself.

    ``paths``: the paths of case files, by kind and name. ``distrusted``: by basis, the attempts
    with a result of a machine that was set aside, and its name.
    """

    def __init__(
        self,
        ledger: "Ledger",
        assignment: Assignment,
        paths: Mapping[tuple[str, str], str],
        distrusted: Mapping[str, str] | None = None,
    ) -> None:
        self._ledger = ledger
        self._assignment = assignment
        self._paths = paths
        self._distrusted = distrusted or {}
        self._cases: dict[tuple[str, str], CaseFile] = {}
        self.sandboxes: set[str] = set()  # those of the results that were read, in words
        self.pythons: set[str] = set()  # that ran the engines, in words

    def attempts(self, plans: Iterable[PlannedAttempt], at: str = "") -> tuple[Attempt, ...]:
        """Return the result of the attempts with one submission: public, private, images.

        ``at``: as a mark that was given then has them, whatever is known since; empty: as of now.
        """
        ordered = sorted(plans, key=lambda one: (_ORDER.index(one.kind), one.name))
        return tuple(self._load(one, at) for one in ordered)

    def _load(self, plan: PlannedAttempt, at: str) -> Attempt:
        path, build = self._paths.get((plan.kind, plan.name), ""), self._ledger.build(plan.build)
        built = canonical_json.loads(Build, build) if build else None
        attempt = Attempt(plan.key, plan.kind, plan.name, None, built, path=path)
        state, _, fault = self._ledger.states([plan.basis])[plan.basis]
        runs: list[tuple[FileResult | None, Measurements]] = []
        for text, measured in self._ledger.results(plan.basis, at):
            figures, result = canonical_json.loads(Measurements, measured), None
            self.sandboxes.add(figures.sandbox)
            self.pythons |= {figures.python} - {""}
            if text != NOTHING:
                case = self._case(plan.name, plan.sha256)
                result = canonical_json.loads(FileResult, text)
                result = add_measurements(result, case, figures)
            runs.append((result, figures))
        if not at and (machine := self._distrusted.get(plan.basis)):
            return attempt._replace(fault=_SET_ASIDE.format(machine))
        if not runs or (state != "done" and not at):  # perhaps it was run once, and is in doubt
            return attempt._replace(fault=fault or _NOT_YET)
        result, figures = runs[-1]
        measured_runs = (
            records.Measured(run, one.seconds, one.cpu, one.memory, one.started, one.alone)
            for run, one in runs
        )
        attempt = attempt._replace(runs=tuple(measured_runs))
        if result is None:
            return attempt
        rules = fairness.TimeRules.of(self._assignment)
        near = rules.near(result, figures)
        first, counted = runs[0][0] or result, result
        is_cut = runs[0][1].late or bool(rules.find_cuts(first))
        if len(runs) > 1:
            counted = rules.merge_runs(first, result, runs[0][1])
        return attempt._replace(
            result=counted,
            flaky=() if is_cut else fairness.find_changed_steps(first, result),
            near_limit=near,
        )

    def _case(self, name: str, sha256: str) -> CaseFile:
        if (name, sha256) not in self._cases:
            self._cases[name, sha256] = casefile.parse(self._ledger.content(sha256), name)
        return self._cases[name, sha256]


# --- Compute marks from the ledger, with everything known about each submission and the class ----


class Marker:
    """Compute marks from the ledger."""

    def __init__(
        self,
        assignment: Assignment,
        ledger: "Ledger",
        plan: GradingPlan,
        distrusted: Mapping[str, str] | None = None,
    ) -> None:
        """``distrusted``: as for :class:`AttemptReader`."""
        self._assignment = assignment
        self._ledger = ledger
        self._plan = plan
        own = [case for case in plan.cases if case.kind != records.IMAGE]
        files = ((case.kind, case.name, case.parse()) for case in own)
        self._tested = marking.find_tested(assignment, files)
        paths = {(case.kind, case.name): case.path for case in plan.cases}
        self._reader = AttemptReader(ledger, assignment, paths, distrusted)
        self._diagnoser = _Diagnoser(assignment.place)

    def mark_submission(self, submission: Submission, plans: Iterable[PlannedAttempt]) -> Graded:
        """Return all that is known of a submission, with the mark that it should get."""
        attempts = self._reader.attempts(plans)
        marks = marking.marks(self._assignment, submission, attempts, self._tested)
        found = self._diagnoser.of(attempts)
        return Graded(submission, attempts, marks, suspicion(attempts), found)

    def load_former(self, row: MarkRow, homes: Mapping[str, str]) -> Graded | None:
        """Return what a mark in force was made of, with that mark.

        It stays with those of its students who have no other submission now; None if there are no
        such students. ``homes``: by students' keys, the keys of their present submissions.
        """
        attempts = self._reader.attempts(map(self._ledger.get_planned, row.bases), row.given)
        submission = canonical_json.loads(Submission, row.submission)
        own, before = submission.key, submission.students
        left = tuple(one for one in before if homes.get(one.key, own) == own)
        if before and not left:
            return None
        submission = submission._replace(students=left)
        marks, found = canonical_json.loads(Marks, row.marks), self._diagnoser.of(attempts)
        return Graded(submission, attempts, marks, suspicion(attempts), found)

    def changes(self, old: Iterable[Graded], new: Iterable[Graded]) -> tuple[MarkChange, ...]:
        """Return the marks that would change."""
        return regrading.changes(list(old), list(new), self._assignment, self._tested)

    def result(self, graded: Sequence[Graded]) -> ClassResult:
        """Return the whole class."""
        return ClassResult(
            self._assignment,
            tuple(sorted(graded, key=lambda one: one.submission.key)),
            findings.items(graded),
            "; ".join(sorted(self._reader.sandboxes)),
            self._plan.started,
            __version__,
            tuple((case.kind, case.name, case.sha256) for case in self._plan.cases),
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
        files = [one.result for one in attempts if one.kind == records.PUBLIC and one.result]
        if not any(map(failures, files)):
            return ()
        answers = tuple(  # all that a diagnosis depends on
            (
                file.case,
                tuple(reply and reply.raw for reply in file.replies),
                tuple((failure.kind, failure.step) for failure in file.failures),
            )
            for file in files
        )
        if answers not in self._known:
            # With the path at which each case file lies, and the files it names.
            placed = [
                file._replace(case=file.case._replace(path=str(self._place / file.case.path)))
                for file in files
            ]
            self._known[answers] = diagnoses(placed, self._memory)
        return self._known[answers]
