"""Which time limits decide: computed from made results, and with engines that take their time."""

from types import SimpleNamespace

import pytest

from harness.assignments import assignment
from harness.core.errors import EngineError
from harness.core.options import CPU_SECONDS, BoxLimits, Limit, Limits
from harness.core.records import (
    CaseFile,
    Exchange,
    Failure,
    FailureKind,
    FileResult,
    Outcome,
    Reply,
    Step,
    Verdict,
)
from harness.engine.engine_session import EngineSession
from harness.grading.attempts.attempt_plan import unit_case
from harness.grading.attempts.attempt_runner import Runner
from harness.grading.attempts.orders import GradingContext
from harness.reading import casefile
from harness.running.file_runner import not_run
from harness.sandbox.launcher import Boxed
from harness.work import canonical_json, fairness, records
from harness.work.fairness import TimeRules
from harness.work.records import Measurements
from oracle.command_properties import STANDARD
from tests.harness.made_attempts import unit_of
from tests.harness.silent_process import SilentProcess

LIMITS, BOX = Limits(timeout=30, startup=10, file=0), BoxLimits(cpu=60)
RULES = TimeRules(LIMITS, BOX, STANDARD)


def result(seconds, failure=None, start=0.1):
    """Return the result of a file whose commands took so long; with a failure at the next one."""
    count = len(seconds) + (failure is not None)
    steps = tuple(Step(i, "genmove b", -1, "genmove b", True, None) for i in range(count))
    replies = tuple(Reply(True, "A1", "= A1", one) for one in seconds)
    verdicts = [Verdict.PASSED] * len(seconds) + [Verdict.NOT_RUN] * (failure is not None)
    return FileResult(
        case=CaseFile("a.gtp", steps, ()),
        outcomes=tuple(Outcome(i, one, None) for i, one in enumerate(verdicts)),
        replies=(*replies, *[None] * (failure is not None)),
        before=(Exchange("name", Reply(True, "", "=", start)),),
        after=(),
        errors=0,
        warnings=(),
        failures=(Failure(failure, "The engine broke.", len(seconds)),) if failure else (),
        stderr="",
        name="",
        version="",
        seconds=float(sum(seconds)),
        cpu_seconds=0.0,
    )


CPU, TIMEOUT = FailureKind.CPU, FailureKind.TIMEOUT


@pytest.mark.parametrize(
    ("seconds", "cpu", "failure", "start", "expected"),
    [
        ([1, 2], 3, None, 0.1, False),
        ([29.9, 29.9], 59.9, None, 0.1, False),
        ([1, 31], 5, None, 0.1, True),  # more than it may, perhaps for the others beside
        ([1, 1], 61, None, 0.1, True),  # a little more processor time than it may
        ([1], 72, CPU, 0.1, False),  # a fifth more: out, however busy the machine
        ([1], 2, TIMEOUT, 0.1, False),  # slept for its limit: however busy the machine
        ([1], 60, TIMEOUT, 0.1, False),  # computed for twice its limit
        ([1, 31], 60, TIMEOUT, 0.1, True),
        ([1], 1, FailureKind.DIED, 0.1, True),  # it was about to choose a move, perhaps by dice
        ([1], 1, None, 11, True),  # slow to start
    ],
)
def test_what_is_run_again(seconds, cpu, failure, start, expected):
    one = result(seconds, failure, start)
    assert RULES.in_doubt(one, Measurements(cpu=cpu)) is expected
    assert RULES.in_doubt(one, Measurements(cpu=cpu, late=True))


@pytest.mark.parametrize(("longest", "slow"), [(2.9, ()), (3.1, ("genmove",))])
def test_a_command_that_was_answered_after_its_short_limit_is_slow(longest, slow):
    """It is the tenth part of the limit. A cut of such a command shows no hang."""
    assert RULES.weigh([(result([1, longest]), True)]).slow == slow


@pytest.mark.parametrize(
    ("seconds", "cpu", "start", "expected"),
    [
        ([1, 23], 47, 0.1, False),
        ([1, 25], 3, 0.1, True),  # 25 of 30 s
        ([1, 1], 49, 0.1, True),  # 49 of 60 s of CPU time
        ([1], 1, 9, True),  # 9 of 10 s to start
    ],
)
def test_what_nearly_hits_a_limit_on_a_cluster_is_run_again(seconds, cpu, start, expected):
    """How fast a machine is, is not known exactly."""
    one, figures = result(seconds, None, start), Measurements(cpu=cpu)
    assert RULES.in_doubt(one, figures) is False
    told = figures._replace(pace=1.0)  # also of one that is as fast as the reference
    assert RULES.in_doubt(one, told) is expected


