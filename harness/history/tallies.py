"""The counts of a run, or of a file of it, as pages show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from harness.history.records import FileKept, RunKept, TestInFile
from harness.report.tally import Tally


def of_run(run: RunKept) -> Tally:
    """Return the counts of a run."""
    results = (result for file in run.files for result in file.results)
    return _tally(results, sum(file.seconds for file in run.files))


def of_file(file: FileKept) -> Tally:
    """Return the counts of a file in one run."""
    return _tally(file.results, file.seconds)


def _tally(results: Iterable[TestInFile], seconds: float) -> Tally:
    known = list(results)
    found = Counter(one.verdict for one in known)
    return Tally(
        tests=len(known) - found["ignored"],
        failed=found["FAILED"],
        expected_fails=found["failed"],
        unexpected_passes=found["PASSED"],
        passed=found["passed"],
        seconds=seconds,
        not_run=found["not run"],
        ignored=found["ignored"],
        flaky=sum(one.flaky for one in known),
        not_judged=found["not judged"],
    )
