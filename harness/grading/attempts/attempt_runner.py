"""Run attempts: hand out units of work, and write the results into the ledger.

A unit of work is a submission with its pending case files: it is unpacked and built once. Worker
processes run units (:mod:`harness.work`), each with its own box server behind a sandbox that was
tested once. They only report results; this process alone writes them into the ledger, event by
event.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from harness.assignments.assignment import Assignment
from harness.core.errors import BusyError
from harness.core.records import Build, CaseFile, FileResult
from harness.grading.attempts.grading_progress import Alarm, trouble
from harness.grading.attempts.orders import (
    ALONE,
    Concurrency,
    GradingContext,
    GradingListener,
    Orders,
    withdraw,
)
from harness.grading.ledger.ledger import Ledger
from harness.grading.ledger.records import BuildRow, FinishedRun, ResultRow
from harness.reading import casefile
from harness.report.progress import as_time
from harness.running.jobs import Fault
from harness.work import canonical_json, fairness, records
from harness.work.records import NOTHING, AttemptEvent, AttemptFinished, WorkUnit

_ANSWERED_LATER = "cut short, but the submission answers this command later in another case file"


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
        self._rules = fairness.TimeRules.of(context.assignment)
        self._concurrency = concurrency
        self._ours: set[str] = set()  # the attempts that we have leased
        self._patient: dict[str, tuple[str, ...]] = {}  # commands answered late, by submission
        self._slow: set[str] = set()  # attempts that were cut short at such commands
        self._cases: dict[tuple[str, str], CaseFile] = {}  # by SHA-256 and path

    def run(self, units: Sequence[WorkUnit]) -> None:
        """Do all units that are not done, but what others are at, where the ledger is shared.

        Raises:
            BusyError: another process is at it, and nothing is shared.
            ClassWideError: the first of them all fail alike.
            SandboxError: there is no such sandbox here, or it does not hold.
        """
        context, bases = self._context, [case.basis for unit in units for case in unit.cases]
        self._whole = {unit.submission.key: unit for unit in units}
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
            again = withdraw(self._ledger, bases, context.set_aside)
            if not again and self._slow:  # the next runs have full limits
                slow, self._slow = sorted(self._slow), set()
                again = self._ledger.withdraw(slow, _ANSWERED_LATER)
            is_left = bool(again)

    def _do(self, units: Sequence[WorkUnit]) -> None:
        if left := self._find_unfinished(units, 1):
            with self._concurrency.together(), self._orders(alone=False) as orders:
                while left:
                    turn = [
                        unit._replace(patient=self._patient.get(unit.submission.key, ()))
                        for unit in left
                    ]
                    self._round(turn, orders, 1, self._context.jobs)
                    left = self._find_unfinished(units, 1)
        if left := self._find_doubtful(units, cut=False):
            with self._concurrency.apart(), self._orders(alone=True) as orders:
                self._again(left, orders)
        cut = self._find_doubtful(units, cut=True)
        left = [one for one in cut if self._choose_cut(one).cases]
        together = len(left) if self._context.other_machines else 1  # here, others get in between
        for start in range(0, len(left), max(1, together)):
            with self._concurrency.last(), self._orders(alone=True) as orders:
                self._end_cut(left[start : start + together], orders)

    def _orders(self, *, alone: bool) -> closing[Orders]:
        box = self._context.assignment.box
        box = box if alone else fairness.loose(box)
        return closing(Orders(self._context, box, self._ledger.content, alone=alone))

    def _find_doubtful(self, units: Sequence[WorkUnit], *, cut: bool) -> list[WorkUnit]:
        """Return the units with what is to be rerun: what was cut short, or all else."""
        left = [
            unit._replace(
                cases=tuple(case for case in unit.cases if bool(self._find_cuts(case)) is cut)
            )
            for unit in self._find_unfinished(units, 2)
        ]
        return [unit for unit in left if unit.cases]

    def _find_cuts(self, case: records.UnitCase) -> dict[str, float]:
        """Return where the first run of an attempt was cut short."""
        firsts = self._runs(case)[:1]
        return self._rules.find_cuts(firsts[0]) if firsts else {}

    def _again(self, left: Sequence[WorkUnit], orders: Orders) -> None:
        """Run what is in doubt again, one case file at a time and nothing beside it."""
        while left:
            turn = [
                unit._replace(cases=unit.cases[:1], why=self._why("in doubt")) for unit in left
            ]
            self._round(turn, orders, 2, 1)
            again = [self._whole[unit.submission.key] for unit in left]
            for unit in again:
                self._believe(unit)
            left = self._find_doubtful(again, cut=False)

    def _end_cut(self, left: Sequence[WorkUnit], orders: Orders) -> None:
        """Find out, alone, whether engines hang whose runs were cut short.

        One case file of each submission is rerun at a time; its runs may decide the others.
        """
        while left:
            if not (turn := [unit for unit in map(self._choose_cut, left) if unit.cases]):
                return
            self._round(turn, orders, 2, 1)
            again = [self._whole[unit.submission.key] for unit in turn]
            left = self._find_doubtful(again, cut=True)

    def _choose_cut(self, left: WorkUnit) -> WorkUnit:
        """Return the unit with one attempt to be rerun, or none; settle what needs no other run.

        The attempt that was cut least often takes least time.
        """
        key = left.submission.key
        evidence = self._weigh(self._whole[key])
        self._patient[key] = tuple({*self._patient.get(key, ()), *evidence.slow})
        rerun: list[records.UnitCase] = []
        for case in left.cases:
            cuts = self._find_cuts(case)
            if not self._is_late(case) and self._rules.are_hangs(cuts, evidence):
                self._ledger.settle(case.basis, self._token)
            elif cuts.keys() & self._patient[key]:
                self._slow.add(case.basis)
            else:
                rerun.append(case)
        rerun.sort(key=lambda case: len(self._runs(case)[0].failures))
        return left._replace(
            cases=tuple(rerun[:1]),
            hung=evidence.hung,
            patient=self._patient[key],
            why=self._why("computed without an answer"),
        )

    def _why(self, reason: str) -> str:
        """Say why something is run alone, and what that takes at most."""
        limits = self._context.assignment.limits
        most = max(limits.timeout, limits.thinking, limits.startup)
        return f"alone, {reason}; at most {as_time(most)} for a command"

    def _weigh(self, unit: WorkUnit) -> fairness.Evidence:
        """Return what the runs of a submission show, with their times, and whether each counts.

        Of a first run that was cut short all counts but the cuts.
        """
        timed = []
        states = self._ledger.states(case.basis for case in unit.cases)
        for case in unit.cases:
            runs = self._ledger.results(case.basis)
            for number, (text, figures) in enumerate(runs, 1):
                if text == NOTHING:
                    continue
                measured = canonical_json.loads(records.Measurements, figures)
                result = records.add_measurements(
                    canonical_json.loads(FileResult, text), self._read(case), measured
                )
                is_sure = number == len(runs) and not measured.late
                is_done = states[case.basis].state == "done"
                counts = measured.alone or (is_sure and (is_done or bool(self._find_cuts(case))))
                timed.append((result, counts))
        return self._rules.weigh(timed)

    def _find_unfinished(self, units: Sequence[WorkUnit], number: int) -> list[WorkUnit]:
        """Return the units with what of them is not done and was not run ``number`` times."""
        states = self._ledger.states(case.basis for unit in units for case in unit.cases)
        waiting = {basis for basis, one in states.items() if one.state not in ("done", "fault")}
        waiting &= self._ours
        some = [unit for unit in units if any(case.basis in waiting for case in unit.cases)]
        figures = self._ledger.figures(case.basis for unit in some for case in unit.cases)
        left = []
        for unit in some:
            cases, spent = [], 0.0
            for case in unit.cases:
                runs = [
                    canonical_json.loads(records.Measurements, one)
                    for one in figures.get(case.basis, ())
                ]
                # Runs of this number alone have a budget of their own.
                spent += sum(run.seconds for run in runs[number - 1 : number])
                if case.basis in waiting and len(runs) < number:
                    cases.append(case._replace(machine=runs[-1].machine if runs else ""))
            if cases:
                left.append(unit._replace(cases=tuple(cases), spent=spent))
        return left

    def _believe(self, unit: WorkUnit) -> None:
        """Let what broke alone as it broke before speak for what broke so in other files.

        An engine that hangs in twenty files would keep a machine that must do nothing else.
        """
        runs = [(case, self._runs(case)) for case in unit.cases]
        twice = [pair for _, pair in runs if len(pair) == 2]
        sure = [first for first, second in twice if self._rules.fails_like(first, second)]
        for case, pair in runs:
            is_left = len(pair) == 1 and not (self._is_late(case) or self._find_cuts(case))
            if is_left and any(self._rules.fails_like(pair[0], one) for one in sure):
                self._ledger.settle(case.basis, self._token)

    def _is_late(self, case: records.UnitCase) -> bool:
        (figures,) = (figures for _, figures in self._ledger.results(case.basis)[:1])
        return canonical_json.loads(records.Measurements, figures).late

    def _read(self, case: records.UnitCase) -> CaseFile:
        """Return a case file as steps, by its real path."""
        path = str(Path(case.place, case.name))
        if (case.sha256, path) not in self._cases:
            content = self._ledger.content(case.sha256)
            self._cases[case.sha256, path] = casefile.parse(content, path)
        return self._cases[case.sha256, path]

    def _runs(self, case: records.UnitCase) -> list[FileResult]:
        texts = [text for text, _ in self._ledger.results(case.basis)]
        results = [canonical_json.loads(FileResult, text) for text in texts if text != NOTHING]
        return [result._replace(case=self._read(case)) for result in results]

    def _round(self, units: Sequence[WorkUnit], orders: Orders, number: int, workers: int) -> None:
        """Do units once; write what they say, and look at the submissions that have ended."""
        listener, ended = self._listener, list[WorkUnit]()

        def on_recorded(index: int, event: AttemptEvent) -> None:
            if isinstance(event, AttemptFinished):
                self._watch.note(event.result)
            listener.on_event(units[index], event)

        # Here a result comes by itself; from away, a report has many, and many reports come.
        is_by_itself = self._context.other_machines is None
        recorder = Recorder(self._ledger, self._token, number, on_recorded, at_once=is_by_itself)

        def settle(*, at_once: bool = False) -> None:
            """Write what was said, unless it may wait for more; look at what has ended since."""
            if at_once or not recorder.may_wait:
                recorder.flush()
                if ended:
                    self._watch.look(ended)
                    ended.clear()

        def on_time(under_way: list[int]) -> None:
            settle()
            listener.on_time([units[index] for index in under_way])

        def on_event(index: int, event: AttemptEvent | records.ProgressEvent) -> None:
            if isinstance(event, records.ProgressEvent):
                listener.on_progress(units[index], event)
            else:
                recorder.add(index, event)

        ends = orders.run(units, workers, on_event, on_time, shared=number == 1)
        with closing(ends):
            for index, fault in ends:
                if fault:
                    recorder.add_fault(index, units[index], fault)
                ended.append(units[index])
                settle()
            settle(at_once=True)


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

    def add_fault(self, index: int, unit: WorkUnit, fault: Fault) -> None:
        """Record that a unit failed, and where, for those of its attempts without a result."""
        lines = fault.details.splitlines()
        places = [line.strip() for line in lines if line.startswith("  File ")]
        message = f"{fault.message} ({places[-1]})" if places else fault.message
        for case in unit.cases:
            if (index, case.basis) not in self._heard:
                self.add(index, records.HarnessFailed(case.basis, message))

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
            if isinstance(event, records.BuildFinished)
        ]
        runs = [
            FinishedRun(
                event.basis,
                ResultRow(
                    result=event.result,
                    started=event.figures.started,
                    pid=event.figures.pid,
                    seconds=event.figures.seconds,
                    cpu=event.figures.cpu,
                    memory=event.figures.memory,
                    own_cpu=event.figures.own_cpu,
                    figures=canonical_json.dumps(event.figures),
                ),
                self._number,
                self._number > 1 or not event.doubtful,
            )
            for event in events
            if isinstance(event, AttemptFinished)
        ]
        if (builds or runs) and not self._ledger.finish_all(self._token, runs, builds):
            raise BusyError(f"another process has taken over the grading in {self._ledger.name}")
        for event in events:
            if isinstance(event, records.HarnessFailed):
                self._ledger.record_error(event.basis, self._token, event.message, MOST_FAULTS)
        for index, event in waiting:
            self._on_recorded(index, event)


# --- Tell the alarm how the submissions of a grading start, from their results in the ledger -----


_AT_ONCE = 100  # submissions that are asked for in one statement


class Watch:
    """Watch the submissions of a grading. ``go_on``: never stop the grading."""

    def __init__(
        self, ledger: Ledger, assignment: Assignment, units: Sequence[WorkUnit], *, go_on: bool
    ) -> None:
        self._ledger = ledger
        self._assignment = assignment
        archives = {unit.submission.sha256 for unit in units}
        self._alarm = Alarm(0 if go_on else len(archives))

    def look(self, units: Sequence[WorkUnit]) -> None:
        """Look at the finished runs of some submissions, as long as that matters.

        Raises:
            ClassWideError: all of the first ones fail alike.
        """
        ledger, known = self._ledger, dict[str, list[str]]()
        for index, unit in enumerate(units):
            if self._alarm.is_over:
                return
            if index % _AT_ONCE == 0:
                some = units[index : index + _AT_ONCE]
                known = ledger.figures(case.basis for one in some for case in one.cases)
            if not any(case.basis in known for case in unit.cases):
                continue
            text = ledger.build(unit.build)
            build = canonical_json.loads(Build, text) if text else None
            last = [pair for case in unit.cases for pair in ledger.results(case.basis)[-1:]]
            results = [canonical_json.loads(FileResult, one) for one, _ in last if one != NOTHING]
            if results or (build and not build.ok):
                found = trouble(build, results, adapted=self._assignment.adapter is not None)
                self._alarm.note(unit.submission.key, unit.submission.sha256, found)
        self._alarm.check(self._assignment.engine.command)

    def note(self, result: str) -> None:
        """Take in a result as it is stored: one program that runs is enough to continue."""
        if self._alarm.is_over or result == NOTHING:
            return
        file, is_adapted = canonical_json.loads(FileResult, result), self._assignment.adapter
        if trouble(None, [file], adapted=is_adapted is not None) is None:
            self._alarm.note("", "", None)
