"""What broke, what was mended, what is new, what is gone; and the exit status of that alone."""

from __future__ import annotations

import json as stdlib_json

import pytest

from harness.core.errors import ExitCode
from harness.core.records import Failure, FailureKind
from harness.report import json
from harness.report.baseline import between, compare
from harness.report.tally import tally
from tests.harness.made_run import GREEN, RUN, Line, V, made_file

DIED = Failure(FailureKind.DIED, "it died")


def run_of(*verdicts, path="a.gtp", failures=(), **rest):
    """A run of one file whose tests are numbered from 1; None leaves a number out."""
    lines = [
        Line(f"{number} test", None if verdict is V.NOT_RUN else "=", "[]", verdict)
        for number, verdict in enumerate(verdicts, 1)
        if verdict
    ]
    return GREEN._replace(files=(made_file(path, lines, failures=failures),), **rest)


def document(run):
    return stdlib_json.loads("".join(json.parts(run, [tally(file) for file in run.files])))


def compare_runs(before, now):
    """Compare two runs; of the documents of both the same is told."""
    found = compare(document(before), now)
    assert between(document(before), document(now)) == found
    return found


P, F, X, U, N = V.PASSED, V.FAILED, V.EXPECTED_FAIL, V.UNEXPECTED_PASS, V.NOT_RUN


@pytest.mark.parametrize(
    ("before", "now", "broke", "mended", "status"),
    [
        ([P], [P], 0, 0, ExitCode.OK),
        ([F], [F], 0, 0, ExitCode.OK),
        ([P], [F], 1, 0, ExitCode.FAILED),
        ([P], [X], 1, 0, ExitCode.FAILED),
        ([U], [X], 1, 0, ExitCode.FAILED),
        ([X], [F], 1, 0, ExitCode.FAILED),
        ([X], [U], 0, 1, ExitCode.OK),
        ([F], [P], 0, 1, ExitCode.OK),
        ([P], [U], 0, 0, ExitCode.OK),
        ([N], [F], 0, 0, ExitCode.OK),
        ([P], [N], 1, 0, ExitCode.FAILED),
        ([P, F, P], [F, P, P], 1, 1, ExitCode.FAILED),
    ],
)
def test_broke_and_mended(before, now, broke, mended, status):
    found = compare_runs(run_of(*before), run_of(*now))
    assert (len(found.broke), len(found.mended)) == (broke, mended)
    assert (found.new, found.gone) == ((), ())
    assert found.exit_code is status


def test_a_change_says_what_it_is():
    (change,) = compare_runs(run_of(P), run_of(F)).broke
    assert str(change) == "a.gtp:1  1 test  passed → FAILED"


def test_new_and_gone():
    found = compare_runs(run_of(P, P, None), run_of(P, None, P))
    assert [str(change) for change in found.new] == ["a.gtp:3  3 test  passed"]
    assert [str(change) for change in found.gone] == ["a.gtp:3  2 test  passed"]
    assert found.exit_code is ExitCode.OK
    assert compare_runs(run_of(P), run_of(P, F)).exit_code is ExitCode.FAILED


def test_what_was_not_chosen_is_not_gone():
    chosen = run_of(P)._replace(options={"only": "test", "ids": None})
    assert compare_runs(run_of(P, P), chosen).gone == ()


def test_tests_alike_are_counted():
    lines = [Line("1 test", "=", "[]", verdict) for verdict in (P, P, F)]
    before = GREEN._replace(files=(made_file("a.gtp", lines),))
    lines = [Line("1 test", "=", "[]", verdict) for verdict in (P, F, F)]
    now = GREEN._replace(files=(made_file("a.gtp", lines),))
    (change,) = compare_runs(before, now).broke
    assert change.line == 3


def test_an_engine_that_broke_before_is_no_difference():
    broken = run_of(P, N, failures=(DIED,))
    found = compare_runs(run_of(P, P), broken)
    assert found.broken_files == ("a.gtp: it died",)
    assert found.exit_code is ExitCode.BROKEN
    assert compare_runs(broken, broken).exit_code is ExitCode.OK


def test_files_that_cannot_be_read():
    bad = run_of(P, errors=("b.gtp:1: no",))
    assert compare_runs(run_of(P), bad).exit_code is ExitCode.BROKEN
    assert compare_runs(bad, bad).exit_code is ExitCode.OK


def test_a_fault_is_never_hidden():
    faulty = run_of(P, faults=("oh",))
    assert compare_runs(faulty, faulty).exit_code is ExitCode.FAULT


def test_a_run_compared_with_itself_is_the_same():
    found = compare(document(RUN), RUN)
    assert list(found.sections()) == []
    assert found.exit_code is ExitCode.OK
