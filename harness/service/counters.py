"""Counts and durations for operators: requests, attempts, jobs and their waits."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Mapping
from typing import NamedTuple

Labels = tuple[tuple[str, str], ...]
_SOON = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.5, 5.0, 10.0)
_LONG = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)


class Measure(NamedTuple):
    """Something that is counted with its duration."""

    name: str
    told: str  # a sentence
    bounds: tuple[float, ...]  # seconds: the upper ends of the buckets except the last


REQUESTS = Measure("request_seconds", "Requests, until their answer is sent.", _SOON)
ATTEMPTS = Measure("attempt_seconds", "Case files run against submissions.", _LONG)
JOBS = Measure("job_seconds", "Jobs that workers had, by how they ended.", _LONG)
WAITS = Measure("job_wait_seconds", "From the putting in of a job to its last lease.", _LONG)
MEASURES = (REQUESTS, ATTEMPTS, JOBS, WAITS)


class Histogram(NamedTuple):
    """How many took how long."""

    counts: tuple[int, ...]  # for each bucket, those in it alone
    total: float = 0.0  # seconds

    def with_one(self, place: int, seconds: float) -> Histogram:
        """Return it with one more in the bucket at a place."""
        counts = (*self.counts[:place], self.counts[place] + 1, *self.counts[place + 1 :])
        return Histogram(counts, self.total + seconds)


Found = Mapping[tuple[str, Labels], Histogram]  # by names of measures and labels


def bucket(measure: Measure, seconds: float) -> int:
    """Return the place of the bucket of a duration."""
    return bisect_left(measure.bounds, seconds)


def empty(measure: Measure) -> Histogram:
    """Return that nothing was counted yet."""
    return Histogram((0,) * (len(measure.bounds) + 1))


class Counter:
    """Counts in this process, whose threads may share it. Its end is the end of the counts."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, Labels], Histogram] = {}
        self._lock = threading.Lock()

    def count(self, measure: Measure, seconds: float, **labels: str) -> None:
        """Count one that took so long. Only so many values of a label may ever be given."""
        key = (measure.name, tuple(labels.items()))
        with self._lock:
            known = self._found.get(key) or empty(measure)
            self._found[key] = known.with_one(bucket(measure, seconds), seconds)

    def list_counts(self) -> Found:
        """Return what was counted until now."""
        with self._lock:
            return dict(self._found)
