"""The result of a check, for programs: kept beside the page of it, and as long.

It has public case files alone, for a check runs no others.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from harness import whole_files
from harness.grading.records import Attempt, Graded
from harness.report.tally import Tally, tally
from harness.work import canonical_json

PASSED, FAILED, FAULT = "passed", "failed", "harness error"


class CaseChecked(NamedTuple):
    """The result of one public case file."""

    case: str
    result: str  # PASSED, FAILED, or FAULT: the harness failed, which says nothing
    tests: int
    passed: int


class Checked(NamedTuple):
    """The result of a check."""

    refused: str  # why nothing was run; else empty
    faults: tuple[str, ...]  # what is wrong with the archive, a phrase each
    builds: bool | None  # None without build steps
    cases: tuple[CaseChecked, ...]


def of(graded: Graded) -> Checked:
    """Return the result of a check."""
    build, submission = graded.build, graded.submission
    return Checked(
        submission.refused,
        submission.faults,
        build.ok if build else None,
        tuple(of_attempt(one) for one in graded.attempts),
    )


def of_attempt(attempt: Attempt) -> CaseChecked:
    """Return the result of one case file."""
    name = Path(attempt.case).name
    if attempt.fault:
        return CaseChecked(name, FAULT, 0, 0)
    if attempt.result is None:  # there was no program to be run
        return CaseChecked(name, FAILED, 0, 0)
    counts = tally(attempt.result)
    is_wrong = bool(attempt.result.failures) or _troubles(counts)
    return CaseChecked(name, FAILED if is_wrong else PASSED, counts.tests, counts.passes)


def _troubles(counts: Tally) -> bool:
    return counts.failed + counts.not_run + counts.not_judged > 0


def write(path: Path, graded: Graded) -> None:
    """Keep the result of a check; ``path``: of its page."""
    whole_files.write(path.with_suffix(".json"), canonical_json.dumps(of(graded)))


def read(path: Path) -> Checked | None:
    """Return the result of a check by the path of its page; None if not yet there."""
    try:
        return canonical_json.loads(Checked, path.with_suffix(".json").read_text("ascii"))
    except FileNotFoundError:
        return None
