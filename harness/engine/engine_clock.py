"""The time of an engine: which seconds count against its limits on a shared machine."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from time import monotonic

from harness.core.errors import StarvedError
from harness.core.processes import processors
from harness.core.typed import NamedTuple

_APART = 1.2  # of engines on cores of their own: they share caches, memory and the clock's speed
_WINDOW = 1.0  # seconds between two looks at the machine
_QUIET = 0.25  # of a core: with less than that at work, an engine is alone
_CORES = "/sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list"
_BUSY = (1, 2, 3, 6, 7)  # columns of the first line of /proc/stat: user, nice, system, interrupts


class MachineLoad:
    """The load beside an engine, read once a second; an unknown load counts as a full one."""

    def __init__(self, factor: float) -> None:
        """``factor``: how much longer an engine may take beside others, on any machine."""
        self._beside = self._found = factor if _shares_cores() else min(factor, _APART)
        self._ran = 0.0  # seconds that the engine computed since the last look
        self._looked, self._busy = monotonic(), busy_seconds()

    def slowdown(self, seconds: float) -> float:
        """Return how many seconds of computing count as one; ``seconds``: those since the last."""
        self._ran += seconds
        now = monotonic()
        if now - self._looked >= _WINDOW:
            before, self._busy = self._busy, busy_seconds()
            others = self._busy - before - self._ran
            is_alone = abs(others) < _QUIET * (now - self._looked)
            self._found = 1.0 if is_alone else self._beside
            self._looked, self._ran = now, 0.0
        return self._found


def busy_seconds() -> float:
    """Return how long all processors were at work since the machine was started; nan: unknown."""
    with suppress(OSError, ValueError, IndexError), open("/proc/stat", encoding="ascii") as file:
        ticks = file.readline().split()
        return sum(int(ticks[column]) for column in _BUSY) / os.sysconf("SC_CLK_TCK")
    return float("nan")


def _shares_cores() -> bool:
    """Whether two of the processors are halves of one core, as far as the system tells."""
    from glob import glob

    found = []
    for path in glob(_CORES):
        with suppress(OSError), open(path, encoding="ascii") as file:
            found.append(file.read().strip())
    return not found or not all(text.isdigit() for text in found)


# The clock of an engine stands still while the engine is kept from the processor: a time limit is
# about the engine, not about the machine. So three kinds of time do not count:
#
# - Waiting for a processor. ``/proc/PID/task/TID/schedstat`` has how long each thread ran and how
#   long it was ready to run without running, in nanoseconds. Between two looks the thread that
#   waited most counts, for the answer may depend on it. The engine's own threads may be what it
#   waits for: so at least as much counts as the engine computed, divided by the cores.
# - The harness stood still (a stop signal, a frozen container, a paused machine): it woke much
#   later than it had asked to, and had not waited for a processor itself.
# - The engine was stopped by a signal. It may have done so itself, and nobody can tell: so this is
#   forgiven for as long as the limit, and counts from then on.
#
# Sleeping counts, for whatever reason: an engine that waits without wanting the processor hangs.
# What the engine computes is told in seconds of the reference machine where it is known how fast
# this one is (:attr:`EngineClock.pace`). Threads that end between two looks lose their figures, a
# hundredth of a second for most. Where the kernel keeps no such figures, all time counts.

LOOK = 0.05  # seconds between two looks
_FIRST_LOOK = 0.01  # seconds, where commands are sent one by one or a few at a time
_COST = 20  # looks take no more than one part in so many
_LATE = 0.1  # seconds: waking later than this without a reason is to have stood still
_MOST = 50  # times a limit in wall time; then the machine is too busy to judge
_AT_LEAST = 60.0  # seconds
_UNSEEN = 5.0  # seconds in which there may be no process: a box is made, or has failed, by then
_STILL = 0.05  # a stopped engine ran for less than this part of the time
_ASLEEP = "SIZX"  # of the states of proc(5): those in which nothing is about to be done
_NS = 1e-9
NEVER = float("inf")


class Thread(NamedTuple):
    """The figures of one thread. Seconds."""

    ran: float
    waited: float  # ready to run, and not running
    turns: int  # how often it was given the processor
    state: str  # a letter of proc(5); empty if it ran since the look before
    since: float  # of time.monotonic(): since when ``ran`` and ``turns`` are what they are
    told: float  # what the kernel said then of the time that it waited


Threads = dict[int, Thread]


def look(pids: Iterable[int], before: Threads) -> Threads:
    """Return the threads of processes; ``before``: what was returned the last time."""
    found: Threads = {}
    now = monotonic()
    for number, folder in _folders(pids):
        with suppress(OSError, ValueError):
            found[number] = _thread(folder, before.get(number), now)
    return found


def _folders(pids: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Yield the number and the folder in ``/proc`` of each thread of processes."""
    for pid in pids:
        with suppress(OSError):
            for name in os.listdir(f"/proc/{pid}/task"):
                yield int(name), f"/proc/{pid}/task/{name}"


