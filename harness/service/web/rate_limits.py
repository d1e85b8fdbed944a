"""How often somebody may ask, and how much at a time.

A bucket for each person is filled as time goes by; requests under way are counted by person, too.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable

_MOST = 10_000  # buckets that are kept, before full ones are thrown away


class RequestsUnderWay:
    """Counts what people have under way in this process. It may be shared by threads."""

    def __init__(self, most: int) -> None:
        """``most``: of one person at a time."""
        self.most = most
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def begin(self, person: str) -> bool:
        """Count one more; False, and it does not count: there are as many as may be.

        ``person``: the ID; if empty (nobody signed in), nothing is counted.
        """
        with self._lock:
            if person and self._counts[person] >= self.most:
                return False
            self._counts[person] += 1
            return True

    def end(self, person: str) -> None:
        """Count one less; for each that began."""
        with self._lock:
            self._counts[person] -= 1
            if not self._counts[person]:
                del self._counts[person]


class Rates:
    """Counts requests in this process. It may be shared by threads."""

    def __init__(self, each_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        """``each_minute``: requests of one person, all at once or one after the other."""
        self._most = float(each_minute)
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}  # requests, and when they were counted
        self._lock = threading.Lock()

    def take(self, key: str) -> int:
        """Count a request; return 0, or after how many seconds it may be tried again."""
        now = self._clock()
        with self._lock:
            left = self._now(key, now)
            if left < 1:
                return math.ceil((1 - left) * 60 / self._most)
            if len(self._left) >= _MOST:
                self._forget_full(now)
            self._left[key] = (left - 1, now)
        return 0

    def _now(self, key: str, now: float) -> float:
        left, then = self._left.get(key, (self._most, now))
        return min(self._most, left + (now - then) * self._most / 60)

    def _forget_full(self, now: float) -> None:
        self._left = {
            key: value for key, value in self._left.items() if self._now(key, now) < self._most
        }
