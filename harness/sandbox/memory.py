"""What a tree of processes holds in memory where no control group counts it, read from ``/proc``.

Resident pages are the least of it. An engine can keep memory in pipes and sockets, in shared
memory that it has not mapped just now, in page tables, in the records of thousands of mappings,
locks and descriptors. What can hold much and cannot be counted is refused by the filter
(:mod:`harness.sandbox.seccomp`); the rest is counted here, or charged with the most it can be.

Looking closely takes time. So each look begins with bounds that are cheap: only if they allow that
the limit has been reached is each process looked at closely.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

KIB = 1024
# What one of these takes in the kernel, rounded up: Linux 5.10 to 6.18.
_THREAD = 24 * KIB  # kernel stack and task
_MAPPING = 384  # an area of memory with its tree nodes
_MOST_MAPPINGS = 65_530  # vm.max_map_count
_PAGE_TABLES = 512  # bytes of memory for each byte of page table
_SOCKET = 256 * KIB  # net.core.wmem_default, and the buffer that is under way
_PIPE = 64 * KIB
_SMALL_PIPE = 8 * KIB  # of a user who has more than _LARGE_PIPES: fs.pipe-user-pages-soft
_LARGE_PIPES = 1024
_DESCRIPTOR = 8 * KIB  # an open file of /proc has a buffer
_WATCH = 256  # one descriptor that an epoll waits for
_LOCK = 256  # a lock on a range of a file
_FREE_DESCRIPTORS = 64  # the least that the kernel makes room for, so all processes have so much
_MOST_OF_A_FILE = 1 << 22  # bytes to read of a list that an engine can make longer
_MOST_LOCKS = 20_000  # more than any program needs
_BEYOND = 1 << 32  # what is charged for a list too long to be read


class Process(Protocol):
    """What is to be known of a process beforehand; see ``watch.Process``."""

    @property
    def task(self) -> int: ...
    @property
    def threads(self) -> int: ...
    @property
    def virtual(self) -> int: ...
    @property
    def resident(self) -> int: ...


class Look(NamedTuple):
    """What a look is told beforehand; figures are bytes."""

    limit: int
    scratch: int  # files in memory
    shared_before: int  # see :func:`machine_shared`, when the engine was started
    closely: bool = False  # at everything, however little there seems to be


def held(engine: Sequence[Process], look: Look) -> int:
    """Return the bytes that the processes hold: roughly, unless that may be over the limit."""
    rough = look.scratch + sum(one.resident + one.threads * _THREAD for one in engine)
    if not look.limit:
        return rough
    fresh = max(0, machine_shared() - look.shared_before)
    if not look.closely and rough + fresh + sum(map(_at_most, engine)) <= look.limit:
        return rough
    return _closely(engine, rough, fresh, look)


def machine_shared() -> int:
    """Return the bytes of shared memory and files in memory of the whole machine."""
    with contextlib.suppress(OSError):
        for line in read("/proc/meminfo").splitlines():
            if line.startswith("Shmem:"):
                return int(line.split()[1]) * KIB
    return 0


def _at_most(one: Process) -> int:
    """Return what a process may hold besides what is resident."""
    mappings = min(_MOST_MAPPINGS, one.virtual // 4096) * _MAPPING
    return one.virtual + mappings + _descriptors(one.task) * _SOCKET


def _closely(engine: Sequence[Process], rough: int, fresh: int, look: Look) -> int:
    shared: dict[str, int] = {}
    more = _opened([one.task for one in engine]) + _locks({one.task for one in engine})
    for one in engine:
        more += _tables(one.task) + _mappings(one.task, shared)
    # What was mapped a while ago may still be there: it lasts as long as any piece is mapped.
    hidden = fresh - look.scratch if shared else 0
    more += max(sum(shared.values()), hidden)
    if rough + more <= look.limit:
        return rough + more
    resident = sum(one.resident for one in engine)
    return rough + more - resident + sum(map(_own_pages, engine))


def _own_pages(one: Process) -> int:
    """Return a process's share of its resident pages, without shared memory."""
    try:
        lines = read(f"/proc/{one.task}/smaps_rollup").splitlines()[1:]
    except PermissionError:  # it does not let itself be looked into
        return one.resident
    except OSError:  # it has just ended
        return 0
    sizes = _sizes(lines)
    return sizes.get("Pss_Anon:", 0) + sizes.get("Pss_File:", 0)


