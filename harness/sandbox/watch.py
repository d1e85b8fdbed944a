"""The use of the machine by a tree of processes, read from ``/proc`` every now and then."""

from __future__ import annotations

import contextlib
import os

from harness.options import CPU_SECONDS
from harness.processes import read
from harness.sandbox import memory, untrusted_folders
from harness.sandbox.plan import LaunchPlan, Watched
from harness.typed import NamedTuple

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
            if _has_memory(task):
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


def _has_memory(task: int) -> bool:
    """Return whether a process has memory: one that is ending has none, and is root's then."""
    found = _figures(task)
    return found is not None and not found.dead and found.virtual > 0


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
