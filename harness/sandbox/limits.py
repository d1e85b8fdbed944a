"""Limits on how much of the machine one engine may use."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterable

from harness.options import BoxLimits

# For /proc/PID/oom_score_adj: when the machine runs out of memory, an engine goes first.
FIRST_TO_DIE = b"500"


_TIMERS = 1024  # and signals that wait, of all processes of the user


def rlimits(limits: BoxLimits, threads: int) -> list[tuple[int, int, int]]:
    """Return (resource, soft, hard) for each limit that the kernel holds for a process.

    ``threads``: RLIMIT_NPROC. Its effect depends on where it is set: it counts all processes of
    the same user in the same user namespace, and does not bind root.
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
