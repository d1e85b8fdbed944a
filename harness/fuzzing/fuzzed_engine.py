"""The engine that is fuzzed: started in its sandbox, sent scripts, ended. The only shell here."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import cycle
from pathlib import Path

from harness.core.errors import EngineError
from harness.core.options import Limits, Options
from harness.core.records import CaseFile, Reply
from harness.declared.program_process import ConversationsUnderWay
from harness.engine.engine_clock import NEVER
from harness.engine.engine_session import EngineSession, groups
from harness.engine.launch import Launcher
from harness.engine.process import EngineProcess
from harness.engine.replies import GTP
from harness.engine.replies import Protocol as Spoken
from harness.running.runs import sandbox_for
from harness.vocabulary.script import Script, Trace, lay_files, line_of
from oracle.command_properties import STANDARD, PropertyTable

# A long wait for every suspicion would leave no time to look for others. What is silent for so
# long is a suspect, and heard again with the full time limits.
_SHORT_PATIENCE = 0.4


class FuzzedProgram:
    """An engine that may be asked again and again: behind pipes, one process for many scripts.

    Where each script meets a new process, the next one starts while the last one is asked: two
    processes run at a time, never three.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - how a program is started, each by its own choice
        self,
        words: list[str],
        launcher: Callable[[], Launcher],
        limits: Limits,
        folder: Path,
        command_properties: PropertyTable = STANDARD,
        protocol: Spoken = GTP,
        begin: Callable[..., EngineSession] = EngineSession,
    ) -> None:
        """Take a program; ``folder``: where it is started and finds the files of scripts.

        ``launcher``: returns what starts the next process. ``command_properties``: what commands
        do. ``protocol``: that it speaks. ``begin``: makes a session, which may translate.
        """
        self._begun_by = begin
        self._spoken = protocol
        self._command_properties = command_properties
        self._words = words
        self._launcher = launcher
        self._limits = limits
        self._folder = folder
        self._patience = min(_SHORT_PATIENCE, limits.timeout or _SHORT_PATIENCE)
        self._session: EngineSession | None = None
        self._asked = 0  # scripts that its process was sent
        self._is_hasty = False  # the process before was sent one only
        self._is_strict = False  # each command waits for the reply before
        self._next: EngineProcess | None = None  # is starting
        self._sent: UnderWay | None = None  # the last scripts that were sent all at once

    def answer(self, script: Script) -> Trace:
        """Send a script to the running engine, or to a new one.

        A new process is sent the commands of its first script one by one: so every finding is
        seen strictly, and an engine that answers before it is asked is noticed. Later ones come in
        groups, which is many times faster, until an engine has answered too often.

        Raises:
            EngineError: NOT_STARTED.
        """
        trace = self._send(script)
        if trace.has_surplus and not self._is_strict:
            self._be_strict()
            trace = self._send(script)
        return trace

    def begin(self, scripts: Sequence[Script]) -> "UnderWay | None":
        """Send scripts without files to the engine that runs, all at once.

        None if they have to be sent one by one, as the first one to each process.
        """
        if self._session is None or self._is_strict:
            return None
        self._asked += len(scripts)
        self._sent = UnderWay(self._session, scripts, self._command_properties, self._be_strict)
        return self._sent

    def _be_strict(self) -> None:
        """Ask one by one from now on: whose reply is whose was not known."""
        self._is_strict = True
        self.renew()

    def _send(self, script: Script) -> Trace:
        if self._sent and self._sent.is_open:
            self.renew()
        session = self._session or self._begin(self._patience)
        is_strict = self._is_strict or not self._asked
        self._asked += 1
        replies: list[Reply] = []
        failure = None
        lay_files(script, self._folder)
        lines = list(map(line_of, script.commands))
        try:
            if is_strict:
                for line in lines:
                    session.ask([line], replies, judged=True)
                session.leave_out_unasked(judged=True)
            else:
                alone = [self._command_properties.alone[one] for one in script.commands]
                for start, end in groups(lines, alone):
                    session.ask(lines[start:end], replies)
        except EngineError as error:
            failure = error.failure._replace(step=len(replies))
            self.renew()
        return Trace(script, tuple(replies), failure, session.answers_too_often)

    def renew(self) -> None:
        """End the process: the next script meets a new one."""
        if self._sent:
            self._sent.is_open = False
        if self._session:
            self._session.close()
            self._session = None
            self._is_hasty, self._asked = self._asked == 1, 0

    def close(self) -> None:
        """End all processes."""
        self.renew()
        if self._next:
            self._next.finish(0)
            self._next = None

    def send_again(self, script: Script) -> Trace:
        """Send a script to a process of its own, with the full time limits."""
        self.renew()
        self._begin(self._limits.timeout)
        try:
            trace = self.answer(script)
        finally:
            self.renew()
        slowest = max((reply.seconds for reply in trace.replies[1:]), default=0.0)
        while slowest > self._patience / 2 and self._patience < (self._limits.timeout or NEVER):
            self.be_patient()
        return trace

    def be_patient(self) -> None:
        """Double the patience, up to the time limit: what seemed to hang was only slow."""
        self._patience = min(2 * self._patience, self._limits.timeout or NEVER)
        self.renew()

    def _begin(self, patience: float) -> EngineSession:
        process = self._next or self._start()
        self._next = self._start() if self._is_hasty else None
        limits = self._limits._replace(timeout=patience, file=0.0)
        self._session = self._begun_by(process, limits, strict=True, protocol=self._spoken)
        return self._session

    def _start(self) -> EngineProcess:
        folder, spoken = str(self._folder), self._spoken
        return EngineProcess(self._launcher(), self._words, folder, self._limits, protocol=spoken)