def slow_call(command, said="time-out: f() did not return within 5 s", failure=None, ok=False):
    """Return what an adapter answered to one command, after another that it answered at once."""
    found = result([0.1, 1], failure)
    first, slow, *rest = found.case.steps
    steps = (first, slow._replace(command=command), *rest)
    replies = (found.replies[0], Reply(ok, said, f"? {said}", 1), *found.replies[2:])
    return found._replace(case=found.case._replace(steps=steps), replies=replies)


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (slow_call("score b"), True),
        (slow_call("score b", failure=CPU), True),  # what came before was slow, whatever came then
        (slow_call("score b", "it was ended: time-out: 5 s"), False),
        (slow_call("score b", ok=True), False),
    ],
)
def test_a_call_that_was_too_slow_behind_an_adapter_is_run_again(one, expected):
    assert RULES.in_doubt(one, Measurements(cpu=9)) is expected
    alone = RULES.near(one, Measurements(cpu=1, alone=True))
    assert ("'score b' timed out alone as well" in alone) is expected
    assert RULES.near(one, Measurements(cpu=1)) == ""


def test_a_slow_command_speaks_for_no_other():
    score, legal = slow_call("score b"), slow_call("is_legal b a1")
    assert RULES.fails_like(score, slow_call("score w"))
    assert not RULES.fails_like(score, legal)
    assert not RULES.fails_like(score, result([1, 2]))
    assert not RULES.fails_like(result([1], TIMEOUT), score)
    assert RULES.fails_like(score, slow_call("score b", failure=CPU))
    assert not RULES.fails_like(slow_call("score b", failure=CPU), score)


@pytest.mark.parametrize(
    ("after", "expected"), [((1, 29.5), ""), ((29.5,), "took 29.5 s of 30 s"), ((), "")]
)
def test_of_what_is_asked_after_a_file_only_the_first_may_be_slow(after, expected):
    """That is cputime; quit has a limit of its own."""
    sent = tuple(Exchange("any", Reply(True, "", "=", seconds)) for seconds in after)
    one = result([1, 2])._replace(after=sent)
    assert RULES.near(one, Measurements(cpu=3)) == expected


@pytest.mark.parametrize(
    ("computed", "expected"), [(0.02, False), (0.25, True), (0.9, True), (0.98, False)]
)
def test_an_engine_that_computed_for_a_part_of_its_limit_is_run_again(computed, expected):
    """The other part may have been spent waiting for something else than the engine."""
    failure = Failure(FailureKind.TIMEOUT, "It did not answer.", 1, computed=computed)
    one = result([0.1])._replace(failures=(failure,))
    assert RULES.in_doubt(one, Measurements(cpu=1)) is expected


def test_no_limit_is_never_in_doubt():
    rules = TimeRules(Limits(timeout=0, startup=0, file=0), BoxLimits(cpu=0), STANDARD)
    assert not rules.in_doubt(result([1e6]), Measurements(cpu=1e6))
    assert rules.near(result([1e6]), Measurements(cpu=1e6)) == ""


@pytest.mark.parametrize(
    ("seconds", "cpu", "failure", "alone", "expected"),
    [
        ([1, 2], 3, None, False, ""),
        ([1, 25], 26, None, False, "took 25.0 s of 30 s"),
        ([1, 1], 50, None, False, "took 50.0 s of 60 s of CPU time"),
        ([1], 72, CPU, False, ""),
        ([1], 60, CPU, True, "took 60.0 s of 60 s of CPU time"),
        ([1], 3, TIMEOUT, False, ""),  # it was not alone
        ([1], 3, TIMEOUT, True, "timed out alone as well, after 3.0 s of CPU time in all"),
    ],
)
def test_what_is_near_a_limit(seconds, cpu, failure, alone, expected):
    one = result(seconds, failure)
    assert RULES.near(one, Measurements(cpu=cpu, alone=alone)) == expected


def test_first_runs_have_looser_limits():
    wide = fairness.loose(BOX)
    assert (wide.cpu, wide.memory) == (72, BOX.memory)


