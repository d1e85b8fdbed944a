"""What a tree of processes uses, read from ``/proc`` every now and then."""

from __future__ import annotations

import contextlib
import os
from typing import NamedTuple

from harness.sandbox import memory
from harness.sandbox.memory import read
from harness.sandbox.plan import Plan, Watched

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


class Process(NamedTuple):
    """The figures of ``/proc/PID/stat`` that matter here."""

    pid: int
    task: int  # a thread that lives: the first may end before the others do
    name: str
    dead: bool  # a zombie, waiting to be reaped
    running: bool  # or waiting for a processor
    own: float  # seconds of processor time
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


def children(pid: int) -> list[int]:
    """Return the ids of a process's children, whichever of its threads made them."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            found += map(int, read(f"/proc/{pid}/task/{thread}/children").split())
    return found


def descendants(pid: int) -> list[int]:
    """Return the ids of all processes below ``pid``, parents before their children."""
    found = children(pid)
    for child in found:
        found += children(child)
    return found


def processes(pids: list[int]) -> list[Process]:
    """Return the figures of those that are still there, the dead that wait to be reaped too."""
    return [found for pid in pids if (found := _process(pid)) is not None]


def measure(found: list[Process], own: int, plan: Plan, look: memory.Look, closely: bool) -> Usage:
    """Add up what the processes of a box use.

    ``found``: all of them, of which the first ``own`` belong to the box itself and not to the
    engine (they only collect the time of the dead). ``look``, ``closely``: see ``memory.held``.
    """
    engine = [process for process in found[own:] if not process.dead]
    scratch, files = _scratch_use([process.task for process in engine], plan.scratch)
    used = scratch
    for folder in plan.writable:
        more, number = _folder_use(folder)
        used, files = used + more, files + number
    cpu = sum(process.own + process.waited for process in found)
    held = memory.held(engine, look._replace(scratch=scratch), closely)
    return Usage(held, cpu, len(engine), used, files)


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


def _figures(task: int) -> Process | None:
    """Read ``pid (name) state …``; field numbers are those of proc(5) less 3."""
    try:
        text = read(f"/proc/{task}/stat")
    except OSError:
        return None
    start, end = text.index("("), text.rindex(")")
    fields = text[end + 2 :].split(maxsplit=23)
    return Process(
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
