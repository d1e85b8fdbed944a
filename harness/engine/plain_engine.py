"""Started programs: by the descriptor that Linux has of a process, or without one, as on macOS."""

from __future__ import annotations

import os
from contextlib import suppress

from harness import signals
from harness.processes import descendants

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO

    from harness.errors import EngineError

# Of an engine that :func:`~harness.engine.launch.end_on_exit` collected with all others.
_ENDED_IN_A_HURRY = -9  # by SIGKILL, which Windows has not, where this module is loaded, too


class PlainEngine:
    """A process of our own: a :class:`~harness.engine.launch.StartedEngine`."""

    def __init__(
        self,
        words: list[str],
        folder: str,
        output: int | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """Start it, with ``variables`` or else ours; :class:`OSError` if that cannot be done."""
        from harness.engine.spawn import spawn  # which needs the C library of a Unix

        found = spawn(words[0], words, folder, output, variables)
        self.pid = found.pid
        self.stdin: IO[bytes] | None = found.stdin
        self.stdout: IO[bytes] | None = found.stdout
        self.stderr: IO[bytes] | None = found.stderr
        self._status: int | None = None  # once it was collected

    def status(self) -> int | None:
        """Return how it ended, without collecting it: its id stays its own."""
        if self._status is not None:
            return self._status
        try:
            end = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return _ENDED_IN_A_HURRY
        if end is None:
            return None
        return end.si_status if end.si_code == os.CLD_EXITED else -end.si_status

    def kill(self) -> None:
        """End it by force, and wait for its end."""
        os.kill(self.pid, signals.SIGKILL)
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)

    def collect(self) -> None:
        """Wait for its end; from then on its id may be another's."""
        if self._status is not None:
            return
        with signals.block_interrupts():
            try:
                self._status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            except ChildProcessError:
                self._status = _ENDED_IN_A_HURRY

    def processes(self) -> list[int]:
        """Return the ids of it and of all it started."""
        return [self.pid, *descendants(self.pid)]

    def exit_descriptor(self) -> int:
        """Return a descriptor of the process."""
        return os.pidfd_open(self.pid)

    def find_end_cause(self) -> EngineError | None:
        """Return None because nobody watches over it."""
        return None


class WatchedEngine(PlainEngine):
    """A process that a thread waits for, where the system has no descriptors of processes.

    On macOS :func:`os.pidfd_open` is missing, and in Python 3.11 ``waitid(2)`` too: nothing that
    can be polled tells of a process's end, and none can be looked at without being collected. What
    has ended is collected at once, and its id may be another's from then on; what it left in its
    session is ended a moment later, which is too soon for that to happen.
    """

    def __init__(
        self,
        words: list[str],
        folder: str,
        output: int | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """Start it, with ``variables`` or else ours; :class:`OSError` if that cannot be done."""
        import subprocess
        from threading import Thread

        self._process = subprocess.Popen(
            words,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if output is None else output,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=variables,
            start_new_session=True,
            preexec_fn=signals.set_defaults,  # noqa: PLW1509 - it calls nothing but the kernel
        )
        self.pid = self._process.pid
        self.stdin: IO[bytes] | None = self._process.stdin
        self.stdout: IO[bytes] | None = self._process.stdout
        self.stderr: IO[bytes] | None = self._process.stderr
        self._end, told = os.pipe()
        Thread(target=self._watch, args=[told], daemon=True).start()

    def _watch(self, descriptor: int) -> None:
        self._process.wait()
        os.close(descriptor)

    def status(self) -> int | None:
        """Return how it ended."""
        return self._process.returncode

    def kill(self) -> None:
        """End it by force, and wait for its end."""
        with suppress(ProcessLookupError):  # it ended by itself just now
            self._process.kill()
        self._process.wait()

    def collect(self) -> None:
        """Wait for its end."""
        self._process.wait()

    def exit_descriptor(self) -> int:
        """Return our end of a pipe; the other end closes when the process has ended."""
        return self._end
