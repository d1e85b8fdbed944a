"""One run: case files against a program. The door to the harness for every command and library.

Everything a run may be told is in :class:`Options`, everything it found in
:class:`~harness.records.RunResult`; while it lasts it tells of :class:`Progress`.
"""

from __future__ import annotations

import contextlib
import gc
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from harness.engine import launch
from harness.engine.engine_session import EngineSession
from harness.engine.replies import GTP, Protocol
from harness.errors import CaseError, UsageError
from harness.options import SANDBOXES, Limits, Options
from harness.reading import casefile, pattern
from harness.reading.dialect import Dialect, find_dialect
from harness.reading.suite import Gathered, gather
from harness.records import CaseFile, FileResult, Progress, RunResult, Step, Verdict
from harness.running.file_runner import RunContext
from harness.running.gathering import ResultCollector, RunListeners
from harness.signals import ending_on_signals
from harness.specifications import EVERYONES
from oracle.command_properties import PropertyTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike

    from harness.sandbox.boxed_engines import Sandbox

__all__ = ["Limits", "Options", "not_judged", "run", "run_cases"]

_TOO_HEAVY = (
    f"matching it with the expectation takes more than {pattern.LIMIT:g} s; an expression should"
    " not offer many ways to match one text, as (a+)+ does"
)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, SIGTERM or SIGHUP during a run; ``result`` has what was found before."""

    def __init__(self, result: RunResult) -> None:
        super().__init__()
        self.result = result


def run(  # noqa: PLR0913 - public entry point: the parameter list is the API
    program: str | Sequence[str],
    tests: str | PathLike[str] | Sequence[str | PathLike[str]],
    options: Options = Options(),  # noqa: B008 - immutable
    on_progress: Callable[[Progress], None] | None = None,
    on_file: Callable[[FileResult], None] | None = None,
    *,
    natures: PropertyTable = EVERYONES,  # the public name stays
) -> RunResult:
    """Run all of ``tests`` against ``program`` and return what happened.

    ``program``: a command as typed in a shell, split but never given to one; or its words.
    ``tests``: case files, directories, ``@suites``, as on the command line; or one of them.
    ``on_progress``: called as files start, proceed and end, in any order.
    ``on_file``: called with each file's result in the order named, as soon as that is possible.
    ``natures``: what the commands do; by default, what any assignment says of its own.

    A reply that takes too long to be matched with its expectation has the verdict *not judged* and
    an error of its case file.

    Both callbacks run in the caller's own thread. Files in parallel run in forked processes; so
    start no threads of your own before the first ``on_progress``, unless ``options.jobs`` is 1.

    Raises:
        UsageError: ``program`` is empty or cannot be split; an option makes no sense.
        Interrupted: by Ctrl-C, SIGTERM or SIGHUP; all engines are ended.
        CaseError: a suite is a circle. (A case file that cannot be read ends up in
            ``RunResult.errors``, and the others are run; so does a lack of tests.)
    """
    with _without_collecting():
        found = gather(
            [
                os.fspath(one)
                for one in ([tests] if isinstance(tests, str | os.PathLike) else tests)
            ],
            options.dialect,
            options.only,
            options.ids,
            options.lines,
            protocol=options.protocol,
        )
        return run_gathered(program, found, options, RunListeners(on_progress, on_file), natures)


def run_cases(
    program: str | Sequence[str],
    cases: Sequence[CaseFile],
    options: Options = Options(),  # noqa: B008 - immutable
    on_progress: Callable[[Progress], None] | None = None,
    on_file: Callable[[FileResult], None] | None = None,
) -> RunResult:
    """Run case files that are read already, whatever ``options`` select; else as :func:`run`.

    Raises:
        UsageError: ``program`` is empty or cannot be split; an option makes no sense.
        Interrupted: by Ctrl-C, SIGTERM or SIGHUP; all engines are ended.
        CaseError: the ``--gtpfile`` cannot be read.
    """
    return run_gathered(
        program, Gathered(tuple(cases)), options, RunListeners(on_progress, on_file)
    )


def run_gathered(  # noqa: PLR0913 - what callers of run() choose, and what is known
    program: str | Sequence[str],
    suite: Gathered,
    options: Options,
    listeners: RunListeners,
    command_properties: PropertyTable = EVERYONES,
    *,
    is_proven: bool = False,
) -> RunResult:
    """Run what was gathered; its errors are in the result. Raises as :func:`run_cases`.

    ``is_proven``: this process has just proven the level of sandbox that ``options`` name.
    """
    cases = suite.cases
    program = launch.with_seed(program if isinstance(program, str) else shlex.join(program))
    setting = RunContext(
        tuple(launch.as_typed(launch.split_program(program))),
        options,
        find_dialect(options.dialect),
        gtp_commands=casefile.read_commands(options.gtpfile) if options.gtpfile else (),
        trace=_to_stderr if options.verbose else None,
        command_properties=command_properties,
        protocol=_protocol(options.protocol),
        session=_session(options.translate),
    )
    sandbox = sandbox_for(options, cases, command_properties, is_proven=is_proven)
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    collector = ResultCollector(cases, options, listeners)

    def make_result(results: Sequence[FileResult], unfinished: Sequence[str] = ()) -> RunResult:
        return RunResult(
            program=program,
            files=tuple(results),
            errors=(*suite.errors, *_not_judged(results, setting.dialect)),
            started=started,
            host=" ".join(os.uname()[i] for i in (1, 0, 2, 4)),
            options=_describe(options, sandbox.description),
            faults=tuple(collector.faults),
            unfinished=tuple(unfinished),
        )

    try:
        with ending_on_signals(), contextlib.closing(sandbox):
            collector.run(
                setting._replace(
                    launcher=lambda case: sandbox.launcher(case, (), options.submission),
                    unbuffered=lambda case: sandbox.launcher(
                        case, (), options.submission, launch.UNBUFFERED
                    ),
                    leave=sandbox.close,
                    ends=time.monotonic() + (options.limits.total or float("inf")),
                )
            )
    except KeyboardInterrupt:
        raise Interrupted(make_result(*collector.so_far())) from None
    return make_result(collector.results)


def _protocol(name: str) -> Protocol:
    """Return a protocol; a run of GTP loads no other."""
    if name == GTP.name:
        return GTP
    from harness.engine.protocols import find_protocol

    return find_protocol(name)


def _session(table: str) -> Callable[..., EngineSession]:
    """Return what begins conversations; ``table``: the file of a translation, "" for none."""
    if not table:
        return EngineSession
    from harness.engine import translation

    return translation.sessions_of(table)


def _not_judged(results: Sequence[FileResult], dialect: Dialect) -> Iterator[str]:
    """Say of each test that was not judged what its case file has to do with it."""
    for file in results:
        for outcome in file.outcomes:
            if outcome.verdict is Verdict.NOT_JUDGED:
                step = file.case.steps[outcome.step]
                refusal = dialect.find_refusal(step.pattern) if step.pattern else ""
                yield str(not_judged(file.case, step, refusal))


def not_judged(case: CaseFile, step: Step, refusal: str = "") -> CaseError:
    """Return what is wrong with the expectation of a test that was not judged.

    ``refusal``: why its pattern is refused; "" if matching takes too long.
    """
    what = f"the reply to '{step.text:.60}' could not be judged: {refusal or _TOO_HEAVY}"
    return CaseError(what, case.path, step.line)


def _describe(options: Options, sandbox: str) -> dict[str, object]:
    limits = options.limits._asdict()
    if not options.limits.thinking:
        del limits["thinking"]
    nested = {"limits": limits, "box": options.box._asdict()}
    return options._asdict() | nested | {"sandbox": sandbox}


class _NoSandbox:
    """Engines are started as they are."""

    description = "off"

    def launcher(
        self,
        _case: CaseFile,
        _shown: object = (),
        _submission: str = "",
        variables: Mapping[str, str] = launch.NOTHING_MORE,
    ) -> launch.Launcher:
        return launch.PlainLauncher(variables)

    def close(self) -> None:
        pass


def sandbox_for(
    options: Options,
    cases: Sequence[CaseFile],
    command_properties: PropertyTable,
    *,
    is_proven: bool = False,
) -> Sandbox | _NoSandbox:
    """Return what starts the engines of a run: close it when no more are started."""
    if options.sandbox == "off":
        return _NoSandbox()
    if options.sandbox not in SANDBOXES:
        known = ", ".join(SANDBOXES)
        raise UsageError(f"unknown sandbox {options.sandbox!r}; there are {known}")
    if options.pty:
        raise UsageError("there is no terminal in a sandbox: --pty does not go with --sandbox")
    from harness.sandbox.boxed_engines import Sandbox

    hidden = [case.path for case in cases]
    return Sandbox(
        options.sandbox,
        options.box,
        hidden,
        options.show,
        command_properties,
        is_proven=is_proven,
    )


def _to_stderr(line: str) -> None:
    from harness.text import escape_controls

    with contextlib.suppress(OSError, ValueError):  # no reason to lose the run
        print(escape_controls(line), file=sys.stderr, flush=True)


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