def computed_too_long(box, wrote):
    """Return how an engine in a box broke that wrote something and then only computed."""
    limit = Limit("time", box.cpu + 1, box.cpu, CPU_SECONDS)
    ended = SimpleNamespace(wait=lambda _: SimpleNamespace(hit=limit), _spent=0.0)
    process = SilentProcess(Boxed.find_end_cause(ended), wrote)
    with pytest.raises(EngineError) as error:
        EngineSession(process, LIMITS).ask([b"score b\n"], [])
    return error.value.failure


@pytest.mark.parametrize(
    ("allowed", "wrote", "expected"),
    [
        (300, b"", "301 s of CPU time used, 300 s of CPU time allowed before"),
        (300, b"time-out: 120 s of CPU time allowed\n", "'time-out: 120 s of CPU"),
        (10_000, b"", "10001 s of CPU time used, 10000 s of CPU time allowed before"),
    ],
)
def test_first_runs_are_told_with_the_limits_of_the_assignment(allowed, wrote, expected):
    """And with the figures that an engine wrote itself as they are: java-go has 300 s."""
    box = BoxLimits(cpu=allowed)
    broke = computed_too_long(fairness.loose(box), wrote)
    used = broke.limit._replace(used=allowed + 1)
    one = result([])._replace(failures=(broke._replace(limit=used),))
    told = fairness.restate_limits(one, box).failure
    assert expected in told.message
    assert told == broke._replace(limit=used._replace(allowed=allowed))
    stored_one = records.strip_measurements(fairness.restate_limits(one, box), "/tmp/x").failure
    assert f"time limit: {allowed} s of CPU time allowed before" in stored_one.message


def test_a_failure_without_a_limit_is_told_as_it_is():
    died = Failure(FailureKind.DIED, "It wrote 72 s of CPU time allowed, and died.", 0)
    one = result([])._replace(failures=(died, Failure(CPU, "Of an older ledger.", 0)))
    assert fairness.restate_limits(one, BOX) == one


def test_runs_that_differ():
    first, second = result([1, 2]), result([1], TIMEOUT)
    assert fairness.find_changed_steps(first, second) == (1,)
    assert fairness.find_changed_steps(first, first) == ()
    assert RULES.fails_like(second, result([], TIMEOUT))
    assert not RULES.fails_like(second, result([], CPU))
    assert not RULES.fails_like(first, first)


def make_result(text, verdicts, seconds=(1.0,) * 9):
    """Return the result of a case file with a verdict for each test: p, F or -."""
    case = casefile.parse(text.encode(), "a.gtp")
    tests = [index for index, step in enumerate(case.steps) if step.is_test]
    words = {"p": Verdict.PASSED, "F": Verdict.FAILED, "-": Verdict.NOT_RUN}
    outcomes = tuple(
        Outcome(index, words[one], Reply(True, "A1", "= A1", took) if one != "-" else None)
        for index, one, took in zip(tests, verdicts, seconds, strict=False)
    )
    return not_run(case)._replace(outcomes=outcomes)


BOARD = "clear_board\n10 score\n20 genmove b\n30 score\nclear_board\n40 score\n50 reg_genmove w\n"


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ("ppppp", False),
        ("Fpppp", False),  # before the choice, and known to all
        ("pFppp", True),
        ("ppFpp", True),  # after the choice, on the same board
        ("pppFp", False),  # on a new board
        ("ppppF", True),
        ("pppp-", False),  # the engine broke before
    ],
)
def test_a_failed_choice_is_in_doubt(verdicts, expected):
    assert RULES.in_doubt(make_result(BOARD, verdicts), Measurements()) is expected


@pytest.mark.parametrize("command", ["place_free_handicap 2", "search_position", "lz-analyze 9"])
def test_what_only_chooses_or_only_thinks_is_judged_by_its_first_run(command):
    """No clock and no dice of an engine decide about its answer."""
    failed = make_result(f"10 {command}\n20 score\n", "FF")
    assert not RULES.in_doubt(failed, Measurements())


def test_a_crash_while_choosing_is_in_doubt_and_one_by_a_limit_is_not():
    for kind, expected in ((FailureKind.DIED, True), (CPU, False)):
        broke = make_result(BOARD, "p----")._replace(failures=(Failure(kind, "It broke.", 2),))
        assert RULES.in_doubt(broke, Measurements()) is expected
    elsewhere = make_result(BOARD, "-----")._replace(failures=(Failure(FailureKind.DIED, "", 1),))
    assert not RULES.in_doubt(elsewhere, Measurements())


