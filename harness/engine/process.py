"""Pipes to an engine. The only module that knows pexpect.

A pseudo-terminal echoes, cuts lines at 4,096 bytes, merges standard error and costs a hundred
milliseconds for each engine; so the three streams are pipes, and pexpect reads from the one that
carries the replies. What would make pexpect slow is avoided: no delay after a read, no patterns,
and a searcher that looks for the end of a reply in the fresh bytes only.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import sys
from collections.abc import Callable
from time import monotonic

from pexpect.exceptions import EOF, TIMEOUT
from pexpect.fdpexpect import fdspawn
from pexpect.spawnbase import SpawnBase

from harness.core.errors import EngineError, StarvedError
from harness.core.options import Limit, Limits
from harness.core.processes import move_beside
from harness.core.records import Failure, FailureKind
from harness.core.typed import NamedTuple
from harness.engine.engine_clock import NEVER, EngineClock, are_asleep
from harness.engine.launch import Launcher, StartedEngine, describe_end
from harness.engine.replies import GTP, BothEnds, Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

_READ_SIZE = 1 << 16  # what a Linux pipe holds
# How long a dead engine's output may still trickle in, held open by something it started; and how
# long an engine that closed its input or its output has to die of it.
_GRACE = 0.5
_RESTLESS = 0.05  # seconds of its own time in which an engine that has answered may go to sleep
_GLANCE = 0.001  # seconds between two looks whether it has
_LOOKS = 50  # before going to sleep
_LOOKS_IN_A_CROWD = 0  # anyone who looks takes the core from an engine
_LONGEST_LOOK = 0.001  # seconds
_NAP = 1000  # milliseconds of sleep at a time where there is no limit
_MODEM = "speaks the Go Modem Protocol (GNU Go speaks GTP with --mode gtp)"


class _Searcher:
    """A pexpect searcher: FOUND at the end of a reply, TOO_MUCH when there is none for too long.

    MODEM when the engine speaks another protocol, as GNU Go does without ``--mode gtp``: it would
    wait for ever.
    """

    FOUND, TOO_MUCH, timeout_index, eof_index, MODEM = range(5)
    longest_string = 3  # bytes of the read before that may belong to an empty line
    start = 0  # of the window: all of it matches, up to ``end``
    match = None

    def __init__(self, max_output: int, protocol: Protocol) -> None:
        self._max_output = max_output
        self._protocol = protocol
        self.begin()

    def begin(self) -> None:
        self._end = self._protocol.finder()
        self.seen = 0
        self.end = 0

    def search(self, window: bytes, new_size: int, _size: int | None = None) -> int:
        self.seen += new_size
        self.end = self._end(window, new_size)
        if self.end:
            return self.FOUND
        if self.seen > self._max_output:
            self.end = len(window)
            return self.TOO_MUCH
        if self.seen == new_size and _is_modem_protocol(window):
            self.end = len(window)
            return self.MODEM
        return -1


def _is_modem_protocol(data: bytes) -> bool:
    """Whether an output begins as the Go Modem Protocol does: a small byte, three large."""
    return len(data) >= 4 and data[0] < 4 and min(data[1:4]) >= 0x80 and b"\n" not in data


class EngineOutput(fdspawn):  # type: ignore[misc]
    """An engine's standard output; anyone who waits for it drains standard error meanwhile."""

    def __init__(
        self,
        process: StartedEngine,
        stdout: IO[bytes],
        limits: Limits,
        clock: EngineClock,
        initial_size: int = 0,
    ) -> None:
        super().__init__(stdout, maxread=_READ_SIZE, timeout=None)
        self.delayafterread = None
        self.deadline = NEVER  # of the clock
        self._clock = clock
        self.exited = False
        self.stderr = BothEnds(limits.max_stderr)
        self._most = limits.max_total_output or sys.maxsize
        self._left = self._most - initial_size  # bytes that it may still write
        self._limits = limits
        self.on_wait: Callable[[], object] = lambda: None  # called now and then while waiting
        self._ahead: list[bytes] = []  # read while writing
        assert process.stderr is not None
        self._stderr_fd = process.stderr.fileno()
        self._exit = process.exit_descriptor()
        self.looks = _LOOKS
        self.is_whole = GTP.is_whole  # of the protocol
        self._is_awake = False  # it has written; until then, and when it ends, it takes its time
        self._replies_alone = [self.child_fd]  # what is ready nearly always
        self._poll = select.poll()
        for descriptor in (self.child_fd, self._stderr_fd, self._exit):
            self._poll.register(descriptor, select.POLLIN)

    def read_nonblocking(self, size: int = 1, timeout: float | None = -1) -> bytes:
        """As pexpect wants it, but ``deadline`` is the only time limit."""
        if self._ahead:
            return self._ahead.pop(0)
        self._check()
        while self.child_fd not in self._wait_until_ready():
            self._check()
        return self._read(size)

    def read_at_once(self) -> bytes:
        """Return what one read has of whole replies, as nearly always; else nothing.

        What it has then is kept for pexpect to put together.
        """
        if self._ahead or self._before.tell():
            return b""
        data = self.read_nonblocking(_READ_SIZE)
        self._is_awake = True
        if self.is_whole(data):
            return data
        self._ahead.append(data)
        return b""

    def _read(self, size: int) -> bytes:
        """Return the allowed part of the output: chance must not decide which replies count."""
        data: bytes = SpawnBase.read_nonblocking(self, size)
        before, self._left = self._left, self._left - len(data)
        if self._left >= 0:
            return data
        allowed = data[: max(0, before)]
        if not allowed:
            self._check()
        return allowed

    @property
    def written(self) -> int:
        """Bytes that count against the limit of a file, also of its engines before."""
        return self._most - self._left

    def _check(self) -> None:
        if self._left < 0:
            allowed = self._limits.max_total_output
            raise too_much(allowed - self._left, allowed, "all output")

    @property
    def waiting(self) -> bytes:
        """Output not handed on yet."""
        return bytes(self._before.getvalue()) + b"".join(self._ahead)

    def gather(self, seconds: float, max_ahead: int) -> None:
        """Take what has come, or begins to come within so many seconds.

        Raises:
            EngineError: it is more than ``max_ahead`` bytes.
        """
        poll = select.poll()
        poll.register(self.child_fd, select.POLLIN)
        while any(event & select.POLLIN for _, event in poll.poll(1000 * seconds)):
            self._ahead.append(self._read(_READ_SIZE))
            seconds = 0.0
            if (written := sum(map(len, self._ahead))) > max_ahead:
                raise too_much(written, max_ahead, "unasked output")

    def write_all(self, descriptor: int, data: bytes, max_ahead: int) -> None:
        """Write what did not fit into the pipe, and read meanwhile: else both sides may wait.

        Raises:
            EngineError: the engine wrote more than ``max_ahead`` bytes instead of reading.
        """
        self._poll.register(descriptor, select.POLLOUT)
        try:
            while data:
                ready = self._wait_until_ready()
                if descriptor in ready:
                    data = data[os.write(descriptor, data) :]
                if self.child_fd in ready:
                    self._ahead.append(self._read(_READ_SIZE))
                if (written := sum(map(len, self._ahead))) > max_ahead:
                    raise too_much(written, max_ahead, "unread input")
        finally:
            self._poll.unregister(descriptor)

    def read_to_exit(self, patience: float, keep: int) -> bytes:
        """Wait for the end of the process; return the first ``keep`` bytes it still wrote.

        ``patience``: seconds after which it is no longer waited for.
        """
        self.deadline = self._clock.now() + patience
        self._is_awake = False
        data = b"".join(self._ahead)
        with contextlib.suppress(TIMEOUT, EOF, StarvedError):
            while not (self.exited and self.flag_eof) and self._clock.now() < self.deadline:
                if self.child_fd in self._wait_until_ready():
                    try:
                        more = SpawnBase.read_nonblocking(self, _READ_SIZE)
                        data += more[: max(0, keep - len(data))]
                    except EOF:  # from now on the descriptor would always be ready
                        self._poll.unregister(self.child_fd)
        return data

    def stirs(self) -> bool:
        """Return whether anything has come that was not read, or the process has ended."""
        return bool(self._poll.poll(0))

    def drain_stderr(self) -> None:
        """Take what is still in the pipe; others that hold its other end may keep writing."""
        os.set_blocking(self._stderr_fd, False)
        with contextlib.suppress(OSError):
            while (data := os.read(self._stderr_fd, _READ_SIZE)) and not self.stderr.overflows:
                self.stderr.add(data)

    def close(self) -> None:
        """Forget the process; the caller owns the stream."""
        os.close(self._exit)

    def _wait_until_ready(self) -> list[int]:
        """Wait for something to happen; return the descriptors that are ready.

        Raises:
            TIMEOUT: the deadline has passed.
        """
        self._clock.wait_until(self.deadline)
        events = (self.looks and self._is_awake and self._look()) or self._sleep()
        ready = [descriptor for descriptor, _ in events]
        if ready != self._replies_alone:
            # Do what is to be done at once when more than a reply has come.
            if self._stderr_fd in ready:
                data = os.read(self._stderr_fd, _READ_SIZE)
                self.stderr.add(data)
                self._left -= len(data)  # anyone who waits for a reply will find out
                if not data:
                    self._poll.unregister(self._stderr_fd)
                # Under a flood poll is never empty-handed. What else came may be from before.
                if ready == [self._stderr_fd] and self._clock.now() > self.deadline:
                    raise TIMEOUT("")
            if self._exit in ready:
                self._poll.unregister(self._exit)
                self.exited = True
                self.deadline = min(self.deadline, self._clock.now() + _GRACE)
        return ready

    def _look(self) -> list[tuple[int, int]]:
        """Look for events without sleeping: nothing after some 50 microseconds.

        To be put to sleep and woken on another core takes longer than many an answer. Where no
        core is free, anyone who looks takes it from an engine.
        """
        look = self._poll.poll
        if events := look(0):
            return events
        begun = monotonic()
        for _ in range(self.looks):
            os.sched_yield()  # if there is one core only, it is the engine's turn
            if events := look(0):
                return events
            if monotonic() > begun + _LONGEST_LOOK:  # it is somebody else's, on a busy machine
                break
        return []

    def _sleep(self) -> list[tuple[int, int]]:
        poll, is_endless = self._poll, self.deadline == NEVER
        while not (events := poll.poll(_NAP) if is_endless else self._clock.sleep(poll)):
            self.on_wait()
            if not is_endless and self._clock.is_over():
                if events := poll.poll(0):  # it may have answered while we could not look
                    break
                raise TIMEOUT("")
        return events


