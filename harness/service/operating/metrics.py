"""The state of a service for Prometheus, in its text format (version 0.0.4).

Queue, attempts and waits are rows that all processes share, and requests are counted in the one
process that answers: no library is needed to add up the figures of several processes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate

from harness.service.counters import MEASURES, Found, Histogram, Labels, Measure
from harness.service.operating.state import State

TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PREFIX = "gtp_harness"
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def text(state: State, counted: Found) -> str:
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
