"""Concerns about a class as a whole, to look at before believing any mark. Pure.

A problem of everybody is likely caused by the course, the assignment or the machine.
"""

from __future__ import annotations

import builtins
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.assignments.python import advise_on_module
from harness.escaping import one_line
from harness.grading.attempts.test_results import own
from harness.grading.records import ClassResult, Graded, Item, Twins, decimal
from harness.reading.last_words import normalize
from harness.text import plural

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
    return (
        *_without_points(result, [one for one in graded if not one.marks.withheld]),
        *map(_nobody_passes, filter(is_passed_by_nobody, result.items)),
        *_foreign_overlay(result, graded),
        *_dead_alike(graded),
        *map(_same, result.twins),
    )


def is_passed_by_nobody(item: Item) -> bool:
    """Whether a test has been judged for several submissions and all failed it."""
    return item.judged >= SEVERAL and not item.passed


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
            who = (
                "nobody has" if len(without) == len(found) else f"only {len(found) - len(without)}"
            )
            has = "" if len(without) == len(found) else f" of {len(found)} have"
            points = f"points for {part.name!r} (of {decimal(part.points)})"
            yield Concern(NO_POINTS, f"{who}{has} {points}", tuple(without))


def _nobody_passes(item: Item) -> Concern:
    place = f"{item.case}:{item.line}"
    text = f"nobody passes {place} ({one_line(item.command, _WORDS)}), of {item.judged} that run"
    return Concern(NOBODY_PASSES, text)


def _dead_alike(graded: Sequence[Graded]) -> Iterator[Concern]:
    found: dict[str, list[str]] = defaultdict(list)
    for one in graded:
        for reason in _reasons(one):
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


def _reasons(graded: Graded) -> list[str]:
    """Return why a submission does not build, or its engine died; each reason once."""
    if graded.build is not None and not graded.build.ok:
        return [normalize(graded.build.message)]
    results = [one.result for one in own(graded.attempts) if one.result]
    reasons = (failure.reason for result in results for failure in result.failures)
    return list(dict.fromkeys(filter(None, reasons)))


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
