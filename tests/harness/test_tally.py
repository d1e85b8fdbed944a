"""Counts and the exit status."""

from __future__ import annotations

import pytest

from harness.core.errors import ExitCode
from harness.core.records import Failure, FailureKind
from harness.report.tally import Tally, exit_code, phrases, tally, total
from tests.harness.made_run import GREEN, RULES, RUN, SCORE, Line, V, made_file


def one(verdict, **rest):
    return GREEN._replace(files=(made_file("x", [Line("1 a", "=1", "[]", verdict)], **rest),))


DIED = Failure(FailureKind.DIED, "died")


@pytest.mark.parametrize(
    ("run", "status"),
    [
        (GREEN, ExitCode.OK),
        (one(V.PASSED), ExitCode.OK),
        (one(V.UNEXPECTED_PASS), ExitCode.OK),
        (one(V.EXPECTED_FAIL), ExitCode.OK),
        (one(V.IGNORED), ExitCode.OK),
        (one(V.FAILED), ExitCode.FAILED),
        (one(V.NOT_RUN, failures=(DIED,)), ExitCode.BROKEN),
        (one(V.FAILED, failures=(DIED,)), ExitCode.BROKEN),
        (GREEN._replace(errors=("bad.gtp: no",)), ExitCode.BROKEN),
        (GREEN._replace(faults=("oh",)), ExitCode.FAULT),
        (RUN, ExitCode.BROKEN),
        (GREEN._replace(files=()), ExitCode.OK),
    ],
)
def test_exit_code(run, status):
    assert exit_code(run) is status


def test_numbers_are_those_of_gogui():
    assert sorted(map(int, ExitCode)) == [0, 1, 2, 3, 4, 130, 141]


def test_tally_counts_every_outcome_once():
    for file in (*RUN.files, made_file("x", [Line("1 a", "=1", "[b]", verdict) for verdict in V])):
        t = tally(file)
        counted = t.failed + t.expected_fails + t.unexpected_passes + t.passed + t.not_run
        counted += t.not_judged
        assert counted == t.tests
        assert t.tests + t.ignored == len(file.outcomes)


def test_total():
    added = total([tally(SCORE), tally(RULES)])
    assert added == Tally(13, 7, 1, 1, 2, 1, 2.29, 1.28, 2, 0, 1)
    assert total([]) == Tally()


def test_phrases_leave_zeros_out():
    assert [words for _, _, words in phrases(Tally(tests=1, passed=1))] == ["1 test", "1 passed"]
    assert [words for _, _, words in phrases(Tally(errors=2))] == [
        "0 tests",
        "2 setup commands refused",
    ]
