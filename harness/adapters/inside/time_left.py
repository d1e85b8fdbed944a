"""The time limit for a student's program: it counts only what the program itself does.

- While the program *computes*, its CPU time counts. Time waiting for a processor does not.
- While it *sleeps*, all time counts.
- Where we ourselves did not run (a stop signal, a busy machine), two looks count at most.

The CPU time is that of the process, not of what it starts. It is read by
clock_getcpuclockid(3), which needs no ``/proc``: a box of level 1 shows none.
"""

from __future__ import annotations

import contextlib
import time

_LOOK = 1.0  # seconds between two looks: on the busiest machine a program has a turn in them
_LOOKS = 4  # at least, in the limit
_COMPUTES = 0.005  # of the time: who uses less of the processor sleeps
_LEAST = 0.1  # of the time always counts, so that it ends
_SHORTEST = 0.01  # seconds


class TimeLeft:
    """The time that is left for a program."""

    def __init__(self, program: int, seconds: float) -> None:
        """Let the time begin. ``program``: its process id."""
        self._clock = ~program << 3 | 2
        self._left = seconds
        self.look = min(_LOOK, seconds / _LOOKS)  # seconds
        self._used = 0.0
        self._looked = time.monotonic()
        self._look()

    def left(self) -> float:
        """Return for how many seconds to wait until this is asked again; 0: no longer."""
        if time.monotonic() - self._looked >= min(self.look, self._left):
            self._look()
        return max(_SHORTEST, min(self.look, self._left)) if self._left > 0 else 0.0

    def _look(self) -> None:
        before, self._looked = self._looked, time.monotonic()
        used, self._used = self._used, self._processor_time()
        self._left -= count_seconds(self._looked - before, self._used - used, 2 * self.look)

    def _processor_time(self) -> float:
        with contextlib.suppress(OSError):
            return time.clock_gettime(self._clock)
        return self._used  # it has ended


def count_seconds(seconds: float, used: float, at_most: float) -> float:
    """Return how many of the seconds between two looks count.

    ``used``: seconds of CPU time in them. ``at_most``: seconds, if we did not run.
    """
    most = min(seconds, at_most)
    if used < _COMPUTES * most:
        return most
    return min(max(used, _LEAST * most), most)
