"""Doing the attempts: a submission in a workspace, built, and asked one case file after the other.

A unit of work is a submission with the case files that are still to be run: it is unpacked and
built once, and what is done of it goes into the ledger as it is done. Units are done in forked
processes, each with its own box server behind a sandbox that was proven once; they only tell what
came out, and the parent alone writes it down.
"""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from harness.assignments import building, workspace
from harness.assignments.assignment import Assignment
from harness.engine import protocols, translation
from harness.engine.launch import Launcher, PlainLauncher, split_program
from harness.errors import SandboxError, StarvedError
from harness.grading.attempts import fairness
from harness.grading.attempts.units import Broke, Built, Done, Listener, Task, Unit, Word
from harness.grading.attempts.watching import Watch
from harness.grading.ledger import canonical_json
from harness.grading.ledger.canonical_json import NOTHING, Figures
from harness.grading.ledger.ledger import BusyError, Ledger, Row
from harness.options import BoxLimits, Limits, Options
from harness.reading.dialect import named
from harness.records import Build, CaseFile, FileResult, Verdict
from harness.running import jobs
from harness.running.patience import Hangs, Patience
from harness.running.runner import Setting, run_file
from harness.sandbox.engines import BoxedEngine, Sandbox
from harness.sandbox.kernel import prctl

NO_SANDBOX = "off: engines ran with all rights of whoever graded"
MOST_FAULTS = 3  # so often an attempt is tried in which the harness breaks
_PR_SET_PDEATHSIG = 1


class Means(NamedTuple):
    """What all submissions are given."""

    assignment: Assignment
    overlay: Path | None
    sandbox: str  # auto, a level, or off
    hidden: tuple[str, ...]  # files that no engine may see
    budget: float  # seconds on the wall for all case files of a submission
    jobs: int
    go_on: bool = True  # even if the first submissions all fail alike


class Runner:
    """Does what is left of the attempts in a ledger."""

    def __init__(self, ledger: Ledger, means: Means, listener: Listener) -> None:
        self._ledger = ledger
        self._means = means
        self._listener = listener
        self._token = ""

    def run(self, units: Sequence[Unit]) -> None:
        """Do all units that are not done.

        Raises:
            BusyError: another process is at it.
            ClassWideError: the first of them all fail alike.
            SandboxError: there is no such sandbox here, or it does not hold.
        """
        means = self._means
        self._watch = Watch(self._ledger, means.assignment, units, go_on=means.go_on)
        self._watch.look(units)
        bases = [task.basis for unit in units for task in unit.tasks]
        if all(state.state == "done" for state in self._ledger.states(bases).values()):
            return
        self._token = self._ledger.lease(bases)
        try:
            self._do(units)
        finally:
            self._ledger.release(self._token)

    def _do(self, units: Sequence[Unit]) -> None:
        limits, box = self._means.assignment.limits, self._means.assignment.box
        with closing(Desk(self._means, limits, fairness.loose(box), alone=False)) as desk:
            while left := self._left(units, 1):
                self._round(left, desk, 1, self._means.jobs)
        if self._left(units, 2):
            with closing(Desk(self._means, limits, box, alone=True)) as desk:
                self._again(units, desk)

    def _again(self, units: Sequence[Unit], desk: Desk) -> None:
        """Run what is in doubt again, one case file at a time and nothing beside it."""
        whole = {unit.submission.key: unit for unit in units}
        while left := self._left(units, 2):
            self._round([unit._replace(tasks=unit.tasks[:1]) for unit in left], desk, 2, 1)
            for unit in left:
                self._believe(whole[unit.submission.key])

    def _left(self, units: Sequence[Unit], number: int) -> list[Unit]:
        """Return the units with what of them is not done and was not run ``number`` times."""

        def is_left(task: Task) -> bool:
            state = self._ledger.states([task.basis])[task.basis].state
            is_over = state in ("done", "fault")
            return not is_over and self._ledger.runs(task.basis) < number

        left = [
            unit._replace(
                tasks=tuple(filter(is_left, unit.tasks)), spent=self._spent(unit, number)
            )
            for unit in units
        ]
        return [unit for unit in left if unit.tasks]

    def _spent(self, unit: Unit, number: int) -> float:
        """Return what runs of this number took: those alone have a budget of their own."""
        runs = (self._ledger.results(task.basis)[number - 1 : number] for task in unit.tasks)
        measured = (figures for run in runs for _, figures in run)
        return sum(canonical_json.loads(Figures, figures).seconds for figures in measured)

    def _believe(self, unit: Unit) -> None:
        """Let what broke alone as it broke before speak for what broke so in other files.

        An engine that hangs in twenty files would keep a machine that must do nothing else.
        """
        natures = self._means.assignment.natures
        runs = [(task, self._runs(task)) for task in unit.tasks]
        twice = [pair for _, pair in runs if len(pair) == 2]
        sure = [first for first, second in twice if fairness.alike(first, second, natures)]
        for task, pair in runs:
            is_left = len(pair) == 1 and not self._is_late(task)
            if is_left and any(fairness.alike(pair[0], one, natures) for one in sure):
                self._ledger.settle(task.basis, self._token)

    def _is_late(self, task: Task) -> bool:
        (figures,) = (figures for _, figures in self._ledger.results(task.basis)[:1])
        return canonical_json.loads(Figures, figures).late

    def _runs(self, task: Task) -> list[FileResult]:
        texts = [text for text, _ in self._ledger.results(task.basis)]
        results = [canonical_json.loads(FileResult, text) for text in texts if text != NOTHING]
        return [result._replace(case=task.case) for result in results]

    def _round(self, units: Sequence[Unit], desk: Desk, number: int, workers: int) -> None:
        heard: list[set[str]] = [set() for _ in units]

        def on_note(index: int, word: object) -> None:
            assert isinstance(word, Built | Done | Broke)
            heard[index].add(word.basis)
            self._record(word, number)
            if isinstance(word, Done):
                self._watch.hear(word.result)
            self._listener.on_word(units[index], word)

        desk.expect(units)
        ends = jobs.run_all(
            units,
            desk.work,
            workers,
            on_note,
            desk.close,
            forked=True,
            parts=(lambda unit: len(unit.tasks)) if number == 1 else None,
            on_time=lambda found: self._listener.on_time([units[index] for index in found]),
        )
        with closing(ends):
            for index, end in ends:
                if isinstance(end, jobs.Fault):
                    for task in units[index].tasks:
                        if task.basis not in heard[index]:
                            on_note(index, Broke(task.basis, _told(end)))
                self._watch.look([units[index]])

    def _record(self, word: Word, number: int) -> None:
        if isinstance(word, Built):
            self._ledger.set_build(word.basis, canonical_json.dumps(word.build), word.seconds)
        elif isinstance(word, Broke):
            self._ledger.broke(word.basis, self._token, word.message, MOST_FAULTS)
        else:
            last = number > 1 or not word.doubtful
            if not self._ledger.finish(word.basis, self._token, _row(word), number, last):
                raise BusyError(
                    f"another process has taken over the grading in {self._ledger.name}"
                )


