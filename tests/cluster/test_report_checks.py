"""What of a worker's words is believed, and what is not."""

import json

import pytest

from harness.cluster import report_checks
from harness.cluster.records import WorkerReport
from harness.cluster.report_checks import UnbelievableError
from harness.options import BoxLimits, Limits
from harness.reading import casefile
from harness.records import Build, FailureKind, FileResult, Outcome, Reply, Verdict
from harness.work import canonical_json, worker_events
from harness.work.canonical_json import NO_CASE, NOTHING, Measurements
from harness.work.records import Environment, Folder, UnitCase, UnitSubmission, WorkUnit
from harness.work.worker_events import (
    AttemptFinished,
    BuildFinished,
    CaseProgress,
    CaseStarted,
    Claim,
    EngineHung,
    HarnessFailed,
    UnitFinished,
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


def done(basis, text=TEXT):
    return AttemptFinished(basis, text, Measurements(), failed=False, doubtful=False)


def heard(*said):
    lines = tuple(worker_events.line(one).decode().rstrip("\n") for one in said)
    return report_checks.read_events(WorkerReport("one", lines), UNIT, CASES)


def test_another_pace_than_it_announced_is_not_believed():
    word = done("a")
    with pytest.raises(UnbelievableError, match="another pace"):
        heard(word._replace(figures=Measurements(pace=3.0)), done("b"), UnitFinished())


def test_a_unit_that_was_done_is_believed():
    said = (
        BUILT,
        CaseStarted("a"),
        CaseProgress("a", 1),
        EngineHung("a"),
        done("a"),
        done("b", NOTHING),
    )
    kept, end = heard(*said, UnitFinished())
    assert kept == [BUILT, done("a"), done("b", NOTHING)]
    assert end == UnitFinished()


def test_so_is_one_in_which_the_harness_broke():
    kept, end = heard(HarnessFailed("a", "no room"), UnitFinished("it died"))
    assert (kept, end.fault) == ([HarnessFailed("a", "no room")], "it died")


@pytest.mark.parametrize(
    "said",
    [
        (),
        (done("a"),),
        (UnitFinished(), done("a")),
        (done("c"), UnitFinished()),
        (done("a"), done("a"), UnitFinished()),
        (done("a"), HarnessFailed("a", ""), UnitFinished()),
        (BUILT._replace(basis="another"), UnitFinished()),
        (CaseStarted("c"), UnitFinished()),
        (CaseProgress("c", 0), UnitFinished()),
        (Claim(0), UnitFinished()),
    ],
)
def test_words_about_something_else_are_not(said):
    with pytest.raises(UnbelievableError):
        heard(*said)


def changed(**fields):
    return json.dumps({**json.loads(TEXT), **fields}, sort_keys=True, separators=(",", ":"))


OUTCOME = json.loads(TEXT)["outcomes"][0]


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        changed(more=1),
        json.dumps({key: one for key, one in json.loads(TEXT).items() if key != "restarts"}),
        changed(errors=1.0),
        changed(replies=[]),
        changed(outcomes=[]),
        changed(outcomes=[{**OUTCOME, "step": 0}]),
        changed(outcomes=[OUTCOME, OUTCOME]),
        changed(outcomes=[{**OUTCOME, "verdict": "PASSED BY FAR"}]),
        changed(outcomes=[{**OUTCOME, "verdict": []}]),
        changed(errors="none"),
        changed(seconds="1"),
        changed(seconds=True),
        changed(stderr=None),
        changed(replies=[{"ok": True}, None]),
        changed(
            failures=[{"kind": FailureKind.DIED.value, "text": "", "step": 99, "reason": "",
                       "computed": 0.0, "limit": None, "rest": ""}]
        ),
    ],
)  # fmt: skip
def test_a_result_that_its_case_file_cannot_have_is_not(text):
    with pytest.raises(UnbelievableError):
        heard(done("a", text), UnitFinished())


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{", '{"machine":1,"lines":[]}', '{"lines":[]}', "[" * 100_000]
)
def test_what_is_no_answer_at_all_is_not(text):
    with pytest.raises(UnbelievableError):
        report_checks.read_report(text)


@pytest.mark.parametrize("line", ["", "\ud800", "{}", '{"word":"done"}', '{"word":["done"]}'])
def test_neither_is_a_line_that_is_no_word(line):
    with pytest.raises(UnbelievableError):
        report_checks.read_events(WorkerReport("one", (line,)), UNIT, CASES)
