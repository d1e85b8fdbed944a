"""The state of a running service: can it do its work, how far is it behind; as metrics, too."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple

from harness.errors import HarnessError
from harness.service import machines, monitoring
from harness.service.monitoring import MEASURES, Found, Histogram, Labels, Measure
from harness.service.records import FAULT
from harness.service.settings import Settings
from harness.service.storage import people, queue
from harness.service.web.service import Service

LEAST_FREE = 1 << 30  # bytes of the disk with the data
LONGEST_WAIT = 1800.0  # seconds that a job may wait before somebody should look


class State(NamedTuple):
    """The state of a service at a moment."""

    trouble: str  # why the database cannot be used; else empty
    jobs: dict[tuple[str, str], int]  # by kind and state
    oldest: float  # seconds that the job which waits longest has waited; 0: none waits
    letters: dict[str, int]  # mails, by state
    workers: int
    free: int  # bytes
    cluster: str = ""  # why no engine can run on the cluster; empty if they can, or without one

    @property
    def faults(self) -> int:
        """Return how many jobs a person should look at."""
        return sum(count for (_, state), count in self.jobs.items() if state == FAULT)


def state(service: Service) -> State:
    """Return the state of a service."""
    jobs: dict[tuple[str, str], int] = {}
    mails: dict[str, int] = {}
    trouble, oldest = "", 0.0
    try:
        with service.database.reading() as db:
            jobs = queue.census(db)
            since, mails = queue.waiting_since(db), people.count_letters(db)
        oldest = max(time.time() - since, 0.0) if since else 0.0
    except HarnessError as error:
        trouble = str(error)
    workers, free = _workers(service.settings), _free(service.settings)
    cluster = machines.complaint(service.settings)
    return State(trouble, jobs, oldest, mails, workers, free, cluster)


def get_figures(service: Service) -> Found:
    """Return what this process counted and, if the database can be used, what workers did."""
    found = dict(service.requests.list_counts())
    with contextlib.suppress(HarnessError), service.database.reading() as db:
        found.update(queue.load_figures(db))
    return found


def _workers(settings: Settings) -> int:
    return monitoring.count_workers(settings.workers_folder)


def _free(settings: Settings) -> int:
    return shutil.disk_usage(settings.data).free


def complaints(found: State) -> Iterator[str]:
    """Yield a sentence for each reason why a service is not ready. Jobs at fault are none."""
    if found.trouble:
        yield "the database cannot be used"  # the log tells why: anybody may ask for this
    if not found.workers:
        yield "no worker lives"
    if found.cluster:
        yield found.cluster
    if found.oldest > LONGEST_WAIT:
        yield f"a job has waited for {found.oldest / 60:.0f} minutes"
    if found.free < LEAST_FREE:
        yield f"the disk is almost full: {found.free / 1e6:.0f} MB are left"


# --- The state of a service for Prometheus, in its text format (version 0.0.4) -------------------
# Queue, attempts and waits are rows that all processes share, and requests are counted in the one
# process that answers: no library is needed to add up the figures of several processes.


TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PREFIX = "gtp_harness"
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def metrics_text(state: State, counted: Found) -> str:
    """Return a state, and what was counted, as Prometheus reads them."""
    return "".join(f"{line}\n" for line in (*_gauges(state), *_histograms(counted)))


def _gauges(found: State) -> Iterator[str]:
    jobs: dict[Labels, float] = {
        (("kind", kind), ("state", state)): float(count)
        for (kind, state), count in sorted(found.jobs.items())
    }
    yield from _gauge("up", "Whether the database can be used.", {(): float(not found.trouble)})
    yield from _gauge("jobs", "Jobs of the queue.", jobs)
    yield from _gauge(
        "oldest_waiting_seconds", "How long the first job has waited.", {(): found.oldest}
    )
    mails: dict[Labels, float] = {
        (("state", state),): float(count) for state, count in sorted(found.letters.items())
    }
    yield from _gauge("mails", "Mails with links.", mails)
    yield from _gauge("workers", "Workers that live.", {(): float(found.workers)})
    yield from _gauge(
        "disk_free_bytes", "Free bytes of the disk with the data.", {(): float(found.free)}
    )


def _gauge(name: str, told: str, values: Mapping[Labels, float]) -> Iterator[str]:
    yield from _head(name, told, "gauge")
    for labels, value in values.items():
        yield _sample(name, labels, value)


def _histograms(counted: Found) -> Iterator[str]:
    for measure in MEASURES:
        yield from _head(measure.name, measure.told, "histogram")
        for (name, labels), histogram in sorted(counted.items()):
            if name == measure.name:
                yield from _histogram(measure, labels, histogram)


def _histogram(measure: Measure, labels: Labels, found: Histogram) -> Iterator[str]:
    ends = (*(f"{bound:g}" for bound in measure.bounds), "+Inf")
    for end, count in zip(ends, accumulate(found.counts), strict=True):
        yield _sample(f"{measure.name}_bucket", (*labels, ("le", end)), count)
    yield _sample(f"{measure.name}_sum", labels, found.total)
    yield _sample(f"{measure.name}_count", labels, sum(found.counts))


def _head(name: str, told: str, kind: str) -> Iterator[str]:
    yield f"# HELP {_PREFIX}_{name} {told}"
    yield f"# TYPE {_PREFIX}_{name} {kind}"


def _sample(name: str, labels: Labels, value: float) -> str:
    inner = ",".join(f'{key}="{label.translate(_ESCAPES)}"' for key, label in labels)
    return f"{_PREFIX}_{name}{f'{{{inner}}}' if inner else ''} {value:.17g}"
