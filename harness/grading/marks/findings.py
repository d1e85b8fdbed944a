"""Findings about a class: common errors, concerns, and the tests under suspicion. Pure."""

import builtins
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import atanh, ceil, fsum, sqrt, tanh
from statistics import NormalDist
from typing import NamedTuple

from harness.assignments.needs import advise_on_module
from harness.core.records import Diagnosis
from harness.core.text import one_line, plural
from harness.grading.marks.marking import TestResult, does_not_run, own, quote, tests
from harness.grading.records import ClassResult, Graded, Item, Twins, decimal
from harness.reading.expectation import in_a_sentence
from harness.reading.last_words import normalize

SEVERAL_ERRORS = 2  # submissions with an equal wrong answer that make a group

_Key = tuple[str, str, int]  # kind, case file and line


class WrongAnswers(NamedTuple):
    """One wrong answer to one test."""

    example: TestResult  # the first of them; without a reply the engine gave none
    keys: tuple[str, ...]  # of the submissions that gave it


class CommonError(NamedTuple):
    """Something that submissions got wrong in the same way."""

    diagnosis: Diagnosis | None  # of the first of them; None: no mistake of the bank explains it
    keys: tuple[str, ...]  # of the submissions
    answers: tuple[WrongAnswers, ...]  # the most frequent ones first, then as in the case files


def common_errors(
    graded: Sequence[Graded], tests: Mapping[str, Sequence[TestResult]]
) -> tuple[CommonError, ...]:
    """Return what went wrong, the most frequent first; ``tests``: by submission."""
    failed = {
        key: {each.key: each for each in found if each.passed is False}
        for key, found in tests.items()
    }
    explained: dict[object, list[tuple[str, Diagnosis]]] = defaultdict(list)
    for one in graded:
        for diagnosis in one.diagnoses:
            explained[diagnosis.sets].append((one.submission.key, diagnosis))
    errors = []
    for members in explained.values():
        keys = tuple(key for key, _ in members)
        answers = list(_answers({key: failed[key] for key in keys}))
        answers.sort(key=lambda one: (one.example.reply is None, -len(one.keys)))
        errors.append(CommonError(members[0][1], keys, tuple(answers)))
    unexplained = {  # those in which something failed that no mistake of the bank explains
        one.submission.key: failed[one.submission.key]
        for one in graded
        if not any(each.failures == each.total for each in one.diagnoses)
    }
    equal: dict[tuple[str, ...], list[WrongAnswers]] = defaultdict(list)
    for answer in _answers(unexplained):
        if len(answer.keys) >= SEVERAL_ERRORS and answer.example.reply is not None:
            equal[answer.keys].append(answer)
    errors += [CommonError(None, keys, tuple(answers)) for keys, answers in equal.items()]
    return tuple(sorted(errors, key=lambda one: (-len(one.keys), one.diagnosis is None)))


def _answers(failed: Mapping[str, Mapping[_Key, TestResult]]) -> Iterator[WrongAnswers]:
    """Yield all wrong answers, each with the submissions that gave it."""
    found: dict[tuple[_Key, object], list[tuple[str, TestResult]]] = defaultdict(list)
    for key, wrong in failed.items():
        for place, test in wrong.items():
            reply = test.reply
            found[place, reply and (reply.ok, reply.text)].append((key, test))
    for _, given in sorted(found.items(), key=lambda pair: _order(pair[0][0])):
        yield WrongAnswers(given[0][1], tuple(key for key, _ in given))


def _order(key: _Key) -> tuple[bool, str, int]:
    return key[0] != "public", *key[1:]


# --- Concerns about a class as a whole, to look at before believing any mark. Pure ---------------
# A problem of everybody is likely caused by the course, the assignment or the machine.


SEVERAL = 3  # submissions; of fewer nothing is said
_NEARLY_ALL = 0.9
_MANY = 0.1  # of a class: that many engines dead for one reason are not a coincidence
_WORDS = 160  # characters

NO_POINTS, NOBODY_PASSES, DEAD_ALIKE, SAME = "no points", "nobody passes", "dead alike", "same"
FOREIGN_OVERLAY = "foreign overlay"

