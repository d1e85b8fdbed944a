"""Engines that compute for ever: the plan of their attempts, with engines and a clock on paper."""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import closing, contextmanager
from functools import partial
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from harness.assignments.assignment import find
from harness.core.errors import EngineError
from harness.core.options import BoxLimits, Limit, Limits, Options
from harness.core.records import Failure, FailureKind, FileResult, Outcome, Reply, Verdict
from harness.engine.engine_session import EngineSession
from harness.grading.attempts import attempt_runner
from harness.grading.attempts.attempt_plan import unit_case
from harness.grading.attempts.attempt_runner import Runner
from harness.grading.attempts.orders import GradingContext, GradingListener
from harness.grading.ledger.ledger import CaseRow, Lease, Ledger, PlannedAttempt, Run
from harness.reading import casefile
from harness.reading.dialect import find_dialect
from harness.running import jobs
from harness.running.file_runner import RunContext, _FileRun, not_run
from harness.running.hangs import LEAST, HangPolicy, ShortLimits, short_limit
from harness.work import canonical_json
from harness.work.fairness import Evidence, TimeRules
from harness.work.records import UnitCase, WorkUnit
from harness.work.unit_runner import UnitRunner
from oracle.command_properties import STANDARD
from tests.harness.made_attempts import unit_of
from tests.harness.silent_process import SilentProcess

LIMIT = 30.0  # seconds
_SHIPPED = find("go-scoring")
ASSIGNMENT = _SHIPPED._replace(limits=_SHIPPED.limits._replace(timeout=LIMIT))
SHORT = short_limit(LIMIT)
AGAIN = 0.25  # seconds for a command that was just cut short
MOST = 6  # engines of one case file
SLEEPS = -inf  # seconds for an answer


# --- how long a command may compute ------------------------------------------------------------


def test_once_in_each_file_a_command_has_the_whole_short_limit() -> None:
    short = ShortLimits()
    for _ in range(3):  # case files
        short.begin_file()
        assert short.of("score", 30.0, thinks=False) == SHORT
        short.note_cut("score")
        assert short.of("score", 30.0, thinks=False) == AGAIN
        short.note_cut("score")
        assert short.of("score", 30.0, thinks=False) == AGAIN
        assert short.of("captures", 30.0, thinks=False) == SHORT
    short.note_answer("score")
    assert short.of("score", 30.0, thinks=False) == SHORT


@pytest.mark.parametrize(("limit", "expected"), [(12.0, AGAIN), (LIMIT, AGAIN), (60.0, 0.5)])
def test_what_was_just_cut_has_a_part_of_its_limit_but_not_too_little(limit, expected):
    short = ShortLimits()
    short.note_cut("score")
    assert short.of("score", limit, thinks=False) == expected


@pytest.mark.parametrize(("is_image", "was_cut"), [(True, True), (True, False), (False, True)])
def test_only_an_image_is_given_up_after_a_cut(is_image, was_cut):
    """The tests of other files give points: each of them is asked."""
    case = casefile.parse(b"1 score\n#? [0]\n#! restart\n2 score\n#? [0]\n", "a.gtp")
    short = ShortLimits()
    short.begin_file(is_image=is_image)
    run: Any = _FileRun(
        case,
        RunContext(("engine",), Options(restart=True), find_dialect("gogui"), short=short),
        print,
    )
    run._session = SimpleNamespace(was_cut=was_cut)
    run._failures = [Failure(FailureKind.TIMEOUT, "did not", 0)]
    place = run._next_place(0)
    assert (place is None) is (is_image and was_cut)


def test_an_image_gives_no_points_so_it_is_not_waited_for_where_others_were_cut() -> None:
    short = ShortLimits()
    short.begin_file(is_image=True)
    assert short.of("score", 30.0, thinks=False) == SHORT
    short.note_cut("score")
    short.begin_file(is_image=True)
    assert short.of("score", 30.0, thinks=False) == AGAIN
    assert short.of("captures", 30.0, thinks=False) == SHORT
    short.begin_file()
    assert short.of("score", 30.0, thinks=False) == SHORT
    short.note_answer("score")
    short.begin_file(is_image=True)
    assert short.of("score", 30.0, thinks=False) == SHORT


