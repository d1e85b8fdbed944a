"""One case file against one fresh engine: the file, a session, a result.

The order is gogui-regress's: the commands of ``--gtpfile``, ``name``, ``version``, ``cputime``,
the file, ``cputime``, ``quit``. Another protocol than GTP has other commands of the harness's own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from operator import attrgetter
from time import monotonic

from harness.core.errors import EngineError, EngineIdleError, UndecidedError
from harness.core.options import Limit, Options
from harness.core.records import (
    CaseFile,
    Exchange,
    Failure,
    FailureKind,
    FileResult,
    Outcome,
    Reply,
    Restart,
    RestartPoint,
    Step,
    Verdict,
    Waiting,
)
from harness.core.text import encode
from harness.core.typed import NamedTuple
from harness.engine.engine_clock import NEVER
from harness.engine.engine_session import EngineSession, groups
from harness.engine.launch import UNBUFFERED, Launcher, PlainLauncher
from harness.engine.process import EngineProcess
from harness.engine.replies import GTP, Protocol, foreign_id
from harness.reading.casefile import dialect_of
from harness.reading.dialect import Dialect
from harness.running import protocol_facts
from harness.running.hangs import HangPolicy, ShortLimits, do_anything
from harness.running.jobs import memory_is_left
from harness.specifications import EVERYONES
from oracle.command_properties import PropertyTable

_AGE = 1e9  # seconds; no engine has computed that long
_IS_TEST = attrgetter("is_test")
_new = tuple.__new__  # an outcome for each of 100,000 tests
_PROGRESS_INTERVAL = 0.1  # seconds between two calls of a progress callback


class RunContext(NamedTuple):
    """Context shared by all files of a run."""

    words: tuple[str, ...]  # the program and its arguments
    options: Options
    dialect: Dialect
    gtp_commands: tuple[str, ...] = ()  # of --gtpfile
    launcher: Callable[[CaseFile], Launcher] = lambda _: PlainLauncher()
    # Starts an engine to find out why another wrote nothing: its output is not held back.
    unbuffered: Callable[[CaseFile], Launcher] = lambda _: PlainLauncher(UNBUFFERED)
    leave: Callable[[], None] = lambda: None  # for a process that will launch no more
    ends: float = NEVER  # of time.monotonic(): the end of the whole run
    trace: Callable[[str], None] | None = None  # is told each line of the GTP stream
    beside: float = 1.0  # of the engine's clock
    pace: float = 1.0  # of the engine's clock
    crowded: bool = False  # other engines are at work on every core
    on_test: Callable[[CaseFile, Outcome], object] | None = None  # told as soon as one is judged
    patience: HangPolicy | None = None  # the launcher runs several engines at a time if need be
    command_properties: PropertyTable = EVERYONES  # of the commands of all files
    protocol: Protocol = GTP  # that the engine speaks
    short: ShortLimits | None = None  # None: every command has its full limit
    session: Callable[..., EngineSession] = EngineSession  # begins a conversation; may translate


NO_CASE = CaseFile("", (), ())  # in results that are sent to a process which has the case


class Judged(NamedTuple):
    """A file's progress."""

    done: int  # tests
    failed: int  # unexpected failures among them
    cut: FileResult | None = None  # of a file that is broken off: what is known, but NO_CASE
    waiting: Waiting | None = None  # a command that takes long


def run_file(
    case: CaseFile, setting: RunContext, report: Callable[[Judged], object] = lambda _: None
) -> FileResult:
    """Run ``case`` and return what happened; whatever the engine does, it is gone afterwards.

    ``report`` is called some ten times a second, and when Ctrl-C or the like breaks the file off.
    """
    if setting.patience:
        setting.patience.late = False
    if monotonic() >= setting.ends:
        total = setting.options.limits.total
        limit, what = Limit("run", total, total, "seconds"), "The engine was not started: "
        return not_run(case, Failure(FailureKind.TIMEOUT, what, limit=limit, rest="."))
    run = _FileRun(case, setting, report)
    place: RestartPoint | None = RestartPoint(0, ())
    try:
        with run.ends:
            while place is not None:  # one engine or, where it breaks and may, several
                place = run.part(place)
            run.wait_for_those_asleep()
    except KeyboardInterrupt:
        report(Judged(*run.counts, run.result()._replace(case=NO_CASE)))
        raise
    return run.result()


