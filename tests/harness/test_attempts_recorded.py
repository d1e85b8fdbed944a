"""Attempts of a grading: what is written of them, together or at once, and what is read again."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.assignments.assignment import find
from harness.core.errors import BusyError, SandboxError, UsageError
from harness.core.records import Build
from harness.grading.attempts import orders
from harness.grading.attempts.attempt_plan import unit_case
from harness.grading.attempts.attempt_runner import MOST_FAULTS, Recorder
from harness.grading.attempts.orders import GradingContext
from harness.grading.ledger.ledger import PlannedAttempt
from harness.grading.marks.marker import AttemptReader
from harness.grading.records import PRIVATE, PUBLIC
from harness.reading import casefile
from harness.running.jobs import Fault
from harness.work import canonical_json, records
from harness.work.records import (
    NOTHING,
    AttemptFinished,
    BuildFinished,
    HarnessFailed,
    Measurements,
    WorkUnit,
)
from tests.harness.made_attempts import result_of, unit_of

CASE = casefile.parse(
    b"loadsgf a.sgf\n10 score x/b.txt ../c.txt /d.txt .e none.txt\n#? [0]\n", "x.gtp"
)


def make_unit(*bases: str) -> WorkUnit:
    return unit_of("ada", tuple(unit_case(basis, CASE, b"") for basis in bases))


def test_other_machines_say_in_which_sandbox_engines_run_there(monkeypatch):
    """For ``auto``, this machine's own may be another one: it may have none."""
    heard: list[Any] = []

    def prove(*_: object) -> Any:
        raise SandboxError("no sandbox works here")

    monkeypatch.setattr(orders, "sandbox_of", prove)

    class Machines:
        def level(self, choice: str) -> str:
            return {"auto": "2"}[choice]

        def run(self, units: Any, store: Path, *_: object) -> Any:
            heard.extend((unit.environment.sandbox, store.is_dir()) for unit in units)
            return iter(())

    own = find("go-scoring")
    context = GradingContext(own, None, "auto", (), 77.0, 1, other_machines=Machines())
    with contextlib.closing(orders.Orders(context, own.box, lambda _: b"", alone=False)) as made:
        assert list(made.run([make_unit("1", "2")], 1, lambda *_: None)) == []
    assert heard == [("2", True)]


class Written:
    """A ledger that notes what is written."""

    name = "the ledger"

    def __init__(self) -> None:
        self.said: list[Any] = []
        self.has_lease = True

    def finish_all(self, *words: object) -> bool:
        self.said.append(words)
        return self.has_lease

    def record_error(self, *words: object) -> None:
        self.said.append(words)


def attempt_of(basis: str, *, doubtful: bool = False) -> AttemptFinished:
    figures = Measurements(started="now", pid=7, seconds=1, cpu=2, memory=3, own_cpu=4)
    return AttemptFinished(basis, NOTHING, figures, failed=False, doubtful=doubtful)


@pytest.mark.parametrize(
    ("number", "doubtful", "is_last"), [(1, False, True), (1, True, False), (2, True, True)]
)
def test_what_comes_together_is_written_together(number, doubtful, is_last):
    ledger, heard = Written(), []
    recorder = Recorder(ledger, "t", number, lambda *pair: heard.append(pair), at_once=False)
    words = [BuildFinished("b", Build(True, "done"), 0.5), attempt_of("1", doubtful=doubtful)]
    for word in words:
        recorder.add(4, word)
    assert ledger.said == heard == []
    recorder.flush()
    (token, (run,), (build,)), *rest = ledger.said
    assert (token, rest) == ("t", [])
    assert (run.basis, run.number, run.last) == ("1", number, is_last)
    assert run.row[:7] == (NOTHING, "now", 7, 1, 2, 3, 4)
    assert (build[0], build[2]) == ("b", 0.5)
    assert heard == [(4, word) for word in words]
    recorder.flush()
    assert len(ledger.said) == 1


ELSEWHERE = 'elsewhere (File "b.py", line 2)'


def test_a_fault_is_one_of_the_attempts_that_have_no_result():
    ledger, heard = Written(), []
    recorder = Recorder(ledger, "t", 1, lambda *pair: heard.append(pair[1]), at_once=True)
    recorder.add(0, attempt_of("1"))
    recorder.add_fault(0, make_unit("1", "2", "3"), Fault("it broke"))
    traceback = 'Traceback:\n  File "a.py", line 1\n    x\n  File "b.py", line 2\n    y\n'
    recorder.add_fault(1, make_unit("1"), Fault("elsewhere", traceback))
    assert ledger.said[1:] == [
        ("2", "t", "it broke", MOST_FAULTS),
        ("3", "t", "it broke", MOST_FAULTS),
        ("1", "t", ELSEWHERE, MOST_FAULTS),
    ]
    assert heard[1:] == [
        *(HarnessFailed("2", "it broke"), HarnessFailed("3", "it broke")),
        HarnessFailed("1", ELSEWHERE),
    ]


