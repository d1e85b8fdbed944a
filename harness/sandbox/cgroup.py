"""Control groups: the kernel's own count of a tree's memory and processes, where we may use it.

The box server enters a group of its own once, before any engine: to move a process costs up to
10 ms, to be born in a group costs nothing. Its own memory is therefore in the count.
"""

from __future__ import annotations

import contextlib
import os
import time

from harness.core.options import Limit
from harness.core.typed import NamedTuple
from harness.sandbox.plan import Watched

_OWN_MEMORY = 24 << 20  # bytes that the server and a box's own processes take
_OWN_PROCESSES = 8
_UNLIMITED = 1 << 62


class _Version(NamedTuple):
    """The files of one version of control groups."""

    limit: str
    swap: str  # a limit that includes, or is of, the swapped
    peak: str  # that writing to it resets; "": it cannot be reset
    events: str  # has a line "oom_kill N"


_V1 = _Version(
    "memory.limit_in_bytes",
    "memory.memsw.limit_in_bytes",
    "memory.max_usage_in_bytes",
    "memory.oom_control",
)
_V2 = _Version("memory.max", "memory.swap.max", "", "memory.events")


class ControlGroups:
    """The groups of one server: none, one for each hierarchy of version 1, or one of version 2."""

    def __init__(self, folders: list[str]) -> None:
        self._folders = folders
        self._version = _V2 if any(_exists(f, _V2.limit) for f in folders) else _V1
        self._memory = next((f for f in folders if _exists(f, self._version.limit)), "")
        self._pids = next((f for f in folders if _exists(f, "pids.max")), "")
        self._time = next((f for f in folders if _exists(f, "cpu.stat")), "")
        self._allowed = 0
        self._kills = self._count_kills()

    def allow(self, memory: int, threads: int) -> None:
        """Set the limits for the next engine (0: none), and begin to count anew."""
        self._allowed = memory
        if self._memory:
            total = memory + _OWN_MEMORY if memory else _UNLIMITED
            _write(self._memory, self._version.limit, total)
            _write(self._memory, self._version.swap, total if self._version is _V1 else 0)
            if self._version.peak:
                _write(self._memory, self._version.peak, 0)
        if self._pids:
            _write(self._pids, "pids.max", threads + _OWN_PROCESSES if threads else "max")
        self._kills = self._count_kills()

    def keep_polled(self, limits: Watched) -> Watched:
        """Return the limits that are left to be polled."""
        return limits._replace(memory=0) if self._memory else limits

    def hit(self) -> Limit | None:
        """Return the memory limit if the kernel had to kill for it."""
        if self._count_kills() == self._kills:
            return None
        return Limit("memory", max(self.peak(), self._allowed), self._allowed, "bytes")

    def peak(self) -> int:
        """Return the most memory in use since :meth:`allow`, in bytes; 0 where unknown."""
        if not self._memory or not self._version.peak:
            return 0
        with contextlib.suppress(OSError, ValueError):
            return max(0, int(_read(self._memory, self._version.peak)) - _OWN_MEMORY)
        return 0

    def cpu(self) -> float | None:
        """Return the seconds of CPU time that the group has taken; None: not counted."""
        with contextlib.suppress(OSError):
            for line in _read(self._time, "cpu.stat").splitlines() if self._time else ():
                if line.startswith("usage_usec "):  # of version 2
                    return int(line.split()[1]) / 1e6
        return None

    def close(self) -> None:
        """Leave the groups and remove them."""
        for folder in self._folders:
            _write(os.path.dirname(folder), "cgroup.procs", 0)
            with contextlib.suppress(OSError):
                os.rmdir(folder)

    def _count_kills(self) -> int:
        with contextlib.suppress(OSError):
            for line in _read(self._memory, self._version.events).splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
        return 0


def enter(parents: list[str]) -> ControlGroups:
    """Make a group for this process under each of ``parents``, and enter it.

    Where that fails the group stays away; the polling of ``/proc`` does its work then.
    """
    entered = []
    for parent in parents:
        # Remove the groups of servers that were killed before they could; one in use stays.
        with contextlib.suppress(OSError):
            names = [name for name in os.listdir(parent) if name.startswith("gtp-harness-")]
            for path in (f"{parent}/{name}" for name in names):
                with contextlib.suppress(OSError):  # others come and go
                    if time.time() - os.stat(path).st_mtime > 60:
                        os.rmdir(path)
        folder = f"{parent}/gtp-harness-{os.urandom(6).hex()}"
        with contextlib.suppress(OSError):
            os.mkdir(folder)
            if _write(folder, "cgroup.procs", 0):
                entered.append(folder)
            else:
                os.rmdir(folder)
    return ControlGroups(entered)


def usable_parents() -> list[str]:
    """Return the folders under which this process may make groups that count; often none.

    Version 1: one for memory, one for processes. Version 2: one for both, if its controllers are
    passed on to groups below it.
    """
    found = []
    for line in _read("/proc/self", "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            if controller in ("memory", "pids"):
                found.append(f"/sys/fs/cgroup/{controller}{path}".rstrip("/"))
        if not controllers:
            found.append(f"/sys/fs/cgroup{path}".rstrip("/"))
    return [folder for folder in found if _is_usable(folder)]


def _is_usable(parent: str) -> bool:
    if not os.access(parent, os.W_OK):
        return False
    trial = f"{parent}/gtp-harness-trial-{os.urandom(6).hex()}"
    try:
        os.mkdir(trial)
    except OSError:
        return False
    counts = any(_exists(trial, name) for name in (_V1.limit, _V2.limit, "pids.max", "cpu.stat"))
    os.rmdir(trial)
    return counts


def _exists(folder: str, name: str) -> bool:
    return os.path.exists(f"{folder}/{name}")


def _read(folder: str, name: str) -> str:
    with open(f"{folder}/{name}", encoding="ascii") as file:
        return file.read()


def _write(folder: str, name: str, value: object) -> bool:
    """Write to a group's file; False where that is refused or the file does not exist."""
    try:
        with open(f"{folder}/{name}", "w", encoding="ascii") as file:
            file.write(str(value))
    except OSError:
        return False
    return True