@pytest.mark.parametrize(
    ("how", "name", "thinks", "expected"),
    [
        ({}, "score", False, 3.0),
        ({}, "genmove", True, 30.0),  # it may think for as long as it is allowed
        ({"slow_commands": ["score"]}, "score", False, 0.0),
        ({"alone": True}, "score", False, 0.0),  # nobody waits
        ({"alone": True, "hanging_commands": ["score"]}, "score", False, 3.0),
        (
            {"alone": True, "hanging_commands": ["score"], "slow_commands": ["score"]},
            "score",
            False,
            0.0,
        ),
        ({"alone": True, "hanging_commands": ["score"]}, "captures", False, 0.0),
    ],
)
def test_how_long_a_command_may_compute(how, name, thinks, expected):
    assert ShortLimits(**how).of(name, LIMIT, thinks=thinks) == expected
    assert ShortLimits().of("score", 2 * LEAST, thinks=False) == LEAST
    assert ShortLimits().of("score", LEAST, thinks=False) == 0.0


def hang(told, sleeps=inf, may_go_on=None):
    """Return a session with an engine that hangs, how it broke, and the time that it took.

    ``told``: the part of what it computes that the system tells; ``sleeps``: from when on.
    """
    process = SilentProcess(answers=(0.1,))
    clock = process.clock
    clock.beside = 1.0
    process.watched = []
    clock.watch_machine = lambda: process.watched.append(clock.computed)
    read = process.read

    def measured(deadline: float) -> bytes:
        before = process.now
        try:
            return read(deadline)
        finally:
            clock.computed += told * max(0.0, min(process.now, sleeps) - before)
            if may_go_on:
                clock.counted = clock.computed

    process.read = measured
    session = EngineSession(process, Limits(timeout=LIMIT, startup=LIMIT))
    session.ask([b"name\n"], [])
    clock.computed += 50.0  # for what it was asked before
    session.short = 3.0
    if may_go_on:
        session.may_go_on = may_go_on
    with pytest.raises(EngineError) as error:
        session.ask([b"score\n"], [])
    # The machine is watched from when the engine may go on; what this command has computed counts.
    assert [round(one) for one in process.watched] == ([3] if may_go_on else [])
    return session, error.value.failure, process.now


@pytest.mark.parametrize(("computes", "is_cut"), [(1.0, True), (0.5, True), (0.0, False)])
def test_what_sleeps_is_not_cut_short(computes, is_cut):
    """``computes``: the part of the time in which the engine does so."""
    session, failure, now = hang(computes)
    assert session.was_cut is is_cut
    assert (failure.limit or Limit("", 0, 0, "")).allowed == (3 if is_cut else LIMIT)
    waited = 3.0 / computes if is_cut else LIMIT
    assert waited <= now < waited + 0.5
    told = "within 3 s, and was not waited for longer." if is_cut else "within 30 s."
    assert failure.message.endswith(told)


@pytest.mark.parametrize(
    ("told", "sleeps", "is_sure"),
    [(1.0, 99.0, True), (0.6, 99.0, True), (0.4, 99.0, False), (1.0, 25.0, False)],
)
def test_what_goes_on_computes_for_its_full_limit(told, sleeps, is_sure):
    session, failure, now = hang(told, sleeps, lambda: True)
    assert not session.was_cut
    assert failure.message.endswith("within 30 s.")
    assert (failure.computed > 0.95) is is_sure  # else it is run again, alone
    assert now < 2 * LIMIT


@pytest.mark.parametrize(("was_cut", "hangs", "expected"), [(True, 0, AGAIN), (False, 1, SHORT)])
def test_a_cut_is_not_one_of_the_three_hangs(was_cut, hangs, expected):
    """After these, an engine that sleeps has a short limit: by another clock, and a longer one."""
    patience, short = HangPolicy(), ShortLimits()
    run: Any = SimpleNamespace(
        _asleep={},
        _failures=[],
        _name="score",
        _session=SimpleNamespace(was_cut=was_cut),
        _sessions=[0],
        _setting=SimpleNamespace(patience=patience, short=short),
    )
    _FileRun._break(run, EngineError(Failure(FailureKind.TIMEOUT, "did not")), 0)
    assert patience.hangs == hangs
    assert short.of("score", LIMIT, thinks=False) == expected


# --- what cuts are worth ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("evidence", "cut", "expected"),
    [
        (Evidence(), 3.0, False),
        (Evidence(hung=("score",)), 0.3, True),
        (Evidence(hung=("captures",)), 3.0, False),
        (Evidence(hung=("score",), answered=frozenset({"score"})), 0.3, False),
        (Evidence(hung=("score",), answered=frozenset({"score"})), 3.0, True),
        (Evidence(("score",), ("score",), frozenset({"score"})), 3.0, False),
    ],
)
def test_what_cuts_are_believed(evidence, cut, expected):
    rules = TimeRules(Limits(timeout=LIMIT), BoxLimits(), STANDARD)
    assert rules.are_hangs({"score": cut}, evidence) is expected


