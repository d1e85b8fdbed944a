"""Workers seen from the process that hands out units: pipes stand in for them, and a made pool."""

from __future__ import annotations

import os
import threading
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.running import jobs
from harness.work import crew, records
from harness.work.crew import Crew
from harness.work.records import CaseStarted, Claim, EngineHung, HarnessFailed, UnitFinished

UNITS = [SimpleNamespace(cases="ab"), SimpleNamespace(cases="abc")]


@pytest.mark.parametrize(("shared", "parts"), [(True, [2, 3]), (False, [])])
def test_units_are_done_by_other_processes(shared, parts):
    """Also by a single one: an engine's orphans must not become ours."""
    made = crew_of(shared=shared)
    assert made._size == 1
    assert made._counts == parts


def crew_of(**how: Any) -> Crew:
    return Crew(UNITS, 1, lambda *_: None, store=Path("store"), **how)  # type: ignore[arg-type]


class Piped:
    """A worker that is nothing but two pipes, at work on the second unit."""

    def __init__(self, hangs: list[int] | None = None) -> None:
        self.heard, requests = os.pipe()
        answers, self.says = os.pipe()
        self.crew = crew_of()
        self.crew.hangs = hangs or [0, 0]
        self.handle = crew._CrewWorker(0, requests, answers, self.crew)
        self.handle.task = 1

    def close(self) -> None:
        for one in (self.heard, self.handle.requests, self.handle.answers, self.says):
            os.close(one)

    def say(self, *lines: bytes) -> list[tuple[int, object]] | None:
        """Return what is received when the worker says something."""
        os.write(self.says, b"".join(lines))
        return self.handle.receive()


@pytest.fixture
def piped():
    with closing(Piped()) as made:
        yield made


@pytest.mark.parametrize(
    ("event", "received"),
    [
        (CaseStarted("x"), [(jobs.NOTE, CaseStarted("x"))]),
        (HarnessFailed("x", "full"), [(jobs.NOTE, HarnessFailed("x", "full"))]),
        (Claim(7), [(jobs.CLAIM, 7)]),
        (EngineHung("x"), []),
        (UnitFinished(), [(jobs.DONE, None)]),
        (UnitFinished(later=True), [(jobs.LATER, None)]),
        (UnitFinished("full", "where"), [(jobs.DONE, jobs.Fault("full", "where"))]),
    ],
)
def test_what_a_worker_says_is_taken_by_the_pool(event, received, piped):
    assert piped.say(records.line(event)) == received
    assert piped.crew.hangs == [0, int(isinstance(event, EngineHung))]


def test_an_event_that_tells_of_no_attempt_has_no_result():
    assert records.parse(records.line(Claim(1))) == (Claim(1), None)


def test_lines_that_come_in_pieces_are_put_together(piped):
    one, two = records.line(Claim(1)), records.line(Claim(2))
    assert piped.say(one[:5]) == []
    assert piped.say(one[5:], two[:-1]) == [(jobs.CLAIM, 1)]
    assert piped.say(two[-1:], one, two) == [(jobs.CLAIM, 2), (jobs.CLAIM, 1), (jobs.CLAIM, 2)]


def test_a_very_long_line_takes_no_longer_than_many_short_ones(piped):
    """An engine makes it so long; to copy what there was with each piece took minutes."""
    line = records.line(HarnessFailed("basis", "x" * (48 << 20)))
    with os.fdopen(os.dup(piped.says), "wb") as says:
        thread = threading.Thread(target=lambda: (says.write(line), says.flush()))
        thread.start()
        begun = time.process_time()
        while not (told := piped.handle.receive()):
            pass
        thread.join()
    assert told == [(jobs.NOTE, records.parse(line)[0])]
    assert time.process_time() - begun < 8


def test_a_worker_that_ended_says_none(piped):
    os.dup2(os.open(os.devnull, os.O_WRONLY), piped.says)
    assert piped.handle.receive() is None


def test_a_worker_that_says_nonsense_is_no_longer_ours_and_is_killed(piped, monkeypatch):
    killed: list[tuple[int, int]] = []
    monkeypatch.setattr(crew.os, "kill", lambda *how: killed.append(how))
    piped.handle.pid = 4321
    assert piped.say(records.line(Claim(1)), b"nonsense\n") == []
    assert killed == [(4321, 9)]
