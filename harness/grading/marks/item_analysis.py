"""The tests on trial: what their results over a class show about the tests themselves. Pure.

The point-biserial correlation is Pearson's, of passing a test (0 or 1) with the share passed of
all *other* tests (corrected item-total correlation), over the submissions on which the test was
judged. Its 95 % interval is Fisher's: ``tanh(artanh r ± 1.96 / √(n - 3))``. Both are undefined
where all or none pass, or where the rest is the same for all; the interval also with fewer than
four submissions, or a correlation of exactly ±1.

Submissions that answer no test, and only fail or give errors, show nothing about single tests and
are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import atanh, ceil, fsum, sqrt, tanh
from statistics import NormalDist
from typing import NamedTuple

from harness.grading.attempts.test_results import TestResult, does_not_run, own, quote, tests
from harness.grading.records import Graded, Item
from harness.reading.expectation import in_a_sentence

_QUARTER = 0.25
_FEW = 4  # of fewer submissions the analysis says less: whether all pass, what the best answer
_STRONG = 3  # submissions that a majority needs
_Z = NormalDist().inv_cdf(0.975)

Key = tuple[str, str, int]  # kind, case file, line


class _SubmissionTests(NamedTuple):
    """One submission's tests."""

    tests: Mapping[Key, TestResult]  # those that were judged
    passed: int

    def rest(self, key: Key) -> float:
        """Return the share passed of the tests but this one, which was judged; 0 of none."""
        others = len(self.tests) - 1
        return (self.passed - bool(self.tests[key].passed)) / others if others else 0.0


def items(graded: Sequence[Graded]) -> tuple[Item, ...]:
    """Return all tests of a class's case files, in the order of the files."""
    rows = list(_rows(graded))
    return tuple(_item(one, rows) for one in _columns(graded))


def _rows(graded: Iterable[Graded]) -> Iterator[_SubmissionTests]:
    for one in graded:
        attempts = own(one.attempts)
        if not does_not_run(attempts, adapted=True):
            judged = {each.key: each for each in tests(attempts) if each.passed is not None}
            yield _SubmissionTests(judged, sum(bool(each.passed) for each in judged.values()))


def _columns(graded: Iterable[Graded]) -> Iterable[TestResult]:
    """Return an example of every test that some submission has met."""
    found: dict[Key, TestResult] = {}
    for one in graded:
        for each in tests(own(one.attempts)):
            found.setdefault(each.key, each)
    return [found[key] for key in sorted(found, key=_order)]


def _order(key: Key) -> tuple[bool, str, int]:
    kind, case, line = key
    return kind != "public", case, line


def _item(one: TestResult, rows: Sequence[_SubmissionTests]) -> Item:
    met = [row for row in rows if one.key in row.tests]
    passes = [bool(row.tests[one.key].passed) for row in met]
    rest = [row.rest(one.key) for row in met]
    r = correlation(passes, rest)
    span = None if r is None else interval(r, len(met))
    remarks = (*_share_remarks(passes), *_span_remarks(span), *_oracle_remarks(one, met, rest))
    return Item(*one.key, one.step.command, len(met), sum(passes), r, span, remarks)


# --- the numbers -------------------------------------------------------------------------------


def correlation(passes: Sequence[bool], rest: Sequence[float]) -> float | None:
    """Return the point-biserial correlation; None where it is undefined."""
    if len(set(passes)) < 2 or len(set(rest)) < 2:
        return None
    share, mean = sum(passes) / len(passes), fsum(rest) / len(rest)
    both = fsum((p - share) * (r - mean) for p, r in zip(passes, rest, strict=True))
    scale = sqrt(fsum((p - share) ** 2 for p in passes) * fsum((r - mean) ** 2 for r in rest))
    return min(1.0, max(-1.0, both / scale))


def interval(r: float, count: int) -> tuple[float, float] | None:
    """Return the 95 % interval of a correlation of ``count`` pairs; None where it is undefined."""
    if count < 4 or abs(r) >= 1:
        return None
    centre, half = atanh(r), _Z / sqrt(count - 3)
    return tanh(centre - half), tanh(centre + half)


# --- the remarks -------------------------------------------------------------------------------


def _share_remarks(passes: Sequence[bool]) -> Iterator[str]:
    if len(passes) >= _FEW and not any(passes):
        yield "Nobody passes it."
    if len(passes) >= _FEW and all(passes):
        yield "Everybody passes it."


def _span_remarks(span: tuple[float, float] | None) -> Iterator[str]:
    if span and span[1] < 0:
        yield "Submissions that are weak otherwise pass it rather than strong ones."


def _oracle_remarks(
    one: TestResult, met: Sequence[_SubmissionTests], rest: Sequence[float]
) -> Iterator[str]:
    """Say so where most of the best quarter give the same answer, and it is not the oracle's."""
    if len(met) < _FEW:
        return
    best = sorted(rest, reverse=True)[max(ceil(len(met) * _QUARTER), _STRONG) - 1]
    strong = [row.tests[one.key] for row, share in zip(met, rest, strict=True) if share >= best]
    wrong = Counter(
        quote(each.reply) for each in strong if not each.passed and each.reply is not None
    )
    answer, count = next(iter(wrong.most_common(1)), ("", 0))
    if 2 * count > len(strong):
        expected = in_a_sentence(one.step.pattern)
        yield (
            f"Strong submissions disagree with the oracle: {count} of the {len(strong)} best at"
            f" the other tests give {answer} where {expected} is expected."
        )
