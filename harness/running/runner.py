"""One case file against one fresh engine: the file, a session, a result.

The order is gogui-regress's: the commands of ``--gtpfile``, ``name``, ``version``, ``cputime``,
the file, ``cputime``, ``quit``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

from harness.engine.clock import NEVER
from harness.engine.launch import Launcher, PlainLauncher
from harness.engine.process import EngineProcess
from harness.engine.replies import encode
from harness.engine.session import Session, groups
from harness.errors import EngineError, UndecidedError
from harness.options import Options
from harness.reading.dialect import Dialect
from harness.records import (
    CaseFile,
    Exchange,
    Failure,
    FailureKind,
    FileResult,
    Outcome,
    Reply,
    Step,
    Verdict,
)
from harness.running import protocol

_AGE = 1e9  # seconds; no engine has computed that long
_PROGRESS_INTERVAL = 0.1  # seconds between two calls of a progress callback


class Setting(NamedTuple):
    """What all files of a run have in common."""

    words: tuple[str, ...]  # the program and its arguments
    options: Options
    dialect: Dialect
    gtp_commands: tuple[str, ...] = ()  # of --gtpfile
    launcher: Callable[[CaseFile], Launcher] = lambda _: PlainLauncher()
    leave: Callable[[], None] = lambda: None  # for a process that will launch no more
    ends: float = NEVER  # of time.monotonic(): the end of the whole run
    trace: Callable[[str], None] | None = None  # is told each line of the GTP stream
    beside: float = 1.0  # of the engine's clock


class Judged(NamedTuple):
    """How far a file is."""

    done: int  # tests
    failed: int  # unexpected failures among them


def run_file(
    case: CaseFile, setting: Setting, report: Callable[[Judged], object] = lambda _: None
) -> FileResult:
    """Run ``case`` and return what happened; whatever the engine does, it is gone afterwards.

    ``report`` is called some ten times a second.
    """
    if monotonic() >= setting.ends:
        return not_run(case, _over(setting.options.limits.total))
    run = _Run(case, setting, report)
    try:
        process = EngineProcess(
            setting.launcher(case),
            list(setting.words),
            setting.options.folder or _own_folder(case),
            setting.options.limits,
            setting.options.pty,
        )
    except EngineError as error:
        return not_run(case, Failure(error.kind, error.message))
    process.clock.beside = setting.beside
    run.converse(Session(process, setting.options.limits, setting.trace, setting.ends))
    return run.result()


def _over(total: float) -> Failure:
    what = f"The engine was not started: the {total:g} s of the whole run were over."
    return Failure(FailureKind.TIMEOUT, what)


def _own_folder(case: CaseFile) -> str:
    return os.path.dirname(os.path.abspath(case.path))  # noqa: PTH100, PTH120 - as typed


def not_run(case: CaseFile, failure: Failure | None = None) -> FileResult:
    """Return the result of a file of which nothing was run."""
    return FileResult(
        case=case,
        outcomes=tuple(_not_reached(case.steps, 0)),
        replies=(None,) * len(case.steps),
        before=(),
        after=(),
        errors=0,
        warnings=(),
        failures=(failure,) if failure else (),
        stderr="",
        name="",
        version="",
        seconds=0.0,
        cpu_seconds=0.0,
    )


class _Run:
    """What is known of a file while it runs."""

    def __init__(
        self, case: CaseFile, setting: Setting, report: Callable[[Judged], object]
    ) -> None:
        self._case = case
        self._setting = setting
        self._report = report
        self._failed = 0
        self._seconds = 0.0
        self._quit = False  # the file itself ended the engine
        self._replies: list[Reply] = []
        self._outcomes: list[Outcome] = []
        self._before: list[Exchange] = []
        self._after: list[Exchange] = []
        self._failure: Failure | None = None

    def converse(self, session: Session) -> None:
        """Do all of the conversation, and end the engine whatever happens."""
        self._session = session
        step: int | None = None
        try:
            self._prepare()
            step = 0
            self._run_steps()
            step = None
            self._finish()
        except EngineError as error:
            under_way = None if step is None else len(self._replies)
            self._failure = Failure(error.kind, error.message, under_way, error.reason)
        finally:
            session.close()  # by force, unless it has ended properly

    def _prepare(self) -> None:
        for command in self._setting.gtp_commands:
            (reply,) = self._own([command], self._before)
            if not reply.ok:
                message = f"The engine answered {command!r} of the --gtpfile with an error"
                raise EngineError(FailureKind.SETUP, f"{message}: {reply.text}")
        self._own(["name", "version", "cputime"], self._before)

    def _own(self, commands: list[str], exchanges: list[Exchange]) -> list[Reply]:
        """Send commands of the harness's own; record them, answered or not."""
        replies: list[Reply] = []
        lines = [encode(command) + b"\n" for command in commands]
        stride = 1 if self._setting.options.lockstep else len(lines)
        try:
            for start in range(0, len(lines), stride):
                self._session.ask(lines[start : start + stride], replies)
        finally:
            unanswered = [None] * (len(commands) - len(replies))
            exchanges += map(Exchange, commands, [*replies, *unanswered])
        return replies

    def _run_steps(self) -> None:
        steps, session = self._case.steps, self._session
        lines = protocol.as_sent(self._case)
        alone = protocol.unfollowed(steps)
        if self._setting.options.lockstep:
            alone = [True] * len(steps)
        session.begin_file()
        begun = reported = session.arrived
        try:
            for start, end in groups(lines, alone):
                if self._exchange(lines[start:end], end - 1):
                    break
                if session.arrived - reported > _PROGRESS_INTERVAL:
                    reported = session.arrived
                    self._report(Judged(len(self._outcomes), self._failed))
        finally:
            self._seconds = session.arrived - begun

    def _exchange(self, lines: list[bytes], index: int) -> bool:
        """Send a group of steps, the last of which is at ``index``; return whether to stop."""
        step = self._case.steps[index]
        try:
            self._session.ask(lines, self._replies)
        except EngineError:
            # Silence after quit is no error.
            if step.is_test or len(self._replies) < index or not protocol.is_quit(step):
                raise
        enough = step.is_test and self._judge(index, step)
        return enough or (protocol.is_quit(step) and self._stop_at_quit(index))

    def _judge(self, index: int, step: Step) -> bool:
        reply = self._replies[index]
        verdict = self._verdict(step, reply)
        self._outcomes.append(Outcome(index, verdict, reply))
        if verdict is not Verdict.FAILED:
            return False
        self._failed += 1
        return self._setting.options.fail_fast

    def _verdict(self, step: Step, reply: Reply) -> Verdict:
        try:
            return self._setting.dialect.verdict(step.pattern, reply)
        except UndecidedError:
            return Verdict.NOT_JUDGED

    def _stop_at_quit(self, index: int) -> bool:
        self._quit = True
        after = len(self._case.steps) - index - 1
        if after:
            line = self._case.steps[index].line
            what = f"'quit' in line {line} ended the engine before the {after} commands after it"
            raise EngineError(FailureKind.DIED, f"{what}.")
        return True

    def _finish(self) -> None:
        if self._quit:
            self._session.close(self._setting.options.limits.quit)
        else:
            self._own(["cputime"], self._after)
            self._after.append(Exchange("quit", self._session.leave()))

    def result(self) -> FileResult:
        """Return all that happened, once it is over."""
        case, replies = self._case, self._replies
        outcomes = [*self._outcomes, *_not_reached(case.steps, len(replies))]
        answers = {exchange.text: exchange.reply for exchange in self._before}
        return FileResult(
            case=case,
            outcomes=tuple(self._setting.dialect.settle_outcomes(case.steps, outcomes)),
            replies=(*replies, *[None] * (len(case.steps) - len(replies))),
            before=tuple(self._before),
            after=tuple(self._after),
            errors=protocol.count_errors(case.steps, replies),
            warnings=(*self._breaches(), *self._session.warnings),
            failures=(self._failure,) if self._failure else (),
            stderr=self._session.stderr,
            name=_text(answers.get("name")),
            version=_text(answers.get("version")),
            seconds=self._seconds,
            cpu_seconds=self._cpu_seconds(),
        )

    def _breaches(self) -> list[str]:
        answered = [(text, reply) for text, reply in self._before if reply is not None]
        steps = (*(protocol.own_step(text) for text, _ in answered), *self._case.steps)
        return protocol.warnings(steps, [*(reply for _, reply in answered), *self._replies])

    def _cpu_seconds(self) -> float:
        """Return the difference of the answers to the two cputime commands, 0 if it is absurd."""
        texts = [_text(exchange.reply) for exchange in (*self._before[-1:], *self._after[:1])]
        try:
            first, second = map(float, texts)
        except ValueError:
            return 0.0
        return second - first if 0 <= second - first < _AGE else 0.0


def _text(reply: Reply | None) -> str:
    return reply.text if reply is not None and reply.ok else ""


def _not_reached(steps: tuple[Step, ...], start: int) -> list[Outcome]:
    return [
        Outcome(index, Verdict.NOT_RUN, None)
        for index in range(start, len(steps))
        if steps[index].is_test
    ]
