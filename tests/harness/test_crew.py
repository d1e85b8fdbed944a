"""Workers seen from the process that hands out units: pipes stand in for them, and a made pool."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest

from harness.running import jobs
from harness.work import crew, worker_events
from harness.work.crew import Crew
from harness.work.worker_events import (
    CaseProgress,
    CaseStarted,
    Claim,
    EngineHung,
    HarnessFailed,
    UnitFinished,
)

UNITS = [SimpleNamespace(cases="ab"), SimpleNamespace(cases="abc")]


def nothing(*_: object) -> None:
    """Take no note of anything."""


def run(monkeypatch: pytest.MonkeyPatch, **how: Any) -> dict[str, Any]:
    """Return what the pool is given for two units."""
    given: dict[str, Any] = {}

    def run_all(
        tasks: object,
        work: object,
        workers: int,
        on_note: Callable[[int, object], None],
        **kept: Any,
    ) -> str:
        given.update(kept, tasks=tasks, workers=workers, on_note=on_note)
        return "the ends"

    monkeypatch.setattr(jobs, "run_all", run_all)
    on_word = how.pop("on_word", nothing)
    assert Crew([]).run(UNITS, 3, on_word, **how) == "the ends"  # type: ignore[arg-type, comparison-overlap]
    return given


def test_units_are_done_by_other_processes(monkeypatch):
    """Also by a single one: an engine's orphans must not become ours."""
    given = run(monkeypatch)
    assert (given["tasks"], given["workers"], given["forked"]) == (UNITS, 3, True)


def test_of_a_unit_that_is_shared_each_case_file_is_a_part(monkeypatch):
    assert list(map(run(monkeypatch, shared=True)["parts"], UNITS)) == [2, 3]


@pytest.mark.parametrize("how", [{"shared": False}, {}])
def test_a_unit_that_is_not_shared_has_no_parts(how, monkeypatch):
    assert run(monkeypatch, **how)["parts"] is None


def test_who_looks_at_the_time_is_asked(monkeypatch):
    times: list[list[int]] = []
    run(monkeypatch, on_time=times.append)["on_time"]([1, 2])
    assert times == [[1, 2]]
    run(monkeypatch)["on_time"]([1])  # nobody wants to know


@pytest.mark.parametrize("is_heard", [False, True])
def test_progress_is_told_apart_from_what_comes_of_a_unit(is_heard, monkeypatch):
    words: list[object] = []
    progress: list[object] = []
    how: dict[str, Any] = {
        "on_progress": lambda index, event: progress.append((index, event))
    } if is_heard else {}  # fmt: skip
    hear = run(monkeypatch, on_word=lambda *word: words.append(word), **how)["on_note"]
    events = [CaseStarted("x"), HarnessFailed("x", "it is full"), CaseProgress("x", 4)]
    for index, event in enumerate(events):
        hear(index, event)
    assert words == [(1, events[1])]
    assert progress == ([(0, events[0]), (2, events[2])] if is_heard else [])


# --- a worker ----------------------------------------------------------------------------------


class Piped:
    """A worker that is nothing but two pipes, at work on the second unit."""

    def __init__(self, hangs: list[int] | None = None) -> None:
        self.heard, requests = os.pipe()
        answers, self.says = os.pipe()
        self.queue = crew._UnitQueue(UNITS, [])  # type: ignore[arg-type]
        self.queue.hangs = hangs or [0, 0]
        self.handle = crew._CrewWorker(0, requests, answers, self.queue)
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
    assert piped.say(worker_events.line(event)) == received
    assert piped.queue.hangs == [0, int(isinstance(event, EngineHung))]


def test_an_event_that_tells_of_no_attempt_has_no_result():
    assert worker_events.parse(worker_events.line(Claim(1))) == (Claim(1), None)


def test_lines_that_come_in_pieces_are_put_together(piped):
    one, two = worker_events.line(Claim(1)), worker_events.line(Claim(2))
    assert piped.say(one[:5]) == []
    assert piped.say(one[5:], two[:-1]) == [(jobs.CLAIM, 1)]
    assert piped.say(two[-1:], one, two) == [(jobs.CLAIM, 2), (jobs.CLAIM, 1), (jobs.CLAIM, 2)]


def test_a_worker_that_ended_says_none(piped):
    os.dup2(os.open(os.devnull, os.O_WRONLY), piped.says)
    assert piped.handle.receive() is None


def test_a_worker_that_says_nonsense_is_no_longer_ours_and_is_killed(piped, monkeypatch):
    killed: list[tuple[int, int]] = []
    monkeypatch.setattr(crew.os, "kill", lambda *how: killed.append(how))
    piped.handle.pid = 4321
    assert piped.say(worker_events.line(Claim(1)), b"nonsense\n") == []
    assert killed == [(4321, 9)]
