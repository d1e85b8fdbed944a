"""What of a worker's words is believed, and what is not."""

import json
import sys

import pytest

from harness.cluster import results
from harness.cluster.records import WorkerReport
from harness.cluster.results import UnbelievableError
from harness.core.options import BoxLimits, Limits
from harness.core.records import Build, FailureKind, FileResult, Outcome, Reply, Verdict
from harness.reading import casefile
from harness.work import canonical_json, records
from harness.work.records import (
    NO_CASE,
    NOTHING,
    AttemptFinished,
    BuildFinished,
    CaseProgress,
    CaseStarted,
    Claim,
    EngineHung,
    Environment,
    Folder,
    HarnessFailed,
    Measurements,
    UnitCase,
    UnitFinished,
    UnitSubmission,
    WorkUnit,
)

CASE = casefile.parse(b"boardsize 9\n1 twice 2\n#? [4]\n", "one.gtp")
CASES = {"a": CASE, "b": CASE}
UNIT = WorkUnit(
    1,
    UnitSubmission("ada", "0" * 64, "", ()),
    "build",
    tuple(UnitCase(basis, "one.gtp", "1" * 64) for basis in CASES),
    Folder("counting", ()),
    None,
    Environment("3"),
    Limits(),
    BoxLimits(),
    False,
    1.0,
)
REPLY = Reply(True, "4", "=1 4", 0.0)
RESULT = FileResult(
    NO_CASE,
    (Outcome(1, Verdict.PASSED, None),),
    (REPLY, REPLY),
    (),
    (),
    0,
    (),
    (),
    "",
    "",
    "",
    0,
    0,
)
TEXT = canonical_json.dumps(RESULT)
BUILT = BuildFinished("build", Build(True, "", ""), 1.0)


def finish_attempt(basis, text=TEXT):
    return AttemptFinished(basis, text, Measurements(), failed=False, doubtful=False)


def check_events(*said):
    lines = tuple(records.line(one).decode().rstrip("\n") for one in said)
    return results.read_events(WorkerReport("one", lines), UNIT, CASES)


def test_another_pace_than_it_announced_is_not_believed():
    word = finish_attempt("a")
    with pytest.raises(UnbelievableError, match="another pace"):
        check_events(
            word._replace(figures=Measurements(pace=3.0)), finish_attempt("b"), UnitFinished()
        )


def test_a_unit_that_was_done_is_believed():
    said = (
        BUILT,
        CaseStarted("a"),
        CaseProgress("a", 1),
        EngineHung("a"),
        finish_attempt("a"),
        finish_attempt("b", NOTHING),
    )
    kept, end = check_events(*said, UnitFinished())
    assert kept == [BUILT, finish_attempt("a"), finish_attempt("b", NOTHING)]
    assert end == UnitFinished()


def test_so_is_one_in_which_the_harness_broke():
    kept, end = check_events(HarnessFailed("a", "no room"), UnitFinished("it died"))
    assert (kept, end.fault) == ([HarnessFailed("a", "no room")], "it died")


@pytest.mark.parametrize(
    "said",
    [
        (),
        (finish_attempt("a"),),
        (UnitFinished(), finish_attempt("a")),
        (finish_attempt("c"), UnitFinished()),
        (finish_attempt("a"), finish_attempt("a"), UnitFinished()),
        (finish_attempt("a"), HarnessFailed("a", ""), UnitFinished()),
        (BUILT._replace(basis="another"), UnitFinished()),
        (CaseStarted("c"), UnitFinished()),
        (CaseProgress("c", 0), UnitFinished()),
        (Claim(0), UnitFinished()),
        (finish_attempt("a")._replace(figures=Measurements(started="\ud800")), UnitFinished()),
    ],
)
def test_words_about_something_else_are_not(said):
    with pytest.raises(UnbelievableError):
        check_events(*said)


def change_result(**fields):
    return json.dumps({**json.loads(TEXT), **fields}, sort_keys=True, separators=(",", ":"))


OUTCOME = json.loads(TEXT)["outcomes"][0]


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        change_result(more=1),
        json.dumps({key: one for key, one in json.loads(TEXT).items() if key != "restarts"}),
        change_result(errors=1.0),
        change_result(replies=[]),
        change_result(outcomes=[]),
        change_result(outcomes=[{**OUTCOME, "step": 0}]),
        change_result(outcomes=[OUTCOME, OUTCOME]),
        change_result(outcomes=[{**OUTCOME, "verdict": "PASSED BY FAR"}]),
        change_result(outcomes=[{**OUTCOME, "verdict": []}]),
        change_result(errors="none"),
        change_result(seconds="1"),
        change_result(seconds=True),
        change_result(seconds=float("nan")),
        change_result(cpu_seconds=float("inf")),
        change_result(seconds=10**400),
        change_result(errors=10**400),
        change_result(errors=-1),
        change_result(stderr=None),
        change_result(replies=[{"ok": True}, None]),
        change_result(
            failures=[{"kind": FailureKind.DIED.value, "text": "", "step": 99, "reason": "",
                       "computed": 0.0, "limit": None, "rest": ""}]
        ),
    ],
)  # fmt: skip
def test_a_result_that_its_case_file_cannot_have_is_not(text):
    with pytest.raises(UnbelievableError):
        check_events(finish_attempt("a", text), UnitFinished())


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{", '{"machine":1,"lines":[]}', '{"lines":[]}', "[" * 100_000]
)
def test_what_is_no_answer_at_all_is_not(text):
    with pytest.raises(UnbelievableError):
        results.read_report(text)


def test_neither_is_one_as_deep_as_can_be_read():
    for depth in range(sys.getrecursionlimit()):
        with pytest.raises(UnbelievableError):
            results.read_report("[" * depth + "]" * depth)


@pytest.mark.parametrize("line", ["", "\ud800", "{}", '{"word":"done"}', '{"word":["done"]}'])
def test_neither_is_a_line_that_is_no_word(line):
    with pytest.raises(UnbelievableError):
        results.read_events(WorkerReport("one", (line,)), UNIT, CASES)


def test_a_number_that_is_too_large_for_one_is_not():
    """Else one worker would end the grading."""
    line = json.loads(records.line(finish_attempt("a")))
    line["figures"]["seconds"] = 10**400
    found = WorkerReport("one", (json.dumps(line), '{"word":"ended"}'))
    with pytest.raises(UnbelievableError, match="seconds"):
        results.read_events(found, UNIT, CASES)
