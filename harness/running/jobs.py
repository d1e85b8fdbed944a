"""Tasks one after the other, or in parallel in forked processes.

Processes rather than threads: each adopts the orphans of its own engine and of no other, so that
what an engine leaves behind can be told from another engine at work; a crash of one costs one
file; and the interpreter lock is nobody's concern. They are forked, not started afresh, because
an import costs more than most files.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import NamedTuple, TypeVar

from harness import signals
from harness.engine import leftovers
from harness.errors import StarvedError

Task = TypeVar("Task")
Result = TypeVar("Result")
Note = Callable[[object], None]
Work = Callable[[Task, Note], Result]

_HEADER = struct.Struct("!Q")  # the length of a message


class Fault(NamedTuple):
    """A task that came to nothing because the harness itself broke."""

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
) -> Generator[tuple[int, Result | Fault], None, None]:
    """Do ``work`` on each task; yield (index, result) in the order in which they end.

    ``work`` is given the task and a function to send notes with, which arrive at ``on_note``
    with the task's index. Each forked process calls ``leave`` before its end. With ``forked``
    there is one even for a single worker. Closing the iterator ends the work under way.
    """
    with leftovers.ended_on_the_way_out():
        if min(workers, len(tasks)) > (0 if forked else 1):
            pool = _Pool(tasks, work, min(workers, len(tasks)), on_note, leave)
            yield from pool.results()  # type: ignore[misc]
            return
        for index, task in enumerate(tasks):
            yield index, _attempt(work, task, lambda note, index=index: on_note(index, note))  # type: ignore[misc]


def _attempt(work: Work[Task, Result], task: Task, note: Note) -> Result | Fault:
    try:
        return work(task, note)
    except StarvedError as error:
        return Fault(str(error))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the harness's own fault
        return Fault(f"{type(error).__name__}: {error}", traceback.format_exc())


class _Worker:
    """A forked process, seen from its parent."""

    def __init__(self, pid: int, requests: int, answers: int) -> None:
        self.pid = pid
        self.requests = requests
        self.answers = answers
        self.task: int | None = None


class _Pool:
    def __init__(
        self,
        tasks: Sequence[Task],
        work: Work[Task, Result],
        size: int,
        on_note: Callable[[int, object], None],
        leave: Callable[[], None],
    ) -> None:
        self._tasks = tasks
        self._work = work
        self._size = size
        self._on_note = on_note
        self._leave = leave
        self._waiting = list(range(len(tasks)))[::-1]
        self._workers: dict[int, _Worker] = {}  # by the descriptor of its answers
        self._poll = select.poll()

    def results(self) -> Iterator[tuple[int, object]]:
        import pickle  # once, before the fork

        self._load = pickle.loads
        self._dump = pickle.dumps
        known = frozenset(leftovers.children())
        try:
            for _ in range(self._size):
                self._hire()
            while self._workers:
                for descriptor, _ in self._poll.poll():
                    yield from self._hear(self._workers[descriptor])
        finally:
            for worker in list(self._workers.values()):
                os.kill(worker.pid, signal.SIGTERM)
                self._dismiss(worker)
            leftovers.end_leftovers(known)

    def _hire(self) -> None:
        requests_out, requests_in = os.pipe()
        answers_out, answers_in = os.pipe()
        pid = os.fork()
        if pid == 0:
            for worker in self._workers.values():
                os.close(worker.requests)
                os.close(worker.answers)
            os.close(requests_in)
            os.close(answers_out)
            self._labour(requests_out, answers_in)
        os.close(requests_out)
        os.close(answers_in)
        worker = _Worker(pid, requests_in, answers_out)
        self._workers[answers_out] = worker
        self._poll.register(answers_out, select.POLLIN)
        self._employ(worker)

    def _labour(self, requests: int, answers: int) -> None:
        """Do what is asked until there are no more requests. Runs in the worker; never returns."""
        try:
            signals.end_on_sigterm()
            while request := os.read(requests, _HEADER.size):
                (index,) = _HEADER.unpack(request)
                result = _attempt(
                    self._work,
                    self._tasks[index],
                    lambda note: _send(answers, self._dump((False, note))),
                )
                _send(answers, self._dump((True, result)))
            self._leave()
        finally:
            os._exit(0)  # no buffers, no handlers: they are the parent's

    def _employ(self, worker: _Worker) -> None:
        if self._waiting:
            worker.task = self._waiting.pop()
            os.write(worker.requests, _HEADER.pack(worker.task))
        else:
            self._dismiss(worker)

    def _dismiss(self, worker: _Worker) -> int:
        """Let a worker go, wait for its end and return its status."""
        self._poll.unregister(worker.answers)
        del self._workers[worker.answers]
        os.close(worker.requests)
        os.close(worker.answers)
        return os.waitpid(worker.pid, 0)[1]

    def _hear(self, worker: _Worker) -> Iterator[tuple[int, object]]:
        assert worker.task is not None
        index = worker.task
        message = _receive(worker.answers)
        if message is None:
            status = os.waitstatus_to_exitcode(self._dismiss(worker))
            leftovers.end_leftovers(frozenset())
            yield index, Fault(f"the harness's own process for this file ended ({status})")
            if self._waiting:
                self._hire()
            return
        done, content = self._load(message)
        if not done:
            self._on_note(index, content)
            return
        self._employ(worker)
        yield index, content


def _send(descriptor: int, message: bytes) -> None:
    data = _HEADER.pack(len(message)) + message
    while data:
        data = data[os.write(descriptor, data) :]


def _receive(descriptor: int) -> bytes | None:
    header = _read(descriptor, _HEADER.size)
    return None if header is None else _read(descriptor, _HEADER.unpack(header)[0])


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