# --- the plan of a grading ----------------------------------------------------------------------


class PaperOrders:
    """Runs units with engines on paper: each needs so many seconds for each answer."""

    def __init__(self, class_: PaperClass, *, alone: bool) -> None:
        self._class = class_
        self._alone = alone

    def close(self) -> None:
        pass

    def run(self, units: Any, workers: int, on_event: Any, *_: Any, **__: Any) -> Any:
        for index, unit in enumerate(units):
            short = ShortLimits(unit.hung, unit.patient, alone=self._alone)
            for case in unit.cases:
                short.begin_file(may_go_on=lambda _, unit=unit: self._may_go_on(unit))
                on_event(index, self._attempt(unit.submission.key, case, short))
            yield index, None

    def _may_go_on(self, unit: WorkUnit) -> bool:
        free = not self._alone and unit.submission.key in self._class.free
        self._class.free -= {unit.submission.key}
        return free

    def _attempt(self, key: str, own: UnitCase, short: ShortLimits) -> Any:
        case = next(one for one in self._class.cases if Path(one.path).name == own.name)
        needs = self._class.engines[key]
        steps = range(len(case.steps))
        outcomes = [Outcome(step, Verdict.NOT_RUN, None) for step in steps]
        replies: list[Reply | None] = [None] * len(case.steps)
        failures: list[Failure] = []
        spent = 0.0
        for step in steps:
            if len(failures) == MOST:
                break
            most = LIMIT * (1 if self._alone else 2)
            allowed = short.of("score", LIMIT, thinks=False) or LIMIT
            cut = min(allowed if allowed < LIMIT else most, most)
            took = needs(own.basis, step)
            if took == SLEEPS:
                took, allowed, cut = inf, LIMIT, 0.0
            if cut < min(took, LIMIT) and cut > 0 and short.may_go_on("score", LIMIT):
                allowed = cut = LIMIT
            spent += min(took, cut)
            if took <= cut:
                short.note_answer("score")
                replies[step] = reply = Reply(True, "0", "= 0", took)
                outcomes[step] = Outcome(step, Verdict.PASSED, reply)
            else:
                if cut:
                    short.note_cut("score")
                limit = Limit("command", None, allowed, "seconds")
                computed = min(1.0, cut / LIMIT)
                failures.append(
                    Failure(FailureKind.TIMEOUT, "did not", step, computed=computed, limit=limit)
                )
        self._class.log.append((key, own.basis, self._alone, spent))
        result = not_run(case)._replace(
            outcomes=tuple(outcomes), replies=tuple(replies), failures=tuple(failures)
        )
        limits = ASSIGNMENT.limits
        bench = UnitRunner(ASSIGNMENT, None, None, limits, alone=self._alone, budget=1800.0)
        with (
            mock.patch("harness.work.unit_runner.run_file", lambda *_: result),
            mock.patch("harness.work.unit_runner.explain_silence", lambda result, _: result),
        ):
            return bench.attempt(own.basis, case, Path("/nowhere"), inf, HangPolicy())


