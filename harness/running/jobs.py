"""Tasks one after the other, or in parallel in forked processes.

Processes rather than threads: each adopts the orphans of its own engine and of no other, so that
what an engine leaves behind can be told from another engine at work; a crash of one costs one
file; and the interpreter lock is nobody's concern. They are forked, not started afresh, because
an import costs more than most files.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from _signal import SIGTERM  # type: ignore[import-not-found]
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial

from harness.core import signals
from harness.core.errors import SandboxError, StarvedError
from harness.core.processes import children, descendants
from harness.core.typed import NamedTuple
from harness.engine import engine_clock, launch

Note = Callable[[object], object]  # tells something of a task to the process that handed it out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    Task = TypeVar("Task")
    Result = TypeVar("Result")
    Work = Callable[[Task, Note], Result]

_HEADER = 8  # bytes: the length of a message, or the index of a task
DONE, NOTE, CLAIM, LATER = range(4)  # kinds of messages
LONGER = -1  # claimed instead of a part: to be at the part under way for long, while others wait
_PATIENCE = 60.0  # seconds that a worker has to end its engine and itself, on a busy machine too
_LOOK = 0.25  # seconds between two looks at who sleeps
_ASLEEP = 0.15  # of a core: less than that a worker uses whose engine sleeps
_SLEPT = 0.5  # seconds after which a worker holds no place
_LONG = 1.0  # seconds at one part of a task, after which others may do its other parts
_MOST = 16  # workers in one place; all but one sleep
_SPARE = 0.1  # of the memory: with less no more workers are hired


class Fault(NamedTuple):
    """A task that came to nothing because the harness itself failed."""

    message: str  # one sentence
    details: str = ""  # a traceback


def run_all(  # noqa: PLR0913 - how work is done, each by its own choice
    tasks: Sequence[Task],
    work: Work[Task, Result],
    workers: int,
    on_note: Callable[[int, object], None],
    leave: Callable[[], None] = lambda: None,
    *,
    forked: bool = False,
    on_time: Callable[[list[int]], None] = lambda _: None,
    hear_out: bool = False,
) -> Generator[tuple[int, Result | Fault], None, None]:
    """Do ``work`` on each task; yield (index, result) in the order in which they end.

    ``work`` is given the task and what it tells notes to, which arrive at ``on_note`` with the
    task's index. Each forked process calls ``leave`` before its end. With ``forked`` there is one
    even for a single worker. Closing the iterator ends the work under way.

    ``on_time``, ``hear_out``: see :class:`WorkerPool`.
    """
    if min(workers, len(tasks)) > (0 if forked else 1):
        pool = _ForkedPool(tasks, workers, on_note, on_time, hear_out=hear_out)
        pool.work, pool.leave = work, leave
        yield from pool.results()  # type: ignore[misc]
        return
    with launch.end_on_exit():
        for index, task in enumerate(tasks):
            yield index, _attempt(work, task, partial(on_note, index))


def _attempt(work: Work[Task, Result], task: Task, note: Note) -> Result | Fault:
    try:
        return work(task, note)
    except (SandboxError, StarvedError) as error:
        return Fault(str(error))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the harness's own fault
        from traceback import format_exc

        return Fault(f"{type(error).__name__}: {error}", format_exc())


class WorkerHandle:
    """A process that does tasks, seen from the one that hands them out."""

    def __init__(self, pid: int, requests: int, answers: int) -> None:
        """Take its id, and our ends of the pipes to it and from it."""
        self.pid = pid
        self.requests = requests
        self.answers = answers
        self.task: int | None = None
        self.claims = 0  # of parts of it
        self.part = 0  # the last one
        self.claimed = 0.0  # of time.monotonic(): when it claimed that
        self.is_prolonged = False  # it may be at that one for long
        self.slept = 0.0  # seconds
        self._own: engine_clock.Threads = {}
        self._threads: engine_clock.Threads = {}  # of its engine

    @property
    def is_asleep(self) -> bool:
        """Whether its engine has used no processor for a while, and wanted none."""
        return self.slept >= _SLEPT

    def look(self, seconds: float) -> None:
        """Take note of what was used in the seconds since the last look.

        Where nothing is known of other processes, none is asleep.
        """
        # Its box server looks after an engine; what that needs is not a sign of an engine awake.
        engine = [pid for child in children(self.pid) for pid in descendants(child) or [child]]
        before, self._own = self._own, engine_clock.look([self.pid], self._own)
        own = engine_clock.use(before, self._own, seconds)
        before, self._threads = self._threads, engine_clock.look(engine, self._threads)
        of_engine = engine_clock.use(before, self._threads, seconds)
        used = own.ran + own.waited + of_engine.ran + of_engine.waited
        is_asleep = bool(self._own) and used < _ASLEEP * seconds
        self.slept = self.slept + seconds if is_asleep else 0.0

    def hand_out(self, task: int) -> None:
        """Tell it the task that it is to do."""
        raise NotImplementedError

    def grant(self, *, granted: bool, later: bool = False) -> None:
        """Answer a claim; ``later``: the rest of the task is to be done after all others."""
        raise NotImplementedError

    def receive(self) -> list[tuple[int, object]] | None:
        """Return what it says, now that it says something; None if it has ended."""
        raise NotImplementedError


class _Forked(WorkerHandle):
    """A fork of this process, which has all that we have: it is told indices, and says objects."""

    def hand_out(self, task: int) -> None:
        with contextlib.suppress(BrokenPipeError):  # it has died, which is seen when it is heard
            os.write(self.requests, task.to_bytes(_HEADER))

    def receive(self) -> list[tuple[int, object]] | None:
        from _pickle import loads

        header = _read(self.answers, _HEADER)
        message = None if header is None else _read(self.answers, int.from_bytes(header))
        return None if message is None else [loads(message)]


class WorkerPool:
    """Processes that do tasks, each one after the other."""

    def __init__(  # noqa: PLR0913 - how work is done, each by its own choice
        self,
        tasks: Sequence[Task],
        workers: int,
        on_note: Callable[[int, object], None],
        on_time: Callable[[list[int]], None] = lambda _: None,
        *,
        parts: Callable[[Task], int] | None = None,
        hear_out: bool = False,
    ) -> None:
        """Do nothing yet; see :meth:`results`.

        ``on_note``: told what workers tell of a task, by its index. ``on_time``: told the tasks
        under way, some four times a second.

        ``parts``: how many parts a task has; each is claimed before it is done. Then a worker
        whose engine sleeps holds no place: another is hired meanwhile, for other parts of its task
        if there are any, else for the next task. The result of a task that several did is a
        :class:`Fault` if one of theirs is.

        ``hear_out``: whether what workers tell while they are ended early is heard, too, by
        ``on_note``: notes, and the result of a task that had come to its end.
        """
        self._tasks = tasks
        self._size = min(workers, len(tasks))
        self._on_note = on_note
        self._on_time = on_time
        self._hears_out = hear_out
        self._waiting = list(range(len(tasks)))[::-1]
        self._workers: dict[int, WorkerHandle] = {}  # by the descriptor of its answers
        self._poll = select.poll()
        self._arriving: tuple[int, object] | None = None  # a result that may not be taken yet
        # With parts:
        self._counts = [parts(task) for task in tasks] if parts else []
        self._claimed: dict[int, set[int]] = {}  # by task
        self._prolonged: set[int] = set()  # tasks of which a part was allowed to last
        self._postponed: set[int] = set()  # tasks of which the rest comes after all others
        self._faults: dict[int, Fault] = {}  # of tasks that others are still at
        self._looked = time.monotonic()
        self._known: frozenset[int] = frozenset()  # children of this process from before

    def start_worker(self) -> WorkerHandle:
        """Start a process that does tasks."""
        raise NotImplementedError

    def results(self) -> Generator[tuple[int, object], None, None]:
        """Yield (index, result) of the tasks in the order in which they end.

        Closing the iterator ends the work under way.
        """
        with launch.end_on_exit():
            self._known = frozenset(launch.children())
            try:
                for _ in range(self._size):
                    self._hire()
                while self._workers:
                    for descriptor, _ in self._poll.poll(_LOOK * 1000):
                        yield from self._hear(self._workers[descriptor])
                    if time.monotonic() - self._looked >= _LOOK:
                        self._look_around()
            finally:
                self._end_all()
                launch.end_leftovers(self._known)

    def _end_all(self) -> None:
        """End the work under way, and take in what workers tell to their end if that is wanted."""
        ended = list(self._workers.values())
        for worker in ended:
            os.kill(worker.pid, SIGTERM)
        if self._hears_out and self._arriving:
            self._on_note(*self._arriving)
        for worker in ended:
            answers = select.poll()
            answers.register(worker.answers, select.POLLIN)
            ends = time.monotonic() + _PATIENCE
            while self._hears_out and answers.poll(1000 * max(0.0, ends - time.monotonic())):
                messages = worker.receive()
                if messages is None:
                    break
                for kind, content in messages:
                    if kind != CLAIM and worker.task is not None:
                        self._on_note(worker.task, content)
            self._dismiss(worker)

    def _hire(self) -> None:
        with signals.block_interrupts():  # _end_all() ends those that it finds here
            worker = self.start_worker()
            self._workers[worker.answers] = worker
            self._poll.register(worker.answers, select.POLLIN)
        self._employ(worker)

    def _employ(self, worker: WorkerHandle) -> None:
        worker.task, index = None, None
        if self._awake() <= self._size:
            # New ones first: else a few tasks that sleep take all places, and nobody computes.
            index = self._waiting.pop() if self._waiting else self._choose_shared()
        if index is None:
            self._dismiss(worker)
        else:
            worker.task, worker.claims, worker.slept, worker.is_prolonged = index, 0, 0.0, False
            worker.hand_out(index)

    def _awake(self) -> int:
        return sum(not worker.is_asleep for worker in self._workers.values())

    def _choose_shared(self) -> int | None:
        """Return an unfinished task whose worker sleeps, or is long at a part of it.

        There is more to be done of it than there are workers who will do it.
        """
        begun, workers = time.monotonic() - _LONG, list(self._workers.values())
        for one in workers:
            is_slow = one.is_asleep or (one.claims and one.claimed < begun)
            if is_slow and one.task is not None:
                begins = sum(other.task == one.task and not other.claims for other in workers)
                if self._counts[one.task] - len(self._claimed.get(one.task, ())) > begins:
                    return one.task
        return None

    def _look_around(self) -> None:
        """Hire more workers while there are some that sleep."""
        now, before = time.monotonic(), self._looked
        self._looked = now
        self._on_time([one.task for one in self._workers.values() if one.task is not None])
        if not self._counts:
            return
        for worker in self._workers.values():
            worker.look(now - before)
        for _ in range(self._size - self._awake()):
            is_full = len(self._workers) >= _MOST * self._size or not memory_is_left()
            if is_full or not (self._waiting or self._choose_shared() is not None):
                return
            self._hire()

    def _dismiss(self, worker: WorkerHandle) -> int:
        """Let a worker go, wait for its end and return its status."""
        with signals.block_interrupts():
            self._poll.unregister(worker.answers)
            del self._workers[worker.answers]
            os.close(worker.requests)
            os.close(worker.answers)
        if hasattr(os, "pidfd_open"):  # not on macOS, where only waiting for it would tell
            descriptor = os.pidfd_open(worker.pid)
            try:
                end = select.poll()
                end.register(descriptor, select.POLLIN)
                if not end.poll(_PATIENCE * 1000):
                    os.kill(worker.pid, signals.SIGKILL)  # whatever it waits for: a fault of ours
            finally:
                os.close(descriptor)
        return os.waitpid(worker.pid, 0)[1]

    def _hear(self, worker: WorkerHandle) -> Iterator[tuple[int, object]]:
        messages = worker.receive()
        if messages is None:
            yield from self._replace_lost(worker)
            return
        for kind, content in messages:
            index = worker.task
            assert index is not None
            if kind == NOTE:
                self._on_note(index, content)
            elif kind == CLAIM:
                assert isinstance(content, int)
                self._grant(worker, content)
            elif kind == LATER:
                self._claimed[index].discard(worker.part)
                self._waiting.insert(0, index)
                self._employ(worker)
            else:
                self._arriving = index, content
                self._employ(worker)  # which may wait for the worker's end
                yield from self._report_end(index, content)
                self._arriving = None

    def _replace_lost(self, worker: WorkerHandle) -> Iterator[tuple[int, object]]:
        """Let a worker go that has ended in the midst of a task, and hire another."""
        assert worker.task is not None
        status = os.waitstatus_to_exitcode(self._dismiss(worker))
        launch.end_leftovers(self._known)
        fault = Fault(f"the harness's own process for this file ended ({status})")
        yield from self._report_end(worker.task, fault)
        if self._waiting:
            self._hire()

    def _grant(self, worker: WorkerHandle, part: int) -> None:
        task = worker.task
        assert task is not None
        if part == LONGER:
            others_wait = not self._postponed.issuperset(self._waiting)
            at_it = sum(one.is_prolonged for one in self._workers.values())
            # A part may last: one of each task, and those who wait keep a place.
            worker.is_prolonged = task not in self._prolonged and not (
                others_wait and at_it + 1 >= self._size
            )
            # Or the rest is to be done after the others: once, if there are any.
            later = others_wait and task not in self._prolonged | self._postponed
            later = later and not worker.is_prolonged
            if worker.is_prolonged:
                self._prolonged.add(task)
            elif later:
                self._postponed.add(task)
            worker.grant(granted=worker.is_prolonged, later=later)
            return
        claimed = self._claimed.setdefault(task, set())
        worker.claims += 1
        worker.part, worker.claimed, worker.is_prolonged = part, time.monotonic(), False
        worker.grant(granted=part not in claimed)
        claimed.add(part)

    def _report_end(self, index: int, end: object) -> Iterator[tuple[int, object]]:
        """Yield the end of a task, once all workers have finished with it."""
        if isinstance(end, Fault):
            self._faults[index] = end
        is_under_way = any(worker.task == index for worker in self._workers.values())
        if not is_under_way and index not in self._waiting:
            yield index, self._faults.pop(index, end)


class _ForkedPool(WorkerPool):
    """Forks of this process, which do ``work`` on each task, and call ``leave`` at their end."""

    work: Work[Any, object]
    leave: Callable[[], None]

    def start_worker(self) -> WorkerHandle:
        # Before the fork; what pickle itself has besides takes time to load.
        from _pickle import dumps

        requests_out, requests_in = os.pipe()
        answers_out, answers_in = os.pipe()
        pid = os.fork()
        if pid == 0:
            for worker in self._workers.values():
                os.close(worker.requests)
                os.close(worker.answers)
            os.close(requests_in)
            os.close(answers_out)
            self._labour(requests_out, answers_in, dumps)
        os.close(requests_out)
        os.close(answers_in)
        return _Forked(pid, requests_in, answers_out)

    def _labour(self, requests: int, answers: int, dump: Callable[[object], bytes]) -> None:
        """Carry out requests until the last one. Runs in the worker process; never returns."""

        def note(content: object) -> None:
            _send(answers, dump((NOTE, content)))

        try:
            signals.end_on_sigterm()
            signals.leave_sigint_to_the_parent()
            while request := os.read(requests, _HEADER):
                index = int.from_bytes(request)
                result = _attempt(self.work, self._tasks[index], note)
                with signals.hold_back():  # half a result is none
                    _send(answers, dump((DONE, result)))
            self.leave()
        finally:
            if matchers := sys.modules.get("harness.reading.matchers"):  # few tasks need them
                matchers.end_all()
            os._exit(0)  # no buffers, no handlers: they are the parent's


def memory_is_left() -> bool:
    """Whether there is memory for more engines; so it seems where the system does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            lines = [line.partition(":") for line in file]
    except FileNotFoundError:
        return True
    sizes = {name: int(size.split()[0]) for name, _, size in lines}
    return sizes.get("MemAvailable", 0) > _SPARE * sizes["MemTotal"]


def _send(descriptor: int, message: bytes) -> None:
    data = len(message).to_bytes(_HEADER) + message
    while data:
        data = data[os.write(descriptor, data) :]


def _read(descriptor: int, size: int) -> bytes | None:
    """Read ``size`` bytes; None if the other end closes before."""
    pieces = []
    while size:
        piece = os.read(descriptor, min(size, 1 << 20))
        if not piece:
            return None
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
