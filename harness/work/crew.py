"""Worker processes, seen from the one that hands units of work out.

Each is ``python -m harness.work --serve`` and takes one unit after the other. One that dies,
whenever that is, has cost the words that it had not said to their end, and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from _signal import SIGKILL  # type: ignore[import-not-found]
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from harness.archives import reading
from harness.errors import UsageError
from harness.running import jobs
from harness.work import canonical_json, machine, worker_events
from harness.work.records import WorkUnit
from harness.work.unit_worker import answer
from harness.work.worker_events import (
    AttemptEvent,
    Claim,
    ClaimLonger,
    EngineHung,
    Granted,
    ProgressEvent,
    UnitFinished,
    WorkerEvent,
)

_PIECE = 1 << 16  # bytes read at once

Ends = Generator[tuple[int, jobs.Fault | None], None, None]


def ignore(_index: int, _event: ProgressEvent) -> None:
    """Take no note of progress."""


class Crew:
    """Processes that do units of work.

    ``stores``: folders of files named by their SHA-256. ``proven``: the sandbox level of the units
    if it was just proven on this machine, so that no worker need do it again.
    """

    def __init__(self, stores: Sequence[Path], proven: str = "") -> None:
        options = [word for store in stores for word in ("--store", str(store))]
        options += ["--proven", proven] if proven else []
        options += ["--confined"] if reading.is_chosen() else []
        self._words = machine.command("harness.work", "--serve", *options)

    def run(  # noqa: PLR0913 - three of them are told, each of something else
        self,
        units: Sequence[WorkUnit],
        workers: int,
        on_word: Callable[[int, AttemptEvent], None],
        on_time: Callable[[list[int]], None] = lambda _: None,
        *,
        shared: bool = False,
        on_progress: Callable[[int, ProgressEvent], None] = ignore,
    ) -> Ends:
        """Do units, so many at a time; yield (index, fault) as they end, None where all is well.

        ``on_word``: told what comes of a unit, by its index; ``on_time``: the units under way,
        some four times a second. ``shared``: whether several workers may do one unit while its
        engines sleep. ``on_progress``: told what runs now. Closing the iterator ends the work
        under way.
        """
        queue = _UnitQueue(units, self._words)

        def hear(index: int, event: object) -> None:
            if isinstance(event, ProgressEvent):
                on_progress(index, event)
            else:
                on_word(index, event)  # type: ignore[arg-type] # nothing else is noted

        return jobs.run_all(
            units,
            _ignore,
            workers,
            hear,
            forked=True,
            parts=(lambda unit: len(unit.cases)) if shared else None,
            on_time=on_time,
            hire=queue.hire,
        )


def _ignore(_unit: WorkUnit, _line: jobs.WorkerChannel) -> None:
    """What this process itself does of a unit."""


class _UnitQueue:
    """What all workers of a round share."""

    def __init__(self, units: Sequence[WorkUnit], command: list[str]) -> None:
        self._units = units
        self._command = command
        self.hangs = [0] * len(units)

    def line(self, index: int) -> bytes:
        """Return a unit as a worker reads it."""
        return canonical_json.dumps(self._units[index]).encode() + b"\n"

    def hire(self) -> _CrewWorker:
        """Start a worker."""
        requests_out, requests_in = os.pipe()
        answers_out, answers_in = os.pipe()
        # Ctrl-C is for us: we end it. It stays in our session, so that it is not an engine's.
        process = subprocess.Popen(
            self._command, stdin=requests_out, stdout=answers_in, process_group=0
        )
        process.returncode = 0  # the pool waits for it
        os.close(requests_out)
        os.close(answers_in)
        return _CrewWorker(process.pid, requests_in, answers_out, self)


class _CrewWorker(jobs.WorkerHandle):
    """A worker."""

    def __init__(self, pid: int, requests: int, answers: int, queue: _UnitQueue) -> None:
        super().__init__(pid, requests, answers)
        self._queue = queue
        self._heard = b""  # the beginning of a line

    def hand_out(self, task: int) -> None:
        self._tell(self._queue.line(task))

    def grant(self, *, granted: bool, later: bool = False) -> None:
        assert self.task is not None
        self._tell(answer(Granted(granted, self._queue.hangs[self.task], later)))

    def _tell(self, line: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):  # it has died, which is seen when it is heard
            while line:
                line = line[os.write(self.requests, line) :]

    def receive(self) -> list[tuple[int, object]] | None:
        piece = os.read(self.answers, _PIECE)
        if not piece:
            return None
        *lines, self._heard = (self._heard + piece).split(b"\n")
        try:
            said = [worker_events.read(line) for line in lines]
        except UsageError:
            os.kill(self.pid, SIGKILL)  # the PID no longer is our worker's
            return []
        return [found for word in said for found in self._interpret(word)]

    def _interpret(self, word: WorkerEvent) -> list[tuple[int, object]]:
        """Return a word as the pool takes it; nothing where it is not for the pool."""
        assert self.task is not None
        if isinstance(word, EngineHung):
            self._queue.hangs[self.task] += 1
        elif isinstance(word, Claim):
            return [(jobs.CLAIM, word.case)]
        elif isinstance(word, ClaimLonger):
            return [(jobs.CLAIM, jobs.LONGER)]
        elif isinstance(word, UnitFinished) and word.later:
            return [(jobs.LATER, None)]
        elif isinstance(word, UnitFinished):
            return [(jobs.DONE, jobs.Fault(word.fault, word.details) if word.fault else None)]
        else:
            return [(jobs.NOTE, word)]
        return []
