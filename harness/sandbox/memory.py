"""The memory of a tree of processes where no control group counts it, read from ``/proc``.

Resident pages are the least of it. An engine can keep memory in pipes and sockets, in shared
memory that it has not mapped just now, in page tables, in the records of thousands of mappings
and descriptors. What can hold much and cannot be counted is refused by the filter
(:mod:`harness.sandbox.seccomp`); the rest is counted here, or charged with the most it can be.

Looking closely takes time. So each look begins with bounds that are cheap: only if they allow that
the limit has been reached is each process looked at closely.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence

from harness.core.processes import MOST_OF_A_FILE, read
from harness.core.typed import NamedTuple
from harness.sandbox import untrusted_folders
from harness.sandbox.seccomp import LARGEST_SHARED

KIB = 1024
# What one of these takes in the kernel, rounded up: Linux 5.10 to 6.18.
_THREAD = 24 * KIB  # kernel stack and task
_MAPPING = 384  # an area of memory with its tree nodes
_MOST_MAPPINGS = 65_530  # vm.max_map_count
# net.core.wmem_default, the buffer that is under way, and half as much again: many processes can
# fill sockets faster than all of them are counted.
_SOCKET = 384 * KIB
_PIPE = 64 * KIB
_SMALL_PIPE = 8 * KIB  # of a user who has more than _LARGE_PIPES: fs.pipe-user-pages-soft
_LARGE_PIPES = 1024
_DESCRIPTOR = 8 * KIB  # an open file of /proc has a buffer
_WATCH = 256  # one descriptor that an epoll waits for
_FREE_DESCRIPTORS = 64  # the least that the kernel makes room for, so all processes have so much
_HIDING = "hiding"  # among pieces of shared memory: there may be more
_BEYOND = 1 << 32  # what is charged for a list too long to be read


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


def measure_held(
    engine: Sequence[ProcessStat], limit: int, scratch: int, before: int, closely: bool = False
) -> int:
    """Return the bytes that the processes hold: roughly, unless that may be over the limit.

    ``scratch``: bytes of files in memory. ``before``: shared memory of the machine, as
    :func:`of_machine` tells it, when the engine was started. ``closely``: look at everything,
    however little there seems to be.
    """
    rough = scratch + sum(one.resident + one.threads * _THREAD for one in engine)
    if not limit:
        return rough
    fresh = max(0, of_machine("Shmem:") - before)
    if not closely and rough + fresh + sum(map(_at_most, engine)) <= limit:
        return rough
    # Stop counting once it is too much: what takes long to be counted takes long because there is
    # much of it, and grows meanwhile.
    if len(engine) == 1:
        # The pages of no file, which a process alone shares with nobody. To read them waits for no
        # lock, as the lists of its mappings do while it maps more.
        own = scratch + _status(engine[0].task).get("RssAnon:", 0)
        if own > limit:
            return own
    shared: dict[str, int] = {}
    more, resident = 0, sum(one.resident for one in engine)
    for part in _parts(engine, limit - rough + resident, shared):
        more += part
        if rough + more - resident > limit:
            return rough + more
    # Of a process that hides, only the whole machine's growth is known.
    more += max(sum(shared.values()), fresh - scratch if _HIDING in shared else 0)
    if rough + more <= limit:
        return rough + more
    return rough + more - resident + sum(map(_own_pages, engine))


def of_machine(name: str) -> int:
    """Return the bytes that ``/proc/meminfo`` tells of the whole machine; 0 if it does not.

    ``name``: ``Shmem:``, shared memory and files in memory; ``MemAvailable:``, what programs could
    still have.
    """
    with contextlib.suppress(OSError):
        for line in read("/proc/meminfo").splitlines():
            if line.startswith(name):
                return int(line.split()[1]) * KIB
    return 0


def _at_most(process: ProcessStat) -> int:
    mappings = min(_MOST_MAPPINGS, process.virtual // 4096) * _MAPPING
    return process.virtual + mappings + _descriptors(process.task) * _SOCKET


def _parts(engine: Sequence[ProcessStat], most: int, shared: dict[str, int]) -> Iterator[int]:
    """Yield what the kernel keeps for the processes, part by part; see :func:`_mappings`."""
    yield _open_files([one.task for one in engine], most)
    for one in engine:
        sizes = _status(one.task)
        tables = sum(sizes.get(name, 0) for name in ("VmPTE:", "VmSwap:", "HugetlbPages:"))
        yield tables + _mappings(one.task, shared)


def _own_pages(process: ProcessStat) -> int:
    """Return a process's share of its resident pages, without shared memory."""
    try:
        lines = read(f"/proc/{process.task}/smaps_rollup").splitlines()[1:]
    except PermissionError:  # the process is protected from inspection
        return process.resident
    except OSError:  # it has just ended
        return 0
    sizes = _sizes(lines)
    if "Pss_Anon:" not in sizes:  # before Linux 5.3 its share has no parts
        return process.resident
    return sizes["Pss_Anon:"] + sizes["Pss_File:"]


