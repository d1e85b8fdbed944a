"""The conversation with an engine: who waits for whom, how long, and what went wrong.

Commands are sent in groups, each in one write, and every reply of a group is awaited before the
next. Nothing is ever sent past a command that ends, or may end, with the next input, and no more
than :data:`WINDOW` bytes are in flight: unbounded writing deadlocks once both pipes are full. What
a reply is, the protocol says: :mod:`harness.engine.replies`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import compress

from harness.core.errors import EngineError, EngineIdleError, StarvedError
from harness.core.options import Limit, Limits
from harness.core.records import Failure, FailureKind, Reply, Waiting
from harness.core.text import decode, encode
from harness.engine.engine_clock import LOOK, NEVER
from harness.engine.launch import describe_end
from harness.engine.process import EngineProcess, too_much
from harness.engine.replies import GTP, Protocol

WINDOW = 4096
# Seconds in which a reply that nothing had asked for may still come before a test.
_ONCE, _OFTEN = 0.001, 0.05
_AWAKE = 0.1  # of the time: an engine that computes so much does not sleep
_new = tuple.__new__
LONG = 30.0  # seconds; what takes longer is told while it lasts
NEWS = 1.0  # seconds until it is told again
_SILENT = Failure(FailureKind.TIMEOUT, "did not answer in time")
_LATE = {  # what comes before a time limit in the sentence about it
    "command": "did not answer {} ",
    "start": "gave no reply ",
    "file": "ran out of time at {}: ",
    "run": "ran out of time at {}: ",
}


def groups(lines: Sequence[bytes], alone: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Cut ``lines`` into runs that may be sent ahead: (start, end) of each.

    A run ends with a line that is ``alone`` in not being followed, or before it would exceed the
    window. A longer line makes a run of its own.
    """
    start = 0
    for end in (*compress(range(1, len(lines) + 1), alone), len(lines)):
        if sum(map(len, lines[start:end])) > WINDOW:
            size = 0
            for index in range(start, end):
                if size + len(lines[index]) > WINDOW and index > start:
                    yield start, index
                    start, size = index, 0
                size += len(lines[index])
        if start < end:
            yield start, end
        start = end