class PaperClass:
    """Submissions on paper, by their keys: what each needs for an answer of a case file."""

    def __init__(
        self, engines: dict[str, Any], sizes: tuple[int, ...] = (2, 3, 1), free: str = ""
    ) -> None:
        """``free``: the submission that may hang for its full limit in the first run."""
        self.engines = engines
        self.free = {free}
        self.log: list[tuple[str, str, bool, float]] = []
        text = "".join(f"#! restart\n{number + 1} score\n#? [0]\n" for number in range(9))
        lines = text.splitlines(keepends=True)
        self.contents = ["".join(lines[: 3 * size]).encode() for size in sizes]
        self.cases = [
            casefile.parse(content, f"{place}.gtp") for place, content in enumerate(self.contents)
        ]
        self.locks: list[str] = []

    def take(self, ledger: Ledger, bases: Any) -> Lease:
        return Lease(ledger.lease(bases), tuple(bases))

    def _note(self, name: str) -> Any:
        @contextmanager
        def held() -> Any:
            self.locks.append(name)
            yield

        return held()

    def together(self) -> Any:
        return self._note("together")

    def apart(self) -> Any:
        return self._note("apart")

    def last(self) -> Any:
        return self._note("last")

    def grade(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, FileResult]:
        """Grade all; return the result that counts of each attempt."""
        monkeypatch.setattr(
            attempt_runner, "Orders", lambda *_, alone: PaperOrders(self, alone=alone)
        )
        monkeypatch.setattr(attempt_runner, "Watch", lambda *_, **__: SimpleNamespace(
            look=lambda _: None, note=lambda _: None))  # fmt: skip
        units = [
            unit_of(
                key,
                tuple(
                    unit_case(f"{key}/{place}", case, content)
                    for place, (case, content) in enumerate(
                        zip(self.cases, self.contents, strict=True)
                    )
                ),
            )
            for key in self.engines
        ]
        means = GradingContext(ASSIGNMENT, None, "off", (), 1800.0, 2)
        asked = [(unit, case) for unit in units for case in unit.cases]
        planned = [
            PlannedAttempt(case.basis, unit.submission.key, "public", case.name, "")
            for unit, case in asked
        ]
        with closing(Ledger(folder / "ledger.sqlite")) as ledger:
            run = ledger.begin(Run("2026-01-01T00:00:00Z", "1", "x", "d", "{}"))
            pairs = [*zip(self.cases, self.contents, strict=True)]
            rows = [
                CaseRow("public", one.path, content, one.path, hashlib.sha256(content).hexdigest())
                for one, content in pairs
            ]
            ledger.set_cases(run, rows)
            ledger.plan(run, planned)
            Runner(ledger, means, GradingListener(), self).run(units)
            states = ledger.states([case.basis for _, case in asked])
            assert {one.state for one in states.values()} == {"done"}
            return {
                case.basis: canonical_json.loads(FileResult, ledger.results(case.basis)[-1][0])
                for _, case in asked
            }


PROFILES = {
    "right": lambda _basis, _step: 0.01,
    "slower now and then": lambda _basis, step: 25.0 if step == 1 else 0.1,
    "loops": lambda _basis, _step: inf,
    "loops in one file": lambda basis, _step: inf if basis.endswith("1") else 0.1,
    "loops at first": lambda _basis, step: inf if step == 0 else 0.2,
    "loops but once": lambda basis, step: inf if (basis[-1], step) != ("1", 2) else 0.2,
    "loops, or needs a while": lambda basis, step: (
        inf if basis.endswith("0") or (basis[-1], step) == ("1", 0) else 2.0
    ),
    "needs a while, loops in one file": lambda basis, _: inf if basis.endswith("0") else 2.0,
    "needs a while, loops in two": lambda basis, _: 2.0 if basis.endswith("2") else inf,
    "needs a while, loops at one test": lambda basis, step: (
        inf if (basis[-1], step) == ("1", 1) else 2.0
    ),
    "loops from the second test on": lambda _basis, step: inf if step else 2.0,
    "sleeps": lambda _basis, _step: SLEEPS,
    "loops, or sleeps": lambda basis, _: SLEEPS if basis.endswith("1") else inf,
    "sleeps, or needs a while": lambda basis, _: SLEEPS if basis.endswith("1") else 2.0,
}


@pytest.mark.parametrize(
    "free",
    ["", "loops", "loops at first", "slower now and then", "needs a while, loops at one test"],
)
def test_nobody_loses_a_test_that_is_answered_in_time(free, tmp_path, monkeypatch):
    """And nobody has one that is not."""
    class_ = PaperClass(PROFILES, free=free)
    for basis, result in class_.grade(tmp_path, monkeypatch).items():
        needs = class_.engines[basis.partition("/")[0]]
        for outcome in result.outcomes:
            in_time = 0 < needs(basis, outcome.step) <= LIMIT
            assert (outcome.verdict is Verdict.PASSED) is in_time, (basis, outcome.step)


def test_what_is_hopeless_comes_last_and_one_limit_decides(tmp_path, monkeypatch):
    """First all that others wait for, then what is in doubt of others, then the one that loops."""
    hard = lambda _basis, step: 29.0 if step == 1 else 0.1  # noqa: E731 - as the others
    class_ = PaperClass({"loops": PROFILES["loops"], "hard": hard, "ada": PROFILES["right"]})
    class_.grade(tmp_path, monkeypatch)
    alone = [(key, spent) for key, _, is_alone, spent in class_.log if is_alone]
    assert [spent for key, spent in alone if key == "loops"] == [LIMIT]
    first = [spent for key, _, is_alone, spent in class_.log if key == "loops" and not is_alone]
    tests = sum(len(case.steps) for case in class_.cases)
    files = len(class_.cases)
    assert sum(first) <= files * SHORT + tests * AGAIN
    places = [place for place, one in enumerate(class_.log) if one[2]]
    assert min(places) > max(
        place for place, one in enumerate(class_.log) if one[0] == "ada" and not one[2]
    )
    assert class_.locks[-1] != "apart" or "last" not in class_.locks


