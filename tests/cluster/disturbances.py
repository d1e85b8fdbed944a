"""What is done to the hosts of a cluster while it grades, in a drawn order, and undone again."""

from __future__ import annotations

import contextlib
import math
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from random import Random
from typing import NamedTuple, TypeVar

from tests.cluster.lab import DATABASE, SERVER, WORKERS
from tests.cluster.parts import Part

Thing = TypeVar("Thing")
WEAK = "weak"  # what a worker calls its machine while it lacks the sandbox of the grading
_MOMENT = 1.0  # seconds of what does not last
_START = 15.0  # in which a worker starts
_APART = (1.0, 4.0)  # seconds between two disturbances


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


class Disturbance(NamedTuple):
    """One kind."""

    do: Callable[[Part, Random], AbstractContextManager[None]]
    lasts: bool = True  # as long as is said; else a moment
    least: float = 0.0  # seconds
    of: frozenset[str] | None = None  # hosts; None: all

    @property
    def name(self) -> str:
        return self.do.__name__


_WITH_DISKS = frozenset({SERVER, DATABASE, *WORKERS})
DISTURBANCES = (
    Disturbance(killed, lasts=False),
    Disturbance(one_killed, lasts=False),
    Disturbance(stopped),
    Disturbance(cut_off),
    Disturbance(cut_off_and_killed),
    Disturbance(slowed),
    Disturbance(filled, of=_WITH_DISKS),
    Disturbance(filled_with_one_killed, of=_WITH_DISKS),
    Disturbance(weakened, least=_START, of=frozenset(WORKERS)),
)


class Storm:
    """Disturbances, one after the other; to be closed, which undoes what is not undone."""

    def __init__(self, parts: Mapping[str, Part], seed: int, seconds: float) -> None:
        """``parts``: by their hosts; ``seconds``: that a disturbance lasts, if it does."""
        self._parts = parts
        self._seconds = seconds
        self._draw = Random(seed)
        self._drawn = self._draw_all()
        self._running = ExitStack()
        self._begun = self._next = 0.0
        self._until = math.inf
        self.told: list[str] = []
        self.counts: Counter[str] = Counter()

    def _draw_all(self) -> Iterator[tuple[Disturbance, str]]:
        """Yield all kinds in a drawn order, again and again, each on all its hosts in turn."""
        hosts = {kind: self._in_turn(sorted(kind.of or self._parts)) for kind in DISTURBANCES}
        for kind in self._in_turn(DISTURBANCES):
            yield kind, next(hosts[kind])

    def _in_turn(self, things: Iterable[Thing]) -> Iterator[Thing]:
        """Yield all of some things in a drawn order, again and again."""
        order = list(things)
        while True:
            self._draw.shuffle(order)
            yield from order

    def go_on(self) -> None:
        """End what is due, and begin the next one if it is time."""
        now = time.monotonic()
        self._begun = self._begun or now
        if now >= self._until:
            self.close()
        elif now >= self._next:
            self._begin(*next(self._drawn))

    def _begin(self, kind: Disturbance, host: str) -> None:
        self._tell(f"{host} {kind.name}")
        self.counts[kind.name] += 1
        self._running.enter_context(kind.do(self._parts[host], self._draw))
        lasting = self._seconds if kind.lasts else _MOMENT
        self._until = time.monotonic() + max(lasting, kind.least)
        self._next = math.inf

    def _tell(self, text: str) -> None:
        self.told.append(f"{time.monotonic() - self._begun:6.1f} s  {text}")

    def close(self) -> None:
        """Undo what is not undone."""
        self._running.close()
        self._tell("undone")
        self._until = math.inf
        self._next = time.monotonic() + self._draw.uniform(*_APART)
