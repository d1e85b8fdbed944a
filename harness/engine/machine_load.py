"""How much an engine is slowed down by what else its machine computes."""

from __future__ import annotations

import os
from contextlib import suppress
from glob import glob
from time import monotonic

_APART = 1.2  # of engines on cores of their own: they share caches, memory and the clock's speed
_WINDOW = 1.0  # seconds between two looks at the machine
_QUIET = 0.25  # of a core: with less than that at work, an engine is alone
_CORES = "/sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list"
_BUSY = (1, 2, 3, 6, 7)  # columns of the first line of /proc/stat: user, nice, system, interrupts


class MachineLoad:
    """The load beside an engine, read once a second; an unknown load counts as a full one."""

    def __init__(self, beside: float) -> None:
        """``beside``: how much longer an engine may take beside others, on any machine."""
        self._beside = self._found = beside if _shares_cores() else min(beside, _APART)
        self._ran = 0.0  # seconds that the engine computed since the last look
        self._looked, self._busy = monotonic(), busy_seconds()

    def slowdown(self, ran: float) -> float:
        """Return how many seconds of computing count as one; ``ran``: those since the last."""
        self._ran += ran
        now = monotonic()
        if now - self._looked >= _WINDOW:
            before, self._busy = self._busy, busy_seconds()
            others = self._busy - before - self._ran
            is_alone = abs(others) < _QUIET * (now - self._looked)
            self._found = 1.0 if is_alone else self._beside
            self._looked, self._ran = now, 0.0
        return self._found


def busy_seconds() -> float:
    """Return how long all processors were at work since the machine was started; nan: unknown."""
    with suppress(OSError, ValueError, IndexError), open("/proc/stat", encoding="ascii") as file:
        ticks = file.readline().split()
        return sum(int(ticks[column]) for column in _BUSY) / os.sysconf("SC_CLK_TCK")
    return float("nan")


def _shares_cores() -> bool:
    """Whether two of the processors are halves of one core, as far as the system tells."""
    found = []
    for path in glob(_CORES):
        with suppress(OSError), open(path, encoding="ascii") as file:
            found.append(file.read().strip())
    return not found or not all(text.isdigit() for text in found)
