"""Tasks in parallel: every result arrives, whatever becomes of the process that worked on it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.core.errors import SandboxError
from harness.core.signals import ending_on_signals
from harness.engine import launch
from harness.running import jobs

pytestmark = pytest.mark.processes

Claim = Callable[[int], bool]


def collect(tasks: list[int], work: jobs.Work[int, object], workers: int) -> dict[int, object]:
    return dict(jobs.run_all(tasks, work, workers, lambda _index, _note: None))


@pytest.mark.parametrize("workers", [1, 2, 100])
def test_each_task_has_its_result(workers: int) -> None:
    found = collect([3, 1, 2], lambda task, _note: task * 10, workers)
    assert found == {0: 30, 1: 10, 2: 20}
    assert collect([], lambda task, _note: task, workers) == {}


def no_sandbox(_task: int, _note: object) -> None:
    raise SandboxError("no user may read /root/engine")


def test_a_sandbox_that_cannot_be_is_told_in_its_own_sentence() -> None:
    """The name of an error's class came before it."""
    assert collect([1], no_sandbox, 1) == {0: jobs.Fault("no user may read /root/engine")}


def wait_for(reached: Callable[[], bool]) -> None:
    ends = time.monotonic() + 120
    while not reached():
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_results_come_in_the_order_of_their_end(tmp_path: Path) -> None:
    """Each task ends when the result of the one before it has come."""

    def work(task: int, _note: jobs.Note) -> int:
        wait_for((tmp_path / str(task)).exists)
        return task

    (tmp_path / "0").touch()
    order = []
    for index, task in jobs.run_all([2, 0, 1], work, 3, lambda *_: None):
        order.append(index)
        (tmp_path / str(int(task) + 1)).touch()
    assert order == [1, 2, 0]


def test_one_worker_is_no_other_process() -> None:
    assert collect([0], lambda _task, _note: os.getpid(), 8) == {0: os.getpid()}


@pytest.mark.parametrize("workers", [1, 2])
def test_notes_arrive_with_their_task(workers: int) -> None:
    notes: list[tuple[int, object]] = []

    def work(task: int, note: jobs.Note) -> int:
        note(f"{task} begins")
        note(f"{task} ends")
        return task

    list(jobs.run_all([7, 8], work, workers, lambda index, note: notes.append((index, note))))
    assert sorted(notes) == [(0, "7 begins"), (0, "7 ends"), (1, "8 begins"), (1, "8 ends")]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_ours_costs_one_task(workers: int) -> None:
    def work(task: int, _note: jobs.Note) -> float:
        return 1 / task

    found = collect([1, 0, 2], work, workers)
    assert (found[0], found[2]) == (1.0, 0.5)
    fault = found[1]
    assert isinstance(fault, jobs.Fault)
    assert fault.message == "ZeroDivisionError: division by zero"
    assert "test_jobs.py" in fault.details


def test_the_death_of_a_worker_costs_one_task() -> None:
    def work(task: int, _note: jobs.Note) -> int:
        if task == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return task

    found = collect([1, 0, 2, 3, 0, 4], work, 2)
    assert {index: result for index, result in found.items() if index not in (1, 4)} == {
        0: 1,
        2: 2,
        3: 3,
        5: 4,
    }
    assert found[1] == found[4] == jobs.Fault("the harness's own process for this file ended (-9)")


def test_the_death_of_a_worker_after_its_result_costs_its_next_task() -> None:
    """It is handed out before anybody has noticed: that the pipe is broken ended the whole run."""

    def work(task: int, _note: jobs.Note) -> int:
        if task == 0:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGKILL)).start()
        return task

    ends = {}
    for index, end in jobs.run_all([1, 0, 2, 3, 4, 5, 6], work, 2, lambda *_: None):
        ends[index] = end
        time.sleep(0.5)  # its result waits, and the next task with it
    faults = [index for index, end in ends.items() if isinstance(end, jobs.Fault)]
    assert sorted(ends) == [0, 1, 2, 3, 4, 5, 6]
    assert (ends[1], len(faults)) == (0, 1)


def test_the_death_of_a_worker_ends_what_its_engine_left_and_nothing_else() -> None:
    """What another session had before the run is somebody else's."""

    def work(task: int, _note: jobs.Note) -> int:
        if task == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return task

    with subprocess.Popen(["sleep", "250"], start_new_session=True) as other:
        collect([1, 0], work, 2)
        state = Path(f"/proc/{other.pid}/stat").read_text().rpartition(")")[2].split()[0]
        other.kill()
    assert state == "S"


def test_what_cannot_be_sent_back_costs_one_task() -> None:
    found = collect([0, 1], lambda task, _note: (lambda: 0) if task else 0, 2)
    assert found[0] == 0
    assert isinstance(found[1], jobs.Fault)


def test_closing_ends_what_is_under_way() -> None:
    def work(task: int, _note: jobs.Note) -> int:
        time.sleep(task)
        return os.getpid()

    others = set(launch.children())  # of tests before
    running: Iterator[tuple[int, object]] = jobs.run_all([0, 500], work, 2, lambda *_: None)
    begun = time.monotonic()
    _index, pid = next(running)
    assert isinstance(pid, int)
    running.close()
    assert time.monotonic() - begun < 250
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert set(launch.children()) <= others


