"""The box server: a small process that starts engines, one after the other, and ends them.

Engines are not started by the harness itself for four reasons: it has threads, forks and memory of
its own, with the expected answers in it; "die with parent" means the *thread* that forked; a small
process forks fast, so that no engine pays for the start of a Python; and whatever an engine leaves
behind becomes a child of this process and of no other. An engine is gone when the server has no
children left.

The server reads one :class:`~harness.sandbox.plan.LaunchPlan` with three descriptors from a
socket, and writes one :class:`~harness.sandbox.plan.BoxEnd`. Any message, or the end of the
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
import select
import struct
import time
from collections.abc import Callable, Iterator

from harness.core import processes, signals
from harness.sandbox import bubblewrap, cgroup, inside, landlock, plan, seccomp, untrusted_folders
from harness.sandbox.plan import BoxEnd, LaunchPlan, pack_report, unpack_plan
from harness.sandbox.watch import OWN_PROCESSES, Meter, tree

LONGEST_MESSAGE = 1 << 18
_PATIENCE = 0.5  # seconds that a keeper has to end its engine before we do it ourselves
# Seconds. A box takes 0.01, and many more on a machine that stood still for a while; after so many
# the server gives up. A caller that ends the start earlier, but after half a second, waited for a
# box in vain. That must not look like an engine that does not answer.
_LONGEST_START = 20.0
_LONG_START = 0.5
_COPIED = (20 << 20, 1000)  # bytes and files that are copied in a second, even if it is a bad one


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
            control.send(pack_report(*_serve(*message, control, group)))


def _serve(
    data: bytes, streams: inside.Streams, control: _socket.socket, group: cgroup.ControlGroups
) -> tuple[BoxEnd, str]:
    """Run one engine; what goes wrong here is a fault to be reported, not a traceback."""
    try:
        return Box(unpack_plan(data), control, group).run(streams)
    except Exception as error:  # noqa: BLE001 - the one place where it becomes a sentence
        end_children(processes.descendants)
        return BoxEnd(), f"{type(error).__name__}: {error}"


def _receive(control: _socket.socket) -> tuple[bytes, inside.Streams] | None:
    """Wait for the next engine; messages to end the last one, which were too late, are skipped."""
    size = struct.calcsize("i")
    while True:
        # As socket.recv_fds does, which takes no flag before Python 3.13.
        data, others, _, _ = control.recvmsg(LONGEST_MESSAGE, _socket.CMSG_LEN(3 * size))
        descriptors: tuple[int, ...] = ()
        for level, kind, packed in others:
            if (level, kind) == (_socket.SOL_SOCKET, _socket.SCM_RIGHTS):
                descriptors += struct.unpack(f"{len(packed) // size}i", packed)
        for descriptor in descriptors:
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
        self._meter = Meter(plan, group)
        self._end = BoxEnd()
        self._fault = ""  # why the box could not be made
        self._poll = select.poll()
        self._unread = b""  # the beginning of a line that the box has not ended yet
        self._first = 0  # the process of the box that bubblewrap makes first
        self._hold = -1  # bubblewrap waits for its end while we fill folders
        self._begun = time.monotonic()
        self._ready = False  # all that is left to be done is to execute the program
        self._trouble = ""  # a fault, unless a limit that was hit is the reason

    def run(self, streams: inside.Streams) -> tuple[BoxEnd, str]:
        """Start the engine on ``streams``, watch over it and end it; return its end or a fault."""
        meter = self._meter
        with contextlib.closing(meter):
            self._watch_over(streams)
            meter.finish(self._end.status)
        fault = self._fault or ("" if meter.hit else self._trouble)
        return self._end._replace(hit=meter.hit, memory=meter.memory, cpu=meter.cpu), fault

    def _watch_over(self, streams: inside.Streams) -> None:
        level = self._plan.level
        reading, status = os.pipe()
        waiting, block = os.pipe()  # the box goes on when there is a byte to be read
        try:
            if level == 3:
                root, self._hold = bubblewrap.start(self._plan, streams, status, waiting)
            else:
                root = inside.start(self._plan, streams, status)
        finally:
            for descriptor in (*streams, status, waiting):
                os.close(descriptor)
        try:
            self._attend(reading, block)
            if self._is_late(_LONG_START) and not self._end.unstarted:
                self._trouble = self._trouble or "it could not be made in time"
        finally:
            if self._meter.hit:
                # Kill the engine's processes before the box, whose end reaches them one after
                # another: on a busy machine that takes a while, in which they would take more.
                _kill(processes.descendants(os.getpid())[OWN_PROCESSES[level] :])
            if level == 1:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(root, signal.SIGTERM)
                _wait_for(root, _PATIENCE)
            end_children(processes.descendants if level == 1 else processes.children)
            os.close(reading)
            os.close(block)
            self._let_go()

    def _attend(self, descriptor: int, block: int) -> None:
        """Wait until the engine ends, hits a limit, or is to be ended."""
        self._poll.register(descriptor, select.POLLIN)
        self._poll.register(self._control, select.POLLIN)
        size, files = self._plan.own
        patience = _LONGEST_START + size / _COPIED[0] + files / _COPIED[1]
        meter = self._meter
        while self._end.status is None and not meter.hit and not self._is_late(patience):
            pause = max(0, meter.due - time.monotonic()) * 1000
            ready = [number for number, _ in self._poll.poll(pause)]
            if descriptor in ready and not self._read_status(descriptor, block):
                return
            if self._control.fileno() in ready:
                return
            if self._hold in ready and not self._fill():
                return
            if time.monotonic() >= meter.due:
                meter.look()

    def _is_late(self, seconds: float) -> bool:
        return not self._ready and time.monotonic() > self._begun + seconds

    def _read_status(self, descriptor: int, block: int) -> bool:
        """Take in what the box tells of itself; return whether there may be more."""
        data = os.read(descriptor, 1 << 12)
        *lines, self._unread = (self._unread + data).split(b"\n")  # bubblewrap writes bit by bit
        for line in lines:
            for word, value in _facts(line.decode(errors="replace")):
                self._take(word, value, block)
        if not data:
            self._trouble = "it ended before the engine did"
        return bool(data) and not self._end.unstarted and not self._fault

    def _take(self, word: str, value: str, block: int) -> None:
        """Take in one fact; ``block``: what bubblewrap waits for after the first one."""
        if word == "child-pid" and self._limit(int(value)):
            os.write(block, b".")
            self._first = int(value)
            if self._hold >= 0:
                self._poll.register(self._hold, select.POLLOUT)
            else:
                self._ready = True
        elif word == "ready":
            self._ready = True
        elif word == "ended":
            self._note_end(int(value))
        elif word == "exit-code":  # as a shell has it: more than 128 is a signal
            code = int(value)
            self._note_end(128 - code if 128 < code < 128 + signal.NSIG else code)
        elif word == "unstarted":
            self._end = self._end._replace(unstarted=value)
        elif word == "fault":
            self._fault = value

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
        self._end = self._end._replace(status=status)
        if self._plan.level < 3:  # bubblewrap ends the others before we could look
            # A daemon that changes its parent while we walk the tree is missed in one walk.
            walks = [[one for one in tree() if not one.dead] for _ in range(2)]
            own = OWN_PROCESSES[self._plan.level]
            names = tuple(process.name for process in max(walks, key=len)[own:])
            self._end = self._end._replace(leftovers=names)


def _facts(line: str) -> Iterator[tuple[str, str]]:
    """Yield what a line of the box's status tells, as words with their values.

    A line of bubblewrap is an object of JSON whose values are whole numbers; see ``inside`` for
    the others.
    """
    if line.startswith("{"):
        for pair in line.strip("{ }").split(","):
            word, value = pair.split(":")
            yield word.strip(' "'), value.strip()
    else:
        word, _, value = line.partition(" ")
        yield word, value


def end_children(victims: Callable[[int], list[int]] = processes.children) -> None:
    """Kill our children, and those who become our children by that, until we have none.

    A child keeps its id until it is reaped, so nobody else can be hit. With all descendants
    the whole tree is killed at once: without a pid namespace, what multiplies might outrun us.
    """
    pause = 0.0
    while True:
        _kill(victims(os.getpid()))
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(pause)
        pause = min(pause + 0.0002, 0.002)


def _kill(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _wait_for(pid: int, patience: float) -> None:
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return
        time.sleep(0.0005)