def too_much(size: int, maximum: int, name: str) -> EngineError:
    """Return the error of an engine that wrote more than it may; ``name``: of the limit."""
    limit = Limit(name, size, maximum, "bytes")
    return _make_error(FailureKind.OUTPUT, "went over its ", limit)


def _make_error(kind: FailureKind, text: str, limit: Limit | None = None) -> EngineError:
    return EngineError(Failure(kind, text, limit=limit))


class ProcessEnd(NamedTuple):
    """End of an engine's process."""

    status: int | None  # as Popen.returncode; None if it had to be ended
    leftovers: list[str]  # names of the processes it left behind
    output: bytes  # what it still wrote


class EngineProcess:
    """A started engine: bytes in, bytes out, and its end; ``output`` has what it writes.

    The message of its :class:`~harness.core.errors.EngineError` follows the words "The engine".
    """

    def __init__(  # noqa: PLR0913 - how it is started, each by the caller's own choice
        self,
        launcher: Launcher,
        words: list[str],
        folder: str,
        limits: Limits,
        pty: bool = False,
        *,
        initial_size: int = 0,
        crowded: bool = False,
        protocol: Protocol = GTP,
    ) -> None:
        """Start the engine.

        ``initial_size``: bytes that another one wrote for the same file. ``crowded``: other
        engines are at work on every core. ``protocol``: it tells where replies end.
        """
        self._launcher = launcher
        self._max_output = limits.max_output or sys.maxsize
        self._process, self._stdout = _start(launcher, words, folder, pty)
        assert self._process.stdin is not None
        self._stdin = self._process.stdin
        self._stdin_fd = self._stdin.fileno()
        os.set_blocking(self._stdin_fd, False)
        self.clock = EngineClock(self._process.processes)
        self.output = EngineOutput(self._process, self._stdout, limits, self.clock, initial_size)
        self.output.is_whole = protocol.is_whole
        if crowded:
            self.sleep_at_once()
        self._protocol = protocol
        self._searcher = _Searcher(self._max_output, protocol)
        self._deaf = False  # closed its input
        self.unfinished = b""  # what came after the last reply, once read() has raised

    def write(self, data: bytes, deadline: float) -> None:
        """Send ``data``. That the engine has stopped reading shows in the next :meth:`read`."""
        self.clock.wait_until(deadline)
        try:
            sent = os.write(self._stdin_fd, data)
        except BlockingIOError:
            sent = 0
        except BrokenPipeError:
            self._deaf = True
            return
        if sent < len(data):
            self.output.deadline = deadline
            try:
                self.output.write_all(self._stdin_fd, data[sent:], self._max_output)
            except BrokenPipeError:
                self._deaf = True
            except EOF:
                raise self._explain_end() from None
            except TIMEOUT:
                raise self._silent() from None

    def read(self, deadline: float) -> bytes:
        """Return what has come up to the end of the last reply, waiting for one if need be.

        ``deadline``: of :attr:`clock`.

        Raises:
            EngineError: TIMEOUT, OUTPUT, DIED or PROTOCOL.
        """
        output, searcher = self.output, self._searcher
        if self._deaf or output.exited:
            deadline = min(deadline, self.clock.now() + _GRACE)
        output.deadline = deadline
        try:
            if data := output.read_at_once():
                return data
        except EOF:
            raise self._explain_end() from None
        except TIMEOUT:
            raise self._silent() from None
        searcher.begin()
        found = output.expect_loop(searcher, None)
        if found == searcher.FOUND:
            return bytes(output.before + output.after)
        if found == searcher.TOO_MUCH:
            raise too_much(searcher.seen, self._max_output, "one reply")
        self.unfinished = output.before
        if found == searcher.MODEM:
            self.unfinished = output.after
            raise _make_error(FailureKind.PROTOCOL, _MODEM)
        raise self._explain_end() if found == searcher.eof_index else self._silent()

    def sleep_at_once(self) -> None:
        """Do not look for replies before going to sleep: others have something to do."""
        self.output.looks = _LOOKS_IN_A_CROWD

    def sit_beside(self) -> None:
        """Continue on the engine's processor, where one of the two always waits for the other.

        On two that are idle in turn, each command would have to wake one: on a virtual machine
        that takes longer than ten answers. Nothing keeps either there while it thinks.
        """
        with contextlib.suppress(OSError, ValueError, IndexError):
            move_beside(self._process.processes()[0])

    def take(self, seconds: float) -> bytes:
        """Return what comes within so many seconds, up to the last reply's end; perhaps nothing.

        An engine that is kept from the processor meanwhile may still do what it is about to do.

        Raises:
            EngineError: OUTPUT.
        """
        self.output.gather(seconds, self._max_output)
        if seconds:
            ends = self.clock.own() + _RESTLESS
            while self.clock.own() < ends and not are_asleep(self._process.processes()):
                self.output.gather(_GLANCE, self._max_output)
                self.clock.look()
        data = b""
        while self._protocol.end(self.output.waiting):
            data += self.read(self.clock.now())
        return data

    def finish(self, patience: float) -> ProcessEnd:
        """Close the engine's input, wait ``patience`` seconds for its end, then end it."""
        with contextlib.suppress(OSError):
            self._stdin.close()
        output = self.output.read_to_exit(patience, self._max_output)
        status = self._process.status()
        leftovers = self._launcher.end(self._process)
        self.output.drain_stderr()
        self.output.close()
        for stream in (self._stdout, self._process.stderr):
            assert stream is not None
            stream.close()
        return ProcessEnd(status, leftovers, output)

    def _silent(self) -> EngineError:
        if self.output.exited:
            return self._explain_end()
        if self._deaf:
            return _make_error(FailureKind.PROTOCOL, "closed its standard input but runs on")
        return _make_error(FailureKind.TIMEOUT, "did not answer in time")

    def _explain_end(self) -> EngineError:
        self.output.read_to_exit(_GRACE, 0)
        self.output.drain_stderr()
        if (broken := self._process.find_end_cause()) is not None:
            return broken
        status = self._process.status()
        if status is None:
            return _make_error(FailureKind.PROTOCOL, "closed its standard output but runs on")
        return _make_error(FailureKind.DIED, describe_end(status))


def _start(
    launcher: Launcher, words: list[str], folder: str, pty: bool
) -> tuple[StartedEngine, IO[bytes]]:
    """Start an engine; return its process and the stream of its replies."""
    if not pty:
        process = launcher.start(words, folder)
        assert process.stdout is not None
        return process, process.stdout
    # Only the output need be a terminal for an engine to flush it. Input stays a pipe: no echo,
    # no cut lines.
    import tty

    master, terminal = os.openpty()
    tty.setraw(terminal)
    stream = io.FileIO(master)
    try:
        return launcher.start(words, folder, terminal), stream
    except EngineError:
        stream.close()
        raise
    finally:
        os.close(terminal)