class EngineSession:
    """One engine, one conversation.

    ``warnings`` collects breaches of the protocol that do not end it.
    """

    def __init__(  # noqa: PLR0913 - how long, and how strictly, each by its own choice
        self,
        process: EngineProcess,
        limits: Limits,
        trace: Callable[[str], None] | None = None,
        run_ends: float = NEVER,
        *,
        strict: bool = False,
        patience: float = 0.0,
        on_wait: Callable[[Waiting | None], object] | None = None,
        started_in: str = "",
        protocol: Protocol = GTP,
    ) -> None:
        """Begin a conversation.

        ``strict``: a reply answers the command that was sent before it came, and no other.
        ``run_ends``: of ``time.monotonic()``, when the run must end; but what the engine could
        not use comes on top of it. ``patience``: a limit for a command, shorter than the full one,
        after which an engine that sleeps may be left alone (:class:`EngineIdleError`); 0: none.
        ``on_wait``: told of a command that takes longer than LONG, and None when it is answered.
        ``started_in``: the folder to name if the engine dies at its start; "": none is named.
        ``protocol``: what both sides speak.
        """
        self.warnings: list[str] = []
        self.answers_too_often = False  # it has done so
        self.is_silent = True  # it has not replied to anything yet
        self._process = process
        self._protocol = protocol
        self._splitter = protocol.splitter(strict=strict)
        self._strict = strict
        self._trace = trace
        self._started_in = started_in
        self._under_way: tuple[Sequence[bytes], list[Reply], int] = ((), [], 0)
        self._unanswered: Sequence[bytes] = ()  # the commands under way when it broke
        self._last = b""  # the last command sent
        self._surplus: list[Reply] = []
        self._ended = False
        # When what began, by the engine's clock, and the limits.
        self._clock = process.clock
        self.arrived = self._clock.own()  # when the last reply came, or the engine was started
        self._since = self._clock.now()  # the same as its limits have it
        self._limits = limits
        self.limit = limits.timeout  # of the commands that are sent next
        self._file_ends = NEVER
        self._run_ends = run_ends
        self._patience = patience
        self.rest = 0.0  # seconds of its limit in which an engine that was left was not waited for
        self.short = 0.0  # seconds of computing after which commands are cut short; 0: never
        self.may_go_on: Callable[[], bool] = lambda: False  # asked before a command is cut short
        self.was_cut = False  # the command under way, when it broke
        self._told_at = 0.0  # seconds, of the wait under way: when it was told last; 0: never
        self._on_wait = on_wait
        if on_wait:
            process.output.on_wait = self._wait

    def begin_file(self, used_seconds: float = 0.0) -> None:
        """Let the time limit of the file begin; ``used_seconds``: seconds of it that are over."""
        if self._limits.file:
            self._file_ends = self._clock.now() + self._limits.file - used_seconds

    def ask(self, lines: Sequence[bytes], replies: list[Reply], *, judged: bool = False) -> None:
        """Send ``lines``, each ending with a newline, and append a reply to each to ``replies``.

        ``judged``: it matters which reply is whose, so that those before it are waited for.

        Raises:
            EngineError: the engine failed; ``replies`` has the replies that came before.
        """
        self.send(lines, replies, judged=judged)
        self.receive()

    def send(self, lines: Sequence[bytes], replies: list[Reply], *, judged: bool = False) -> None:
        """Send ``lines`` as :meth:`ask` does, without waiting; :meth:`receive` is to follow.

        Raises:
            EngineError: as :meth:`ask` does.
        """
        wanted = len(replies) + len(lines)
        if self._surplus:
            replies += self._surplus[: len(lines)]
            self._surplus = self._surplus[len(lines) :]
        try:
            if self._strict:
                self.leave_out_unasked(judged)
            data = b"".join(lines)
            if self._trace:
                self._show(">> ", decode(data))
            if not self.is_silent:  # what we took since the last reply does not count
                before = self._since
                self._note(*self._clock.begin_command())
                self._file_ends += self._since - before
            self._under_way = lines, replies, wanted
            self._process.write(data, self._deadline())
        except EngineError as error:
            raise self._explain(error, lines, len(replies) - wanted) from None

    def receive(self) -> None:
        """Wait for the replies to what was sent last; see :meth:`ask`."""
        lines, replies, wanted = self._under_way
        unanswered = 0
        try:
            deadline = self._deadline()
            while len(replies) < wanted:
                data = self._read(deadline)
                fresh = self._splitter.split(data)
                unanswered = 0 if fresh else unanswered + len(data)
                if fresh:
                    self._take(fresh)
                    replies += fresh
                    deadline = self._deadline() if len(replies) < wanted else NEVER
                elif unanswered > self._limits.max_output > 0:
                    raise too_much(unanswered, self._limits.max_output, "no reply")
        except EngineError as error:
            raise self._explain(error, lines, len(replies) - wanted) from None
        self._last = lines[-1]
        if len(replies) > wanted:
            self._surplus = [] if self._strict else replies[wanted:]
            del replies[wanted:]
            self._note_surplus(quote(self._last))

    def leave_out_unasked(self, judged: bool) -> None:
        """Forget replies that have come before the next command is sent, when listening strictly.

        ``judged``: wait for them a moment. An engine that was once found to answer too often is
        given longer to do it again.
        """
        if not self._strict or self.is_silent:
            return
        patience = _OFTEN if self.answers_too_often else _ONCE
        data = self._process.take(patience if judged else 0.0)
        if data and self._splitter.split(data):
            self._note_surplus(quote(self._last) if self._last else "its start")

    def _take(self, fresh: list[Reply]) -> None:
        """Take in replies that came together; give the first the time that all of them took."""
        before = self.arrived
        self._note(*self._clock.note_arrival())
        ok, text, raw, _, invalid, status = fresh[0]
        fresh[0] = _new(Reply, (ok, text, raw, self.arrived - before, invalid, status))
        self.is_silent = False
        if self._told_at and self._on_wait:
            self._told_at = 0.0
            self._on_wait(None)
        if self._trace:
            for reply in fresh:
                self._show("<< ", reply.invalid)
                self._show("<< ", reply.raw + "\n\n")

    def _note(self, engine_time: float, limit_time: float) -> None:
        """Take note of a moment, by the engine's own time and by that of its limits.

        A look can find that the time counted so far was waiting. The clock goes back then, and an
        answer that came in between took no time: not less.
        """
        self.arrived, self._since = max(self.arrived, engine_time), limit_time

    def _wait(self) -> None:
        """Tell of the command under way, if it has taken long and was not told for a while."""
        waited = self._clock.own() - self.arrived
        if self._on_wait and waited >= (self._told_at + NEWS if self._told_at else LONG):
            self._told_at = waited
            lines, replies, wanted = self._under_way
            command = "" if self.is_silent else _shorten(lines[len(replies) - wanted])
            self._on_wait(Waiting(command, waited, self._deadline() - self._clock.now()))

    def _deadline(self) -> float:
        limit = self._own_limit
        return min(self._since + limit if limit else NEVER, self._file_ends, self._run_ends)

    @property
    def _own_limit(self) -> float:
        return self._limits.startup if self.is_silent else self.limit

    def _read(self, deadline: float) -> bytes:
        if not self._patience:
            return self._read_or_cut(deadline)
        soon = self._since + self._patience
        # What ends the file is not a limit of the command: anyone who hits it is told so, and not
        # left.
        is_of_command = deadline == self._since + self.limit
        if is_of_command and not self.is_silent and soon < deadline:
            try:
                return self._process.read(soon)
            except StarvedError:
                pass  # the full limit is long enough to tell
            except EngineError as error:
                if error.kind is not FailureKind.TIMEOUT:
                    raise
                is_asleep = self._clock.computed < _AWAKE * self._patience
                if is_asleep and self._clock.now() < deadline:
                    self.rest = deadline - self._clock.now()
                    raise EngineIdleError(error.failure) from None
        return self._read_or_cut(deadline)

    def _read_or_cut(self, deadline: float) -> bytes:
        """Read, but no longer than the engine may compute; sleep makes nobody wait."""
        while self.short and deadline < NEVER:
            left = self.short - self._clock.computed
            soon = self._clock.now() + max(left, LOOK) / self._clock.beside
            if soon >= deadline:
                break
            if left <= 0:
                if self.may_go_on():
                    self._clock.watch_machine()
                    return self._read_at_length(deadline)
                self.was_cut = True
                raise EngineError(_SILENT)
            try:
                return self._process.read(soon)
            except StarvedError:
                break  # the full limit is long enough to tell
            except EngineError as error:
                if error.kind is not FailureKind.TIMEOUT:
                    raise
        return self._process.read(deadline)

    def _read_at_length(self, deadline: float) -> bytes:
        """Read until an engine that does nothing but compute has done so for its full limit.

        The deadline comes before, where the system does not tell each moment of it. Each time,
        more than half of what is missing has to be made up: else it sleeps as well.
        """
        before = self._own_limit
        while True:
            try:
                return self._process.read(deadline)
            except EngineError as error:
                missing = self._own_limit * (1 - self._part_computed())
                computes = LOOK < missing < before / 2
                before, deadline = missing, self._clock.now() + missing
                is_of_command = deadline < min(self._file_ends, self._run_ends)
                if error.kind is not FailureKind.TIMEOUT or not (computes and is_of_command):
                    raise

    def wait_on(self) -> None:
        """Begin to wait for an engine that was left, for the rest of its limit."""
        self._file_ends = NEVER  # the rest of the limit was within it
        self._clock.wait_until(min(self._clock.now() + self.rest, self._run_ends))

    def describe_hang(self) -> EngineError:
        """Return the error of an engine that was left and waited for, and did nothing."""
        return self._explain(EngineError(_SILENT), self._unanswered, 0)

    def sleep_at_once(self) -> None:
        """Sleep until there are replies, and look at the engine later: much is sent at a time."""
        self._clock.first_look = LOOK
        self._process.sleep_at_once()

    def stirs(self) -> bool:
        """Return whether an engine that was left has written anything since, or has ended."""
        return self._process.output.stirs()

    def is_over(self, sleep: float) -> bool:
        """Return whether the limit of an engine that was left is over.

        ``sleep``: seconds since it was asked last in which it was waited for.

        Raises:
            StarvedError: the machine is too busy to tell.
        """
        self._clock.note_sleep(sleep)
        return self._clock.is_over()

    def _note_surplus(self, command: str) -> None:
        if not self.answers_too_often:
            self.answers_too_often = True
            taken = "each extra one was taken as the reply to a later command"
            told = "the extra ones count for nothing" if self._strict else taken
            self.warnings.append(
                f"after {command} the engine sent more replies than it got commands; {told}"
            )

    def leave(self) -> Reply | None:
        """Say farewell and let the engine end; return its reply, if it gave one.

        Silence is not an error here, nor is any other way to end.
        """
        replies: list[Reply] = []
        self._patience = self.short = 0.0
        self.limit = self._limits.quit
        self._limits = self._limits._replace(timeout=self._limits.quit, startup=self._limits.quit)
        with suppress(EngineError):
            self.ask([encode(self._protocol.farewell) + b"\n"], replies)
        self.close(max(0.01, self._limits.quit - (self._clock.now() - self._since)))
        return replies[0] if replies else None

    def close(self, patience: float = 0.0) -> None:
        """End the engine if it has not ended after ``patience`` seconds; warn of what is odd.

        Once it has ended this does nothing.
        """
        if self._ended:
            return
        self._ended = True
        end = self._process.finish(patience)
        farewell = self._protocol.farewell
        if patience and end.status is None:
            self.warnings.append(
                f"the engine still ran {self._limits.quit:g} s after {farewell};"
                " it was ended by force"
            )
        elif patience and end.status:
            self.warnings.append(f"after {farewell} the engine {describe_end(end.status)}")
        if self._splitter.split(end.output[: self._protocol.end(end.output)]):
            self._note_surplus(f"'{farewell}'")
        if self._splitter.not_utf8:
            self.warnings.append("some replies were not UTF-8")
        if self._process.output.stderr.overflows:
            self.warnings.append(
                f"the engine wrote {self._process.output.stderr.total:,} bytes on standard error;"
                " only the beginning and the end were kept"
            )
        if end.leftovers:
            self.warnings.append(
                f"the engine left processes behind ({', '.join(end.leftovers)}); they were ended"
            )

    @property
    def stderr(self) -> str:
        """Standard error of the engine."""
        return self._process.output.stderr.text()

    @property
    def unfinished(self) -> bytes:
        """Output after its last reply, once a conversation has ended with an error."""
        return self._splitter.invalid + self._process.unfinished

    def _explain(self, error: EngineError, lines: Sequence[bytes], index: int) -> EngineError:
        """Return ``error`` as a sentence about the command under way."""
        from harness.reading.last_words import first_words, last_words

        self._unanswered = lines[index:]
        command = quote(lines[index])
        is_late = error.kind is FailureKind.TIMEOUT
        how = self._overdue(command) if is_late else error.failure
        when = "" if is_late else self._when(command, how.kind)
        words = last_words(self.stderr if how.kind is FailureKind.DIED else "")
        first = first_words(self.stderr) if words.error and self.is_silent else ""
        began = f" Its first words: {first}; its last words: " if first else " Its last words: "
        said = f"{began}{words}" if words.error else ""
        cut = ", and was not waited for longer" if self.was_cut else ""
        output, hint = self.unfinished, ""
        if output.strip():
            hint = f" It had written {quote(output)}, but {self._protocol.lacking(output)}."
        text, rest = f"The engine {how.text}", f"{when}{cut}.{hint}{said}"
        if how.limit is None:
            text, rest = text + rest, ""
        reason = words.reason
        if not reason and self.is_silent and self._started_in:
            # What is the same for all that break in this way at their start, in any folder.
            reason = error.failure.without_measurements.message
        computed = self._part_computed()
        return type(error)(Failure(how.kind, text, None, reason, computed, how.limit, rest))

    def _when(self, command: str, kind: FailureKind) -> str:
        if not self.is_silent:
            return f", instead of answering {command}"
        is_named = self._started_in and kind is FailureKind.DIED
        where = f"; it was started in {self._started_in}" if is_named else ""
        return f" before its first reply{where}"

    def _part_computed(self) -> float:
        """Return which part of its limit an engine that is waited for has used up computing."""
        limit = self._own_limit
        return self._clock.counted / limit if limit else 0.0

    def _overdue(self, command: str) -> Failure:
        """Return which time limit was hit: the one that ended first."""
        limits = self._limits
        own = ("start" if self.is_silent else "command", self._own_limit)
        if self.was_cut:
            limit = Limit(own[0], self._clock.computed, self.short, "seconds")
            return Failure(FailureKind.TIMEOUT, _LATE[own[0]].format(command), limit=limit)
        end, name, allowed = min(
            (self._since + own[1] if own[1] else NEVER, *own),
            (self._file_ends, "file", limits.file),
            (self._run_ends, "run", limits.total),
        )
        limit = Limit(name, allowed + self._clock.now() - end, allowed, "seconds")
        return Failure(FailureKind.TIMEOUT, _LATE[name].format(command), limit=limit)

    def _show(self, mark: str, lines: str) -> None:
        assert self._trace is not None
        for line in lines.removesuffix("\n").split("\n") if lines else ():
            self._trace(mark + line)


def quote(data: bytes) -> str:
    """Return output or a command as part of a sentence: one line, shortened, in quotes."""
    return f"'{_shorten(data)}'"


def _shorten(data: bytes) -> str:
    text = " ".join(decode(data[:200]).split())
    return f"{text[:60]}…" if len(text) > 60 else text
