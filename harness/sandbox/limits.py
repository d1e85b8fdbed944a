"""How much of the machine one engine may use, and what it means to use more."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterable

from harness.options import GIB, KIB, MIB, BoxLimits
from harness.typed import NamedTuple


class Hit(NamedTuple):
    """A limit that was reached: the reason why an engine was ended."""

    limit: str  # time, memory, processes or disk
    reached: float
    allowed: float
    unit: str  # seconds, bytes, processes or files

    def __str__(self) -> str:
        """Such as ``memory limit: 1.02 GiB used, 1 GiB allowed``."""
        used, allowed = (_figure(count, self.unit) for count in (self.reached, self.allowed))
        return f"{self.limit} limit: {used} used, {allowed} allowed"


def _figure(count: float, unit: str) -> str:
    if unit == "seconds":
        return f"{count:.4g} s of processor time"
    if unit == "bytes":
        return _bytes(count)
    return f"{count:,.0f} {unit}"


def _bytes(count: float) -> str:
    for unit, size in (("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count:.0f} bytes"


# For /proc/PID/oom_score_adj: when the machine runs out of memory, an engine goes first.
FIRST_TO_DIE = b"500"


_TIMERS = 1024  # and signals that wait, of all processes of the user


def rlimits(limits: BoxLimits, threads: int) -> list[tuple[int, int, int]]:
    """Return (resource, soft, hard) for each limit that the kernel holds for a process.

    ``threads``: RLIMIT_NPROC, of which much depends on where it is set: it counts all processes
    of the same user in the same user namespace, and does not bind root.
    """
    cpu = int(limits.cpu + 1)  # whole seconds; the poll looks at the tree's sum
    wanted = [
        (resource.RLIMIT_AS, limits.address_space, limits.address_space),
        (resource.RLIMIT_CPU, cpu if limits.cpu else 0, cpu + 1),
        (resource.RLIMIT_NOFILE, limits.open_files, limits.open_files),
        (resource.RLIMIT_FSIZE, limits.file_size, limits.file_size),
        (resource.RLIMIT_NPROC, threads, threads),
    ]
    none = [
        (kind, 0, 0)
        for kind in (resource.RLIMIT_CORE, resource.RLIMIT_MSGQUEUE, resource.RLIMIT_RTPRIO)
    ]
    timers = (resource.RLIMIT_SIGPENDING, _TIMERS, _TIMERS)
    return [*(triple for triple in wanted if triple[1]), *none, timers]


def set_limits(pid: int, wanted: Iterable[tuple[int, int, int]]) -> None:
    """Set the limits of a process (0: this one) as far as its present ones allow."""
    for kind, soft, hard in wanted:
        most = resource.prlimit(pid, kind)[1]
        ceiling = sys.maxsize if most == resource.RLIM_INFINITY else most
        resource.prlimit(pid, kind, (min(soft, ceiling), min(hard, ceiling)))