def case_folder(case: CaseFile) -> str:
    """Return the folder in which its engine is started, where nobody names another one."""
    return os.path.dirname(os.path.abspath(case.path))


def not_run(case: CaseFile, failure: Failure | None = None) -> FileResult:
    """Return the result of a file that was not run."""
    return FileResult(
        case=case,
        outcomes=tuple(_not_reached(case.steps)),
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


class _FileRun:
    """The state of a file while it runs."""

    def __init__(
        self, case: CaseFile, setting: RunContext, report: Callable[[Judged], object]
    ) -> None:
        self._case = case
        self._setting = setting
        self._report = report
        self._launcher = setting.launcher(case)
        self._own_folder = case_folder(case)
        self._on_test = setting.on_test
        protocol = setting.protocol
        self._is_strict = setting.options.strict or protocol.is_strict
        self._checks_ids = self._is_strict and protocol.has_ids
        self._dialect = dialect_of(case, setting.dialect)
        self._judged_by = self._dialect.verdict
        self._judged = self._dialect.judged
        self._farewell = protocol.farewell
        self._lines = protocol_facts.as_sent(case, protocol)
        self._alone = protocol_facts.find_awaited(case.steps, setting.command_properties)
        self._one_by_one = setting.options.lockstep or self._is_strict
        if self._one_by_one:
            self._alone = [True] * len(case.steps)
        self._failed = 0
        self._seconds = 0.0
        self._name = ""  # of the command under way; "": one of our own
        self._spent = 0.0  # seconds, of all engines, whatever they did
        self._written = 0  # bytes, by all engines
        self._quit = False  # the file itself ended the engine
        self._replies: list[Reply | None] = []  # up to the command under way
        self._outcomes: list[Outcome] = []
        self._before: list[Exchange] = []
        self._after: list[Exchange] = []
        self._restarts: list[Restart] = []
        self._failures: list[Failure] = []
        self._sessions: list[EngineSession] = []  # one for each engine
        self._asleep: dict[int, EngineSession] = {}  # those left, by their failure's index
        self.ends = ExitStack()  # of all engines

    @property
    def counts(self) -> tuple[int, int]:
        """The tests so far, and how many of them failed unexpectedly."""
        return len(self._outcomes), self._failed

    def part(self, place: RestartPoint) -> RestartPoint | None:
        """Continue from a place with an engine of its own; return the next place, if it breaks."""
        again, protocol = bool(self._failures), self._setting.protocol
        self._leave_out(place.step)
        step = None
        if again:
            step = place.step
            self._restarts.append(Restart(step, ()))
        try:
            process = self._start()
        except EngineError as error:
            self._break(error, step)
            return None
        begun = process.clock.now()
        is_under_way, is_left = again, False
        try:
            if again:
                self._prepare_again(place)
            else:
                self._set_up(self._before)
                if protocol.prelude:
                    self._own(protocol.prelude, self._before)
            if not self._setting.crowded:
                process.sit_beside()
            is_under_way = True
            self._run_steps(place.step)
            is_under_way, step = False, None
            if self._quit:
                self._session.close(self._setting.options.limits.quit)
            else:
                if protocol.clock:
                    self._own([protocol.clock], self._after)
                self._after.append(Exchange(self._farewell, self._session.leave()))
        except EngineError as error:
            self._break(error, len(self._replies) if is_under_way else step)
            is_left = isinstance(error, EngineIdleError)
        finally:
            if not is_left:
                self._session.close()  # by force, unless it has ended properly
            # One that was left takes what it may take of the file's time, as if it was waited for.
            self._spent += process.clock.now() - begun + self._session.rest
            self._written = process.output.written
        return self._next_place(place.step) if is_under_way else None

    def _leave_out(self, end: int) -> None:
        """Pass over the commands before ``end``, which an engine that broke leaves unanswered."""
        begin, steps = len(self._replies), self._case.steps
        self._replies += [None] * (end - begin)
        if self._on_test:
            for index in range(begin, end):
                if steps[index].is_test:
                    self._on_test(self._case, Outcome(index, Verdict.NOT_RUN, None))

    def _start(self) -> EngineProcess:
        """Start an engine, and begin a session with it."""
        setting, options = self._setting, self._setting.options
        process = EngineProcess(
            self._launcher,
            list(setting.words),
            options.folder or self._own_folder,
            options.limits,
            options.pty,
            initial_size=self._written,
            crowded=setting.crowded,
            protocol=setting.protocol,
        )
        process.clock.beside = setting.beside
        process.clock.pace = setting.pace
        short = 0.0
        if setting.patience and memory_is_left():
            short = setting.patience.seconds(options.limits.timeout)
        self._session = setting.session(
            process,
            options.limits,
            setting.trace,
            setting.ends,
            strict=self._is_strict,
            patience=short,
            on_wait=self._wait,
            started_in="" if options.folder else self._own_folder,
            protocol=setting.protocol,
        )
        self._sessions.append(self._session)
        self.ends.callback(self._session.close)
        return process

    def _wait(self, waiting: Waiting | None) -> None:
        self._report(Judged(*self.counts, waiting=waiting))

    def _break(self, error: EngineError, step: int | None) -> None:
        if isinstance(error, EngineIdleError):
            self._asleep[len(self._failures)] = self._session
        elif (
            (short := self._setting.short)
            and self._sessions
            and (self._session.was_cut or short.goes_on)
        ):
            short.note_cut(self._name)
        elif error.kind is FailureKind.TIMEOUT and self._setting.patience:
            self._setting.patience.note_hang()
        self._failures.append(error.failure._replace(step=step))

    def _limit_next(self, name: str) -> None:
        """Set the limits of the command that is sent next; "": one of the harness's own."""
        session, limits, short = self._session, self._setting.options.limits, self._setting.short
        if not (limits.thinking or short):
            return
        self._name = "" if session.is_silent else name
        thinks = bool(self._name) and self._setting.command_properties.at_hand(name).may_think
        session.limit = limits.of_command(thinks=thinks)
        if short:
            limit = limits.startup if session.is_silent else session.limit
            session.short = short.of(self._name, limit, thinks=thinks)
            session.may_go_on = partial(short.may_go_on, self._name, limit)

    def _note_answer(self) -> None:
        if self._setting.short:
            self._setting.short.note_answer(self._name)

    def wait_for_those_asleep(self) -> None:
        """Find out whether the engines that were left hang for their full limit."""
        if not self._setting.patience or not self._asleep:
            return
        self._setting.patience.late = do_anything(list(self._asleep.values()))
        for index, session in self._asleep.items():
            hung = session.describe_hang().failure
            self._failures[index] = self._failures[index]._replace(
                text=hung.text, limit=hung.limit, rest=hung.rest
            )

    def _next_place(self, start: int) -> RestartPoint | None:
        """Return where the file continues after an engine failed at a command of it, if it may."""
        options, failure, short = self._setting.options, self._failures[-1], self._setting.short
        limits = options.limits
        # Nobody needs to know the rest of an image at which the engine was cut short.
        gives_up = short is not None and short.is_image and self._session.was_cut
        if not options.restart or options.fail_fast or self._quit or gives_up:
            return None
        from harness.running import restarting

        if (
            len(self._restarts) == restarting.MOST
            or failure.kind is FailureKind.CPU
            or monotonic() >= self._setting.ends
            or 0 < limits.file <= self._spent
            or 0 < limits.max_total_output <= self._written
        ):
            return None
        assert failure.step is not None
        command_properties = self._setting.command_properties
        return restarting.next_place(self._case, failure.step, start, command_properties)

    def _set_up(self, exchanges: list[Exchange]) -> None:
        for command in self._setting.gtp_commands:
            (reply,) = self._own([command], exchanges)
            if not reply.ok:
                message = f"The engine answered {command!r} of the --gtpfile with an error"
                raise EngineError(Failure(FailureKind.SETUP, f"{message}: {reply.text}"))

    def _prepare_again(self, place: RestartPoint) -> None:
        """Bring an engine that was started again to where the one before would be."""
        sent: list[Exchange] = []
        try:
            if prelude := self._setting.protocol.prelude:
                self._own(prelude[:1], sent)
            self._set_up(sent)
            for command in place.settings:
                self._own([command], sent)
        finally:
            self._restarts[-1] = Restart(place.step, tuple(sent))

    def _own(self, commands: Sequence[str], exchanges: list[Exchange]) -> list[Reply]:
        """Send commands of the harness's own; record them, answered or not."""
        replies: list[Reply] = []
        lines = [encode(command) + b"\n" for command in commands]
        stride = 1 if self._one_by_one else len(lines)
        try:
            for start in range(0, len(lines), stride):
                self._limit_next("")
                self._session.ask(lines[start : start + stride], replies)
                self._note_answer()
        finally:
            unanswered = [None] * (len(commands) - len(replies))
            exchanges += map(Exchange, commands, [*replies, *unanswered])
        return replies

    def _run_steps(self, first: int) -> None:
        """Send the steps in groups; the last of each is awaited, and judged if it is a test."""
        session = self._session
        session.begin_file(self._spent)
        begun = reported = session.arrived
        try:
            for start, end in groups(self._lines[first:], self._alone[first:]):
                lines, index = self._lines[first + start : first + end], first + end - 1
                step = self._case.steps[index]
                name = step.name
                fresh: list[Reply] = []
                self._limit_next(name)
                try:
                    session.ask(lines, fresh, judged=step.is_test)
                    self._note_answer()
                except EngineError:
                    # Silence after quit is not an error.
                    if step.is_test or len(fresh) < len(lines) - 1 or name != self._farewell:
                        raise
                finally:
                    self._replies += fresh
                if step.is_test and self._judge(index, step, fresh[-1]):
                    break
                if name == self._farewell:
                    self._note_quit(index, step)
                    break
                if session.arrived - reported > _PROGRESS_INTERVAL:
                    reported = session.arrived
                    self._report(Judged(*self.counts))
        finally:
            self._seconds += session.arrived - begun

    def _judge(self, index: int, step: Step, reply: Reply) -> bool:
        """Judge a reply; return whether the file ends here."""
        answer = reply
        if self._checks_ids and foreign_id(reply.raw, step.id):
            answer = reply._replace(ok=False)  # it answers another command
        try:
            verdict = self._judged_by(step.pattern, answer)
        except UndecidedError:
            verdict = Verdict.NOT_JUDGED
        if self._judged:
            reply = self._judged(reply)
        outcome = _new(Outcome, (index, verdict, reply, False))
        self._outcomes.append(outcome)
        if self._on_test:
            self._on_test(self._case, outcome)
        if verdict is not Verdict.FAILED:
            return False
        self._failed += 1
        return self._setting.options.fail_fast

    def _note_quit(self, index: int, step: Step) -> None:
        """Take note that a step has ended the engine; it should be the last one."""
        self._quit = True
        if after := len(self._case.steps) - index - 1:
            what = f"{self._farewell!r} in line {step.line} ended the engine"
            raise EngineError(Failure(FailureKind.DIED, f"{what}; {after} commands follow it."))

    def result(self) -> FileResult:
        """Return all that happened, once it is over."""
        self._lines, self._alone = [], []  # a million of them take more room than the result
        case, protocol = self._case, self._setting.protocol
        replies = [*self._replies, *[None] * (len(case.steps) - len(self._replies))]
        outcomes = self._outcomes
        if len(outcomes) < sum(map(_IS_TEST, case.steps)):
            judged = {outcome.step: outcome for outcome in outcomes}
            outcomes = [judged.get(one.step, one) for one in _not_reached(case.steps)]
        answers = {exchange.text: exchange.reply for exchange in self._before}
        answered = [(text, reply) for text, reply in self._before if reply is not None]
        breaches = protocol_facts.warnings(
            (*(protocol_facts.own_step(text) for text, _ in answered), *case.steps),
            [*(reply for _, reply in answered), *self._replies],
            protocol,
            without_ids=self._is_strict,
        )
        warnings = [warning for session in self._sessions for warning in session.warnings]
        return FileResult(
            case=case,
            outcomes=tuple(self._dialect.settle_outcomes(case.steps, outcomes)),
            replies=tuple(replies),
            before=tuple(self._before),
            after=tuple(self._after),
            errors=protocol_facts.count_errors(case.steps, replies),
            warnings=(*breaches, *dict.fromkeys(warnings)),
            failures=tuple(self._failures),
            stderr="".join(session.stderr for session in self._sessions),
            name=_text(answers.get("name")),
            version=_text(answers.get("version")),
            seconds=self._seconds,
            cpu_seconds=self._cpu_seconds(),
            restarts=tuple(self._restarts),
        )

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


def _not_reached(steps: Sequence[Step]) -> list[Outcome]:
    return [
        Outcome(index, Verdict.NOT_RUN, None) for index, step in enumerate(steps) if step.is_test
    ]