_MOST = 0.5  # of a class: if more lack something, it is not their mistake
# What Python says of a name that is not where a program looks for it.
_LACKING = re.compile(
    r"(?P<owner>module '[\w.]+'|type object '\w+'|'\w+' object) has no attribute '\w+'"
    r"|cannot import name '\w+'"
)
# A value of another type than a program expects: its own mistake.
_BUILT_IN = frozenset(
    f"'{name}' object" for name in ("NoneType", "function", "method", "ndarray", *dir(builtins))
)


class Concern(NamedTuple):
    """One problem that several submissions share."""

    kind: str  # NO_POINTS, NOBODY_PASSES, DEAD_ALIKE, SAME or FOREIGN_OVERLAY
    text: str  # a sentence, without the submissions
    keys: tuple[str, ...] = ()  # of the submissions that it is about; none: of all that run


def concerns(result: ClassResult) -> tuple[Concern, ...]:
    """Return what is to be looked at first."""
    graded = [one for one in result.graded if not one.submission.refused]
    failed = (one for one in result.items if one.judged >= SEVERAL and not one.passed)
    return (
        *_without_points(result, [one for one in graded if not one.marks.withheld]),
        *map(_nobody_passes, failed),
        *_foreign_overlay(result, graded),
        *_dead_alike(graded),
        *map(_same, result.twins),
    )


def _without_points(result: ClassResult, graded: Sequence[Graded]) -> Iterator[Concern]:
    for part in result.assignment.marks:
        found = [
            (one, mark)
            for one in graded
            for mark in one.marks.parts
            if mark.name == part.name and mark.of
        ]
        without = [one.submission.key for one, mark in found if not mark.points]
        if len(found) >= SEVERAL and len(without) >= _NEARLY_ALL * len(found):
            have = len(found) - len(without)
            who = f"only {have} of {len(found)} have" if have else "nobody has"
            points = f"points for {part.name!r} (of {decimal(part.points)})"
            yield Concern(NO_POINTS, f"{who} {points}", tuple(without))


def _nobody_passes(item: Item) -> Concern:
    place = f"{item.case}:{item.line}"
    text = f"nobody passes {place} ({one_line(item.command, _WORDS)}), of {item.judged} that run"
    return Concern(NOBODY_PASSES, text)


def _dead_alike(graded: Sequence[Graded]) -> Iterator[Concern]:
    """Yield what many submissions do not build, or die, for; each has a reason once."""
    found: dict[str, list[str]] = defaultdict(list)
    for one in graded:
        if one.build is not None and not one.build.ok:
            found[normalize(one.build.message)].append(one.submission.key)
            continue
        results = [each.result for each in own(one.attempts) if each.result]
        reasons = (failure.reason for result in results for failure in result.failures)
        for reason in dict.fromkeys(filter(None, reasons)):
            found[reason].append(one.submission.key)
    for reason, keys in found.items():
        if len(keys) >= max(SEVERAL, _MANY * len(graded)):
            count = f"{len(keys)} of {len(graded)} submissions end with the same last words"
            advice = advise_on_module(reason)
            text = f"{count}: {one_line(reason, _WORDS)}{f'. {advice}' if advice else ''}"
            yield Concern(DEAD_ALIKE, text, tuple(keys))


def _foreign_overlay(result: ClassResult, graded: Sequence[Graded]) -> Iterator[Concern]:
    """Yield that the course's folder may be another year's: most programs miss a name in it."""
    overlay = result.assignment.engine.overlay
    lacking = {one.submission.key: lack for one in graded if (lack := _lack(one))}
    if not overlay or len(lacking) < SEVERAL or len(lacking) <= _MOST * len(graded):
        return
    (example, _), *_ = Counter(lacking.values()).most_common(1)
    count = f"{len(lacking)} of {len(graded)} submissions miss a name, such as: {example}"
    text = f"{count}. Is the course folder {overlay} the one that they were written for?"
    yield Concern(FOREIGN_OVERLAY, text, tuple(lacking))


def _lack(graded: Graded) -> str:
    """Return what a program says of a name that is not there; "" if nothing."""
    for attempt in own(graded.attempts):
        if attempt.result is None:
            continue
        errors = (one for one in attempt.result.replies if one is not None and not one.ok)
        reasons = (one.reason for one in attempt.result.failures)
        for text in (*reasons, attempt.result.stderr, *(one.text for one in errors)):
            for found in _LACKING.finditer(text):
                if found["owner"] not in _BUILT_IN:
                    return found[0]
    return ""


