"""The use of the machine by a tree of processes: a clock counts CPU time, else ``/proc`` tells."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import contextlib
import ctypes
import os
import resource
import struct
import time
from collections.abc import Callable

from harness.core.options import CPU_SECONDS, GIB, Limit
from harness.core.processes import descendants, read, read_stat
from harness.core.typed import NamedTuple
from harness.sandbox import cgroup, landlock, memory, untrusted_folders
from harness.sandbox.memory import ProcessStat
from harness.sandbox.plan import LaunchPlan, Watched

_TYPE_SOFTWARE, _TASK_CLOCK = 1, 1
_SIZE = 112  # of struct perf_event_attr, version 5
_INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR = 1 << 1, 1 << 5, 1 << 6
_CLOSE_ON_EXEC = 8


class BoxClock:
    """Counts from now on, what this process itself takes left out. Close it when done.

    ``group``: returns the time of this process's control group, None if that is not counted.
    """

    def __init__(self, group: Callable[[], float | None] = lambda: None) -> None:
        # A counter of this process and its children to come. Kernel time is excluded by name,
        # which those without privilege must; this clock has it anyway.
        flags = _INHERIT | _EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR
        attribute = struct.pack("<IIQQQQQ", _TYPE_SOFTWARE, _SIZE, _TASK_CLOCK, 0, 0, 0, flags)
        wanted = ctypes.create_string_buffer(attribute, _SIZE)
        self._counter = -1
        with contextlib.suppress(OSError):
            self._counter = landlock.perf_event_open(wanted, _CLOSE_ON_EXEC)
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


class ProcessSample(NamedTuple):
    """One process at a look: times in seconds."""

    own: float  # its own
    waited: float  # of children that it has waited for
    busy: float  # the part of its life for which it was on a processor, 0 to 1


class Estimate:
    """CPU time lost so far, where no counter may be had.

    Each look sees children that live just then. One that is gone at the next look has either been
    waited for, so that its parent's figures have grown, or its time is lost. A child seen at a
    look stands for the whole pause since the look before: on average over many looks that is the
    time of such children, however short they lived. What the parents' figures explain is taken
    off.
    """

    def __init__(self) -> None:
        self._before: dict[int, ProcessSample] = {}
        self._charged: dict[int, float] = {}  # what a living process stands for
        self._lost = 0.0

    def look(self, samples: dict[int, ProcessSample], pause: float) -> float:
        """Take in a look that comes ``pause`` seconds after the one before; return the loss."""
        for pid, one in samples.items():
            self._charged[pid] = self._charged.get(pid, 0.0) + pause * one.busy
        for pid in self._before.keys() - samples.keys():
            last = self._before[pid]
            self._lost += max(self._charged.pop(pid), last.own) + last.waited
        known = samples.keys() & self._before.keys()
        self._lost -= sum(samples[pid].waited - self._before[pid].waited for pid in known)
        self._before = samples
        return max(0.0, self._lost)


def share(task: int) -> float:
    """Return the part of its time in which a running task has had a processor, 0 to 1.

    ``/proc/PID/schedstat``: nanoseconds on a processor, waiting for one, and how often.
    """
    with contextlib.suppress(OSError, ValueError, ZeroDivisionError):
        ran, waited = map(int, read(f"/proc/{task}/schedstat").split()[:2])
        return ran / (ran + waited)
    return 1.0


OWN_PROCESSES = {3: 2, 2: 1, 1: 1}  # of a box: bubblewrap's two, or the keeper
_LONGEST_PAUSE = 0.05  # seconds between two looks, at most
_SHORTEST_PAUSE = 0.002
_CLOSELY = 0.25  # seconds between two close looks
# Bytes that a machine can fill in a second: the next look comes before the limit can be passed.
_FILLED = 4 * GIB * (os.cpu_count() or 1)
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


def tree() -> list[ProcessStat]:
    """Return the figures of all processes below this one, parents before their children."""
    return processes(descendants(os.getpid()))


def processes(pids: list[int]) -> list[ProcessStat]:
    """Return the figures of those that are still there, the dead that wait to be reaped too."""
    return [found for pid in pids if (found := _process(pid)) is not None]


class Meter:
    """Meter of a box's usage. Close it when done.

    Attributes: ``memory`` and ``cpu``, the most that was seen; ``hit``, the limit that was hit;
    ``due``, when to look again, monotonic: an engine that is within its limits now cannot be far
    beyond them by then.
    """

    def __init__(self, plan: LaunchPlan, group: cgroup.ControlGroups) -> None:
        """Begin to count, before the engine of a plan is started; ``group``: may count for us."""
        group.allow(plan.watched.memory, plan.threads)
        self.memory = 0
        self.cpu = 0.0
        self.hit: Limit | None = None
        self._plan = plan
        self._group = group
        self._limits = group.keep_polled(plan.watched)
        self._free = free(plan.writable)
        self._disk = 0, 0  # bytes and files, when that was looked at last
        copies = plan.own[0] if plan.scratch else 0  # in memory
        self._shared = memory.of_machine("Shmem:") + copies if self._limits.memory else 0
        self._is_much = False  # at the last look, at least half of the memory that is allowed
        self._looked_at_disk = 0.0  # often enough for a disk, which is slower than memory
        self._looked_closely = self._estimated = time.monotonic()
        self._clock = BoxClock(group.cpu)
        self._estimate = Estimate()
        self._cpu_before = _cpu_of_the_dead()
        self._wait_at_most(0)

    def look(self) -> None:
        """Look at what is used now."""
        now = time.monotonic()
        closely = self._is_much or now > self._looked_closely + _CLOSELY
        self._looked_closely = now if closely else self._looked_closely
        samples = tree()
        engine = [one for one in samples[OWN_PROCESSES[self._plan.level] :] if not one.dead]
        tasks = [one.task for one in engine]
        if time.monotonic() >= self._looked_at_disk + _LONGEST_PAUSE:
            self._disk = self._measure_disk(tasks)
            self._looked_at_disk = time.monotonic()
        size, files = _scratch_use(tasks, self._plan.scratch)
        scratch = max(0, size - self._plan.own[0])
        limit, before = self._limits.memory, self._shared
        held = memory.measure_held(engine, limit, scratch, before, closely)
        cpu = self._measure_cpu(samples)
        usage = Watched(held, cpu, len(engine), *self._add_up(size, files))
        self._is_much = held > self._limits.memory / 2
        self.memory = max(self.memory, held)
        self.cpu = max(self.cpu, cpu)
        self.hit = self._group.hit() or find_exceeded(usage, self._limits)
        self._wait_at_most(held)

    def finish(self, status: int | None) -> None:
        """Take in what shows only when nothing of the box is left; ``status``: how it ended."""
        dead = _cpu_of_the_dead() - self._cpu_before
        self.cpu = max(self.cpu, self._clock.seconds() or 0.0, dead)
        self.hit = self.hit or self._group.hit()
        if not self.hit and status == -signal.SIGXCPU:  # the kernel ended it
            self.hit = Limit("time", self.cpu, self._plan.watched.cpu, CPU_SECONDS)
        elif not self.hit and status == -signal.SIGXFSZ:
            soft = {kind: soft for kind, soft, _ in self._plan.rlimits}
            size = soft[resource.RLIMIT_FSIZE]  # no file gets larger
            self.hit = Limit("disk", size, size, "bytes")
        if not self.hit:  # what was written at the last moment counts, too: nothing held it
            self._disk = self._measure_disk([])
            self.hit = find_exceeded(Watched(0, 0.0, 0, *self._add_up(0, 0)), self._limits)
        self.memory = self._group.peak() or self.memory

    def close(self) -> None:
        """Count no more."""
        self._clock.close()

    def _wait_at_most(self, size: int) -> None:
        """Set when no engine can have got from so much memory over its limit."""
        allowed = self._limits.memory
        room = (allowed - size) / _FILLED if allowed else _LONGEST_PAUSE
        self.due = time.monotonic() + min(_LONGEST_PAUSE, max(_SHORTEST_PAUSE, room))

    def _measure_cpu(self, samples: list[ProcessStat]) -> float:
        visible = sum(one.own + one.waited for one in samples)
        counted = self._clock.seconds()
        if counted is not None:
            return max(counted, visible)
        seen = {
            one.pid: ProcessSample(one.own, one.waited, share(one.task) if one.running else 0.0)
            for one in samples
        }
        pause = time.monotonic() - self._estimated
        self._estimated += pause
        return visible + self._estimate.look(seen, pause)

    def _measure_disk(self, tasks: list[int]) -> tuple[int, int]:
        """Return bytes and files of its writable folders, with files that have no name."""
        writable = self._plan.writable
        if not writable:
            return 0, 0
        sizes, numbers = zip(*map(untrusted_folders.use, writable), strict=True)
        used = sum(sizes)
        unlinked = _measure_unlinked(tasks, {os.stat(folder).st_dev for folder in writable})
        # What cannot be measured is at most what has vanished from the file system.
        gone = max(0, self._free - free(writable))
        return max(used, gone) if unlinked is None else used + unlinked, sum(numbers)

    def _add_up(self, size: int, files: int) -> tuple[int, int]:
        """Return bytes and files in memory and on the disk, except those that it began with."""
        own = self._plan.own
        return max(0, size + self._disk[0] - own[0]), max(0, files + self._disk[1] - own[1])


def _cpu_of_the_dead() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def find_exceeded(usage: Watched, limits: Watched) -> Limit | None:
    """Return the limit that was hit, if any."""
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
            return Limit(name, reached, allowed, unit)
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
    """Return the figures of a process or thread; field numbers are those of proc(5) less 3."""
    try:
        name, fields = read_stat(task)
    except OSError:
        return None
    return ProcessStat(
        pid=task,
        task=task,
        name=name,
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
