"""What a tree of processes uses, read from ``/proc`` every now and then."""

from __future__ import annotations

import contextlib
import os
from typing import NamedTuple

from harness.sandbox.plan import Plan, Watched

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


class Process(NamedTuple):
    """The figures of ``/proc/PID/stat`` that matter here."""

    pid: int
    name: str
    dead: bool  # a zombie, waiting to be reaped
    cpu: float  # seconds, with those of children it has waited for
    virtual: int  # bytes of address space
    resident: int  # bytes in memory, shared ones too


class Usage(NamedTuple):
    """What a box uses at one moment."""

    memory: int
    cpu: float
    processes: int
    scratch: int
    scratch_files: int


def children(pid: int) -> list[int]:
    """Return the ids of a process's children, whichever of its threads made them."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            found += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
    return found


def descendants(pid: int) -> list[int]:
    """Return the ids of all processes below ``pid``, parents before their children."""
    found = children(pid)
    for child in found:
        found += children(child)
    return found


def processes(pids: list[int]) -> list[Process]:
    """Return the figures of those that still live."""
    return [found for pid in pids if (found := _process(pid)) is not None and not found.dead]


def measure(alive: list[Process], own: int, plan: Plan, limits: Watched) -> Usage:
    """Add up what the processes of a box use.

    ``alive``: all of them, of which the first ``own`` belong to the box itself and not to the
    engine (they only collect the time of the dead). ``limits``: those that are to be watched.
    """
    engine = alive[own:]
    used, files = _scratch_use([process.pid for process in engine], plan.scratch)
    for folder in plan.writable:
        more, number = _folder_use(folder)
        used, files = used + more, files + number
    cpu = sum(process.cpu for process in alive)
    return Usage(_memory(engine, limits.memory), cpu, len(engine), used, files)


def exceeded(usage: Usage, limits: Watched) -> tuple[str, float, float, str] | None:
    """Return the limit that was reached (as ``limits.Hit``), if any."""
    table = (
        ("memory", usage.memory, limits.memory, "bytes", 1),
        ("time", usage.cpu, limits.cpu, "seconds", 0),
        ("processes", usage.processes, limits.processes, "processes", 1),
        # The file system itself stops a box at its limit: to reach it is to hit it.
        ("disk", usage.scratch, limits.scratch, "bytes", 0),
        ("disk", usage.scratch_files, limits.scratch_files, "files", 0),
    )
    for name, reached, allowed, unit, over in table:
        if allowed and reached >= allowed + over:
            return name, reached, allowed, unit
    return None


def _process(pid: int) -> Process | None:
    """Read ``pid (name) state …``; field numbers are those of proc(5) less 3."""
    try:
        text = _read(f"/proc/{pid}/stat")
    except OSError:
        return None
    start, end = text.index("("), text.rindex(")")
    fields = text[end + 2 :].split(maxsplit=23)
    return Process(
        pid,
        text[start + 1 : end],
        fields[0] in "ZX",
        sum(map(int, fields[11:15])) / _TICKS,
        int(fields[20]),
        int(fields[21]) * _PAGE,
    )


def _memory(alive: list[Process], limit: int) -> int:
    """Return the bytes held in memory: roughly, unless that is more than the limit.

    The rough sum counts shared pages once for each process, and cannot see shared memory that
    nobody has mapped in just now. Both matter only where much is mapped.
    """
    rough = sum(process.resident for process in alive)
    if not limit or max(rough, *(process.virtual for process in alive), 0) <= limit:
        return rough
    shared: dict[str, int] = {}
    private = sum(_private(process, limit, rough > limit, shared) for process in alive)
    return private + sum(shared.values())


def _private(process: Process, limit: int, over: bool, shared: dict[str, int]) -> int:
    """Return a process's own share of its pages, and add its shared memory to ``shared``."""
    if process.virtual > limit or over:
        shared |= _shared_memory(process.pid)
    if not over:
        return process.resident
    try:
        lines = _read(f"/proc/{process.pid}/smaps_rollup").splitlines()[1:]
    except PermissionError:  # it does not let itself be looked into
        return process.resident
    except OSError:  # it has just ended
        return 0
    entries = (line.split() for line in lines)  # such as "Pss_Anon:  1234 kB"
    sizes = {entry[0]: int(entry[1]) * 1024 for entry in entries}
    return sizes.get("Pss_Anon:", 0) + sizes.get("Pss_File:", 0)


def _shared_memory(pid: int) -> dict[str, int]:
    """Return the size of each piece of anonymous shared memory that a process has mapped.

    ``/proc/PID/maps``: ``from-to flags offset device inode /dev/zero (deleted)``.
    """
    sizes: dict[str, int] = {}
    with contextlib.suppress(OSError):
        for line in _read(f"/proc/{pid}/maps").splitlines():
            if "s " in line and line.endswith("/dev/zero (deleted)"):
                area, _, _, _, inode = line.split()[:5]
                start, end = (int(number, 16) for number in area.split("-"))
                sizes[inode] = sizes.get(inode, 0) + end - start
    return sizes


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


def _folder_use(folder: str) -> tuple[int, int]:
    """Return the bytes and files that a folder holds. Links are not followed."""
    used = files = 0
    waiting = [folder]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                files += 1
                used += entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return used, files


def _read(path: str) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = iter(lambda: os.read(descriptor, 1 << 16), b"")
        return b"".join(parts).decode(errors="replace")
    finally:
        os.close(descriptor)
