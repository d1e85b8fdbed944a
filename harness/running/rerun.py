"""The same file run several times: one result, and which verdicts cannot be relied on."""

from __future__ import annotations

from collections.abc import Sequence

from harness.records import FileResult, Outcome, Verdict

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

    It is that of the first run in which the engine broke, or else of the first; each outcome is
    the gravest of all runs, and flaky if they do not agree.
    """
    shown = next((result for result in results if result.failure is not None), results[0])
    runs = zip(*(result.outcomes for result in results), strict=True)
    return shown._replace(outcomes=tuple(map(_merge, runs)))


def _merge(outcomes: tuple[Outcome, ...]) -> Outcome:
    gravest = min(outcomes, key=lambda outcome: _GRAVEST_FIRST.index(outcome.verdict))
    return gravest._replace(flaky=len({outcome.verdict for outcome in outcomes}) > 1)
