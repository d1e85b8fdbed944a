"""The attempts with one submission, the results of their tests, and listeners. All immutable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from harness.grading.records import PRIVATE, PUBLIC, Attempt, Submission
from harness.records import CaseFile, FileResult, Outcome, Reply, Step, Verdict
from harness.report.tally import never_answers
from harness.text import one_line
from harness.work.worker_events import AttemptEvent, ProgressEvent


class Task(NamedTuple):
    """A case file to run."""

    basis: str
    case: CaseFile  # by its real path
    content: bytes = b""  # of the case file
    machine: str = ""  # of a cluster, where it was run before
    is_image: bool = False  # of another case file: its tests give no points


class GradingUnit(NamedTuple):
    """A submission with its case files to run."""

    submission: Submission
    archive: Path  # the submitted bytes
    build: str  # the basis of its build
    tasks: tuple[Task, ...]
    spent: float = 0.0  # seconds of its budget
    hung: tuple[str, ...] = ()  # as of a :class:`~harness.work.records.WorkUnit`
    patient: tuple[str, ...] = ()  # the same
    why: str = ""  # it is run alone; empty: it is not


class GradingListener:
    """A listener to the events of a grading; this one ignores them."""

    def on_word(self, unit: GradingUnit, word: AttemptEvent) -> None:
        """Take in what a worker says."""

    def on_progress(self, unit: GradingUnit, word: ProgressEvent) -> None:
        """Take note of what runs now; where engines run elsewhere, nothing is told of it."""

    def on_time(self, under_way: Sequence[GradingUnit]) -> None:
        """Take note that time goes by; called several times a second, between two words."""


# --- The results of an attempt's tests: passed, failed, or undecided. Pure -----------------------
# A test that was not reached is failed if the engine failed. Otherwise the submission did not
# cause it, and the test is undecided.


_SHOWN = 60  # characters of an answer in a sentence
_PASSES = (Verdict.PASSED, Verdict.UNEXPECTED_PASS)


class TestResult(NamedTuple):
    """One test of one attempt."""

    attempt: Attempt
    step: Step
    verdict: Verdict
    reply: Reply | None  # None if there was none
    passed: bool | None  # None if it says nothing
    unsure: bool  # because of the harness or of the case file
    flaky: bool  # another run gave another verdict

    @property
    def key(self) -> tuple[str, str, int]:
        """Kind, case file and line: the same for all submissions."""
        return self.attempt.kind, self.attempt.case, self.step.line

    @property
    def names(self) -> tuple[str, str]:
        """What an assignment's weights call the test, and its file."""
        return names(self.attempt.case, self.step)


def names(case: str, step: Step) -> tuple[str, str]:
    """Return what an assignment's weights call a test of a case file, and the file."""
    name = PurePosixPath(case).name
    return f"{name}:{step.id}", name


def tests(attempts: Sequence[Attempt]) -> Iterator[TestResult]:
    """Yield the tests of those attempts that have a result, in the order of the files."""
    for attempt in attempts:
        if attempt.result is not None and not attempt.fault:
            for outcome in attempt.result.outcomes:
                yield _make_result(attempt, attempt.result, outcome)


def _make_result(attempt: Attempt, result: FileResult, outcome: Outcome) -> TestResult:
    step, verdict = result.case.steps[outcome.step], outcome.verdict
    flaky = outcome.flaky or outcome.step in attempt.flaky
    cut = verdict is Verdict.NOT_RUN and result.failure is None
    counts = is_reliable(step) and verdict is not Verdict.IGNORED
    unsure = counts and (cut or verdict is Verdict.NOT_JUDGED)
    passed = verdict in _PASSES if counts and not unsure else None
    return TestResult(attempt, step, verdict, outcome.reply, passed, unsure, flaky)


def is_reliable(step: Step) -> bool:
    """Whether a test counts for anybody: its file does not mark it as not to be relied on.

    The result makes no difference, so that all submissions are measured by the same tests.
    """
    return step.pattern is None or not (step.pattern.expected_fail or step.pattern.ignored)


def own(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return the attempts at public and private case files, without those at images."""
    return [one for one in attempts if one.kind in (PUBLIC, PRIVATE)]


def does_not_run(attempts: Sequence[Attempt], *, adapted: bool) -> bool:
    """Whether an engine never answers. False where nothing was run.

    ``adapted``: it is an adapter, which answers for itself: a program behind it that gives no
    answer to any test, but an error to each, does not run either.
    """
    results = [one.result for one in attempts if one.result is not None]
    if not results:
        return False
    return never_answers(results) or (adapted and not any(map(answers_a_test, results)))


def answers_a_test(result: FileResult) -> bool:
    """Whether a test was answered, and not with an error."""
    return any(one.reply and one.reply.ok for one in result.outcomes)


def quote(reply: Reply | None) -> str:
    """Return an answer as a sentence quotes it: short, harmless and on one line."""
    if reply is None:
        return "no answer"
    text = f"'{one_line(reply.text, _SHOWN)}'"
    return text if reply.ok else f"the error {text}"
