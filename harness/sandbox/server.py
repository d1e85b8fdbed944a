"""The box server: a small process that starts engines, one after the other, and ends them.

Engines are not started by the harness itself for four reasons: it has threads, forks and memory of
its own, with the expected answers in it; "die with parent" means the *thread* that forked; a small
process forks fast, so that no engine pays for the start of a Python; and whatever an engine leaves
behind becomes a child of this process and of no other. An engine is gone when the server has no
children left.

The server reads one :class:`~harness.sandbox.plan.LaunchPlan` with three descriptors from a
socket, and writes one :class:`~harness.sandbox.plan.BoxReport`. Any message, or the end of the
socket (the harness has died), ends the engine before.

A server is started for almost every command, and for each worker. So it loads little: neither
:mod:`json` nor :mod:`socket`, which load :mod:`re` and :mod:`enum` and take as long as all else.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import _socket
import contextlib
import gc
import os
import resource
import select
import struct
import time
from collections.abc import Callable

from harness import processes, signals
from harness.options import CPU_SECONDS, GIB
from harness.sandbox import (
    bubblewrap,
    cgroup,
    inside,
    landlock,
    memory,
    plan,
    seccomp,
    untrusted_folders,
    watch,
)
from harness.sandbox.plan import BoxReport, LaunchPlan, pack_report, unpack_plan

LONGEST_MESSAGE = 1 << 18
_TICK = 0.05  # seconds between two looks at the tree, at most
_SHORTEST_TICK = 0.002
_CLOSELY = 0.25  # seconds between two close looks
# Bytes that a machine can fill in a second: the next look comes before the limit can be passed.
_FILLED = 4 * GIB * (os.cpu_count() or 1)
_PATIENCE = 0.5  # seconds that a keeper has to end its engine before we do it ourselves
# Seconds. A box takes 0.01, and many more on a machine that stood still for a while; after so many
# the server gives up. A caller that ends the start earlier, but after half a second, waited for a
# box in vain. That must not look like an engine that does not answer.
_LONGEST_START = 20.0
_LONG_START = 0.5
_COPIED = (20 << 20, 1000)  # bytes and files that are copied in a second, even if it is a bad one
_OWN_PROCESSES = {3: 2, 2: 1, 1: 1}  # of a box: bubblewrap's two, or the keeper


def main(descriptor: int, cgroups: list[str]) -> None:
    """Serve the harness at the other end of the socket ``descriptor`` until it hangs up.

    ``cgroups``: folders, one of each hierarchy, under which engines may be counted.
    """
    signals.set_defaults()  # and so in every box; we ourselves depend on SIGCHLD
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # a box that has ended already is an error
    os.setpgid(0, 0)  # a Ctrl-C at the terminal is the harness's affair
    landlock.prctl("subreaper", landlock.PR_SET_CHILD_SUBREAPER, 1)
    os.set_inheritable(descriptor, False)
    control = _socket.socket(fileno=descriptor)
    group = cgroup.enter(cgroups)
    # Do beforehand what every child would have to do for itself.
    for metadata in (False, True):
        seccomp.for_this_machine(metadata, False)
    gc.freeze()
    gc.disable()  # a collection touches, and so copies, every page that a child shares with us
    with contextlib.suppress(OSError), contextlib.closing(group):
        while message := _receive(control):
            control.send(pack_report(_serve(*message, control, group)))


def _serve(
    data: bytes, streams: inside.Streams, control: _socket.socket, group: cgroup.ControlGroups
) -> BoxReport:
    """Run one engine; what goes wrong here is a fault to be reported, not a traceback."""
    try:
        return Box(unpack_plan(data), control, group).run(streams)
    except Exception as error:  # noqa: BLE001 - the one place where it becomes a sentence
        end_children(processes.descendants)
        return BoxReport(None, f"{type(error).__name__}: {error}", "", None, 0, 0.0, ())


def _receive_message(control: _socket.socket) -> tuple[bytes, tuple[int, ...]]:
    """Return the next message with its descriptors, as :func:`socket.recv_fds` does."""
    size = struct.calcsize("i")
    data, others, _, _ = control.recvmsg(LONGEST_MESSAGE, _socket.CMSG_LEN(3 * size))
    for level, kind, packed in others:
        if (level, kind) == (_socket.SOL_SOCKET, _socket.SCM_RIGHTS):
            return data, struct.unpack(f"{len(packed) // size}i", packed)
    return data, ()


def _receive(control: _socket.socket) -> tuple[bytes, inside.Streams] | None:
    """Wait for the next engine; messages to end the last one, which were too late, are skipped."""
    while True:
        data, descriptors = _receive_message(control)
        for descriptor in descriptors:  # recv_fds() takes no flag for that before Python 3.13
            os.set_inheritable(descriptor, False)
        if not data:
            return None
        if len(descriptors) == 3:
            return data, (descriptors[0], descriptors[1], descriptors[2])


class Box:
    """One engine from its start until nothing of it is left."""

    def __init__(
        self, plan: LaunchPlan, control: _socket.socket, group: cgroup.ControlGroups
    ) -> None:
        self._plan = plan
        self._control = control
        self._group = group
        self._watched = group.keep_polled(plan.watched)
        self._news = b""
        self._free = watch.free(plan.writable)
        self._disk = watch.Disk()
        self._is_much = False  # at the last look, at least half of the memory that is allowed
        self._looked_at_disk = 0.0  # often enough for a disk, which is slower than memory
        copies = plan.own[0] if plan.scratch else 0  # in memory
        self._shared = memory.machine_shared() + copies if self._watched.memory else 0
        self._poll = select.poll()
        self._hold = -1  # bubblewrap waits for its end while we fill folders
        self._first = 0  # the process of the box that makes them
        self._begun = self._looked_closely = self._looked = time.monotonic()
        self._clock = watch.BoxClock(group.cpu)
        self._estimate = watch.Estimate()
        self._ready = False  # all that is left to be done is to execute the program
        self._broken = False  # the box ended before its engine did
        self._status: int | None = None
        self._fault = ""
        self._unstarted = ""
        self._hit: tuple[str, float, float, str] | None = None
        self._memory = 0
        self._cpu = 0.0
        self._leftovers: tuple[str, ...] = ()

    def run(self, streams: inside.Streams) -> BoxReport:
        """Start the engine on ``streams``, watch over it, end it, and report."""
        before = _cpu_of_the_dead()
        self._group.allow(self._plan.watched.memory, self._plan.threads)
        with contextlib.closing(self._clock):
            late = self._watch_over(streams)
            self._cpu = max(self._cpu, self._clock.seconds() or 0.0, _cpu_of_the_dead() - before)
        self._hit = (
            self._hit or self._group.hit() or self._signal_hit() or self._find_late_excess()
        )
        if not self._hit:
            # Note it if the engine never ran, or not to its end, for no reason of its own.
            if self._broken:
                self._fault = self._fault or "it ended before the engine did"
            elif late and not self._unstarted:
                self._fault = self._fault or "it could not be made in time"
        most = self._group.peak() or self._memory
        return BoxReport(
            self._status, self._fault, self._unstarted, self._hit, most, self._cpu, self._leftovers
        )

    def _watch_over(self, streams: inside.Streams) -> bool:
        """Run the engine until nothing of it is left; return whether it began late."""
        reading, status = os.pipe()
        root, block = self._start(streams, status)
        try:
            self._attend(reading, block)
            return self._takes(_LONG_START)
        finally:
            if self._hit:
                self._strike()
            if self._plan.level == 1:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(root, signal.SIGTERM)
                _wait_for(root, _PATIENCE)
            end_children(processes.descendants if self._plan.level == 1 else processes.children)
            os.close(reading)
            os.close(block)
            self._let_go()

    def _start(self, streams: inside.Streams, status: int) -> tuple[int, int]:
        """Return the process id of the box, and a pipe: the engine waits for a byte from it."""
        waiting, block = os.pipe()
        try:
            root = self._start_box(streams, status, waiting)
        finally:
            for descriptor in (*streams, status, waiting):
                os.close(descriptor)
        return root, block

    def _start_box(self, streams: inside.Streams, status: int, waiting: int) -> int:
        if self._plan.level == 3:
            root, self._hold = bubblewrap.start(self._plan, streams, status, waiting)
            return root
        return inside.start(self._plan, streams, status)

    def _attend(self, reading: int, block: int) -> None:
        """Wait until the engine ends, hits a limit, or is to be ended."""
        self._poll.register(reading, select.POLLIN)
        self._poll.register(self._control, select.POLLIN)
        tick = time.monotonic() + self._pause(0)
        patience = _LONGEST_START + self._plan.own[0] / _COPIED[0] + self._plan.own[1] / _COPIED[1]
        while self._status is None and not self._hit and not self._takes(patience):
            pause = max(0, tick - time.monotonic()) * 1000
            ready = [number for number, _ in self._poll.poll(pause)]
            if reading in ready and not self._read_status(reading, block):
                return
            if self._control.fileno() in ready:
                return
            if self._hold in ready and not self._fill():
                return
            if time.monotonic() >= tick:
                tick = self._look() + time.monotonic()

    def _takes(self, seconds: float) -> bool:
        """Whether the box has not been made after so long a time."""
        return not self._ready and time.monotonic() > self._begun + seconds

    def _read_status(self, reading: int, block: int) -> bool:
        """Take what the box says of itself; False when it says no more."""
        data = os.read(reading, 1 << 12)
        *lines, self._news = (self._news + data).split(b"\n")  # bubblewrap writes bit by bit
        for line in (line.decode(errors="replace") for line in lines):
            if line.startswith("{"):
                news = _read_numbers(line)
                if "child-pid" in news and self._limit(news["child-pid"]):
                    os.write(block, b".")
                    self._first, self._ready = news["child-pid"], self._hold < 0
                    if self._hold >= 0:
                        self._poll.register(self._hold, select.POLLOUT)
                if "exit-code" in news:
                    self._note_end(_as_returncode(news["exit-code"]))
            else:
                self._take_keeper(*line.partition(" ")[::2])
        self._broken = not data
        return bool(data) and not self._unstarted and not self._fault

    def _take_keeper(self, word: str, rest: str) -> None:
        if word == "ready":
            self._ready = True
        elif word == "ended":
            self._note_end(int(rest))
        elif word == "unstarted":
            self._unstarted = rest
        elif word == "fault":
            self._fault = rest

    def _fill(self) -> bool:
        """Copy into the new folders of the box; return whether that could be done."""
        stopping = select.poll()
        stopping.register(self._control, select.POLLIN)
        owner = self._plan.identity
        try:
            os.unlink(bubblewrap.mark(self._plan, self._first))
            for mount in self._plan.mounts:
                place = bubblewrap.place_of(self._first, mount.place)
                for _ in untrusted_folders.copy(mount.source, place, owner, mount.left_out):
                    if stopping.poll(0):
                        return False
        except OSError as error:
            self._fault = f"a folder cannot be filled: {error.strerror}"
            return False
        self._let_go()
        self._ready = True
        return True

    def _let_go(self) -> None:
        """Let bubblewrap continue, or forget it."""
        if self._hold >= 0:
            with contextlib.suppress(KeyError):
                self._poll.unregister(self._hold)
            os.close(self._hold)
            self._hold = -1

    def _limit(self, first: int) -> bool:
        """Set the limits of the box's first process; return whether that worked.

        Any earlier, and bubblewrap itself as well as all other processes of the user would be
        counted and bound.
        """
        try:
            plan.set_limits(first, self._plan.rlimits)
            with open(f"/proc/{first}/oom_score_adj", "wb") as file:
                file.write(plan.FIRST_TO_DIE)
        except (ProcessLookupError, FileNotFoundError):
            return False  # bubblewrap has failed already, which will show
        except OSError as error:
            self._fault = f"limits cannot be set: {error.strerror}"
            return False
        return True

    def _note_end(self, status: int) -> None:
        self._status = status
        if self._plan.level < 3:  # bubblewrap ends the others before we could look
            # A daemon that changes its parent while we walk the tree is missed in one walk.
            alive = max(self._living(), self._living(), key=len)
            own = _OWN_PROCESSES[self._plan.level]
            self._leftovers = tuple(process.name for process in alive[own:])

    def _find_processes(self) -> list[watch.ProcessStat]:
        return watch.processes(processes.descendants(os.getpid()))

    def _living(self) -> list[watch.ProcessStat]:
        return [process for process in self._find_processes() if not process.dead]

    def _look(self) -> float:
        """Look at what is used; return after how many seconds to look again."""
        own = _OWN_PROCESSES[self._plan.level]
        closely = time.monotonic() > self._looked_closely + _CLOSELY or self._is_much
        if closely:
            self._looked_closely = time.monotonic()
        look = memory.MemoryLook(self._watched.memory, 0, self._shared, closely)
        found = self._find_processes()
        if time.monotonic() >= self._looked_at_disk + _TICK:
            self._disk = watch.disk(found[own:], self._plan, self._free)
            self._looked_at_disk = time.monotonic()
        usage = watch.measure(found, own, self._plan, look, self._disk)
        usage = usage._replace(cpu=self._time(found, usage.cpu))
        self._is_much = usage.memory > self._watched.memory / 2
        self._memory = max(self._memory, usage.memory)
        self._cpu = max(self._cpu, usage.cpu)
        self._hit = self._group.hit() or watch.find_exceeded(usage, self._watched)
        return self._pause(usage.memory)

    def _time(self, found: list[watch.ProcessStat], visible: float) -> float:
        """Return the CPU time of the box, ``visible`` being what its processes show."""
        counted = self._clock.seconds()
        if counted is not None:
            return max(counted, visible)
        now, before = time.monotonic(), self._looked
        self._looked = now
        seen = {
            one.pid: watch.ProcessSample(
                one.own, one.waited, watch.share(one.task) if one.running else 0.0
            )
            for one in found
        }
        return visible + self._estimate.look(seen, now - before)

    def _pause(self, used: int) -> float:
        """Return the seconds in which no engine can get from so much memory over its limit."""
        allowed = self._watched.memory
        room = (allowed - used) / _FILLED if allowed else _TICK
        return min(_TICK, max(_SHORTEST_TICK, room))

    def _signal_hit(self) -> tuple[str, float, float, str] | None:
        """The kernel's word for too much CPU time or too large a file is a signal."""
        if self._status == -signal.SIGXCPU:
            return "time", self._cpu, self._plan.watched.cpu, CPU_SECONDS
        if self._status == -signal.SIGXFSZ:
            soft = {kind: soft for kind, soft, _ in self._plan.rlimits}
            size = soft[resource.RLIMIT_FSIZE]  # no file gets larger
            return "disk", size, size, "bytes"
        return None

    def _find_late_excess(self) -> tuple[str, float, float, str] | None:
        """Look at what was written at the last moment, too: no file system held it."""
        disk = watch.disk([], self._plan, self._free)
        usage = watch.measure([], 0, self._plan, memory.MemoryLook(0, 0, 0), disk)
        return watch.find_exceeded(usage, self._watched)

    def _strike(self) -> None:
        """Kill the engine's processes before the box, whose end reaches them one after another.

        On a busy machine that takes a while, in which they would take more.
        """
        for pid in processes.descendants(os.getpid())[_OWN_PROCESSES[self._plan.level] :]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _read_numbers(line: str) -> dict[str, int]:
    """Return bubblewrap's word, an object of JSON whose values are whole numbers."""
    pairs = (pair.split(":") for pair in line.strip("{ }").split(","))
    return {name.strip(' "'): int(number) for name, number in pairs}


def _as_returncode(code: int) -> int:
    """Return bubblewrap's word for how its engine ended, which is a shell's, as Python's."""
    return 128 - code if 128 < code < 128 + signal.NSIG else code


def end_children(victims: Callable[[int], list[int]] = processes.children) -> None:
    """Kill our children, and those who become our children by that, until we have none.

    A child keeps its id until it is reaped, so nobody else can be hit. With all descendants
    the whole tree is killed at once: without a pid namespace, what multiplies might outrun us.
    """
    pause = 0.0
    while True:
        for pid in victims(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(pause)
        pause = min(pause + 0.0002, 0.002)


def _wait_for(pid: int, patience: float) -> None:
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return
        time.sleep(0.0005)


def _cpu_of_the_dead() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