@contextlib.contextmanager
def launchers(options: Options, folder: Path) -> Iterator[Callable[[], Launcher]]:
    """Yield what returns the launcher of the next process: of two sandboxes, in turn.

    ``folder``: where the files lie that scripts name.

    Raises:
        SandboxError: this machine has no such sandbox.
    """
    case = CaseFile(str(folder / "script.gtp"), (), ())
    boxes = (sandbox_for(options, [], STANDARD) for _ in range(2))
    with closing(next(boxes)) as one, closing(next(boxes)) as other:
        turns = cycle((one, other))
        yield lambda: next(turns).launcher(case)


def find_known_commands(program: FuzzedProgram, names: tuple[str, ...]) -> frozenset[str]:
    """Return which commands an engine says it knows.

    Raises:
        EngineError: it does not answer at all.
    """
    replies = _replies(program, [f"known_command {name}" for name in names])
    answered = zip(names, replies, strict=False)
    return frozenset(name for name, reply in answered if reply.ok and reply.text == "true")


def try_commands(
    program: FuzzedProgram, setup: Sequence[str], commands: Sequence[str]
) -> list[Reply | None]:
    """Return the reply to each command where others were sent before; None if it is refused.

    It is None, too, if the engine breaks there: then a new one is sent the rest.
    """
    found: list[Reply | None] = []
    while len(found) < len(commands):
        trace = program.send_again(Script((*setup, *commands[len(found) :])))
        found += [reply if reply.ok else None for reply in trace.replies[len(setup) :]]
        if trace.failure:
            found.append(None)
    return found


def board_sizes(program: FuzzedProgram, sizes: Sequence[int]) -> list[int]:
    """Return which board sizes an engine takes: by GTP 2 (6.3.1) it may refuse any.

    Raises:
        EngineError: it does not answer at all.
    """
    replies = _replies(program, [f"boardsize {size}" for size in sizes])
    return [size for size, reply in zip(sizes, replies, strict=False) if reply.ok]


def _replies(program: FuzzedProgram, commands: Sequence[str]) -> list[Reply]:
    """Return the replies to commands, up to where the engine failed."""
    trace = program.answer(Script(tuple(commands)))
    if trace.failure and not trace.replies:
        raise EngineError(trace.failure)
    return list(trace.replies)


# --- Scripts under way to an engine, while the harness draws others and judges earlier ones ------


class UnderWay(ConversationsUnderWay):
    """Scripts under way to an engine, sent one after the other."""

    def __init__(
        self,
        session: EngineSession,
        scripts: Sequence[Script],
        command_properties: PropertyTable,
        distrust: Callable[[], object],
    ) -> None:
        """Send scripts; ``distrust``: is called if nobody knows which reply is whose."""
        super().__init__(session, [one.commands for one in scripts], command_properties)
        self._session = session
        self._scripts = scripts
        self._distrust = distrust

    def traces(self) -> list[Trace]:
        """Wait, and return what the engine did with the scripts, up to where it broke.

        Nothing where nobody knows which reply is whose, or others have asked it meanwhile.
        """
        found: list[Trace] = []
        if not self.is_open:
            return found
        self.finish()
        if self._session.answers_too_often:
            self._distrust()
            return found
        for script, replies in zip(self._scripts, self.replies(), strict=True):
            found.append(Trace(script, replies))
            if len(replies) < len(script.commands):
                assert self.failure is not None
                found[-1] = Trace(script, replies, self.failure._replace(step=len(replies)))
                break
        return found