def _told(fault: jobs.Fault) -> str:
    """Return how the harness broke, and where, in one line."""
    places = [line.strip() for line in fault.details.splitlines() if line.startswith("  File ")]
    return f"{fault.message} ({places[-1]})" if places else fault.message


def _row(word: Done) -> Row:
    figures = word.figures
    return Row(
        result=word.result,
        started=figures.started,
        pid=figures.pid,
        seconds=figures.seconds,
        cpu=figures.cpu,
        memory=figures.memory,
        own_cpu=figures.own_cpu,
        figures=canonical_json.dumps(figures),
    )


class Desk:
    """Where units are worked on: the same sandbox and limits for all."""

    def __init__(self, means: Means, limits: Limits, box: BoxLimits, alone: bool) -> None:
        self._means = means
        self._limits = limits._replace(total=means.budget)
        self._alone = alone
        self._parent = os.getpid()
        self.expect(())
        self._sandbox: Sandbox | None = None
        if means.sandbox != "off":
            natures = means.assignment.natures
            self._sandbox = Sandbox(means.sandbox, box, means.hidden, (), natures)

    def expect(self, units: Sequence[Unit]) -> None:
        """Prepare for units on which forked processes will work, several on one where it hangs."""
        self._places = {unit.submission.key: place for place, unit in enumerate(units)}
        self._hangs = Hangs(len(units))

    def close(self) -> None:
        """End this process's box server."""
        if self._sandbox:
            self._sandbox.close()

    def work(self, unit: Unit, note: jobs.Note) -> None:
        """Do a unit; each thing that is done is told at once."""
        with self.furnished(unit, note) as (room, built):
            ends = time.monotonic() + self._means.budget - unit.spent
            patience = Patience(self._hangs, self._places[unit.submission.key])
            for part, task in enumerate(unit.tasks):
                if note.claim(part):
                    ready = built is None or built.ok
                    done = self._attempt(task, room, ends, patience) if ready else None
                    note(done or self._nothing(task))

    @contextmanager
    def furnished(self, unit: Unit, note: jobs.Note) -> Iterator[tuple[Path, Build | None]]:
        """Give a folder with the submission, built, and the course's beside it.

        Also what came of the build, None where there is nothing to be built; it is told, too.
        """
        self._die_with_parent()
        with workspace.workspace() as room:
            self._furnish(unit, room)
            yield room, self._built(unit, room, note)

    def _die_with_parent(self) -> None:
        """Let a killed grading leave no engines and folders behind: we are told, and tidy up."""
        prctl("die with parent", _PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != self._parent:
            raise SystemExit

    def _furnish(self, unit: Unit, room: Path) -> None:
        assignment, own = self._means.assignment, unit.submission
        workspace.unpack(str(unit.archive), room / assignment.archive.folder, own.root, own.kept)
        if self._means.overlay:
            workspace.overlay(self._means.overlay, room / assignment.engine.overlay)

    def _built(self, unit: Unit, room: Path, note: jobs.Note) -> Build | None:
        level = str(self._sandbox.level) if self._sandbox else "off"
        begun = time.monotonic()
        built = building.build(self._means.assignment, room, level)
        if built:
            clean = built._replace(output=built.output.replace(str(room), canonical_json.PLACE))
            note(Built(unit.build, clean, round(time.monotonic() - begun, 6)))
        return built

    def _nothing(self, task: Task) -> Done:
        """Return what comes of a case file for which there is no program."""
        return Done(task.basis, NOTHING, self._about(Figures()), failed=True, doubtful=False)

    def _about(self, figures: Figures) -> Figures:
        """Return figures with what is known of where and when they were measured."""
        return figures._replace(
            started=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            pid=os.getpid(),
            alone=self._alone,
            sandbox=self._sandbox.description if self._sandbox else NO_SANDBOX,
            python=python.described if (python := self._means.assignment.python) else "",
        )

    def _attempt(self, task: Task, room: Path, ends: float, patience: Patience) -> Done | Broke:
        own, about = time.process_time(), self._about(Figures())
        gauge = _Gauge(self.launcher(task.case, room))
        try:
            result = run_file(task.case, self._setting(gauge, room, ends, patience))
        except (SandboxError, StarvedError, OSError) as error:
            return Broke(task.basis, f"{type(error).__name__}: {error}")
        times = canonical_json.measured(result)
        figures = about._replace(
            seconds=times.seconds,
            cpu=round(gauge.cpu, 6),
            memory=gauge.memory,
            engine_cpu=times.engine_cpu,
            replies=times.replies,
            own_cpu=round(time.process_time() - own, 6),
            late=patience.late,
        )
        return self._done(task, result, figures, room)

    def _done(self, task: Task, result: FileResult, figures: Figures, room: Path) -> Done:
        own = self._means.assignment
        limits, box = own.limits, own.box
        doubtful = not self._alone and fairness.in_doubt(result, figures, limits, box, own.natures)
        told = result if self._alone else fairness.told(result, box)
        text = canonical_json.dumps(canonical_json.settled(told, str(room)))
        return Done(task.basis, text, figures, bool(_troubles(result)), doubtful)

    def launcher(self, case: CaseFile, room: Path, shown: Sequence[str] = ()) -> Launcher:
        """Return what starts the engine in a room; ``shown``: what else it sees there."""
        if not self._sandbox:
            return PlainLauncher()
        home = room / self._means.assignment.archive.folder
        beside = workspace.beside_submission(home)
        return self._sandbox.launcher(case, (*beside, *shown), str(home))

    def _setting(self, gauge: _Gauge, room: Path, ends: float, patience: Patience) -> Setting:
        command, folder = self._means.assignment.start(room)
        restart = self._means.assignment.cases.restart
        protocol = self._means.assignment.protocol
        options = Options(
            limits=self._limits, folder=folder, restart=restart, strict=True, protocol=protocol
        )
        words = tuple(split_program(command))
        return Setting(
            words,
            options,
            named(options.dialect),
            launcher=lambda _: gauge,
            ends=ends,
            beside=1.0 if self._alone else fairness.BESIDE,
            crowded=not self._alone,
            # What a program leaves behind is told from another one's in a box only.
            patience=patience if self._sandbox and not self._alone else None,
            natures=self._means.assignment.natures,
            protocol=protocols.named(protocol),
            session=translation.sessions_of(self._means.assignment.translate),
        )


def _troubles(result: FileResult) -> list[object]:
    bad = (Verdict.FAILED, Verdict.NOT_RUN)
    return [outcome for outcome in result.outcomes if outcome.verdict in bad]


class _Gauge:
    """A launcher that remembers what its engine used of the machine."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self._before = _cpu_of_the_dead()
        self.start = launcher.start
        self.cpu = 0.0
        self.memory = 0

    def end(self, engine: object) -> list[str]:
        """End a program; see :class:`harness.engine.launch.Launcher`."""
        left = self._launcher.end(engine)
        if isinstance(engine, BoxedEngine):
            end = engine.box.end()
            self.cpu, self.memory = self.cpu + end.cpu, max(self.memory, end.memory)
        else:
            self.cpu = _cpu_of_the_dead() - self._before
        return left


def _cpu_of_the_dead() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