def _thread(folder: str, before: Thread | None, now: float) -> Thread:
    ran, waited, turns = map(int, _read(f"{folder}/schedstat").split())
    told = waited * _NS
    if before is None or before.turns != turns or before.ran != ran * _NS:
        waited_so_far = max(told, before.waited if before else 0.0)
        return Thread(ran * _NS, waited_so_far, turns, "", now, told)
    state = _state(folder)
    if state != "R":
        return before._replace(state=state, since=now, told=told)
    # The kernel adds the time in a queue when it is over: until then we do. It is over without a
    # turn, too, where the thread is moved to the queue of another processor. To add our time to
    # what the kernel has then told would count it twice, and what is too much now would be
    # missing later: the engine would be charged for seconds in which it waits.
    waiting = max(told, before.told + now - before.since)
    return before._replace(state=state, waited=max(before.waited, waiting))


def _state(folder: str) -> str:
    return _read(f"{folder}/stat").rpartition(b")")[2].split()[0].decode()


def are_asleep(pids: Iterable[int]) -> bool:
    """Whether all threads of processes wait for something, and none for a processor."""
    for _, folder in _folders(pids):
        with suppress(OSError):
            if _state(folder) not in _ASLEEP:
                return False
    return True


class Use(NamedTuple):
    """Activity of an engine's threads between two looks. Seconds."""

    ran: float  # all together
    waited: float  # the one that waited most, what began before the first look too
    stopped: bool


def use(before: Threads, after: Threads, seconds: float) -> Use:
    """Compare two looks that are so many ``seconds`` apart."""
    nothing = Thread(0.0, 0.0, 0, "", 0.0, 0.0)
    pairs = [(before.get(number, nothing), thread) for number, thread in after.items()]
    ran = sum(new.ran - old.ran for old, new in pairs)
    waited = max([new.waited - old.waited for old, new in pairs], default=0.0)
    is_still = ran < _STILL * seconds
    stopped = is_still and any(new.state in ("T", "t") for _, new in pairs)
    return Use(ran, waited, stopped)


