"""The use of the machine by a tree of processes: a clock counts CPU time, else ``/proc`` tells."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import time
from collections.abc import Callable

from harness.options import CPU_SECONDS
from harness.processes import read
from harness.sandbox import landlock, memory, untrusted_folders
from harness.sandbox.plan import LaunchPlan, Watched
from harness.typed import NamedTuple

_TYPE_SOFTWARE, _TASK_CLOCK = 1, 1
_SIZE = 112  # of struct perf_event_attr, version 5
_INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR = 1 << 1, 1 << 5, 1 << 6
_CLOSE_ON_EXEC = 8


class BoxClock:
    """Counts from now on, what this process itself takes left out. Close it when done.

    ``group``: returns the time of this process's control group, None if that is not counted.
    """

    def __init__(self, group: Callable[[], float | None] = lambda: None) -> None:
        self._counter = _open()
        self._group = group
        self._before = self._total()
        self._own = time.process_time()

    def seconds(self) -> float | None:
        """Return the time that all we have started since has taken; None if it is not known."""
        total = self._total()
        if total is None or self._before is None:
            return None
        return max(0.0, total - self._before - (time.process_time() - self._own))

    def _total(self) -> float | None:
        with contextlib.suppress(OSError):
            if self._counter >= 0:
                (nanoseconds,) = struct.unpack("<Q", os.read(self._counter, 8))
                return float(nanoseconds / 1e9)
        return self._group()

    def close(self) -> None:
        """Count no more."""
        if self._counter >= 0:
            os.close(self._counter)
            self._counter = -1


def _open() -> int:
    """Return a counter of this process and its children to come, -1 if that is not allowed.

    Kernel time is excluded by name, which those without privilege must; this clock has it anyway.
    """
    flags = _INHERIT | _EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR
    attribute = struct.pack("<IIQQQQQ", _TYPE_SOFTWARE, _SIZE, _TASK_CLOCK, 0, 0, 0, flags)
    wanted = ctypes.create_string_buffer(attribute, _SIZE)
    try:
        return landlock.perf_event_open(wanted, _CLOSE_ON_EXEC)
    except OSError:
        return -1


# --- An estimate of CPU time that nobody counted, where no counter may be had --------------------
# Each look sees children that live just then. One that is gone at the next look has either been
# waited for, so that its parent's figures have grown, or its time is lost. A child seen at a look
# stands for the whole pause since the look before: on average over many looks that is the time of
# such children, however short they lived. Time that the parents' figures explain is taken off.


class ProcessSample(NamedTuple):
    """One process at a look: times in seconds."""

    own: float  # its own
    waited: float  # of children that it has waited for
    busy: float  # the part of its life for which it was on a processor, 0 to 1


class Estimate:
    """What has been lost so far."""

    def __init__(self) -> None:
        self._before: dict[int, ProcessSample] = {}
        self._charged: dict[int, float] = {}  # what a living process stands for
        self._lost = 0.0

    def look(self, now: dict[int, ProcessSample], pause: float) -> float:
        """Take in a look that comes ``pause`` seconds after the one before; return the loss."""
        for pid, one in now.items():
            self._charged[pid] = self._charged.get(pid, 0.0) + pause * one.busy
        gone = self._before.keys() - now.keys()
        for pid in gone:
            last = self._before[pid]
            self._lost += max(self._charged.pop(pid), last.own) + last.waited
        known = now.keys() & self._before.keys()
        self._lost -= sum(now[pid].waited - self._before[pid].waited for pid in known)
        self._before = now
        return max(0.0, self._lost)


def share(task: int) -> float:
    """Return the part of its time in which a running task has had a processor, 0 to 1.

    ``/proc/PID/schedstat``: nanoseconds on a processor, waiting for one, and how often.
    """
    with contextlib.suppress(OSError, ValueError, ZeroDivisionError):
        ran, waited = map(int, read(f"/proc/{task}/schedstat").split()[:2])
        return ran / (ran + waited)
    return 1.0


# --- The use of the machine by a tree of processes, read from ``/proc`` every now and then -------


_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


class ProcessStat(NamedTuple):
    """The figures of ``/proc/PID/stat`` that matter here."""

    pid: int
    task: int  # a thread that lives: the first may end before the others do
    name: str
    dead: bool  # a zombie, waiting to be reaped
    running: bool  # or waiting for a processor
    own: float  # seconds of CPU time
    waited: float  # those of children that it has waited for
    threads: int
    virtual: int  # bytes of address space
    resident: int  # bytes in memory, shared ones too


class Usage(NamedTuple):
    """What a box uses at one moment."""

    memory: int
    cpu: float
    processes: int
    scratch: int
    scratch_files: int


def processes(pids: list[int]) -> list[ProcessStat]:
    """Return the figures of those that are still there, the dead that wait to be reaped too."""
    return [found for pid in pids if (found := _process(pid)) is not None]


class Disk(NamedTuple):
    """What has been written to folders outside the box."""

    size: int = 0
    files: int = 0


def measure(
    samples: list[ProcessStat], own: int, plan: LaunchPlan, look: memory.MemoryLook, outside: Disk
) -> Usage:
    """Add up what the processes of a box use.

    ``samples``: all of them; the first ``own`` belong to the box itself and not to the engine
    (they only collect the time of the dead). ``look``: see ``memory.measure_held``.
    ``outside``: see :func:`disk`.
    """
    engine = [process for process in samples[own:] if not process.dead]
    scratch, files = _scratch_use([process.task for process in engine], plan.scratch)
    used = max(0, scratch + outside.size - plan.own[0])
    files = max(0, files + outside.files - plan.own[1])
    cpu = sum(process.own + process.waited for process in samples)
    look = look._replace(scratch=max(0, scratch - plan.own[0]))
    return Usage(memory.measure_held(engine, look), cpu, len(engine), used, files)


def disk(samples: list[ProcessStat], plan: LaunchPlan, before: int) -> Disk:
    """Return what the folders hold that a box may write to, and files without a name.

    ``samples``: its processes. ``before``: what was :func:`free` when it was started.
    """
    if not plan.writable:
        return Disk()
    sizes, numbers = zip(*map(untrusted_folders.use, plan.writable), strict=True)
    used = sum(sizes)
    devices = {os.stat(folder).st_dev for folder in plan.writable}
    unlinked = _measure_unlinked(
        [process.task for process in samples if not process.dead], devices
    )
    # What cannot be measured is at most what has vanished from the file system.
    gone = max(0, before - free(plan.writable))
    return Disk(max(used, gone) if unlinked is None else used + unlinked, sum(numbers))


def find_exceeded(usage: Usage, limits: Watched) -> tuple[str, float, float, str] | None:
    """Return the limit that was hit, if any: what makes a :class:`~harness.options.Limit`."""
    table = (
        ("memory", usage.memory, limits.memory, "bytes", 1),
        ("time", usage.cpu, limits.cpu, CPU_SECONDS, 0),
        ("processes", usage.processes, limits.processes, "processes", 1),
        # The file system itself stops a box at its limit: to reach it is to hit it.
        ("disk", usage.scratch, limits.scratch, "bytes", 0),
        ("disk", usage.scratch_files, limits.scratch_files, "files", 0),
    )
    for name, reached, allowed, unit, over in table:
        if allowed and reached >= allowed + over:
            return name, reached, allowed, unit
    return None


def _process(pid: int) -> ProcessStat | None:
    """Return the figures of a process, with the memory of one whose first thread has ended."""
    found = _figures(pid)
    if found is None or not found.dead or found.threads < 2:
        return found
    with contextlib.suppress(OSError):
        for task in map(int, os.listdir(f"/proc/{pid}/task")):
            thread = _figures(task)
            if thread is not None and not thread.dead:
                return found._replace(
                    task=task, dead=False, virtual=thread.virtual, resident=thread.resident
                )
    return found


def _figures(task: int) -> ProcessStat | None:
    """Read ``pid (name) state …``; field numbers are those of proc(5) less 3."""
    try:
        text = read(f"/proc/{task}/stat")
    except OSError:
        return None
    start, end = text.index("("), text.rindex(")")
    fields = text[end + 2 :].split(maxsplit=23)
    return ProcessStat(
        pid=task,
        task=task,
        name=text[start + 1 : end],
        dead=fields[0] in "ZX",
        running=fields[0] == "R",
        own=sum(map(int, fields[11:13])) / _TICKS,
        waited=sum(map(int, fields[13:15])) / _TICKS,
        threads=int(fields[17]),
        virtual=int(fields[20]),
        resident=int(fields[21]) * _PAGE,
    )


def _scratch_use(pids: list[int], scratch: tuple[str, ...]) -> tuple[int, int]:
    """Return the bytes and files in the folders, seen through the last process that lets us.

    The first ones, the box's own, are protected against being looked into.
    """
    for pid in reversed(pids) if scratch else ():
        with contextlib.suppress(OSError):
            sizes = [os.statvfs(f"/proc/{pid}/root{place}") for place in scratch]
            used = sum((size.f_blocks - size.f_bfree) * size.f_frsize for size in sizes)
            return used, sum(size.f_files - size.f_ffree for size in sizes)
    return 0, 0


def free(writable: tuple[str, ...]) -> int:
    """Return the bytes that are free where the folders lie, each file system once."""
    found = {os.stat(folder).st_dev: os.statvfs(folder) for folder in writable}
    return sum(size.f_bfree * size.f_frsize for size in found.values())


def _measure_unlinked(tasks: list[int], devices: set[int]) -> int | None:
    """Return the bytes of files on ``devices`` that are deleted, but still open or mapped.

    None if there are some that cannot be measured, because they are only mapped, which is for root
    to look at, or because their process is protected from inspection.
    """
    sizes: dict[tuple[int, int], int] = {}
    for task in tasks:
        try:
            sizes |= _measure_unlinked_of(task, devices)
        except PermissionError:
            found = _figures(task)
            if found is not None and not found.dead and found.virtual > 0:
                return None
        except OSError:
            pass  # it has just ended
    return sum(sizes.values())


def _measure_unlinked_of(task: int, devices: set[int]) -> dict[tuple[int, int], int]:
    """Return the bytes of the files without a name that a process holds, by device and inode."""
    opened = [f"/proc/{task}/fd/{name}" for name in os.listdir(f"/proc/{task}/fd")]
    sizes = {}
    for place in (f"/proc/{task}/exe", *opened, *_maps_unlinked(task, devices)):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # closed meanwhile
            found = os.stat(place)
            if found.st_nlink == 0 and found.st_dev in devices:
                sizes[found.st_dev, found.st_ino] = found.st_blocks * 512
    return sizes


def _maps_unlinked(task: int, devices: set[int]) -> list[str]:
    """Return the paths in /proc of deleted files that a process has mapped.

    Such a line of its maps is ``from-to flags offset 08:01 inode … (deleted)``. In ``map_files``
    addresses have no zeros in front. The program that is run counts by itself.
    """
    lines = [line for line in read(f"/proc/{task}/maps").splitlines() if "(deleted)" in line]
    if not lines:
        return []
    program = os.stat(f"/proc/{task}/exe")
    numbers = {f"{os.major(device):02x}:{os.minor(device):02x}" for device in devices}
    fields = (line.split(maxsplit=5) for line in lines)
    ours = (f for f in fields if f[3] in numbers and int(f[4]) != program.st_ino)
    ends = (tuple(end.lstrip("0") or "0" for end in f[0].split("-")) for f in ours)
    return [f"/proc/{task}/map_files/{first}-{last}" for first, last in ends]
