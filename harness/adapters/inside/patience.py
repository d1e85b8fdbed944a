"""A limit on the clock that grows by what a program waited for a processor."""

from __future__ import annotations

import os
import time

_MOST = 10  # times the limit


class Patience:
    """How long a program, with all it started, is still waited for.

    What the thread that waited most for a processor waited comes on top of the limit: the second
    figure of ``/proc/PID/task/TID/schedstat``. Where that cannot be read, nothing does.
    """

    def __init__(self, program: int, seconds: float) -> None:
        """Let the time begin. ``program``: its process id."""
        self._program = program
        self._seconds = seconds
        self._begun = time.monotonic()
        self._before = _waits(program)

    def left(self) -> float:
        """Return the seconds that are left, 0 if there are none."""
        left = self._begun + self._seconds - time.monotonic()
        if left <= 0:  # it is looked at only then
            left += min(self._waited(), self._seconds * _MOST)
        return max(0.0, left)

    def _waited(self) -> float:
        now = _waits(self._program)
        return max((now[one] - self._before.get(one, 0.0) for one in now), default=0.0)


def _waits(program: int) -> dict[str, float]:
    """Return for each thread how many seconds it waited for a processor."""
    found: dict[str, float] = {}
    waiting = [str(program)]
    while waiting:
        tasks = f"/proc/{waiting.pop()}/task"
        try:
            for thread in os.listdir(tasks):  # noqa: PTH208 - a name is all that is wanted
                found[thread] = int(_words(f"{tasks}/{thread}/schedstat")[1]) / 1e9
                waiting += _words(f"{tasks}/{thread}/children")
        except (OSError, IndexError, ValueError):
            continue
    return found


def _words(path: str) -> list[str]:
    with open(path, encoding="ascii") as file:  # noqa: PTH123 - as all of /proc here
        return file.read().split()