class EngineClock:
    """The time of one engine; its limits apply to ``now``.

    ``beside``: how many times its limit an engine may compute. Engines that run beside each other
    share caches, and cores that are halves of one: that is worth up to 2. ``first_look``: seconds;
    what answers before is never looked at.
    """

    def __init__(self, processes: Callable[[], list[int]]) -> None:
        """Let the time begin. ``processes`` returns the ids of the engine's at the moment."""
        self.beside = 1.0
        self.pace = 1.0  # seconds that it computes here for what the reference does in one
        self.first_look = _FIRST_LOOK
        self._processes = processes
        self._cores = processors()
        self._threads: Threads = {}
        self._unseen_until = monotonic() + _UNSEEN  # no time counts before; 0: there was a process
        self._ours = _ours()  # None: the kernel keeps no such figures
        self._lost = 0.0  # seconds in which the engine could not run, or this machine was slow
        self._forgiven = 0.0  # seconds for what it computed beside others
        self.computed = 0.0  # seconds in which it was seen to compute since its command began
        self._forgiven_before = 0.0  # what was forgiven when the command began
        self._load: MachineLoad | None = None  # None: what it computes counts as beside others
        self._untold = 0.0  # seconds that it waited, and that are still to be counted as lost
        self._begin(NEVER)

    @property
    def counted(self) -> float:
        """The same seconds as its limits count them."""
        return self.computed - self._forgiven + self._forgiven_before

    def watch_machine(self) -> None:
        """Let what its command computes, up to now too, count by what else is at work."""
        self._load = MachineLoad(self.beside)
        self._forgiven -= self.computed / self._load.slowdown(0.0) - self.computed / self.beside

    def own(self) -> float:
        """Return the time, as ``time.monotonic()`` does, without what was lost."""
        return monotonic() - self._lost

    def now(self) -> float:
        """Return the time that limits are about; beside others it goes slower for computing."""
        return monotonic() - self._lost - self._forgiven

    def begin_command(self) -> tuple[float, float]:
        """Return :meth:`own` and :meth:`now` of the moment at which a command begins."""
        self.computed, self._forgiven_before = 0.0, self._forgiven
        own = monotonic() - self._lost
        return own, own - self._forgiven

    def note_arrival(self) -> tuple[float, float]:
        """Return the same of the moment at which an answer has come, after a look if it is due."""
        at = monotonic()
        # Where seconds of computing are not those of the clock, the last ones must be known, too.
        pause = self._pause if self.pace == 1.0 else self.first_look
        if self._deadline < NEVER and at - self._looked >= pause:
            self.look()
            at = monotonic()
        return at - self._lost, at - self._lost - self._forgiven

    def wait_until(self, deadline: float) -> None:
        """Begin to wait for something; ``deadline``: of :meth:`now`."""
        if deadline != self._deadline:
            self._begin(deadline)

    def _begin(self, deadline: float) -> None:
        self._deadline = deadline
        self._began = self._looked = began = monotonic()
        self._slept = 0.0  # seconds since then that we meant to sleep
        self._pause = self.first_look
        left = deadline - began + self._lost + self._forgiven
        self._spare = limit = left if left > 0 else 0.0  # seconds that it may be stopped
        most = limit * _MOST
        self._ends = began + (most if most > _AT_LEAST else _AT_LEAST)

    def _count_left(self) -> float:
        return self._deadline - self.now()

    def sleep(self, poll: select.poll) -> list[tuple[int, int]]:
        """Wait for an event, not for long; then :meth:`is_over` is to be asked, and so on."""
        begun = monotonic()
        asked = max(0.0, min(self._looked + self._pause - begun, self._count_left()))
        events = poll.poll(int(-(-asked * 1000 // 1)))  # rounded up
        self._slept += min(monotonic() - begun, asked + 0.001)
        self.look_if_due()
        return events

    def note_sleep(self, seconds: float) -> None:
        """Take note that we slept on purpose, elsewhere than in :meth:`sleep`."""
        self._slept += seconds
        self.look_if_due()

    def look_if_due(self) -> None:
        """Take note of what the engine did, unless there is little to be noted."""
        if self._deadline < NEVER and monotonic() - self._looked >= self._pause:
            self.look()

    def is_over(self) -> bool:
        """Return whether the deadline has passed.

        Raises:
            StarvedError: it has not, though many times that much wall time is over.
        """
        if self._count_left() > 0 and monotonic() < self._ends:
            return False
        self.look()
        if self._count_left() > 0 and monotonic() >= self._ends:
            waited = monotonic() - self._began
            what = f"an engine had not used up its time limit after {waited:.0f} s"
            raise StarvedError(f"the machine is too busy: {what}")
        return self._count_left() <= 0

    def look(self) -> None:
        """Take note of what the engine did since the last time."""
        begun, slept = monotonic(), self._slept
        seconds = begun - self._looked
        self._looked, self._slept = begun, 0.0
        if self._ours is None:
            self._pause = LOOK
            return
        pids = self._processes()
        self._unseen_until = 0.0 if pids else self._unseen_until
        before, self._threads = self._threads, look(pids, self._threads)
        usage = use(before, self._threads, seconds)
        # For how long the harness stood still, of the seconds in which it meant not to.
        ours, self._ours = self._ours, _ours()
        assert self._ours is not None
        late = seconds - slept - sum(self._ours) + sum(ours)
        self._count(usage, seconds, min(late, seconds - slept) if late > _LATE else 0.0)
        self._pause = max(LOOK, _COST * (monotonic() - begun))

    def _count(self, usage: Use, seconds: float, standstill: float) -> None:
        awake, waited = seconds - standstill, usage.waited + self._untold
        counts = max(awake - waited, min(usage.ran / self._cores, awake))
        # The end of a wait tells of its beginning, too, which was before the last look.
        self._untold = min(waited - awake + counts, seconds)
        counts = counts if self._looked > self._unseen_until else 0.0
        if usage.stopped and self._spare > 0:
            counts, self._spare = 0.0, self._spare - seconds
        here = min(counts, usage.ran)
        computed = here / self.pace
        self._lost += seconds - counts + (here - computed)
        beside = self._load.slowdown(here) if self._load else self.beside
        self._forgiven += computed - computed / beside
        self.computed += computed
        self._ends += standstill


def _ours() -> tuple[float, float] | None:
    """Return how long this thread ran and waited for a processor."""
    try:
        ran, waited, _ = _read("/proc/thread-self/schedstat").split()
    except (OSError, ValueError):
        return None
    return (int(ran) * _NS, int(waited) * _NS) if int(ran) else None


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 1 << 12)
    finally:
        os.close(descriptor)