@pytest.mark.parametrize("hear_out", [False, True])
def test_a_worker_that_does_not_end_is_ended_by_force(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, hear_out: bool
) -> None:
    """Whatever it waits for: the harness must not wait with it."""
    monkeypatch.setattr(jobs, "_PATIENCE", 0.2)
    parent = os.getpid()

    def work(task: int, _note: jobs.Note) -> int:
        while task and os.getppid() == parent:
            with contextlib.suppress(KeyboardInterrupt):  # what should end it
                (tmp_path / "begun").touch()
                time.sleep(1)
        return os.getpid()

    others = set(launch.children())
    running = jobs.run_all([0, 1], work, 2, lambda *_: None, hear_out=hear_out)
    next(running)
    wait_for((tmp_path / "begun").exists)
    begun = time.monotonic()
    running.close()
    assert time.monotonic() - begun < 250
    assert set(launch.children()) <= others


def test_a_worker_that_is_told_to_end_before_it_has_begun_ends(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """After the fork it has the handlers of its parent, which let signals wait while it hires."""
    fork, pauses = os.fork, [2.0, 0.0]

    def slow_fork() -> int:
        seconds, pid = pauses.pop(), fork()
        if pid == 0 and seconds:
            (tmp_path / "forked").touch()
            time.sleep(seconds)
        return pid

    monkeypatch.setattr(os, "fork", slow_fork)
    monkeypatch.setattr(jobs, "_PATIENCE", 25.0)  # after which it is ended by force
    begun = time.monotonic()
    with ending_on_signals():
        running = jobs.run_all([0, 250, 0], lambda task, _: time.sleep(task), 2, lambda *_: None)
        next(running)
        wait_for((tmp_path / "forked").exists)
        running.close()
    assert time.monotonic() - begun < 20


class SharingPool(jobs._ForkedPool):
    """Forks that claim the parts of their tasks, as the workers of a crew do."""

    def start_worker(self) -> jobs.WorkerHandle:
        worker = super().start_worker()
        worker.grant = lambda *, granted, later=False: os.write(  # type: ignore
            worker.requests, b"y" if granted else b"n"
        )
        return worker

    def _labour(self, requests: int, answers: int, dump: Callable[[object], bytes]) -> None:
        def claim(part: int) -> bool:
            jobs._send(answers, dump((jobs.CLAIM, part)))
            return os.read(requests, 1) == b"y"

        self.work = partial(self.work, claim)
        super()._labour(requests, answers, dump)


def share(
    tasks: list[int], work: Callable[..., object], workers: int, on_note: Callable[..., Any]
) -> list[tuple[int, object]]:
    """Do tasks of so many parts."""
    pool = SharingPool(tasks, workers, on_note, parts=lambda task: task)
    pool.work, pool.leave = work, lambda: None
    return list(pool.results())


def test_while_one_sleeps_others_do_the_rest_of_its_task_and_more() -> None:
    """Eight parts of three tasks at one place; most of them sleep; each is done once."""
    done: list[tuple[int, object]] = []

    def work(claim: Claim, task: int, note: jobs.Note) -> str:
        for part in range(task):
            if claim(part):
                time.sleep(2 if task > 1 else 0)
                note((part, os.getpid()))
        return f"end of {task}"

    ends = share([4, 3, 1], work, 1, lambda index, note: done.append((index, note)))
    assert sorted(ends) == [(0, "end of 4"), (1, "end of 3"), (2, "end of 1")]
    found = sorted((index, part) for index, (part, _) in done)
    assert found == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (2, 0)]
    assert len({pid for _, (_, pid) in done}) > 3


def test_who_has_nothing_else_to_do_helps_where_a_part_takes_long(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An engine that computes for ever in each part of a task would keep one core busy."""
    monkeypatch.setattr(jobs, "_LONG", 0.2)
    workers: dict[int, object] = {}

    def work(claim: Claim, task: int, note: jobs.Note) -> None:
        for part in range(task):
            if claim(part):
                ends = time.monotonic() + (120 if task > 1 and part == 0 else 0)
                while time.monotonic() < ends and not (tmp_path / "helped").exists():
                    pass
                if task > 1:
                    (tmp_path / "helped").touch()
                note((part, os.getpid()))

    def on_note(index: int, told: tuple[int, object]) -> None:
        if index == 0:
            workers[told[0]] = told[1]

    assert len(share([4, 1], work, 2, on_note)) == 2
    assert sorted(workers) == [0, 1, 2, 3]
    assert len(set(workers.values())) == 2


def test_tasks_that_sleep_leave_a_place_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three places, two tasks that could fill them all: the third task is done meanwhile."""
    monkeypatch.setattr(jobs, "_MOST", 3)
    done: list[int] = []

    def work(claim: Claim, task: int, note: jobs.Note) -> None:
        for part in range(task):
            if claim(part):
                time.sleep(4 if task > 1 else 0)
                note(part)

    assert len(share([3, 3, 1], work, 1, lambda index, _: done.append(index))) == 3
    assert done[0] == 2


def test_a_task_of_several_workers_comes_to_nothing_if_one_of_them_does() -> None:
    def work(claim: Claim, task: int, _note: jobs.Note) -> int:
        if claim(0):
            time.sleep(2)
        elif claim(1):
            raise RuntimeError("broken")
        return task

    ((index, end),) = share([2], work, 1, lambda *_: None)
    assert index == 0
    assert isinstance(end, jobs.Fault)
    assert "broken" in end.message
