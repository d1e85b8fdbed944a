"""One run: case files against a program. The door to the harness for every command and library.

Everything a run may be told is in :class:`Options`, everything it found in
:class:`~harness.core.records.RunResult`; while it lasts it tells of :class:`Progress`.
"""

from __future__ import annotations

import contextlib
import copyreg
import gc
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from harness.core.errors import CaseError, UsageError
from harness.core.options import GTP, SANDBOXES, Limits, Options
from harness.core.processes import processors
from harness.core.records import (
    CaseFile,
    Exchange,
    Failure,
    FailureKind,
    FileResult,
    Outcome,
    Progress,
    Reply,
    RunResult,
    Step,
    Verdict,
)
from harness.core.signals import ending_on_signals
from harness.engine import launch
from harness.reading import casefile, pattern
from harness.reading.dialect import Dialect, find_dialect
from harness.reading.suite import Gathered, gather
from harness.running import jobs
from harness.running.file_runner import NO_CASE, Judged, RunContext, not_run, run_file
from harness.specifications import EVERYONES
from oracle.command_properties import PropertyTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike
    from typing import Any

    from harness.sandbox.boxed_engines import Sandbox

    _Packed = tuple[Callable[..., FileResult], tuple[Any, ...]]

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
        CaseError: a suite is a circle, or the ``--gtpfile`` cannot be read. (A case file that
            cannot be read ends up in ``RunResult.errors``, and the others are run; so does a lack
            of tests.)
    """
    is_collecting = gc.isenabled()
    gc.disable()  # a heap of records grows, which has no cycles: a fifth of the time
    try:
        paths = [tests] if isinstance(tests, str | os.PathLike) else tests
        found = gather(
            [os.fspath(path) for path in paths],
            find_dialect(options.dialect),
            options.only,
            options.ids,
            options.lines,
            protocol=options.protocol,
            gtpfile=options.gtpfile,
        )
        return run_gathered(
            program, found, options, on_progress, on_file, command_properties=natures
        )
    finally:
        if is_collecting:
            gc.enable()


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
    suite = Gathered(
        tuple(cases),
        dialect=find_dialect(options.dialect),
        gtp_commands=casefile.read_commands(options.gtpfile),
    )
    return run_gathered(program, suite, options, on_progress, on_file)


def run_gathered(  # noqa: PLR0913 - what callers of run() choose, and what is known
    program: str | Sequence[str],
    suite: Gathered,
    options: Options,
    on_progress: Callable[[Progress], None] | None = None,
    on_file: Callable[[FileResult], None] | None = None,
    *,
    on_test: Callable[[CaseFile, Outcome], None] | None = None,
    command_properties: PropertyTable = EVERYONES,
    is_proven: bool = False,
) -> RunResult:
    """Run what was gathered; its errors are in the result. Else as :func:`run_cases`.

    ``on_test``: called with each outcome, where one file at a time is run, and only once.
    ``is_proven``: this process has just proven the level of sandbox that ``options`` name.
    """
    program = launch.with_seed(program if isinstance(program, str) else shlex.join(program))
    setting = RunContext(
        tuple(launch.as_typed(launch.split_program(program))),
        options,
        suite.dialect,
        gtp_commands=suite.gtp_commands,
        trace=_to_stderr if options.verbose else None,
        command_properties=command_properties,
    )
    if options.protocol != GTP:
        from harness.engine.protocols import find_protocol

        setting = setting._replace(protocol=find_protocol(options.protocol))
    if options.translate:
        from harness.engine import translation

        setting = setting._replace(session=translation.sessions_of(options.translate))
    sandbox = sandbox_for(options, suite.cases, command_properties, is_proven=is_proven)
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    collector = _ResultCollector(suite.cases, options, on_progress, on_file, on_test)
    is_interrupted, unfinished = False, list[str]()
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
        results = collector.results
    except KeyboardInterrupt:
        is_interrupted = True
        results, unfinished = collector.so_far()
    result = RunResult(
        program=program,
        files=tuple(results),
        errors=(*suite.errors, *_not_judged(results, setting.dialect)),
        started=started,
        host=" ".join(os.uname()[i] for i in (1, 0, 2, 4)),
        options=_describe(options, sandbox.description),
        faults=tuple(collector.faults),
        unfinished=tuple(unfinished),
    )
    if is_interrupted:
        raise Interrupted(result)
    return result


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
        options.sandbox, options.box, hidden, options.show, command_properties, is_proven=is_proven
    )


def _to_stderr(line: str) -> None:
    from harness.core.text import escape_controls

    with contextlib.suppress(OSError, ValueError):  # no reason to lose the run
        print(escape_controls(line), file=sys.stderr, flush=True)


# --- The results of the files of a run: taken from other processes as they come, put in order ----


class _ResultCollector:
    """Runs files, one after the other or in parallel, and puts their results in order.

    ``results`` has those of the first files, without a gap; ``faults`` a text for each file that
    came to nothing because the harness failed.
    """

    def __init__(
        self,
        cases: Sequence[CaseFile],
        options: Options,
        on_progress: Callable[[Progress], None] | None,
        on_file: Callable[[FileResult], None] | None,
        on_test: Callable[[CaseFile, Outcome], None] | None,
    ) -> None:
        self.results: list[FileResult] = []
        self.faults: list[str] = []
        self._cases = cases
        self._options = options
        self._on_progress = on_progress or (lambda _: None)
        self._on_file = on_file or (lambda _: None)
        self._on_test = on_test
        self._totals = [sum([step.is_test for step in case.steps]) for case in cases]
        self._early: dict[int, FileResult] = {}  # those after a gap
        self._cut: dict[int, FileResult] = {}  # those broken off

    def run(self, setting: RunContext) -> None:
        """Run all files, until one says that it was the last."""
        options, cases = self._options, self._cases
        workers = min(1 if options.verbose else options.jobs or processors(), len(cases))
        if workers <= 1 and not options.rerun and not setting.dialect.settles_late:
            setting = setting._replace(on_test=self._on_test)
        setting = setting._replace(crowded=workers >= processors())
        if workers > 1:
            copyreg.pickle(FileResult, pack)
        work = partial(_run_case, setting)
        running = jobs.run_all(cases, work, workers, self._note, setting.leave, hear_out=True)
        is_over = False
        with contextlib.closing(running):
            for place, end in running:
                case = cases[place]
                if isinstance(end, jobs.Fault):
                    self.faults.append(f"{case.path}: {end.message}\n{end.details}".rstrip())
                    result = not_run(case)
                else:
                    result = end._replace(case=case)
                count, failed = len(result.outcomes), sum(map(_is_failed, result.outcomes))
                self._on_progress(
                    Progress(place, case.path, count, self._totals[place], failed, result)
                )
                self._early[place] = result
                while not is_over and (ready := self._early.pop(len(self.results), None)):
                    self.results.append(ready)
                    self._on_file(ready)
                    is_setup = ready.failure and ready.failure.kind is FailureKind.SETUP
                    is_failed = options.fail_fast and any(map(_is_failed, ready.outcomes))
                    is_over = bool(is_setup) or is_failed
                if is_over or self._has_hung():
                    break
        for place, case in list(enumerate(cases))[len(self.results) :]:
            early, failure = None, None
            if self._has_hung():
                early = self._early.get(place)
                why = f"Not run: the engine had hung in {options.most_hung} files before."
                failure = Failure(FailureKind.TIMEOUT, why)
            self.results.append(early or not_run(case, failure))
            self._on_file(self.results[-1])

    def so_far(self) -> tuple[list[FileResult], list[str]]:
        """Return a result for each file, and which have come to none: when all is broken off."""
        found = dict(enumerate(self.results)) | self._early
        missing = [case.path for place, case in enumerate(self._cases) if place not in found]
        found = self._cut | found
        cases = enumerate(self._cases)
        return [found.get(place) or not_run(case) for place, case in cases], missing

    def _note(self, place: int, event: object) -> None:
        case = self._cases[place]
        if isinstance(event, FileResult):  # one that ended when all was being broken off
            self._early[place] = event._replace(case=case)
        elif not isinstance(event, Judged):
            return  # a fault: the file is one that was not run
        elif event.cut:
            self._cut[place] = event.cut._replace(case=case)
        else:
            total = self._totals[place]
            self._on_progress(
                Progress(place, case.path, event.done, total, event.failed, None, event.waiting)
            )

    def _has_hung(self) -> bool:
        """Whether so many files hung that waiting for the others would tell nothing new."""
        most = self._options.most_hung
        known = (*self.results, *self._early.values())
        return 0 < most <= sum(any(map(_is_hang, file.failures)) for file in known)


def _is_failed(outcome: Outcome) -> bool:
    return outcome.verdict is Verdict.FAILED


def _is_hang(failure: Failure) -> bool:
    return failure.kind in (FailureKind.TIMEOUT, FailureKind.CPU)


def _run_case(setting: RunContext, case: CaseFile, note: jobs.Note) -> FileResult:
    """Run a case file as often as it is asked for; ``note``: is told how far it is."""
    runs: list[FileResult] = []
    note(Judged(0, 0))
    try:
        for _ in range(1 + setting.options.rerun):
            runs.append(run_file(case, setting, note))
        result = _merge(runs)
        if any(map(_is_hang, result.failures)):
            from harness.running.rerun import explain_silence

            result = explain_silence(result, setting)
    except KeyboardInterrupt:
        if runs:  # one that is whole is worth more than a second one that is broken off
            note(Judged(0, 0, _merge(runs)._replace(case=NO_CASE)))
        raise
    # The caller has the case: it need not be sent back from another process.
    return result._replace(case=NO_CASE)


def _merge(runs: Sequence[FileResult]) -> FileResult:
    if len(runs) == 1:
        return runs[0]
    from harness.running.rerun import merge

    return merge(runs)


# --- The transfer of a file's result from one process to another, in few records -----------------
# For each named tuple :mod:`pickle` asks by functions of Python how it is made, which took as long
# as to split the replies. Most commands have the same few replies: each travels once, as a plain
# tuple, and for the rest its place in the row of them.


_new = tuple.__new__


def pack(file: FileResult) -> _Packed:
    """Return what makes a result again, and what that is given; see :func:`copyreg.pickle`."""
    own = [*file.before, *file.after]
    replies = [*file.replies, *(one.reply for one in file.outcomes), *(one.reply for one in own)]
    known = dict(zip(map(id, replies), replies, strict=True))
    places = {one: place for place, one in enumerate(known)}
    return unpack, (
        [None if reply is None else tuple(reply) for reply in known.values()],
        [places[id(reply)] for reply in replies],
        [(step, verdict, flaky) for step, verdict, _, flaky in file.outcomes],
        [one.text for one in file.before],
        [one.text for one in file.after],
        tuple(file._replace(replies=(), outcomes=(), before=(), after=())),
    )


def unpack(  # noqa: PLR0913, PLR0917 - as pickle hands them over
    shared_replies: Sequence[tuple[Any, ...] | None],
    places: Sequence[int],
    outcomes: Sequence[tuple[int, Verdict, bool]],
    before: Sequence[str],
    after: Sequence[str],
    fields: tuple[Any, ...],
) -> FileResult:
    """Return the result again.

    ``shared_replies``: each once. ``places``: which of them was given to each command of the
    file, to each test, to each of the harness's own commands, ``before`` the file and ``after``.
    """
    records = [None if one is None else _new(Reply, one) for one in shared_replies]
    replies = [records[place] for place in places]
    own = [*before, *after]
    of_tests, of_own = len(replies) - len(outcomes) - len(own), len(replies) - len(own)
    exchanges = list(map(Exchange, own, replies[of_own:]))
    judged = zip(outcomes, replies[of_tests:of_own], strict=True)
    return FileResult(*fields)._replace(
        replies=tuple(replies[:of_tests]),
        outcomes=tuple([_new(Outcome, (step, one, reply, f)) for (step, one, f), reply in judged]),
        before=tuple(exchanges[: len(before)]),
        after=tuple(exchanges[len(before) :]),
    )
