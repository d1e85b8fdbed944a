"""The CPU time of everything that a process starts, counted or estimated."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import time
from collections.abc import Callable

from harness.processes import read
from harness.sandbox import landlock
from harness.typed import NamedTuple

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
        return landlock.perf_event_open(wanted, _CLOSE_ON_EXEC)
    except OSError:
        return -1


# --- An estimate of CPU time that nobody counted, where no counter may be had --------------------
# Each look sees children that live just then. One that is gone at the next look has either been
# waited for, so that its parent's figures have grown, or its time is lost. A child seen at a look
# stands for the whole pause since the look before: on average over many looks that is the time of
# such children, however short they lived. Time that the parents' figures explain is taken off.


class ProcessSample(NamedTuple):
    """One process at a look: times in seconds."""

    own: float  # its own
    waited: float  # of children that it has waited for
    busy: float  # the part of its life for which it was on a processor, 0 to 1


class Estimate:
    """What has been lost so far."""

    def __init__(self) -> None:
        self._before: dict[int, ProcessSample] = {}
        self._charged: dict[int, float] = {}  # what a living process stands for
        self._lost = 0.0

    def look(self, now: dict[int, ProcessSample], pause: float) -> float:
        """Take in a look that comes ``pause`` seconds after the one before; return the loss."""
        for pid, one in now.items():
            self._charged[pid] = self._charged.get(pid, 0.0) + pause * one.busy
        gone = self._before.keys() - now.keys()
        for pid in gone:
            last = self._before[pid]
            self._lost += max(self._charged.pop(pid), last.own) + last.waited
        known = now.keys() & self._before.keys()
        self._lost -= sum(now[pid].waited - self._before[pid].waited for pid in known)
        self._before = now
        return max(0.0, self._lost)


def share(task: int) -> float:
    """Return the part of its time in which a running task has had a processor, 0 to 1.

    ``/proc/PID/schedstat``: nanoseconds on a processor, waiting for one, and how often.
    """
    with contextlib.suppress(OSError, ValueError, ZeroDivisionError):
        ran, waited = map(int, read(f"/proc/{task}/schedstat").split()[:2])
        return ran / (ran + waited)
    return 1.0
