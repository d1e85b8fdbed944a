"""Write what workers say into the ledger: what came together is one transaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from harness.errors import BusyError
from harness.grading.ledger.ledger import BuildRow, FinishedRun, Ledger, ResultRow
from harness.work import canonical_json
from harness.work.worker_events import (
    AttemptEvent,
    AttemptFinished,
    BuildFinished,
    HarnessFailed,
)

TOGETHER = 0.1  # seconds in which results that come are written in one transaction
MOST_FAULTS = 3  # so often an attempt is tried in which the harness breaks


class Recorder:
    """Writes the events of a round of runs."""

    def __init__(
        self,
        ledger: Ledger,
        token: str,
        number: int,
        on_recorded: Callable[[int, AttemptEvent], object],
        *,
        at_once: bool,
    ) -> None:
        """``token``: of the lease. ``number``: of the runs, from 1.

        ``on_recorded``: is told of each event that was written, with the number of its unit.
        ``at_once``: each is written as it comes.
        """
        self._ledger = ledger
        self._token = token
        self._number = number
        self._on_recorded = on_recorded
        self._is_at_once = at_once
        self._waiting: list[tuple[int, AttemptEvent]] = []
        self._since = 0.0  # of time.monotonic(): when the first of these came
        self._heard: set[tuple[int, str]] = set()

    def add(self, index: int, word: AttemptEvent) -> None:
        """Take in an event of a unit; it is written by :meth:`flush` at the latest."""
        self._heard.add((index, word.basis))
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting.append((index, word))
        if self._is_at_once:
            self.flush()

    @property
    def may_wait(self) -> bool:
        """Whether something was taken in that may wait for more, to be written with it."""
        return bool(self._waiting) and time.monotonic() - self._since < TOGETHER

    def add_fault(self, index: int, bases: Iterable[str], fault: str) -> None:
        """Record that a unit failed, for those of its attempts without a result."""
        for basis in bases:
            if (index, basis) not in self._heard:
                self.add(index, HarnessFailed(basis, fault))

    def flush(self) -> None:
        """Write what was taken in.

        Raises:
            BusyError: another process has the lease by now.
        """
        waiting, self._waiting = self._waiting, []
        words = [word for _, word in waiting]
        builds = [_build_row(word) for word in words if isinstance(word, BuildFinished)]
        runs = [self._run(word) for word in words if isinstance(word, AttemptFinished)]
        if (builds or runs) and not self._ledger.finish_all(self._token, runs, builds):
            raise BusyError(f"another process has taken over the grading in {self._ledger.name}")
        for word in words:
            if isinstance(word, HarnessFailed):
                self._ledger.record_error(word.basis, self._token, word.message, MOST_FAULTS)
        for index, word in waiting:
            self._on_recorded(index, word)

    def _run(self, word: AttemptFinished) -> FinishedRun:
        is_last = self._number > 1 or not word.doubtful
        return FinishedRun(word.basis, _result_row(word), self._number, is_last)


def _build_row(word: BuildFinished) -> BuildRow:
    return BuildRow(word.basis, canonical_json.dumps(word.build), word.seconds)


def _result_row(word: AttemptFinished) -> ResultRow:
    figures = word.figures
    return ResultRow(
        result=word.result,
        started=figures.started,
        pid=figures.pid,
        seconds=figures.seconds,
        cpu=figures.cpu,
        memory=figures.memory,
        own_cpu=figures.own_cpu,
        figures=canonical_json.dumps(figures),
    )
