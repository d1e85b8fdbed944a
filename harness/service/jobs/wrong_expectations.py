"""Private tests whose expectation the reference does not meet: told before and after a grading.

A worker finds them when it measures the private case files. A test of weight 0 is not told.
"""

from __future__ import annotations

from typing import NamedTuple

from harness.service.courses import point_weights
from harness.service.courses.gradings import InvalidGradingStateError
from harness.service.courses.point_weights import PointWeights
from harness.service.jobs import previews, private_cases
from harness.service.jobs.previews import Preview
from harness.service.jobs.private_cases import MeasuredCases, WrongTest
from harness.service.records import DONE, FAULT, MEASURE, CourseAssignment
from harness.service.settings import Settings
from harness.service.storage import queue
from harness.service.storage.database import Database

_TOLD = 5  # tests in one message


class ExpectationWarnings(NamedTuple):
    """Why a grading with private tests may be wrong."""

    found: list[str]  # a sentence for each test that may be wrong
    unchecked: str  # why nobody knows, or ""


def find(
    settings: Settings,
    assigned: CourseAssignment,
    measured: MeasuredCases,
    then: PointWeights | None = None,
) -> list[str]:
    """Return a sentence for each private test that may be wrong, and counts.

    ``then``: points and weights that would be in force; None: those that are.
    """
    found = measured.caught
    wrong = [(one.name, test) for one in found.files for test in one.answers] if found else []
    weights = point_weights.load_weights(assigned) if then is None else then
    left_out = _names_left_out(settings, assigned, weights) if wrong else frozenset()
    return [_describe(*one) for one in wrong if f"{one[0]}:{one[1].id}" not in left_out]


def find_now(settings: Settings, assigned: CourseAssignment) -> list[str]:
    """Return what :func:`find` says of the private case files and points as they are."""
    return find(settings, assigned, private_cases.load_measured(settings, assigned))


def _describe(name: str, test: WrongTest) -> str:
    number = f", test {test.id}" if test.id >= 0 else ""
    return (
        f"{name}{number}, line {test.line} ({test.command}): the file expects {test.expected},"
        f" but the reference answers {test.answer}."
    )


def _names_left_out(
    settings: Settings, assigned: CourseAssignment, weights: PointWeights
) -> frozenset[str]:
    """Return the names of private tests with weight 0 in each part."""
    if not weights.weights:
        return frozenset()
    tests = [test for part in previews.parts(settings, assigned, weights) for test in part.tests]
    counting = {test.name for test in tests if test.weight}
    return frozenset(test.name for test in tests) - counting


def explain_unchecked(database: Database, measured: MeasuredCases) -> str:
    """Return why nobody knows if private tests are wrong, or "" if that is known."""
    if measured.caught or not measured.paths:
        return ""
    with database.reading() as db:
        job = queue.JOBS.find(db, kind=MEASURE, about=measured.about)
    if job and job.state == FAULT:
        return (
            f"the private tests could not be checked ({job.fault.rstrip('.')}): add one of them"
            " again to try once more"
        )
    return "the private tests are still being checked: try again in a moment"


def require_none(
    database: Database,
    settings: Settings,
    assigned: CourseAssignment,
    how: str,
    then: PointWeights | None = None,
) -> None:
    """See before a grading that no private test may be wrong.

    ``how``: how to grade anyway. ``then``: as for :func:`find`.

    Raises:
        InvalidGradingStateError: some may be, or nobody knows yet.
    """
    measured = private_cases.load_measured(settings, assigned)
    if why := explain_unchecked(database, measured):
        with database.acting() as act:  # who waits must not wait for a job that there is not
            private_cases.let_measure(act, settings, assigned, (DONE,))
        raise InvalidGradingStateError(f"{why}, or {how}")
    if not (found := find(settings, assigned, measured, then)):
        return
    more = f" And {len(found) - _TOLD} more." if len(found) > _TOLD else ""
    raise InvalidGradingStateError(
        f"some private tests may be wrong: correct them, or {how}. {' '.join(found[:_TOLD])}{more}"
    )


def list_doubts(
    database: Database, settings: Settings, own: CourseAssignment, asked: Preview
) -> ExpectationWarnings:
    """Return what may be wrong with private tests if the points of a preview are set."""
    if asked.grading or _is_public_only(database, own):
        return ExpectationWarnings([], "")
    measured = private_cases.load_measured(settings, own)
    unchecked = explain_unchecked(database, measured)
    return ExpectationWarnings(find(settings, own, measured, asked.weights), unchecked)


def require_none_in(
    database: Database, settings: Settings, own: CourseAssignment, asked: Preview, how: str
) -> None:
    """See before the points of a preview are set as :func:`require_none` does before a grading.

    Raises:
        InvalidGradingStateError: as there.
    """
    if not (asked.grading or _is_public_only(database, own)):
        require_none(database, settings, own, how, asked.weights)


def _is_public_only(database: Database, own: CourseAssignment) -> bool:
    with database.reading() as db:
        return previews.is_public_only(db, own)