def _same(twins: Twins) -> Concern:
    how = "byte for byte" if twins.exact else "except for blanks and comments"
    files = f"{plural(len(twins.files), 'file')} {', '.join(twins.files)}"
    return Concern(SAME, f"the same {how} ({one_line(files, _WORDS)})", twins.keys)


def likes(result: ClassResult) -> dict[str, tuple[str, ...]]:
    """Return for each submission the others that are the same, both ways."""
    return {
        key: tuple(other for other in one.keys if other != key)
        for one in result.twins
        for key in one.keys
    }


# --- The tests on trial: what their results over a class show about the tests themselves. Pure ---
# The point-biserial correlation is Pearson's, of passing a test (0 or 1) with the share passed of
# all *other* tests (corrected item-total correlation), over the submissions on which the test was
# judged. Its 95 % interval is Fisher's: ``tanh(artanh r ± 1.96 / √(n - 3))``. Both are undefined
# where all or none pass, or where the rest is the same for all; the interval also with fewer than
# four submissions, or a correlation of exactly ±1.
#
# Submissions that answer no test, and only fail or give errors, show nothing about single tests
# and are left out.


_QUARTER = 0.25
_FEW = 4  # of fewer submissions the analysis says less: whether all pass, what the best answer
_STRONG = 3  # submissions that a majority needs
_Z = NormalDist().inv_cdf(0.975)


class _SubmissionTests(NamedTuple):
    """One submission's tests."""

    tests: Mapping[_Key, TestResult]  # those that were judged
    passed: int

    def rest(self, key: _Key) -> float:
        """Return the share passed of the tests but this one, which was judged; 0 of none."""
        others = len(self.tests) - 1
        return (self.passed - bool(self.tests[key].passed)) / others if others else 0.0


def items(graded: Sequence[Graded]) -> tuple[Item, ...]:
    """Return all tests of a class's case files, in the order of the files."""
    rows = []
    examples: dict[_Key, TestResult] = {}  # of every test that some submission has met
    for one in graded:
        attempts = own(one.attempts)
        found = list(tests(attempts))
        for each in found:
            examples.setdefault(each.key, each)
        if not does_not_run(attempts, adapted=True):
            judged = {each.key: each for each in found if each.passed is not None}
            passed = sum(bool(each.passed) for each in judged.values())
            rows.append(_SubmissionTests(judged, passed))
    return tuple(_item(examples[key], rows) for key in sorted(examples, key=_order))


def _item(test: TestResult, rows: Sequence[_SubmissionTests]) -> Item:
    met = [row for row in rows if test.key in row.tests]
    passes = [bool(row.tests[test.key].passed) for row in met]
    rest = [row.rest(test.key) for row in met]
    r = correlation(passes, rest)
    span = None if r is None else interval(r, len(met))
    remarks = []
    if len(passes) >= _FEW and not any(passes):
        remarks.append("Nobody passes it.")
    if len(passes) >= _FEW and all(passes):
        remarks.append("Everybody passes it.")
    if span and span[1] < 0:
        remarks.append("Submissions that are weak otherwise pass it rather than strong ones.")
    remarks += _oracle_remarks(test, met, rest)
    return Item(*test.key, test.step.command, len(met), sum(passes), r, span, tuple(remarks))


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


def _oracle_remarks(
    test: TestResult, met: Sequence[_SubmissionTests], rest: Sequence[float]
) -> Iterator[str]:
    """Say so where most of the best quarter give the same answer, and it is not the oracle's."""
    if len(met) < _FEW:
        return
    best = sorted(rest, reverse=True)[max(ceil(len(met) * _QUARTER), _STRONG) - 1]
    strong = [row.tests[test.key] for row, share in zip(met, rest, strict=True) if share >= best]
    failed = (each.reply for each in strong if not each.passed and each.reply is not None)
    answer, count = next(iter(Counter(map(quote, failed)).most_common(1)), ("", 0))
    if 2 * count > len(strong):
        expected = in_a_sentence(test.step.pattern)
        yield (
            f"Strong submissions disagree with the oracle: {count} of the {len(strong)} best at"
            f" the other tests give {answer} where {expected} is expected."
        )
