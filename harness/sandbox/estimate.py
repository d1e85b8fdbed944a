"""An estimate of CPU time that nobody counted, where no counter may be had.

Each look sees children that live just then. One that is gone at the next look has either been
waited for, so that its parent's figures have grown, or its time is lost. A child seen at a look
stands for the whole pause since the look before: on average over many looks that is the time of
such children, however short they lived. Time that the parents' figures explain is taken off.
"""

from __future__ import annotations

import contextlib

from harness.processes import read
from harness.typed import NamedTuple


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
