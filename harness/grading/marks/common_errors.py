"""Common errors of a class: mistakes of the bank, and equal wrong answers, by how many. Pure.

Submissions that answer as one mistake of the bank does are one group. Of all others, those are
that gave the same wrong answer to the same test; tests with the same group are told together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.grading.attempts.test_results import TestResult
from harness.grading.records import Graded
from harness.records import Diagnosis

SEVERAL = 2  # submissions with an equal wrong answer that make a group

_Key = tuple[str, str, int]  # kind, case file and line
_Failed = Mapping[_Key, TestResult]


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
    failed = {key: _find_failed(found) for key, found in tests.items()}
    unexplained = {one.submission.key: failed[one.submission.key] for one in graded if _open(one)}
    found = [*_find_explained(graded, failed), *_equal(unexplained)]
    return tuple(sorted(found, key=lambda one: (-len(one.keys), one.diagnosis is None)))


def _find_failed(tests: Iterable[TestResult]) -> _Failed:
    return {each.key: each for each in tests if each.passed is False}


def _open(one: Graded) -> bool:
    """Whether something failed that no mistake of the bank explains."""
    return not any(found.failures == found.total for found in one.diagnoses)


def _find_explained(
    graded: Iterable[Graded], failed: Mapping[str, _Failed]
) -> Iterator[CommonError]:
    groups: dict[object, list[tuple[str, Diagnosis]]] = defaultdict(list)
    for one in graded:
        for found in one.diagnoses:
            groups[found.sets].append((one.submission.key, found))
    for members in groups.values():
        keys = tuple(key for key, _ in members)
        answers = _answers({key: failed[key] for key in keys})
        yield CommonError(members[0][1], keys, tuple(sorted(answers, key=_rank)))


def _equal(failed: Mapping[str, _Failed]) -> Iterator[CommonError]:
    groups: dict[tuple[str, ...], list[WrongAnswers]] = defaultdict(list)
    for one in _answers(failed):
        if len(one.keys) >= SEVERAL and one.example.reply is not None:
            groups[one.keys].append(one)
    yield from (CommonError(None, keys, tuple(answers)) for keys, answers in groups.items())


def _answers(failed: Mapping[str, _Failed]) -> Iterator[WrongAnswers]:
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


def _rank(one: WrongAnswers) -> tuple[bool, int]:
    return one.example.reply is None, -len(one.keys)
