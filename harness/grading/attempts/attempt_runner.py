"""Run attempts: hand out units of work, and write the results into the ledger.

A unit of work is a submission with its pending case files: it is unpacked and built once. Worker
processes run units (:mod:`harness.work`), each with its own box server behind a sandbox that was
tested once. They only report results; this process alone writes them into the ledger, event by
event.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from functools import partial

from harness.grading.attempts.concurrent_runs import ALONE, Company
from harness.grading.attempts.orders import GradingContext, Orders
from harness.grading.attempts.recording import Recorder
from harness.grading.attempts.set_aside import withdraw
from harness.grading.attempts.units import GradingListener, GradingUnit, Task
from harness.grading.attempts.watching import Watch
from harness.grading.ledger.ledger import Ledger
from harness.records import FileResult
from harness.running import jobs
from harness.work import canonical_json, fairness
from harness.work.canonical_json import NOTHING, Measurements
from harness.work.worker_events import (
    AttemptEvent,
    AttemptFinished,
    ProgressEvent,
)

_Measured = Mapping[str, Sequence[Measurements]]  # of the runs of attempts, by basis


class Runner:
    """Run the pending attempts of a ledger."""

    def __init__(
        self,
        ledger: Ledger,
        means: GradingContext,
        listener: GradingListener,
        company: Company = ALONE,
    ) -> None:
        self._ledger = ledger
        self._means = means
        self._listener = listener
        self._company = company
        self._ours: set[str] = set()  # the attempts that we have leased

    def run(self, units: Sequence[GradingUnit]) -> None:
        """Do all units that are not done, but what others are at, where the ledger is shared.

        Raises:
            BusyError: another process is at it, and nothing is shared.
            ClassWideError: the first of them all fail alike.
            SandboxError: there is no such sandbox here, or it does not hold.
        """
        bases = [task.basis for unit in units for task in unit.tasks]
        book = self._means.book
        withdraw(self._ledger, bases, book)
        self._run_missing(units, bases)
        while withdraw(self._ledger, bases, book):  # of machines that were set aside meanwhile
            self._run_missing(units, bases)

    def _run_missing(self, units: Sequence[GradingUnit], bases: Sequence[str]) -> None:
        means = self._means
        self._watch = Watch(self._ledger, means.assignment, units, go_on=means.go_on)
        self._watch.look(units)
        if all(state.state == "done" for state in self._ledger.states(bases).values()):
            return
        self._token, ours = self._company.take(self._ledger, bases)
        self._ours = set(ours)
        try:
            self._do(units)
        finally:
            self._ledger.release(self._token)

    def _do(self, units: Sequence[GradingUnit]) -> None:
        box = self._means.assignment.box
        if left := self._find_unfinished(units, 1):
            with (
                self._company.together(),
                closing(Orders(self._means, fairness.loose(box), alone=False)) as orders,
            ):
                while left:
                    self._round(left, orders, 1, self._means.jobs)
                    left = self._find_unfinished(units, 1)
        if left := self._find_unfinished(units, 2):
            with (
                self._company.apart(),
                closing(Orders(self._means, box, alone=True)) as orders,
            ):
                self._again(units, left, orders)

    def _again(
        self, units: Sequence[GradingUnit], left: Sequence[GradingUnit], orders: Orders
    ) -> None:
        """Run what is in doubt again, one case file at a time and nothing beside it."""
        whole = {unit.submission.key: unit for unit in units}
        while left:
            self._round([unit._replace(tasks=unit.tasks[:1]) for unit in left], orders, 2, 1)
            again = [whole[unit.submission.key] for unit in left]
            for unit in again:
                self._believe(unit)
            left = self._find_unfinished(again, 2)

    def _find_unfinished(self, units: Sequence[GradingUnit], number: int) -> list[GradingUnit]:
        """Return the units with what of them is not done and was not run ``number`` times."""
        states = self._ledger.states(task.basis for unit in units for task in unit.tasks)
        waiting = {basis for basis, one in states.items() if one.state not in ("done", "fault")}
        waiting &= self._ours
        some = [unit for unit in units if any(task.basis in waiting for task in unit.tasks)]
        measured = self._load_measurements(some)
        left = [_rest(unit, waiting, measured, number) for unit in some]
        return [unit for unit in left if unit.tasks]

    def _load_measurements(self, units: Sequence[GradingUnit]) -> _Measured:
        """Return the measurements of each run that counts, by basis."""
        found = self._ledger.figures(task.basis for unit in units for task in unit.tasks)
        return {
            task.basis: [
                canonical_json.loads(Measurements, run) for run in found.get(task.basis, ())
            ]
            for unit in units
            for task in unit.tasks
        }

    def _believe(self, unit: GradingUnit) -> None:
        """Let what broke alone as it broke before speak for what broke so in other files.

        An engine that hangs in twenty files would keep a machine that must do nothing else.
        """
        natures = self._means.assignment.natures
        runs = [(task, self._runs(task)) for task in unit.tasks]
        twice = [pair for _, pair in runs if len(pair) == 2]
        sure = [first for first, second in twice if fairness.fails_like(first, second, natures)]
        for task, pair in runs:
            is_left = len(pair) == 1 and not self._is_late(task)
            if is_left and any(fairness.fails_like(pair[0], one, natures) for one in sure):
                self._ledger.settle(task.basis, self._token)

    def _is_late(self, task: Task) -> bool:
        (figures,) = (figures for _, figures in self._ledger.results(task.basis)[:1])
        return canonical_json.loads(Measurements, figures).late

    def _runs(self, task: Task) -> list[FileResult]:
        texts = [text for text, _ in self._ledger.results(task.basis)]
        results = [canonical_json.loads(FileResult, text) for text in texts if text != NOTHING]
        return [result._replace(case=task.case) for result in results]

    def _round(
        self, units: Sequence[GradingUnit], orders: Orders, number: int, workers: int
    ) -> None:
        # Here a result comes by itself; from away, a report has many, and many reports come.
        is_by_itself = self._means.away is None
        make_recorder = partial(Recorder, self._ledger, self._token, number, at_once=is_by_itself)
        writer = _Writer(make_recorder, units, self._watch, self._listener)
        ends = orders.run(
            units,
            workers,
            writer.recorder.add,
            writer.on_time,
            shared=number == 1,
            on_progress=writer.on_progress,
        )
        with closing(ends):
            for index, fault in ends:
                writer.end(index, fault)
            writer.settle()


class _Writer:
    """Has what units say written into the ledger, and tells of it."""

    def __init__(
        self,
        make_recorder: Callable[[Callable[[int, AttemptEvent], object]], Recorder],
        units: Sequence[GradingUnit],
        watch: Watch,
        listener: GradingListener,
    ) -> None:
        self.recorder = make_recorder(self._on_recorded)
        self._units = units
        self._watch = watch
        self._listener = listener
        self._ended: list[GradingUnit] = []

    def _on_recorded(self, index: int, word: AttemptEvent) -> None:
        if isinstance(word, AttemptFinished):
            self._watch.note(word.result)
        self._listener.on_word(self._units[index], word)

    def on_progress(self, index: int, word: ProgressEvent) -> None:
        self._listener.on_progress(self._units[index], word)

    def on_time(self, under_way: list[int]) -> None:
        self._settle_if_due()
        self._listener.on_time([self._units[index] for index in under_way])

    def end(self, index: int, fault: jobs.Fault | None) -> None:
        """Take note of the end of a unit, and of what broke."""
        if fault:
            bases = [task.basis for task in self._units[index].tasks]
            self.recorder.add_fault(index, bases, _describe_fault(fault))
        self._ended.append(self._units[index])
        self._settle_if_due()

    def _settle_if_due(self) -> None:
        if not self.recorder.may_wait:
            self.settle()

    def settle(self) -> None:
        """Write all that was said, and look at the submissions that have ended."""
        self.recorder.flush()
        ended, self._ended = self._ended, []
        if ended:
            self._watch.look(ended)


def _rest(
    unit: GradingUnit, waiting: Collection[str], measured: _Measured, number: int
) -> GradingUnit:
    """Return a unit with those of its tasks that wait and were not run ``number`` times."""
    tasks = (
        task._replace(machine=_last_machine(measured[task.basis]))
        for task in unit.tasks
        if task.basis in waiting and len(measured[task.basis]) < number
    )
    return unit._replace(tasks=tuple(tasks), spent=_sum_times(unit, measured, number))


def _last_machine(runs: Sequence[Measurements]) -> str:
    """Return the machine of a cluster on which an attempt was run last; empty if there is none."""
    return runs[-1].machine if runs else ""


def _sum_times(unit: GradingUnit, measured: _Measured, number: int) -> float:
    """Return what runs of this number took: those alone have a budget of their own."""
    runs = (run for task in unit.tasks for run in measured[task.basis][number - 1 : number])
    return sum(run.seconds for run in runs)


def _describe_fault(fault: jobs.Fault) -> str:
    """Return how the harness failed, and where, in one line."""
    places = [line.strip() for line in fault.details.splitlines() if line.startswith("  File ")]
    return f"{fault.message} ({places[-1]})" if places else fault.message
