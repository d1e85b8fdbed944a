"""What a reduction may cost: the processor's seconds, whatever else the machine has to do."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from harness.fuzzing import reduction
from harness.fuzzing.reduction import Spending
from harness.processes import processor_seconds
from harness.records import Failure, FailureKind
from harness.vocabulary.conversations import Script, Trace
from tests.harness.own_games import fuzzed, wrong

ANSWERED = Trace(Script(("name",)), ())
HUNG, DIED = (
    ANSWERED._replace(failure=Failure(kind, "It broke.", 0))
    for kind in (FailureKind.TIMEOUT, FailureKind.DIED)
)


class Machine:
    """A clock on the wall and one of the processor, which go on by what they are told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, each: float = 0.0) -> None:
        self.wall = self.computed = 0.0
        self._each = each  # seconds by the wall that pass from look to look
        monkeypatch.setattr(reduction, "monotonic", self._monotonic)
        monkeypatch.setattr(reduction, "processor_seconds", lambda: self.computed)

    def _monotonic(self) -> float:
        self.wall += self._each
        return self.wall


@pytest.mark.parametrize(
    ("wall", "computed", "trace", "is_over"),
    [
        (9, 9, ANSWERED, False),
        (10, 10, ANSWERED, True),
        (59, 2, ANSWERED, False),  # others have the processor
        (60, 2, ANSWERED, True),
        (9, 18, ANSWERED, False),  # a thread beside this one has computed as well
        (10, 0, HUNG, True),  # it was waited for
        (10, 0, DIED, False),
    ],
)
def test_it_is_over_when_the_processor_has_done_its_part(
    wall: float, computed: float, trace: Trace, is_over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(monkeypatch)
    spent = Spending(10, 60)
    machine.wall, machine.computed = wall, computed
    spent.note(trace)
    assert spent.is_over is is_over


@pytest.mark.long(2)
def test_a_finding_gets_short_on_a_machine_that_others_keep_busy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the seconds are over after a few scripts, much of the script would be left."""
    Machine(monkeypatch, each=2.0)

    def count_commands() -> int:
        random.seed(0)
        with fuzzed("nogo", wrong("nogo")["UndoKeepsTurn"], examples=400) as fuzzer:
            return len(next(fuzzer.findings()).script.commands)

    patient = count_commands()
    monkeypatch.setattr(reduction, "_LONGEST", 10.0)
    assert patient <= 6 < count_commands()


@pytest.mark.long(2)
def test_all_rounds_of_a_finding_share_one_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A finding that stays long is tried again and again: that must not take a minute each."""
    machine = Machine(monkeypatch, each=0.5)
    asked: list[float] = []  # when, seconds since the finding was first made shorter
    monkeypatch.setattr(
        Spending, "note", lambda spent, _: asked.append(machine.wall - spent._began)
    )
    random.seed(0)
    with fuzzed("takuzu", wrong("takuzu")["PlayersKeptInNewGame"], examples=400) as fuzzer:
        assert next(fuzzer.findings())
    assert 0 < max(asked) <= reduction._LONGEST + 1


@pytest.mark.processes
def test_what_others_compute_below_this_process_counts_while_they_live_and_after() -> None:
    spin = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True)\ninput()"
    before = processor_seconds()
    with subprocess.Popen(
        [sys.executable, "-c", spin], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout
        child.stdout.readline()
        alive = processor_seconds() - before
        child.communicate(b"\n")
    assert 0.4 <= alive <= processor_seconds() - before + 0.02