@pytest.mark.parametrize(
    ("first", "second", "seconds", "cpu", "expected"),
    [
        ("pFppp", "ppppp", 1, 1, "ppppp"),
        ("pFppp", "pFppp", 1, 1, "pFppp"),
        ("pFppp", "ppppF", 1, 1, "ppppp"),  # the other choice passed before
        ("pFppp", "p----", 1, 1, "p-p-p"),  # tests without a choice count as in the last run
        ("pFppp", "FpFFp", 1, 1, "FppFp"),
        ("pFppp", "ppppF", 31, 1, "ppppF"),  # it passed, but took longer than allowed
        ("pFppp", "ppppF", 1, 61, "ppppF"),
    ],
)
def test_a_choice_passes_if_it_passed_in_either_run(first, second, seconds, cpu, expected):
    runs = make_result(BOARD, first, (seconds,) * 9), make_result(BOARD, second)
    counted = RULES.merge_runs(*runs, Measurements(cpu=cpu))
    letters = {Verdict.PASSED: "p", Verdict.FAILED: "F", Verdict.NOT_RUN: "-"}
    assert "".join(letters[one.verdict] for one in counted.outcomes) == expected


@pytest.mark.parametrize(
    ("allowed", "took", "counts"),
    [  # of a reply, of the file, and CPU time; 0 allows any
        ((0, 0, 0), (1e6, 1e6, 1e6), True),
        ((1, 0, 0), (1.01, 0, 0), False),
        ((0, 1, 0), (1e6, 1, 1e6), True),
        ((0, 1, 0), (0, 1.01, 0), False),
        ((0, 0, 1), (1e6, 1e6, 1), True),
        ((0, 0, 1), (0, 0, 1.01), False),
    ],
)
def test_a_choice_counts_if_it_took_no_longer_than_allowed(allowed, took, counts):
    reply, file, cpu = took
    first = make_result(BOARD, "ppppp", (reply,) * 9)._replace(seconds=file)
    limits = Limits(timeout=allowed[0], startup=0.001, file=allowed[1])
    runs, box = (first, make_result(BOARD, "FFFFF")), BoxLimits(cpu=allowed[2])
    merged = TimeRules(limits, box, STANDARD).merge_runs(*runs, Measurements(cpu=cpu))
    passed = [one.verdict is Verdict.PASSED for one in merged.outcomes]
    assert passed == ([False, True, True, False, True] if counts else [False] * 5)


def test_a_file_with_a_failed_choice_is_not_spoken_for_by_another():
    hung = Failure(TIMEOUT, "It hung.", 1)
    sure, doubtful = (
        make_result(BOARD, one)._replace(failures=(hung,)) for one in ("F----", "FF---")
    )
    assert RULES.fails_like(sure, sure)
    assert not RULES.fails_like(doubtful, sure)


class Runs:
    """As much of a ledger as is asked which case files need not be run again."""

    def __init__(self, runs: dict[str, list[tuple[FileResult, Measurements]]]) -> None:
        self._runs = runs
        self.settled: list[str] = []

    def results(self, basis: str) -> list[tuple[str, str]]:
        runs = self._runs[basis]
        dumps, settled = canonical_json.dumps, records.strip_measurements
        return [(dumps(settled(one, "")), dumps(two)) for one, two in runs]

    def settle(self, basis: str, _token: str) -> None:
        self.settled.append(basis)


def test_a_file_in_which_an_engine_answered_late_is_spoken_for_by_no_other(monkeypatch):
    """It had a short limit, so that nobody knows whether it hangs."""
    hung, alone = result([1], TIMEOUT), Measurements(alone=True)
    ledger = Runs(
        {
            "sure": [(hung, Measurements(cpu=61)), (hung, alone)],
            "alike": [(hung, Measurements(cpu=61))],
            "late": [(hung, Measurements(late=True))],
            "otherwise": [(result([1], CPU), Measurements(cpu=61))],
        }
    )
    cases = tuple(
        unit_case(basis, hung.case, b"") for basis in ("sure", "alike", "late", "otherwise")
    )
    means = GradingContext(assignment.find("gomoku-rules"), None, "off", (), 0.0, 1)
    runner = Runner(ledger, means, None)
    runner._token = "ours"  # as if it had leased them
    monkeypatch.setattr(runner, "_read", lambda _: hung.case)
    runner._believe(unit_of("ada", cases))
    assert ledger.settled == ["alike"]
