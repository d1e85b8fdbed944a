"""Monitoring: the log, counts and durations, and which workers are alive."""

import contextlib
import json
import os
import socket
import sys
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from harness.core import signals
from harness.service.settings import Settings

STANDARD_ERROR = "-"


def tell(settings: Settings, what: str, **facts: object) -> None:
    """Write a line. A log that cannot be written does not stop the service."""
    now = time.time()
    moment = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03}Z"
    said = {"at": moment, "what": what, "process": os.getpid(), **facts}
    line = f"{json.dumps(said, ensure_ascii=True)}\n"
    if settings.log == STANDARD_ERROR:
        print(line, end="", file=sys.stderr, flush=True)
        return
    with contextlib.suppress(OSError):
        append_log(settings.logs / f"{moment[:10]}.jsonl", line)


def warn(settings: Settings, text: str, **facts: object) -> None:
    """Write down what an operator should see, and say it on standard error, too."""
    if settings.log != STANDARD_ERROR:
        print(f"gtp-harness serve: {text}", file=sys.stderr, flush=True)
    tell(settings, "trouble", text=text, **facts)


def append_log(path: Path, line: str) -> None:
    """Append to a file in one write, so that lines of several processes do not mix."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


# --- Counts and durations for operators: requests, attempts, jobs and their waits ----------------

Labels = tuple[tuple[str, str], ...]
_SOON = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.5, 5.0, 10.0)
_LONG = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)


class Measure(NamedTuple):
    """Something that is counted with its duration."""

    name: str
    description: str  # a sentence
    bounds: tuple[float, ...]  # seconds: the upper ends of the buckets except the last


REQUESTS = Measure("request_seconds", "Requests, until their answer is sent.", _SOON)
ATTEMPTS = Measure("attempt_seconds", "Case files run against submissions.", _LONG)
JOBS = Measure("job_seconds", "Jobs that workers had, by how they ended.", _LONG)
WAITS = Measure("job_wait_seconds", "From the putting in of a job to its last lease.", _LONG)
MEASURES = (REQUESTS, ATTEMPTS, JOBS, WAITS)


class Histogram(NamedTuple):
    """Counts by duration."""

    counts: tuple[int, ...]  # for each bucket, those in it alone
    total: float = 0.0  # seconds


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
            counts = [*known.counts]
            counts[bucket(measure, seconds)] += 1
            self._found[key] = Histogram(tuple(counts), known.total + seconds)

    def list_counts(self) -> Found:
        """Return what was counted until now."""
        with self._lock:
            return dict(self._found)


@contextlib.contextmanager
def meanwhile(do: Callable[[], object], every: float) -> Iterator[None]:
    """Call ``do`` each ``every`` seconds until the block ends; ``do`` must not raise."""
    is_over = threading.Event()

    def repeat() -> None:
        while not is_over.wait(every):
            do()

    thread = threading.Thread(target=repeat, daemon=True)
    with signals.hold_back():  # a thread takes no signal: it would come where we hold it back
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


# --- The living workers: each has a file in a folder of the data, and touches it every few seconds
# Machines that share the data see each other's workers so, too. Whether a worker does anything is
# told by the queue: this says only that its process is there.

BEAT = 5.0  # seconds
GONE = 30.0  # seconds without a sign after which a worker does not count


@contextlib.contextmanager
def announce_worker(folder: Path) -> Iterator[None]:
    """Show meanwhile that this process is a worker; ``folder``: of all of them."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in folder.glob("*"):
        if not _lives(path):
            path.unlink(missing_ok=True)
    own = folder / f"{socket.gethostname()}-{os.getpid()}"
    own.touch(0o600)

    def show() -> None:
        with contextlib.suppress(OSError):  # a full disk, perhaps: readiness tells of it
            own.touch(0o600)

    try:
        with meanwhile(show, BEAT):
            yield
    finally:
        own.unlink(missing_ok=True)


def count_workers(folder: Path) -> int:
    """Return how many workers live; nothing is changed."""
    return sum(map(_lives, folder.glob("*")))


def _lives(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime < GONE
    except FileNotFoundError:
        return False
