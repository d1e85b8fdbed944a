"""A started program where the system has no descriptors of processes, as macOS.

There :func:`os.pidfd_open` is missing, and in Python 3.11 ``waitid(2)`` too: nothing that can be
polled tells of a process's end, and none can be looked at without being collected. So a thread
waits for each. What has ended is collected at once, and its id may be another's from then on; what
it left in its session is ended a moment later, which is too soon for that to happen.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from threading import Thread

from harness import signals
from harness.engine.pidfd_process import PlainEngine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO


class WatchedEngine(PlainEngine):
    """A process that a thread waits for; see :class:`~harness.engine.launch.StartedEngine`."""

    def __init__(
        self,
        words: list[str],
        folder: str,
        output: int | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """Start it, with ``variables`` or else ours; :class:`OSError` if that cannot be done."""
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

    def _watch(self, told: int) -> None:
        self._process.wait()
        os.close(told)

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
