"""Runner of submissions: in a room of their own, built, and asked case file by case file."""

import os
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness.assignments import build_steps, workspace
from harness.assignments.assignment import Assignment
from harness.core.errors import SandboxError, StarvedError
from harness.core.options import Limits, Options
from harness.core.records import Build, CaseFile, Outcome, Verdict
from harness.core.signals import SIGKILL
from harness.engine import launch, protocols, translation
from harness.environments import interpreters
from harness.reading.dialect import find_dialect
from harness.running.file_runner import RunContext, run_file
from harness.running.hangs import HangPolicy
from harness.running.rerun import explain_silence
from harness.sandbox.boxed_engines import Sandbox
from harness.sandbox.launcher import Boxed
from harness.work import canonical_json, fairness, records

NO_SANDBOX = "off: engines ran with all rights of the person who graded"

Say = Callable[[records.BuildFinished], object]
OnTest = Callable[[CaseFile, Outcome], object]


class UnitRunner:
    """Runner of an assignment's submissions, each in the same way."""

    def __init__(  # noqa: PLR0913 - what all submissions are run with
        self,
        assignment: Assignment,
        overlay: Path | None,
        sandbox: Sandbox | None,
        limits: Limits,
        *,
        alone: bool,
        budget: float,
        pace: float = 0.0,
    ) -> None:
        """Make ready; nothing is run yet.

        ``overlay``: the course's folder. ``alone``: nothing else is running. ``budget``: seconds
        of wall time for all case files of a submission. ``pace``: of this machine; see
        :class:`harness.work.records.WorkUnit`.
        """
        self._assignment = assignment
        self._overlay = overlay
        self._sandbox = sandbox
        self._alone = alone
        self._pace = pace
        python = assignment.python
        self._environment = interpreters.environment_of(python.program) if python else ""
        options = Options(
            limits=limits._replace(total=budget),
            restart=assignment.cases.restart,
            strict=True,
            protocol=assignment.protocol,
        )
        self._setting = RunContext(  # of all case files; the rest is each one's own
            (),
            options,
            find_dialect(options.dialect),
            beside=1.0 if alone else fairness.BESIDE,
            pace=pace or 1.0,
            crowded=not alone,
            command_properties=assignment.command_properties,
            protocol=protocols.find_protocol(assignment.protocol),
            session=translation.sessions_of(assignment.translate),
        )
        self.explaining = 0.0  # seconds of the last attempt in which it was asked why it hung

    def close(self) -> None:
        """End this process's box server."""
        if self._sandbox:
            self._sandbox.close()

    @contextmanager
    def furnish(
        self, archive: Path, root: str, names: Iterable[str], build: str, say: Say
    ) -> Iterator[tuple[Path, Build | None]]:
        """Give a folder with a submission, built, and the course's beside it.

        Also the result of the build, None where there is nothing to be built; it is said, too.
        ``root``: what the names of its own files begin with in the archive. ``names``: these files
        by their names below it. ``build``: what the result of the build is known by.
        """
        with workspace.workspace() as room:
            assignment, sandbox = self._assignment, self._sandbox
            workspace.unpack(str(archive), room / assignment.archive.folder, root, names)
            if self._overlay:
                workspace.overlay(self._overlay, room / assignment.engine.overlay)
            begun = time.monotonic()
            built = build_steps.build(assignment, room, str(sandbox.level) if sandbox else "off")
            if built:
                output = records.without_places(built.output, str(room), self._environment)
                clean = built._replace(output=output)
                say(records.BuildFinished(build, clean, round(time.monotonic() - begun, 6)))
            yield room, built

    def nothing(self, basis: str) -> records.AttemptFinished:
        """Return the result of a case file if there is no program."""
        return records.AttemptFinished(
            basis, records.NOTHING, self._conditions(), failed=True, doubtful=False
        )

    def _conditions(self) -> records.Measurements:
        """Return the time and conditions of a run, without what is measured of it."""
        sandbox, python = self._sandbox, self._assignment.python
        return records.Measurements(
            started=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            pid=os.getpid(),
            alone=self._alone,
            sandbox=sandbox.description if sandbox else NO_SANDBOX,
            python=python.described if python else "",
            pace=self._pace,
        )

    def attempt(  # noqa: PLR0913, PLR0917 - what a case file is run with
        self,
        basis: str,
        case: CaseFile,
        room: Path,
        ends: float,
        patience: HangPolicy,
        on_test: OnTest | None = None,
    ) -> records.AttemptFinished | records.HarnessFailed:
        """Run a case file in a furnished room.

        ``ends``: when the budget does, monotonic. ``on_test``: is told of each test as it is
        judged.
        """
        assignment, sandbox, alone = self._assignment, self._sandbox, self._alone
        rules = fairness.TimeRules.of(assignment)
        begun, conditions = time.process_time(), self._conditions()
        self.explaining = 0.0
        gauge = _Gauge(self.launcher(case, room))
        try:
            command, folder = assignment.start(room)
            setting = self._setting._replace(
                words=tuple(launch.split_program(command)),
                options=self._setting.options._replace(folder=folder),
                launcher=lambda _: gauge,
                # Tells why an engine hung, and is not measured.
                unbuffered=lambda case: self.launcher(case, room, variables=launch.UNBUFFERED),
                ends=ends,
                on_test=on_test,
                # What a program leaves behind is told from another one's in a box only.
                patience=patience if sandbox and not alone else None,
                short=patience.short,
            )
            result = run_file(case, setting)
        except (SandboxError, StarvedError) as error:
            return records.HarnessFailed(basis, str(error))
        except OSError as error:
            return records.HarnessFailed(basis, f"{type(error).__name__}: {error}")
        times = records.get_measurements(result)
        figures = conditions._replace(
            seconds=times.seconds,
            cpu=round(gauge.cpu / (self._pace or 1.0), 6),
            memory=gauge.memory,
            engine_cpu=times.engine_cpu,
            replies=times.replies,
            own_cpu=round(time.process_time() - begun, 6),
            late=patience.late or gauge.was_killed,
        )
        cuts = rules.find_cuts(result)
        in_doubt = not alone and rules.in_doubt(result, figures)
        if cuts and in_doubt:  # for another reason, too, which no other run can take away
            figures = figures._replace(late=True)
        doubtful = not alone and (in_doubt or bool(cuts))
        if not doubtful:  # else it is rerun
            asked = time.monotonic()
            result = explain_silence(result, setting)
            self.explaining = time.monotonic() - asked
        settled = records.strip_measurements(
            fairness.restate_limits(result, assignment.box), str(room), self._environment
        )
        bad = (Verdict.FAILED, Verdict.NOT_RUN)
        failed = any(outcome.verdict in bad for outcome in result.outcomes)
        return records.AttemptFinished(
            basis, canonical_json.dumps(settled), figures, failed, doubtful
        )

    def launcher(
        self,
        case: CaseFile,
        room: Path,
        visible_paths: Sequence[str] = (),
        variables: Mapping[str, str] = launch.NOTHING_MORE,
    ) -> launch.Launcher:
        """Return what starts the engine in a room; ``visible_paths``: what else it sees there."""
        if not self._sandbox:
            return launch.PlainLauncher(variables)
        home = room / self._assignment.archive.folder
        beside = workspace.beside_submission(home)
        return self._sandbox.launcher(case, (*beside, *visible_paths), str(home), variables)


class _Gauge:
    """A launcher that remembers what its engine used of the machine."""

    def __init__(self, launcher: launch.Launcher) -> None:
        self._launcher = launcher
        self._before = _cpu_of_the_dead()
        self.start = launcher.start
        self.cpu = 0.0
        self.memory = 0
        self.was_killed = False  # an engine, by SIGKILL, and for no limit: by whom, nobody knows

    def end(self, engine: launch.StartedEngine) -> list[str]:
        """End a program; see :class:`harness.engine.launch.Launcher`."""
        self.was_killed |= engine.status() == -SIGKILL and engine.find_end_cause() is None
        left = self._launcher.end(engine)
        if isinstance(engine, Boxed):
            end = engine.end()
            self.cpu, self.memory = self.cpu + end.cpu, max(self.memory, end.memory)
        else:
            self.cpu = _cpu_of_the_dead() - self._before
        return left


def _cpu_of_the_dead() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
