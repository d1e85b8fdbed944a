"""Facts that all sections about a class use, computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.grading.attempts.test_results import TestResult, own, tests
from harness.grading.exports.class_page.addresses import Places
from harness.grading.exports.export_material import CaseSummary
from harness.grading.records import ClassResult, Graded


class ClassOverview:
    """A class.

    Attributes: ``result``; ``seen``, the result of the case files, by submission; ``graded`` and
    ``tests``, by submission as well; ``ordered``, from the highest mark to the lowest, then those
    that have none yet; ``places``, on the page.
    """

    def __init__(self, result: ClassResult, seen: Mapping[str, Sequence[CaseSummary]]) -> None:
        self.result, self.seen = result, seen
        self.graded: Mapping[str, Graded] = {one.submission.key: one for one in result.graded}
        self.tests: Mapping[str, Sequence[TestResult]] = {
            key: tuple(tests(own(one.attempts))) for key, one in self.graded.items()
        }
        self.ordered = order_by_mark(result)
        self.places = Places(result)


def order_by_mark(result: ClassResult) -> list[Graded]:
    """Return submissions from the highest mark to the lowest, then those that have none yet."""
    return sorted(result.graded, key=lambda one: (one.marks.withheld, -one.marks.total))