def test_without_the_lease_nothing_more_is_written():
    ledger = Written()
    ledger.has_lease = False
    recorder = Recorder(ledger, "t", 1, lambda *_: None, at_once=False)
    recorder.add(0, attempt_of("1"))
    with pytest.raises(BusyError) as told:
        recorder.flush()
    assert str(told.value) == "another process has taken over the grading in the ledger"


def test_a_list_of_machines_that_was_edited_badly_says_what_a_line_should_be(tmp_path):
    path = tmp_path / "aside.jsonl"
    path.write_text('{"at": 5, "machine": "lab1"}\n{"machine": "lab2"}\n')
    with pytest.raises(UsageError, match=r"aside\.jsonl:2: found .*, expected .*: remove"):
        orders.SetAside(path).machines()


def ledger_of(state, results=(), fault="", **more) -> Any:
    """Return a ledger in which each attempt has this state."""
    return SimpleNamespace(
        states=lambda bases: dict.fromkeys(bases, (state, 0, fault)),
        results=lambda basis, at: list(results),
        build=lambda build: "",
        **more,
    )


def test_an_attempt_has_the_path_of_its_case_file():
    """Pages name the file by its path, and lead to it."""
    ledger = ledger_of("waiting")
    planned = [PlannedAttempt(kind, "ada", kind, "a.gtp", "") for kind in (PUBLIC, PRIVATE)]
    paths = {(PUBLIC, "a.gtp"): "cases/a.gtp", (PRIVATE, "a.gtp"): "secret/a.gtp"}
    reader = AttemptReader(ledger, find("go-scoring"), paths)
    found = reader.attempts(planned, at="2026-01-01T00:00:00Z")
    assert [one.path for one in found] == ["cases/a.gtp", "secret/a.gtp"]


@pytest.mark.parametrize(
    ("state", "fault", "said"),
    [
        ("waiting", "", "it was not run yet"),
        ("fault", "the disk was full", "the disk was full"),
        ("done", "", "it was not run yet"),  # as far as the ledger has it
    ],
)
def test_an_attempt_without_a_run_says_why(state, fault, said):
    reader = AttemptReader(ledger_of(state, fault=fault), find("go-scoring"), {})
    (found,) = reader.attempts([PlannedAttempt("x", "ada", PUBLIC, "a.gtp", "")])
    assert (found.result, found.fault) == (None, said)


def test_an_attempt_without_a_program_has_a_run_and_no_result():
    """What could not be built is done: nothing is run, and the machine is told."""
    measured = canonical_json.dumps(Measurements(sandbox="2", python="3.11"))
    reader = AttemptReader(ledger_of("done", [(NOTHING, measured)]), find("go-scoring"), {})
    (found,) = reader.attempts([PlannedAttempt("x", "ada", PUBLIC, "a.gtp", "")])
    assert (found.result, found.fault, len(found.runs)) == (None, "", 1)
    assert (reader.sandboxes, reader.pythons) == ({"2"}, {"3.11"})


@pytest.mark.parametrize(("late", "flaky"), [(False, (1,)), (True, ())])
def test_a_step_whose_verdict_changed_between_two_runs_is_flaky(late, flaky):
    """But not where the first run was cut short by what may be no hang: it says nothing."""
    first, second = result_of("pff"), result_of("ppf")
    dumps = canonical_json.dumps
    results = [
        (dumps(records.strip_measurements(one, "/x")), dumps(figures))
        for one, figures in ((first, Measurements(late=late)), (second, Measurements()))
    ]
    content = "\n".join(first.case.lines).encode()
    ledger = ledger_of("done", results, content=lambda sha256: content)
    reader = AttemptReader(ledger, find("go-scoring"), {})
    (found,) = reader.attempts([PlannedAttempt("x", "ada", PUBLIC, "a.gtp", "")])
    assert found.flaky == flaky
    assert len(found.runs) == 2


def test_a_machine_is_set_aside_in_a_folder_that_is_made_for_us_alone(tmp_path):
    path = tmp_path / "state" / "gtp-harness" / "machines"
    orders.SetAside(path).add("lab1", "it is slow")
    orders.SetAside(path).add("lab2", "it is hot")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [one.name for one in orders.SetAside(path).read_kept()] == ["lab1", "lab2"]
    assert orders.SetAside(path).machines() == {"lab1", "lab2"}
    path.unlink()
    book = orders.SetAside(path)
    assert book.machines() == set()
    book.add("lab3", "it broke")
    assert (book.machines(), [one.name for one in book.read_kept()]) == ({"lab3"}, ["lab3"])
    alone = orders.SetAside()
    alone.add("lab4", "it broke")
    assert (alone.machines(), alone.read_kept()) == ({"lab4"}, [])