def _tables(task: int) -> int:
    """Return page tables, pages that are swapped out, and huge pages."""
    with contextlib.suppress(OSError):
        sizes = _sizes(read(f"/proc/{task}/status").splitlines())
        return sum(sizes.get(name, 0) for name in ("VmPTE:", "VmSwap:", "HugetlbPages:"))
    return 0


def _sizes(lines: Iterable[str]) -> dict[str, int]:
    """Read lines such as ``VmPTE:  1234 kB``."""
    entries = (line.split() for line in lines)
    return {e[0]: int(e[1]) * KIB for e in entries if len(e) == 3 and e[2] == "kB"}


def _mappings(task: int, shared: dict[str, int]) -> int:
    """Return what the list of mappings takes; add anonymous shared memory to ``shared``.

    ``/proc/PID/maps``: ``from-to flags offset device inode /dev/zero (deleted)``. A piece of
    shared memory is as long as the furthest part of it that anybody has mapped.
    """
    count = 0
    with contextlib.suppress(OSError):
        for line in read(f"/proc/{task}/maps").splitlines():
            count += 1
            if "s " in line and line.endswith("/dev/zero (deleted)"):
                area, _, offset, _, inode = line.split()[:5]
                start, end = (int(number, 16) for number in area.split("-"))
                shared[inode] = max(shared.get(inode, 0), int(offset, 16) + end - start)
    return count * _MAPPING


# --- descriptors


def _descriptors(task: int) -> int:
    """Return how many descriptors a process has open; where that is secret, room for how many."""
    try:
        size = os.stat(f"/proc/{task}/fd").st_size  # from Linux 6.2
        return size or len(os.listdir(f"/proc/{task}/fd"))
    except PermissionError:
        return _room(task)
    except OSError:
        return 0


def _room(task: int) -> int:
    with contextlib.suppress(OSError, IndexError):
        room = read(f"/proc/{task}/status").split("FDSize:")[1].split()[0]
        return max(0, int(room) - _FREE_DESCRIPTORS)
    return 0


def _opened(tasks: Iterable[int]) -> int:
    """Return what the open files of the processes may hold; what they share counts once."""
    sockets, pipes, rest = set(), set(), 0
    for task in tasks:
        try:
            names = os.listdir(f"/proc/{task}/fd")
        except PermissionError:
            rest += _room(task) * _SOCKET
            continue
        except OSError:
            continue
        for name in names:
            with contextlib.suppress(OSError):
                kind = os.readlink(f"/proc/{task}/fd/{name}")
                if kind.startswith("socket:"):
                    sockets.add(kind)
                elif kind.startswith("pipe:"):
                    pipes.add(kind)
                else:
                    rest += _DESCRIPTOR
                    rest += _waits(task, name) if kind == "anon_inode:[eventpoll]" else 0
    large = min(len(pipes), _LARGE_PIPES)
    return len(sockets) * _SOCKET + large * _PIPE + (len(pipes) - large) * _SMALL_PIPE + rest


def _waits(task: int, descriptor: str) -> int:
    """Return what an epoll's list takes: a line ``tfd: …`` for each entry."""
    text = read(f"/proc/{task}/fdinfo/{descriptor}")
    return text.count("tfd:") * _WATCH if len(text) < _MOST_OF_A_FILE else _BEYOND


def _locks(tasks: set[int]) -> int:
    """Return what locks take: ``1: POSIX  ADVISORY  WRITE PID …``; -1 is a descriptor's."""
    owners = {"-1", *map(str, tasks)}
    with contextlib.suppress(OSError):
        text = read("/proc/locks")
        own = sum(owners.isdisjoint(line.split()[4:6]) is False for line in text.splitlines())
        return own * _LOCK if own < _MOST_LOCKS else _BEYOND
    return 0


def read(path: str) -> str:
    """Return the text of a file of ``/proc``, the beginning of one that is far too long."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts: list[bytes] = []
        size = 0
        while size < _MOST_OF_A_FILE and (part := os.read(descriptor, 1 << 16)):
            parts.append(part)
            size += len(part)
        return b"".join(parts).decode(errors="replace")
    finally:
        os.close(descriptor)
