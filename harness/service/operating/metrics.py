"""The state of a service for Prometheus, in its text format (version 0.0.4).

The queue is rows that all processes share, and one process answers: so each figure is read when it
is asked for, and no library is needed to add up those of several processes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.service.operating.state import State

TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PREFIX = "gtp_harness"
_Labels = tuple[tuple[str, str], ...]


def text(found: State) -> str:
    """Return a state as Prometheus reads it. Labels are words of ours, which need no escapes."""
    return "".join(f"{line}\n" for line in _lines(found))


def _lines(found: State) -> Iterator[str]:
    jobs: dict[_Labels, float] = {
        (("kind", kind), ("state", state)): float(count)
        for (kind, state), count in sorted(found.jobs.items())
    }
    yield from _gauge("up", "Whether the database can be used.", {(): float(not found.trouble)})
    yield from _gauge("jobs", "Jobs of the queue.", jobs)
    yield from _gauge(
        "oldest_waiting_seconds", "How long the first job has waited.", {(): found.oldest}
    )
    yield from _gauge("workers", "Workers that live.", {(): float(found.workers)})
    yield from _gauge(
        "disk_free_bytes", "Free bytes of the disk with the data.", {(): float(found.free)}
    )


def _gauge(name: str, told: str, values: Mapping[_Labels, float]) -> Iterator[str]:
    yield f"# HELP {_PREFIX}_{name} {told}"
    yield f"# TYPE {_PREFIX}_{name} gauge"
    for labels, value in values.items():
        inner = ",".join(f'{key}="{label}"' for key, label in labels)
        yield f"{_PREFIX}_{name}{f'{{{inner}}}' if inner else ''} {value:.17g}"
