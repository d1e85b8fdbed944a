"""The memory of all processes of a service over time, and whether it is flat.

A process has its proportional share: what several share is divided among them. Engines are left
out: they run in a sandbox, under a limit of their own, and end soon.
"""

from __future__ import annotations

import contextlib
import re
import statistics
import threading
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.service_waits import Report

Sample = dict[str, float]  # megabytes, by kind of process
KINDS = {
    "harness.service.app": "web",
    "harness.service.keeper": "keeper",
    "harness.service.jobs.worker": "workers",
}
PARENT = "parent"
GROWTH = 1.10  # from the second quarter of the time to the last
SAMPLES = 120


def measure(parent: int) -> Sample:
    """Return the memory of a service's processes, those of a kind together."""
    found = {PARENT: share(parent)}
    for pid in _children(parent):
        words = _words(pid)
        kind = next((name for module, name in KINDS.items() if module in words), "")
        if kind:
            found[kind] = found.get(kind, 0.0) + share(pid)
    return found


def share(pid: int) -> float:
    """Return the proportional megabytes of a process, or 0 if it has ended."""
    with contextlib.suppress(OSError):
        found = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)
        return int(found[1]) / 1024 if found else 0.0
    return 0.0


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(one) for task in tasks for one in (task / "children").read_text().split()]


def _words(pid: int) -> list[str]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return []


@contextlib.contextmanager
def watching(parent: int, seconds: float) -> Iterator[list[Sample]]:
    """Measure again and again while others ask, so often in so many seconds."""
    seen, ended = [measure(parent)], threading.Event()

    def watch() -> None:
        while not ended.wait(seconds / SAMPLES):
            with contextlib.suppress(OSError):  # a thread of it has just ended
                seen.append(measure(parent))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def flat(seen: list[Sample]) -> list[Report]:
    """Compare the last quarter of the time with the second, for each kind and all together.

    Flat: the average is at most a tenth more. The first quarter loads what all use afterwards.
    """
    kinds = [PARENT, *KINDS.values()]
    rows = {kind: [one.get(kind, 0.0) for one in seen] for kind in kinds}
    rows["all"] = [sum(one.values()) for one in seen]
    return [_flat(kind, values) for kind, values in rows.items()]


def _flat(kind: str, values: list[float]) -> Report:
    quarter = len(values) // 4
    if not quarter:
        return Report(False, f"memory of {kind}: measured {len(values)} times, too seldom")
    early = statistics.mean(values[quarter : 2 * quarter])
    late = statistics.mean(values[-quarter:])
    said = f"{early:.0f} MB in the second quarter, {late:.0f} MB in the last"
    said += f", {max(values):.0f} MB at most"
    return Report(0 < late <= GROWTH * early, f"memory of {kind}: {said}")
