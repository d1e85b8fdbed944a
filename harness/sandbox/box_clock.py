"""The CPU time of everything that a process starts, however it ends.

What ``/proc`` and ``wait`` tell is lost with a child that nobody waits for: the kernel forgets the
time of one whose parent ignores SIGCHLD. A performance counter that children inherit forgets
nothing. It is the kernel's clock of tasks, not of the processor. Root may use it, others where
``kernel.perf_event_paranoid`` is 2 or less. Elsewhere a control group of version 2 counts as well,
or the time of such children is estimated (:mod:`harness.sandbox.estimate`).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import time
from collections.abc import Callable

from harness.sandbox import kernel

_TYPE_SOFTWARE, _TASK_CLOCK = 1, 1
_SIZE = 112  # of struct perf_event_attr, version 5
_INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR = 1 << 1, 1 << 5, 1 << 6
_CLOSE_ON_EXEC = 8


class BoxClock:
    """Counts from now on, what this process itself takes left out. Close it when done.

    ``group``: returns the time of this process's control group, None if that is not counted.
    """

    def __init__(self, group: Callable[[], float | None] = lambda: None) -> None:
        self._counter = _open()
        self._group = group
        self._before = self._total()
        self._own = time.process_time()

    def seconds(self) -> float | None:
        """Return the time that all we have started since has taken; None if it is not known."""
        total = self._total()
        if total is None or self._before is None:
            return None
        return max(0.0, total - self._before - (time.process_time() - self._own))

    def _total(self) -> float | None:
        with contextlib.suppress(OSError):
            if self._counter >= 0:
                (nanoseconds,) = struct.unpack("<Q", os.read(self._counter, 8))
                return float(nanoseconds / 1e9)
        return self._group()

    def close(self) -> None:
        """Count no more."""
        if self._counter >= 0:
            os.close(self._counter)
            self._counter = -1


def _open() -> int:
    """Return a counter of this process and its children to come, -1 if that is not allowed.

    Kernel time is excluded by name, which those without privilege must; this clock has it anyway.
    """
    flags = _INHERIT | _EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR
    attribute = struct.pack("<IIQQQQQ", _TYPE_SOFTWARE, _SIZE, _TASK_CLOCK, 0, 0, 0, flags)
    wanted = ctypes.create_string_buffer(attribute, _SIZE)
    try:
        return kernel.perf_event_open(wanted, _CLOSE_ON_EXEC)
    except OSError:
        return -1
