"""One run: case files against a program. The door to the harness for every command and library.

Everything a run may be told is in :class:`Options`, everything it found in
:class:`~harness.records.RunResult`; while it lasts it reports :class:`Progress`.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from signal import SIG_DFL, SIGHUP, SIGTERM
from typing import NamedTuple

from harness import casefile, jobs, suite
from harness.dialect import named
from harness.engine.launch import Launcher, PlainLauncher, split_program
from harness.errors import CaseError, UsageError
from harness.options import Limits, Options
from harness.records import CaseFile, FailureKind, FileResult, RunResult, Verdict
from harness.rerun import merge
from harness.runner import Judged, Setting, not_run, run_file
from harness.selection import Selection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.sandbox.engines import Sandbox

_NO_CASE = CaseFile("", (), ())

__all__ = ["Limits", "Options", "Progress", "run"]


class Progress(NamedTuple):
    """Where a file is. Comes at its start, some ten times a second, and at its end."""

    place: int  # of the file in the order named, from 0
    path: str
    done: int  # tests judged so far
    total: int  # tests in the file
    failed: int  # unexpected failures so far
    result: FileResult | None = None  # at the end


def run(
    program: str,
    tests: Sequence[str],
    options: Options = Options(),  # noqa: B008 - immutable
    on_progress: Callable[[Progress], None] | None = None,
    on_file: Callable[[FileResult], None] | None = None,
) -> RunResult:
    """Run all of ``tests`` against ``program`` and return what happened.

    ``program``: a command as typed in a shell, split but never given to one.
    ``tests``: case files, directories, ``@suites``, as on the command line.
    ``on_progress``: called as files start, proceed and end, in any order.
    ``on_file``: called with each file's result in the order named, as soon as that is possible.

    Both are called in the caller's own thread. Files in parallel run in forked processes, so
    start no threads of your own before the first ``on_progress``.

    Raises:
        UsageError: ``program`` is empty or cannot be split; an option makes no sense.
        CaseError: a suite is a circle. (A case file that cannot be read ends up in
            ``RunResult.errors``, and the others are run.)
    """
    words = tuple(split_program(program))
    selection = Selection(options.only, options.ids)
    dialect = named(options.dialect)
    errors: list[str] = []
    cases = [
        case
        for path in suite.expand(tests)
        if (case := _read(path, options.dialect, errors)) and (case := selection.of(case))
    ]
    setting = Setting(
        words,
        options,
        dialect,
        gtp_commands=casefile.read_commands(options.gtpfile) if options.gtpfile else (),
        trace=_to_stderr if options.verbose else None,
    )
    sandbox = _sandbox(options, cases)
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    gathering = _Gathering(cases, options, on_progress, on_file)
    with _without_collecting(), _ending_on_signals(), contextlib.closing(sandbox):
        gathering.run(setting._replace(launcher=sandbox.launcher))
    return RunResult(
        program=program,
        files=tuple(gathering.results),
        errors=tuple(errors),
        started=started,
        host=" ".join(os.uname()[i] for i in (1, 0, 2, 4)),
        options=options._asdict()
        | {
            "limits": options.limits._asdict(),
            "sandbox": sandbox.description,
            "box": options.box._asdict(),
        },
        faults=tuple(gathering.faults),
    )


class _Gathering:
    """The results of a run as they come in, and the order they are wanted in."""

    def __init__(
        self,
        cases: Sequence[CaseFile],
        options: Options,
        on_progress: Callable[[Progress], None] | None,
        on_file: Callable[[FileResult], None] | None,
    ) -> None:
        self.results: list[FileResult] = []  # of the first files, without a gap
        self.faults: list[str] = []
        self._cases = cases
        self._options = options
        self._on_progress = on_progress or (lambda _: None)
        self._on_file = on_file or (lambda _: None)
        self._totals = [sum([step.is_test for step in case.steps]) for case in cases]
        self._early: dict[int, FileResult] = {}  # those after a gap

    def run(self, setting: Setting) -> None:
        """Run all files, until one says that it was the last."""
        running = jobs.run_all(self._cases, _work(setting), self._workers(), self._progress)
        with contextlib.closing(running):  # type: ignore[type-var]
            for place, result in running:
                if self._arrive(place, result):
                    break
        for case in self._cases[len(self.results) :]:
            self._deliver(not_run(case))

    def _workers(self) -> int:
        if self._options.verbose:
            return 1
        return self._options.jobs or len(os.sched_getaffinity(0))

    def _progress(self, place: int, judged: object) -> None:
        assert isinstance(judged, Judged)
        self._tell(place, judged.done, judged.failed)

    def _arrive(self, place: int, result: FileResult | jobs.Fault) -> bool:
        """Take a result, hand on those whose turn it is; return whether the run is over."""
        case = self._cases[place]
        if isinstance(result, jobs.Fault):
            self.faults.append(f"{case.path}: {result.message}\n{result.details}".rstrip())
            result = not_run(case)
        result = result._replace(case=case)
        failed = sum(outcome.verdict is Verdict.FAILED for outcome in result.outcomes)
        self._tell(place, len(result.outcomes), failed, result)
        self._early[place] = result
        while (ready := self._early.pop(len(self.results), None)) is not None:
            self._deliver(ready)
            if self._is_last(ready):
                return True
        return False

    def _deliver(self, result: FileResult) -> None:
        self.results.append(result)
        self._on_file(result)

    def _is_last(self, result: FileResult) -> bool:
        if result.failure is not None and result.failure.kind is FailureKind.SETUP:
            return True
        failed = any(outcome.verdict is Verdict.FAILED for outcome in result.outcomes)
        return self._options.fail_fast and failed

    def _tell(self, place: int, done: int, failed: int, result: FileResult | None = None) -> None:
        case = self._cases[place]
        self._on_progress(Progress(place, case.path, done, self._totals[place], failed, result))


def _work(setting: Setting) -> jobs.Work[CaseFile, FileResult]:
    def work(case: CaseFile, note: jobs.Note) -> FileResult:
        note(Judged(0, 0))
        runs = [run_file(case, setting, note) for _ in range(1 + setting.options.rerun)]
        result = merge(runs) if len(runs) > 1 else runs[0]
        # Whoever gave the case has it: it need not be sent back from another process.
        return result._replace(case=_NO_CASE)

    return work


class _NoSandbox:
    """Engines are started as they are."""

    description = "off"

    def launcher(self, _case: CaseFile) -> Launcher:
        return PlainLauncher()

    def close(self) -> None:
        pass


def _sandbox(options: Options, cases: Sequence[CaseFile]) -> Sandbox | _NoSandbox:
    if options.sandbox == "off":
        return _NoSandbox()
    if options.pty:
        raise UsageError("there is no terminal in a sandbox: --pty does not go with --sandbox")
    from harness.sandbox.engines import Sandbox

    return Sandbox(options.sandbox, options.box, [case.path for case in cases], options.show)


def _read(path: str, dialect: str, errors: list[str]) -> CaseFile | None:
    try:
        return casefile.read(path, dialect)
    except CaseError as error:
        errors.append(str(error))
        return None


def _to_stderr(line: str) -> None:
    from harness.report.visible import visible

    print(visible(line), file=sys.stderr, flush=True)


@contextlib.contextmanager
def _without_collecting() -> Iterator[None]:
    """Keep the garbage collector from going over a growing heap of records, which has no cycles.

    It would cost a fifth of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextlib.contextmanager
def _ending_on_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind the stack, so that engines are ended on the way."""

    def leave(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    # One that is ignored, as under nohup, stays so; one that is handled is somebody else's.
    deadly = [number for number in (SIGTERM, SIGHUP) if signal.getsignal(number) is SIG_DFL]
    try:
        for number in deadly:
            signal.signal(number, leave)
    except ValueError:  # not the main thread
        deadly = []
    try:
        yield
    finally:
        for number in deadly:
            signal.signal(number, SIG_DFL)