def test_what_loops_costs_one_limit_each(tmp_path, monkeypatch):
    """However many case files it has, and however many loop."""
    engines = {f"loops{number}": PROFILES["loops"] for number in range(5)}
    class_ = PaperClass({**engines, "ada": PROFILES["right"]}, (4, 5, 3, 1, 6, 6, 6))
    class_.grade(tmp_path, monkeypatch)
    alone = [spent for _, _, is_alone, spent in class_.log if is_alone]
    assert alone == [LIMIT] * 5
    assert class_.locks == ["together", *["last"] * 5]


def test_where_nobody_waits_the_full_limit_comes_in_the_first_run(tmp_path, monkeypatch):
    """So others run beside it, and nothing is run alone."""
    class_ = PaperClass(
        {"loops": PROFILES["loops"], "ada": PROFILES["right"]}, (4, 5, 3), free="loops"
    )
    class_.grade(tmp_path, monkeypatch)
    assert not [spent for _, _, is_alone, spent in class_.log if is_alone]
    spent = [spent for key, _, _, spent in class_.log if key == "loops"]
    assert spent == [LIMIT + 3 * AGAIN, SHORT + 4 * AGAIN, SHORT + 2 * AGAIN]
    assert class_.locks == ["together"]


def test_what_goes_on_and_is_answered_is_waited_for_from_then_on() -> None:
    short = ShortLimits()
    short.begin_file(may_go_on=lambda _: True)
    assert short.may_go_on("score", LIMIT)
    short.note_answer("score")
    assert not short.of("score", LIMIT, thinks=False)
    assert short.may_go_on("captures", LIMIT)
    short.note_cut("captures")  # it hung
    assert short.of("captures", LIMIT, thinks=False) == AGAIN
    assert not short.may_go_on("captures", LIMIT)


class _Worker(jobs.WorkerHandle):
    """A process that is at tasks 0 and 1 for long, if it may; any other is done at once."""

    def __init__(self, ours: list[int]) -> None:
        """``ours``: this process's ends of the pipes to others like it."""
        self._ours = ours
        requests_out, requests_in = os.pipe()
        answers_out, answers_in = os.pipe()
        pid = os.fork()
        if pid == 0:
            for inherited in {*self._ours, requests_in, answers_out}:
                os.close(inherited)
            self._labour(requests_out, answers_in)
            os._exit(0)
        os.close(requests_out)
        os.close(answers_in)
        super().__init__(pid, requests_in, answers_out)
        ours.extend((requests_in, answers_out))

    def _labour(self, requests: int, answers: int) -> None:
        def say(*message: object) -> None:
            os.write(answers, json.dumps(message).encode().ljust(64))

        while task := os.read(requests, 1):
            say(jobs.CLAIM, 0)
            os.read(requests, 1)
            if task < b"2":
                say(jobs.CLAIM, jobs.LONGER)
                answer = os.read(requests, 1)
                if answer == b"l":
                    say(jobs.LATER, None)
                    continue
                say(jobs.NOTE, "full limit" if answer == b"y" else "cut short")
                time.sleep(0.2)
            say(jobs.DONE, None)

    def hand_out(self, task: int) -> None:
        os.write(self.requests, str(task).encode())

    def grant(self, *, granted: bool, later: bool = False) -> None:
        os.write(self.requests, b"l" if later else b"y" if granted else b"n")

    def receive(self) -> list[tuple[int, object]] | None:
        message = os.read(self.answers, 64)
        return [tuple(json.loads(message))] if message else None


@pytest.mark.parametrize(("workers", "last"), [(1, [0, 1]), (2, [1])])
def test_what_computes_for_long_comes_after_all_others_and_has_its_full_limit(workers, last):
    """One of them may begin at once if a place is left to the others."""
    notes: list[tuple[int, object]] = []
    pool = jobs.WorkerPool(range(8), workers, lambda *note: notes.append(note), parts=lambda _: 1)
    pool.start_worker = partial(_Worker, [])  # type: ignore[method-assign]
    ends = [index for index, _ in pool.results()]
    assert sorted(ends) == [*range(8)]  # each of them once
    assert all(ends.index(task) > max(map(ends.index, range(2, 8))) for task in last)
    assert sorted(notes) == [(0, "full limit"), (1, "full limit")]
