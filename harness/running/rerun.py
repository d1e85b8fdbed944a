"""The same file run several times: one result, and which verdicts cannot be relied on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.records import CaseFile, FailureKind, FileResult, Outcome, Verdict
from oracle.command_properties import PropertyTable

# Which of several verdicts on one test is shown: the one that has most to be explained.
_GRAVEST_FIRST = (
    Verdict.FAILED,
    Verdict.NOT_RUN,
    Verdict.NOT_JUDGED,
    Verdict.UNEXPECTED_PASS,
    Verdict.EXPECTED_FAIL,
    Verdict.PASSED,
    Verdict.IGNORED,
)


def merge(results: Sequence[FileResult]) -> FileResult:
    """Return one result of several runs of a file.

    It is that of the first run in which the engine failed, or else of the first; each outcome is
    the gravest of all runs, and flaky if they do not agree.
    """
    shown = next((result for result in results if result.failure is not None), results[0])
    runs = zip(*(result.outcomes for result in results), strict=True)
    return shown._replace(outcomes=tuple(map(_merge, runs)))


def _merge(outcomes: tuple[Outcome, ...]) -> Outcome:
    gravest = min(outcomes, key=lambda outcome: _GRAVEST_FIRST.index(outcome.verdict))
    return gravest._replace(flaky=len({outcome.verdict for outcome in outcomes}) > 1)


# --- moves that an engine chooses ----------------------------------------------------------------

_TIMED = (FailureKind.CPU, FailureKind.TIMEOUT)  # these are judged by the limits


def fails_by_choice(result: FileResult, command_properties: PropertyTable) -> bool:
    """Whether a test failed that a player with a clock and dice might have passed.

    Such a test is believed to have failed only when it fails again, alone on the machine: an
    instructor's own engine fails one in seven of them on a busy one.
    """
    chosen = _choosing_steps(result.case, command_properties)
    broke = {one.step for one in result.failures if one.kind not in _TIMED}
    return any(
        outcome.verdict is Verdict.FAILED
        or (outcome.verdict is Verdict.NOT_RUN and outcome.step in broke)
        for outcome in result.outcomes
        if outcome.step in chosen
    )


def _choosing_steps(case: CaseFile, command_properties: PropertyTable) -> set[int]:
    """Return the steps that choose a move, or come after one on the same board."""
    found, is_chosen = set(), False
    for index, step in enumerate(case.steps):
        properties = command_properties[step.command.partition(" ")[0]]
        is_chosen = is_chosen and not properties.begins_board
        is_chosen = is_chosen or (properties.chooses and properties.thinks)
        if is_chosen:
            found.add(index)
    return found


def believe(
    first: FileResult,
    second: FileResult,
    command_properties: PropertyTable,
    counts: Callable[[Outcome], bool] = lambda _: True,
) -> FileResult:
    """Return a file's second result, with the tests of a choice that passed in the first one.

    Nobody loses by the second run what another choice had passed in the first. ``counts``: says
    of such a pass whether it counts, for it may have taken too long.
    """
    chosen = _choosing_steps(first.case, command_properties)
    pairs = zip(first.outcomes, second.outcomes, strict=True)
    better = [
        one if one.step in chosen and _passes(one) and not _passes(two) and counts(one) else two
        for one, two in pairs
    ]
    return second._replace(outcomes=tuple(better))


def _passes(outcome: Outcome) -> bool:
    return outcome.verdict in (Verdict.PASSED, Verdict.UNEXPECTED_PASS)
