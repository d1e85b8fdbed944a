"""What reports for people show of one file, worked out once for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from harness.records import CaseFile, Failure, FailureKind, FileResult, Outcome, Step, Verdict
from harness.report.tally import Tally, tally

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.draw import Diagram

# Verdicts in words a reader need not look up, each with a sign that does not hang on color.
WORDS = {
    Verdict.PASSED: ("✓", "passed"),
    Verdict.UNEXPECTED_PASS: ("↑", "PASSED"),
    Verdict.EXPECTED_FAIL: ("·", "failed"),
    Verdict.FAILED: ("✗", "FAILED"),
    Verdict.NOT_RUN: ("–", "not run"),
    Verdict.NOT_JUDGED: ("?", "not judged"),
    Verdict.IGNORED: ("○", "ignored"),
}

_NONE: Mapping[int, str] = {}
_LOOK_BACK = 500  # lines: more than the setup of a full board of 19 by 19


class FileView(NamedTuple):
    """One file's result with what is derived from it."""

    file: FileResult
    tally: Tally
    remarkable: tuple[Outcome, ...]  # answered, and not plainly passed
    boards: dict[int, Diagram]  # by step, where known; for the remarkable ones
    reasons: Mapping[int, str] = _NONE  # by step: why the right answer is right, where asked for


def view(file: FileResult, game: str = "auto") -> FileView:
    """Derive what is shown; ``game`` is that of :func:`harness.judging.boards.boards`."""
    remarkable = tuple(outcome for outcome in file.outcomes if is_remarkable(outcome))
    drawn: dict[int, Diagram] = {}
    if remarkable:
        from harness.judging.boards import boards

        drawn = boards(file, {outcome.step for outcome in remarkable}, game)
    return FileView(file, tally(file), remarkable, drawn)


def is_remarkable(outcome: Outcome) -> bool:
    """Whether a result is worth a picture: answered, but not plainly passed."""
    if outcome.verdict is Verdict.PASSED:
        return outcome.flaky
    return outcome.verdict is not Verdict.NOT_RUN


def comment_before(case: CaseFile, step: int) -> str:
    """Return the comment that introduces a test: the last one after the test before it."""
    end = case.steps[step].line - 1
    found: list[str] = []
    for line in reversed(case.lines[max(0, end - _LOOK_BACK) : end]):
        text = line.strip()
        if text.startswith("#?") or (found and not text.startswith("#")):
            break
        if text.startswith("#"):
            found.append(text.lstrip("# "))
    return "\n".join(reversed(found)).strip()


def setup_errors(file: FileResult) -> list[int]:
    """Return the steps that are no tests and were answered with an error."""
    if not file.errors:
        return []
    return [
        index
        for index, (step, reply) in enumerate(zip(file.case.steps, file.replies, strict=True))
        if reply is not None and not reply.ok and not step.is_test
    ]


def crash_of(failure: Failure) -> tuple[FailureKind, str]:
    """Return what is the same for failures of one cause: the last words, else the message."""
    return failure.kind, failure.reason or failure.message


def paths_of_crashes(files: Iterable[FileResult]) -> dict[tuple[FailureKind, str], list[str]]:
    """Return for each way that the engine broke the case files in which it did."""
    found: dict[tuple[FailureKind, str], list[str]] = {}
    for file in files:
        for crash in dict.fromkeys(map(crash_of, file.failures)):
            found.setdefault(crash, []).append(file.case.path)
    return found


class Break(NamedTuple):
    """One time that an engine broke in a file."""

    failure: Failure
    step: Step | None  # the command under way; None: it was not one of the file's
    not_run: int  # tests without an answer for it
    goes_on: Step | None  # the command from which the engine, started again, went on


def breaks(file: FileResult) -> Iterator[Break]:
    """Yield each time that the engine broke, in the order of the file."""
    steps, restarts = file.case.steps, {one.step for one in file.restarts}
    lost = [one.step for one in file.outcomes if one.verdict is Verdict.NOT_RUN]
    for failure in file.failures:
        first = failure.step or 0
        last = min((step for step in restarts if step > first), default=len(steps))
        restarts.discard(last)
        yield Break(
            failure,
            None if failure.step is None or first >= len(steps) else steps[first],
            sum(first <= step < last for step in lost),
            steps[last] if last < len(steps) else None,
        )
