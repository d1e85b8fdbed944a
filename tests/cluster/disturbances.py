"""What is done to the hosts of a cluster while it grades, in a drawn order, and undone again.

One begins every few seconds, so several hosts are disturbed at once. While nothing is done nothing
can go wrong. So of the three that all others need (server, scheduler, database) one at a time is
disturbed, with a rest after it; each worker has a rest, too, and one that works is always left. A
rest is as long as it takes to be at work again, so there is some on a slow machine as well.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from random import Random
from typing import NamedTuple, TypeVar

from tests.cluster.lab import DATABASE, SCHEDULER, SERVER, WORKERS
from tests.cluster.parts import Part

Thing = TypeVar("Thing")
WEAK = "weak"  # what a worker calls its machine while it lacks the sandbox of the grading
_MOMENT = 1.0  # seconds of what does not last
_START = 15.0  # in which a worker starts
_UNSEEN = 60.0  # seconds more for it to reach the scheduler, which may be disturbed itself
_EVERY = (3.0, 6.0)  # seconds from one beginning to the next
_SINGLE = frozenset({SERVER, SCHEDULER, DATABASE})


@contextlib.contextmanager
def killed(part: Part, _draw: Random) -> Iterator[None]:
    """Cut the power; whatever ran is started anew."""
    part.kill()
    yield


@contextlib.contextmanager
def one_killed(part: Part, draw: Random) -> Iterator[None]:
    """Kill one process of all that run there, a connection of the database among them."""
    if pids := part.host.pids():
        part.host.send(signal.SIGKILL, [draw.choice(pids)])
    yield


@contextlib.contextmanager
def stopped(part: Part, _draw: Random) -> Iterator[None]:
    """Let all processes stand still."""
    pids = part.host.pids()
    part.host.send(signal.SIGSTOP, pids)
    try:
        yield
    finally:
        part.host.send(signal.SIGCONT, pids)


def cut_off(part: Part, _draw: Random) -> AbstractContextManager[None]:
    """Pull its cables."""
    return part.host.cut_off()


@contextlib.contextmanager
def cut_off_and_killed(part: Part, _draw: Random) -> Iterator[None]:
    """Let its connections be half open: what was there is gone, and nobody was told."""
    with part.host.cut_off():
        part.kill()
        yield


def slowed(part: Part, _draw: Random) -> AbstractContextManager[None]:
    """Let its cables carry little."""
    return part.host.slowed()


def filled(part: Part, _draw: Random) -> AbstractContextManager[None]:
    """Leave no room on its disk."""
    return part.host.filled()


@contextlib.contextmanager
def filled_with_one_killed(part: Part, draw: Random) -> Iterator[None]:
    """Leave no room for what one of its processes needs to begin again."""
    with part.host.filled():
        if pids := [pid for pid in part.host.pids() if pid != part.pid]:
            part.host.send(signal.SIGKILL, [draw.choice(pids)])
        yield


@contextlib.contextmanager
def weakened(part: Part, _draw: Random) -> Iterator[None]:
    """Start it anew without the program of the strongest sandbox: it must get no attempt."""
    part.kill()
    part.start(["env", "PATH=/nowhere"], ["--machine", f"{WEAK}-{part.host.name}"])
    try:
        yield
    finally:
        part.kill()


def weak(host: str) -> str:
    """Return what the worker of a host calls its machine while it is weakened."""
    return f"{WEAK}-{host}"


class Disturbance(NamedTuple):
    """One kind."""

    do: Callable[[Part, Random], AbstractContextManager[None]]
    lasts: float = 1.0  # in parts of the seconds that are said; 0: a moment
    least: float = _MOMENT  # seconds
    of: frozenset[str] | None = None  # hosts; None: all
    is_to_be_seen: bool = False  # it lasts until the weak worker has reached the scheduler

    @property
    def name(self) -> str:
        return self.do.__name__


_WITH_DISKS = frozenset({SERVER, DATABASE, *WORKERS})
DISTURBANCES = (
    Disturbance(killed, lasts=0),
    Disturbance(one_killed, lasts=0),
    Disturbance(stopped),
    Disturbance(cut_off),
    Disturbance(cut_off_and_killed),
    Disturbance(slowed, lasts=0.5),
    Disturbance(filled, lasts=0.5, of=_WITH_DISKS),
    Disturbance(filled_with_one_killed, lasts=0.5, of=_WITH_DISKS),
    Disturbance(weakened, least=_START, of=frozenset(WORKERS), is_to_be_seen=True),
)


class Starts(NamedTuple):
    """How many seconds programs need until they are at work."""

    worker: float  # to be known by the scheduler
    grading: float  # to its first result


class Begun(NamedTuple):
    """A disturbance that is not undone."""

    kind: Disturbance
    doing: AbstractContextManager[None]
    until: float


class Storm:
    """Disturbances that overlap; to be closed, which undoes what is not undone."""

    def __init__(
        self,
        parts: Mapping[str, Part],
        seed: int,
        seconds: float,
        starts: Starts = Starts(0.0, 0.0),  # noqa: B008
        is_seen: Callable[[str], bool] = lambda _machine: True,
    ) -> None:
        """``parts``: by their hosts; ``seconds``: that a disturbance lasts, if it does.

        ``starts``: how long hosts need to be at work. ``is_seen``: whether the
        scheduler knows a worker of a machine of that name.
        """
        self._parts = parts
        self._seconds = seconds
        self.starts = starts
        self._is_seen = is_seen
        self._draw = Random(seed)
        # The rest of this turn. The first turn begins with the longest disturbances.
        kinds = self._shuffle(DISTURBANCES)
        self._kinds = sorted(kinds, key=lambda kind: not kind.is_to_be_seen)
        self._hosts = {kind: self._shuffle(sorted(kind.of or parts)) for kind in DISTURBANCES}
        self._running: dict[str, Begun] = {}  # by host
        self._rested: dict[str, float] = {}  # hosts, by when they may be disturbed again
        self._first = self._next = 0.0
        self.told: list[str] = []
        self.counts: Counter[str] = Counter()  # kinds
        self.deaths = 0  # of workers, at most: how often one lost what it had in hand
        self.at_once = 0  # the most that were under way
        self.seen = self.unseen = 0  # weak workers, by whether they reached the scheduler

    def _shuffle(self, things: Iterable[Thing]) -> list[Thing]:
        order = list(things)
        self._draw.shuffle(order)
        return order

    def go_on(self) -> None:
        """End what is due, and begin the next one if it is time."""
        now = time.monotonic()
        self._first = self._first or now
        for host, one in list(self._running.items()):
            if now >= one.until and self._has_had_its_effect(host, one, now):
                self._undo(host)
        if now >= self._next and (chosen := self._choose(now)):
            self._begin(*chosen)

    def _has_had_its_effect(self, host: str, one: Begun, now: float) -> bool:
        """Whether it may end: that a weak worker got nothing says nothing until it was known."""
        if not one.kind.is_to_be_seen:
            return True
        is_seen = self._is_seen(weak(host))
        is_over = is_seen or now >= one.until + _UNSEEN
        self.seen += is_seen
        self.unseen += is_over and not is_seen
        return is_over

    def _choose(self, now: float) -> tuple[Disturbance, str] | None:
        """Return the next kind that may come to a host, and the next of these; None: none yet."""
        taken = self._list_taken(now)
        self._kinds = self._kinds or self._shuffle(DISTURBANCES)
        pairs = ((kind, host) for kind in self._kinds for host in self._hosts[kind])
        return next((pair for pair in pairs if pair[1] not in taken), None)

    def _list_taken(self, now: float) -> set[str]:
        """Return the hosts to which nothing may happen now."""
        taken = set(self._running) | {host for host, until in self._rested.items() if now < until}
        if taken & _SINGLE:
            taken |= _SINGLE
        working = [name for name in WORKERS if name not in taken and self._is_seen(name)]
        return taken | set(WORKERS if not working else working if len(working) == 1 else ())

    def _begin(self, kind: Disturbance, host: str) -> None:
        self._tell(f"{host} {kind.name}")
        self._kinds.remove(kind)
        self._hosts[kind].remove(host)
        self._hosts[kind].append(host)
        doing = kind.do(self._parts[host], self._draw)
        doing.__enter__()
        until = time.monotonic() + max(self._seconds * kind.lasts, kind.least)
        self._running[host] = Begun(kind, doing, until)
        self._next = time.monotonic() + self._draw.uniform(*_EVERY)
        self._count(kind, host)

    def _count(self, kind: Disturbance, host: str) -> None:
        self.counts[kind.name] += 1
        self.at_once = max(self.at_once, len(self._running))
        # A weak worker comes and goes. Without their scheduler all may be lost.
        self.deaths += (1 + kind.is_to_be_seen) if host in WORKERS else len(WORKERS)

    def _undo(self, host: str) -> None:
        one = self._running.pop(host)
        one.doing.__exit__(None, None, None)
        self._tell(f"{host} {one.kind.name}, undone")
        rest = self.starts.worker
        if host in _SINGLE:
            rest = max(self.starts.grading, self._seconds * one.kind.lasts)
        self._rested[host] = time.monotonic() + rest

    def _tell(self, text: str) -> None:
        self.told.append(f"{time.monotonic() - self._first:6.1f} s  {text}")

    def close(self) -> None:
        """Undo what is not undone."""
        for host in list(self._running):
            self._undo(host)
