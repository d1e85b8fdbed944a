"""Hard-coded answers: public tests passed, but their variants failed, beyond chance. Pure.

Nothing here changes a mark; the teacher decides.

The model: if images are as hard as the tests they are made from, then, given how many of both an
engine fails, the failures fall on tests and images at random. The chance of so many among the
images is Fisher's exact test, one-sided, for each kind of change by itself. A list of answers
fails under every change; a program with a bug that shows on one side of the board, for one color
or on some sizes fails under one. So the *largest* chance of all kinds is reported, and only if it
is below :data:`THRESHOLD`: under the model that gives at most two false alarms in a class of 200,
and far fewer if there are several kinds, which must all agree. Real bugs fail tests and variants
alike: all shipped mutants stay above 0.5, while lists of answers, even with a good
guess at yes or no for missing answers, stay below 0.008. The order of setup is not used here: a
list may well be one of positions.

If an engine fails in an image, the test under way counts as failed, and later ones show nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import comb
from typing import NamedTuple

from harness.grading.attempts.units import TestResult, quote, tests
from harness.grading.attempts.variants import origin
from harness.grading.records import IMAGE, PUBLIC, Attempt, Suspicion
from harness.reading.expectation import in_a_sentence
from harness.records import Verdict
from harness.vocabulary.transformations import KINDS, ORDER

THRESHOLD = 0.01


class VariantPair(NamedTuple):
    """A public test and one of its images, both judged."""

    kind: str  # of change
    test: TestResult
    image: TestResult


def suspicion(attempts: Sequence[Attempt]) -> Suspicion | None:
    """Return what speaks for answers hard-coded, where it is beyond chance.

    ``attempts``: of one submission, at the public case files and at their images
    (:func:`harness.grading.attempts.variants.image_of`), which have the same names.
    """
    found = list(pairs(attempts))
    likely = chance(found)
    lost = [pair for pair in found if pair.test.passed and not pair.image.passed]
    if likely >= THRESHOLD or not lost:
        return None
    passed = [pair for pair in found if pair.test.passed]
    count = len({pair.test.key for pair in passed})
    return Suspicion(count, len(passed), len(lost), likely, _describe(lost, passed))


def pairs(attempts: Sequence[Attempt]) -> Iterator[VariantPair]:
    """Yield the public tests with each of their images."""
    found = list(tests(attempts))
    originals = {(one.attempt.case, one.step.line): one for one in found if _is(one, PUBLIC)}
    for image in (one for one in found if _is(one, IMAGE) and not _was_cut_off(one)):
        kind, line = origin(image.step)
        if (test := originals.get((image.attempt.case, line))) is not None:
            yield VariantPair(kind, test, image)


def _is(one: TestResult, kind: str) -> bool:
    return one.attempt.kind == kind and one.passed is not None


def _was_cut_off(image: TestResult) -> bool:
    """Whether the engine had broken before it came to a test."""
    result = image.attempt.result
    if image.verdict is not Verdict.NOT_RUN or result is None:
        return False
    first = next(one.step for one in result.outcomes if one.verdict is Verdict.NOT_RUN)
    return result.case.steps[first].line != image.step.line


# --- the numbers -------------------------------------------------------------------------------


def chance(found: Iterable[VariantPair]) -> float:
    """Return the largest of the kinds' chances; 1 where there is no image."""
    tables: dict[str, list[VariantPair]] = {}
    for pair in found:
        if pair.kind != ORDER:
            tables.setdefault(pair.kind, []).append(pair)
    return max((_chance_of(table) for table in tables.values()), default=1.0)


def _chance_of(table: Sequence[VariantPair]) -> float:
    failed = sum(not pair.test.passed for pair in table)
    return fisher(failed, sum(not pair.image.passed for pair in table), len(table))


def fisher(first: int, second: int, size: int) -> float:
    """Return the chance of at least ``second`` of ``first + second`` in the second half by chance.

    Both halves have ``size`` members: the upper tail of the hypergeometric distribution.

    >>> fisher(0, 3, 3)
    0.05
    """
    drawn = first + second
    ways = sum(comb(size, k) * comb(size, drawn - k) for k in range(second, min(drawn, size) + 1))
    return ways / comb(2 * size, drawn)


# --- the words ---------------------------------------------------------------------------------


def _describe(lost: Sequence[VariantPair], passed: Sequence[VariantPair]) -> str:
    return f"{_example(lost[0])} Failed: {_by_kind(lost, passed)}."


def _example(pair: VariantPair) -> str:
    step, image = pair.test.step, pair.image.step
    wanted = in_a_sentence(image.pattern)
    return (
        f"{pair.test.attempt.case}:{step.line}, '{step.command}', was answered right. Its variant"
        f" ({_WORDS[pair.kind]}: '{image.command}') expected {wanted};"
        f" the reply was {quote(pair.image.reply)}."
    )


def _by_kind(lost: Sequence[VariantPair], passed: Sequence[VariantPair]) -> str:
    return ", ".join(
        f"{sum(pair.kind == kind for pair in lost)} of {count} {_WORDS[kind]}"
        for kind in KINDS
        if (count := sum(pair.kind == kind for pair in passed))
    )


_WORDS = {
    "symmetry": "turned or mirrored",
    "colors": "with the colors exchanged",
    "larger": "on a larger board",
    "order": "set up in another order",
}
