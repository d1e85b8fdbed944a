"""The view of one file for reports for people, worked out once for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from harness.core.records import Failure, FailureKind, FileResult, Outcome, Step, Verdict
from harness.core.typed import NamedTuple
from harness.reading.casefile import SetUp, setups
from harness.report.tally import Tally, tally
from harness.running.protocol_facts import is_trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from harness.report.board_evidence import Count
    from harness.vocabulary import BoardKind
    from harness.vocabulary.answers import Wordings
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

_NONE: Mapping[Any, Any] = {}
_MOST_STEPS = 20_000  # of a file: beyond, reasons might take longer than a reader waits
_MOST_REASONS = 200  # in one file


class FileView(NamedTuple):
    """One file's result with what is derived from it."""

    file: FileResult
    tally: Tally
    remarkable: tuple[Outcome, ...]  # answered, and not plainly passed
    boards: dict[int, Diagram]  # by step, where known; for the remarkable ones
    reasons: Mapping[int, str] = _NONE  # by step: why the right answer is right, where asked for
    setups: Mapping[int, SetUp] = _NONE  # by step: what leads to it, where asked for
    legend: Mapping[str, str] = _NONE  # what the marks of reasons on boards mean
    wordings: Wordings = _NONE  # what commands ask and answers say
    counts: Mapping[int, Count] = _NONE  # by step: how the right score is counted


def view(file: FileResult, board: BoardKind | None = None) -> FileView:
    """Derive what is shown; ``board`` is that of :func:`harness.judging.board_replay.boards`."""
    remarkable = tuple(outcome for outcome in file.outcomes if is_remarkable(outcome))
    if not remarkable:
        return FileView(file, tally(file), (), {})
    from harness.judging.board_replay import boards
    from harness.specifications import EVERYONES

    steps = {outcome.step for outcome in remarkable}
    drawn = boards(file, steps, EVERYONES, board)
    led = setups(file.case, steps, EVERYONES)
    made = FileView(file, tally(file), remarkable, drawn, setups=led)
    failed = [one.step for one in remarkable if one.verdict is Verdict.FAILED]
    if not failed or len(file.case.steps) > _MOST_STEPS:
        return made
    from harness.judging.board_replay import explain_agreed, mark_boards
    from harness.judging.in_process import specifications_of
    from harness.report.board_evidence import counts

    own = specifications_of(file.case)
    if not own:
        return made
    # A reason is for an expectation that the oracle shares: of others it knows nothing.
    found = explain_agreed(file, failed[:_MOST_REASONS], own[0], drawn)
    return made._replace(
        boards=mark_boards(drawn, found),
        reasons={step: why.text for step, why in found.items()},
        legend=own[0].legend,
        wordings=own[0].wordings,
        counts=counts(found),
    )


def is_remarkable(outcome: Outcome) -> bool:
    """Whether a result is worth a picture: answered, but not plainly passed."""
    passed = outcome.verdict is Verdict.PASSED
    return outcome.flaky if passed else outcome.verdict is not Verdict.NOT_RUN


def setup_errors(file: FileResult) -> list[int]:
    """Return the steps that are not tests and were answered with an error."""
    if not file.errors:
        return []
    return [
        index
        for index, (step, reply) in enumerate(zip(file.case.steps, file.replies, strict=True))
        if reply is not None and is_trouble(step, reply)
    ]


def crash_of(failure: Failure) -> tuple[FailureKind, str]:
    """Return what is the same for failures of one cause: the last words, else the message."""
    return failure.kind, failure.reason or failure.message


def paths_of_crashes(files: Iterable[FileResult]) -> dict[tuple[FailureKind, str], list[str]]:
    """Return for each way that the engine failed the case files in which it did."""
    found: dict[tuple[FailureKind, str], list[str]] = {}
    for file in files:
        for crash in dict.fromkeys(map(crash_of, file.failures)):
            found.setdefault(crash, []).append(file.case.path)
    return found


class Break(NamedTuple):
    """One time that an engine failed in a file."""

    failure: Failure
    step: Step | None  # the command under way; None if it was not one of the file's
    not_run: int  # tests without an answer for it
    goes_on: Step | None  # the command from which the engine, started again, went on


def breaks(file: FileResult) -> Iterator[Break]:
    """Yield each time that the engine failed, in the order of the file."""
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