def _status(task: int) -> dict[str, int]:
    """Return the sizes that a process's status tells; none if it has just ended."""
    with contextlib.suppress(OSError):
        return _sizes(read(f"/proc/{task}/status").splitlines())
    return {}


def _sizes(lines: Iterable[str]) -> dict[str, int]:
    """Read lines such as ``VmPTE:  1234 kB``."""
    entries = (line.split() for line in lines)
    return {e[0]: int(e[1]) * KIB for e in entries if len(e) == 3 and e[2] == "kB"}


def _mappings(task: int, shared: dict[str, int]) -> int:
    """Return what the list of mappings takes; add anonymous shared memory to ``shared``.

    ``/proc/PID/maps``: ``from-to flags offset device inode /dev/zero (deleted)``. A piece of
    shared memory lasts as long as any page of it is mapped, and nobody tells how long it is: at
    least as far as it is mapped, at most what the filter lets through.
    """
    try:
        lines = read(f"/proc/{task}/maps").splitlines()
    except PermissionError:
        lines = []
        shared[_HIDING] = 0
    except OSError:
        lines = []
    for line in lines:
        if "s " in line and line.endswith("/dev/zero (deleted)"):
            area, _, offset, _, inode = line.split()[:5]
            start, end = (int(number, 16) for number in area.split("-"))
            shared[inode] = max(shared.get(inode, LARGEST_SHARED), int(offset, 16) + end - start)
    return len(lines) * _MAPPING


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


def _open_files(tasks: Iterable[int], most: int) -> int:
    """Return what the open files of the processes may hold; if over ``most``, what shows that.

    What they share counts once.
    """
    sockets: set[str] = set()
    pipes: set[str] = set()
    rest = held = 0
    for task in tasks:
        try:
            folder = os.open(f"/proc/{task}/fd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except PermissionError:
            rest += _room(task) * _SOCKET
        except OSError:
            pass
        else:
            rest += _list_descriptors(task, folder, sockets, pipes)
        large = min(len(pipes), _LARGE_PIPES)
        held = rest + len(sockets) * _SOCKET + large * _PIPE + (len(pipes) - large) * _SMALL_PIPE
        if held > most:
            break
    return held


def _list_descriptors(task: int, folder: int, sockets: set[str], pipes: set[str]) -> int:
    """Add a process's sockets and pipes, and return what its other descriptors may hold."""
    rest = 0
    try:
        for name in untrusted_folders.names(folder):  # none of a process that has just ended
            with contextlib.suppress(OSError):
                kind = os.readlink(name, dir_fd=folder)
                if kind.startswith("socket:"):
                    sockets.add(kind)
                elif kind.startswith("pipe:"):
                    pipes.add(kind)
                else:
                    rest += _DESCRIPTOR
                    if kind == "anon_inode:[eventpoll]":  # a line "tfd: …" for each of its entries
                        text = read(f"/proc/{task}/fdinfo/{name}")
                        is_whole = len(text) < MOST_OF_A_FILE
                        rest += text.count("tfd:") * _WATCH if is_whole else _BEYOND
    finally:
        os.close(folder)
    return rest
