"""Run attempts: hand out units of work, and write the results into the ledger.

A unit of work is a submission with its pending case files: it is unpacked and built once. Worker
processes run units (:mod:`harness.work`), each with its own box server behind a sandbox that was
tested once. They only report results; this process alone writes them into the ledger, event by
event.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing

from harness.errors import BusyError
from harness.grading.attempts.grading_progress import Watch
from harness.grading.attempts.orders import (
    ALONE,
    Concurrency,
    GradingContext,
    GradingListener,
    GradingUnit,
    Orders,
    Task,
    withdraw,
)
from harness.grading.ledger.ledger import BuildRow, FinishedRun, Ledger, ResultRow
from harness.records import FileResult
from harness.report.progress import as_time
from harness.running.jobs import Fault
from harness.work import canonical_json, fairness, records
from harness.work.fairness import Evidence, find_cuts, weigh
from harness.work.records import (
    NOTHING,
    AttemptEvent,
    AttemptFinished,
    BuildFinished,
    HarnessFailed,
    Measurements,
    ProgressEvent,
)


class Runner:
    """Run the pending attempts of a ledger."""

    def __init__(
        self,
        ledger: Ledger,
        context: GradingContext,
        listener: GradingListener,
        concurrency: Concurrency = ALONE,
    ) -> None:
        self._ledger = ledger
        self._context = context
        self._listener = listener
        self._concurrency = concurrency
        self._ours: set[str] = set()  # the attempts that we have leased
        self._patient: dict[str, tuple[str, ...]] = {}  # commands answered late, by submission
        self._slow: set[str] = set()  # attempts that were cut short at such commands

    def run(self, units: Sequence[GradingUnit]) -> None:
        """Do all units that are not done, but what others are at, where the ledger is shared.

        Raises:
            BusyError: another process is at it, and nothing is shared.
            ClassWideError: the first of them all fail alike.
            SandboxError: there is no such sandbox here, or it does not hold.
        """
        context, bases = self._context, [task.basis for unit in units for task in unit.tasks]
        withdraw(self._ledger, bases, context.set_aside)
        is_left = True
        while is_left:
            self._watch = Watch(self._ledger, context.assignment, units, go_on=context.go_on)
            self._watch.look(units)
            if any(state.state != "done" for state in self._ledger.states(bases).values()):
                self._token, ours = self._concurrency.take(self._ledger, bases)
                self._ours = set(ours)
                try:
                    self._do(units)
                finally:
                    self._ledger.release(self._token)
            # Of machines that were set aside meanwhile, and of submissions that are only slow.
            again = withdraw(self._ledger, bases, context.set_aside) or self._withdraw_slow()
            is_left = bool(again)

    def _withdraw_slow(self) -> list[str]:
        """Withdraw the runs that were cut short too soon; the next ones have full limits."""
        slow, self._slow = self._slow, set()
        why = "cut short, but the submission answers this command later in another case file"
        return self._ledger.withdraw(sorted(slow), why) if slow else []

    def _do(self, units: Sequence[GradingUnit]) -> None:
        box = self._context.assignment.box
        if left := self._find_unfinished(units, 1):
            with (
                self._concurrency.together(),
                closing(Orders(self._context, fairness.loose(box), alone=False)) as orders,
            ):
                while left:
                    turn = [
                        unit._replace(patient=self._patient.get(unit.submission.key, ()))
                        for unit in left
                    ]
                    self._round(turn, orders, 1, self._context.jobs)
                    left = self._find_unfinished(units, 1)
        if left := self._find_doubtful(units, cut=False):
            with (
                self._concurrency.apart(),
                closing(Orders(self._context, box, alone=True)) as orders,
            ):
                self._again(units, left, orders)
        whole = {unit.submission.key: unit for unit in units}
        cut = self._find_doubtful(units, cut=True)
        left = [one for one in cut if self._choose_cut(whole[one.submission.key], one).tasks]
        together = len(left) if self._context.other_machines else 1  # here, others get in between
        for start in range(0, len(left), max(1, together)):
            with (
                self._concurrency.last(),
                closing(Orders(self._context, box, alone=True)) as orders,
            ):
                self._end_cut(units, left[start : start + together], orders)

    def _find_doubtful(self, units: Sequence[GradingUnit], *, cut: bool) -> list[GradingUnit]:
        """Return the units with what is to be rerun: what was cut short, or all else."""
        left = [
            unit._replace(
                tasks=tuple(task for task in unit.tasks if bool(self._find_cuts(task)) is cut)
            )
            for unit in self._find_unfinished(units, 2)
        ]
        return [unit for unit in left if unit.tasks]

    def _find_cuts(self, task: Task) -> dict[str, float]:
        """Return where the first run of an attempt was cut short."""
        assignment = self._context.assignment
        firsts = self._runs(task)[:1]
        return (
            find_cuts(firsts[0], assignment.limits, assignment.command_properties)
            if firsts
            else {}
        )

    def _again(
        self, units: Sequence[GradingUnit], left: Sequence[GradingUnit], orders: Orders
    ) -> None:
        """Run what is in doubt again, one case file at a time and nothing beside it."""
        whole = {unit.submission.key: unit for unit in units}
        while left:
            turn = [
                unit._replace(tasks=unit.tasks[:1], why=self._why("in doubt")) for unit in left
            ]
            self._round(turn, orders, 2, 1)
            again = [whole[unit.submission.key] for unit in left]
            for unit in again:
                self._believe(unit)
            left = self._find_doubtful(again, cut=False)

    def _end_cut(
        self, units: Sequence[GradingUnit], left: Sequence[GradingUnit], orders: Orders
    ) -> None:
        """Find out, alone, whether engines hang whose runs were cut short.

        One case file of each submission is rerun at a time; its runs may decide the others.
        """
        whole = {unit.submission.key: unit for unit in units}
        while left:
            chosen = [self._choose_cut(whole[unit.submission.key], unit) for unit in left]
            if not (turn := [unit for unit in chosen if unit.tasks]):
                return
            self._round(turn, orders, 2, 1)
            left = self._find_doubtful([whole[one.submission.key] for one in turn], cut=True)

    def _choose_cut(self, whole: GradingUnit, left: GradingUnit) -> GradingUnit:
        """Return the unit with one attempt to be rerun, or none; settle what needs no other run.

        The attempt that was cut least often takes least time.
        """
        assignment, evidence = self._context.assignment, self._weigh(whole)
        key = whole.submission.key
        self._patient[key] = tuple({*self._patient.get(key, ()), *evidence.slow})
        rerun: list[Task] = []
        for task in left.tasks:
            cuts = self._find_cuts(task)
            if not self._is_late(task) and evidence.believes(
                cuts, assignment.limits, assignment.command_properties
            ):
                self._ledger.settle(task.basis, self._token)
            elif cuts.keys() & self._patient[key]:
                self._slow.add(task.basis)
            else:
                rerun.append(task)
        rerun.sort(key=lambda task: len(self._runs(task)[0].failures))
        return left._replace(
            tasks=tuple(rerun[:1]),
            hung=evidence.hung,
            patient=self._patient[key],
            why=self._why("computed without an answer"),
        )

    def _why(self, reason: str) -> str:
        """Say why something is run alone, and what that takes at most."""
        limits = self._context.assignment.limits
        most = max(limits.timeout, limits.thinking, limits.startup)
        return f"alone, {reason}; at most {as_time(most)} for a command"

    def _weigh(self, unit: GradingUnit) -> Evidence:
        """Return what the runs of a submission show, with their times, and whether each counts.

        Of a first run that was cut short all counts but the cuts.
        """
        assignment, timed = self._context.assignment, []
        states = self._ledger.states(task.basis for task in unit.tasks)
        for task in unit.tasks:
            runs = self._ledger.results(task.basis)
            for number, (text, figures) in enumerate(runs, 1):
                if text == NOTHING:
                    continue
                measured = canonical_json.loads(Measurements, figures)
                result = records.add_measurements(
                    canonical_json.loads(FileResult, text), task.case, measured
                )
                is_sure = number == len(runs) and not measured.late
                is_done = states[task.basis].state == "done"
                counts = measured.alone or (is_sure and (is_done or bool(self._find_cuts(task))))
                timed.append((result, counts))
        return weigh(timed, assignment.limits, assignment.command_properties)

    def _find_unfinished(self, units: Sequence[GradingUnit], number: int) -> list[GradingUnit]:
        """Return the units with what of them is not done and was not run ``number`` times."""
        states = self._ledger.states(task.basis for unit in units for task in unit.tasks)
        waiting = {basis for basis, one in states.items() if one.state not in ("done", "fault")}
        waiting &= self._ours
        some = [unit for unit in units if any(task.basis in waiting for task in unit.tasks)]
        figures = self._ledger.figures(task.basis for unit in some for task in unit.tasks)
        left = []
        for unit in some:
            tasks, spent = [], 0.0
            for task in unit.tasks:
                runs = [
                    canonical_json.loads(Measurements, one) for one in figures.get(task.basis, ())
                ]
                # Runs of this number alone have a budget of their own.
                spent += sum(run.seconds for run in runs[number - 1 : number])
                if task.basis in waiting and len(runs) < number:
                    tasks.append(task._replace(machine=runs[-1].machine if runs else ""))
            if tasks:
                left.append(unit._replace(tasks=tuple(tasks), spent=spent))
        return left

    def _believe(self, unit: GradingUnit) -> None:
        """Let what broke alone as it broke before speak for what broke so in other files.

        An engine that hangs in twenty files would keep a machine that must do nothing else.
        """
        command_properties = self._context.assignment.command_properties
        runs = [(task, self._runs(task)) for task in unit.tasks]
        twice = [pair for _, pair in runs if len(pair) == 2]
        sure = [
            first
            for first, second in twice
            if fairness.fails_like(first, second, command_properties)
        ]
        for task, pair in runs:
            is_left = len(pair) == 1 and not (self._is_late(task) or self._find_cuts(task))
            if is_left and any(
                fairness.fails_like(pair[0], one, command_properties) for one in sure
            ):
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
        """Do units once; write what they say, and look at the submissions that have ended."""
        listener, ended = self._listener, list[GradingUnit]()

        def on_recorded(index: int, event: AttemptEvent) -> None:
            if isinstance(event, AttemptFinished):
                self._watch.note(event.result)
            listener.on_event(units[index], event)

        # Here a result comes by itself; from away, a report has many, and many reports come.
        is_by_itself = self._context.other_machines is None
        recorder = Recorder(self._ledger, self._token, number, on_recorded, at_once=is_by_itself)

        def on_time(under_way: list[int]) -> None:
            self._settle(recorder, ended)
            listener.on_time([units[index] for index in under_way])

        def on_event(index: int, event: AttemptEvent | ProgressEvent) -> None:
            if isinstance(event, ProgressEvent):
                listener.on_progress(units[index], event)
            else:
                recorder.add(index, event)

        ends = orders.run(units, workers, on_event, on_time, shared=number == 1)
        with closing(ends):
            for index, fault in ends:
                if fault:
                    recorder.add_fault(index, units[index], fault)
                ended.append(units[index])
                self._settle(recorder, ended)
            self._settle(recorder, ended, at_once=True)

    def _settle(
        self, recorder: Recorder, ended: list[GradingUnit], *, at_once: bool = False
    ) -> None:
        """Write what was said, unless it may wait for more; look at what has ended since."""
        if at_once or not recorder.may_wait:
            recorder.flush()
            if ended:
                self._watch.look(ended)
                ended.clear()


# --- Write what workers say into the ledger: what came together is one transaction ---------------


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

    def add(self, index: int, event: AttemptEvent) -> None:
        """Take in an event of a unit; it is written by :meth:`flush` at the latest."""
        self._heard.add((index, event.basis))
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting.append((index, event))
        if self._is_at_once:
            self.flush()

    @property
    def may_wait(self) -> bool:
        """Whether something was taken in that may wait for more, to be written with it."""
        return bool(self._waiting) and time.monotonic() - self._since < TOGETHER

    def add_fault(self, index: int, unit: GradingUnit, fault: Fault) -> None:
        """Record that a unit failed, and where, for those of its attempts without a result."""
        lines = fault.details.splitlines()
        places = [line.strip() for line in lines if line.startswith("  File ")]
        message = f"{fault.message} ({places[-1]})" if places else fault.message
        for task in unit.tasks:
            if (index, task.basis) not in self._heard:
                self.add(index, HarnessFailed(task.basis, message))

    def flush(self) -> None:
        """Write what was taken in.

        Raises:
            BusyError: another process has the lease by now.
        """
        waiting, self._waiting = self._waiting, []
        events = [event for _, event in waiting]
        builds = [
            BuildRow(event.basis, canonical_json.dumps(event.build), event.seconds)
            for event in events
            if isinstance(event, BuildFinished)
        ]
        runs = [self._run(event) for event in events if isinstance(event, AttemptFinished)]
        if (builds or runs) and not self._ledger.finish_all(self._token, runs, builds):
            raise BusyError(f"another process has taken over the grading in {self._ledger.name}")
        for event in events:
            if isinstance(event, HarnessFailed):
                self._ledger.record_error(event.basis, self._token, event.message, MOST_FAULTS)
        for index, event in waiting:
            self._on_recorded(index, event)

    def _run(self, event: AttemptFinished) -> FinishedRun:
        figures, is_last = event.figures, self._number > 1 or not event.doubtful
        row = ResultRow(
            result=event.result,
            started=figures.started,
            pid=figures.pid,
            seconds=figures.seconds,
            cpu=figures.cpu,
            memory=figures.memory,
            own_cpu=figures.own_cpu,
            figures=canonical_json.dumps(figures),
        )
        return FinishedRun(event.basis, row, self._number, is_last)
