"""A cluster as a discrete-event model: its rules are the product's own, its costs are measured.

Units come to a grading process; it sends them by a connector and a scheduler to workers, and
writes down what comes back. Each of these does one thing at a time, in order of arrival. What
is sent when, where and how often is decided by :mod:`harness.cluster.records`. Dask's own part is
modelled as what it does here: of the workers that may do a unit, that with the fewest gets it.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from math import log2
from pathlib import Path
from random import Random
from typing import NamedTuple

import simpy

from harness.cluster import records
from harness.cluster.records import Facts, Needs
from oracle import __version__

STATIONS = ("grading process", "connector", "scheduler", "network")
WORKERS = "workers"  # all of them together
_NEEDS = Needs(__version__, "3")


class Costs(NamedTuple):
    """Seconds of a cluster with so many workers."""

    sending: float  # of the grading process, for a unit
    writing: float  # of the grading process and its ledger, for a unit
    recording: float  # the same for each attempt
    connector: float  # for a unit
    connector_attempt: float
    scheduler: float  # for a unit
    unit: float  # of a worker, for a unit
    attempt: float  # of a worker, for an attempt, the engine's own time not counted
    start: float  # from the command until it sends


class Work(NamedTuple):
    """What is to be done."""

    arrivals: Sequence[float]  # seconds
    cases: int  # attempts of a unit
    engine: Callable[[Random], float]  # seconds of an attempt
    transfer: float = 0.0  # seconds of the network for the bytes of a unit


class Course(NamedTuple):
    """What came of it."""

    waits: list[float]  # seconds from the submission of a unit until its results are written
    end: float  # seconds
    busy: dict[str, float]  # seconds of each station
    ran: float  # seconds of all workers together


class Station:
    """Does one thing at a time, in the order in which they come."""

    def __init__(self, env: simpy.Environment, speed: float) -> None:
        self._env = env
        self._speed = speed
        self._free = 0.0
        self.busy = 0.0

    def do(self, seconds: float) -> simpy.Event:
        """Return what happens when it is done."""
        took = seconds / self._speed
        self.busy += took
        self._free = max(self._env.now, self._free) + took
        return self._env.timeout(self._free - self._env.now)


class _Piece(NamedTuple):
    """Of a unit what goes at once; sorted as the rules say."""

    order: tuple[int, int]
    place: int
    cases: int
    not_on: str = ""  # a machine: it is a second opinion


class Cluster:
    """A model of one grading; run it once."""

    def __init__(
        self, workers: int, costs: Costs, work: Work, speeds: dict[str, float], seed: int
    ) -> None:
        """``speeds``: how many times as fast a station is, or each worker, as measured."""
        self._env = simpy.Environment()
        self._costs = costs
        self._work = work
        self._random = Random(seed)
        self._stations = {name: Station(self._env, speeds.get(name, 1.0)) for name in STATIONS}
        self._speed = speeds.get(WORKERS, 1.0)
        self._facts = [
            Facts(f"tls://{number}", f"m{number}", __version__, ("3",), (), ())
            for number in range(workers)
        ]
        self._places = {"": records.eligible_workers(self._facts, _NEEDS)}
        self._number = {one.machine: number for number, one in enumerate(self._facts)}
        self._free = [0.0] * workers  # when each has done what it has
        self._queued: list[tuple[float, int]] = [(0.0, number) for number in range(workers)]
        self._waiting: list[_Piece] = []
        self._flying = 0
        self._left = [1] * len(work.arrivals)  # pieces of each unit
        self._waits: list[float] = []
        self._ran = 0.0
        self._changed = self._env.event()

    def run(self) -> Course:
        """Let all come, and all be done."""
        self._env.process(self._arrive())
        self._env.process(self._send())
        self._env.run()
        busy = {name: one.busy for name, one in self._stations.items()}
        return Course(self._waits, self._env.now, busy, self._ran)

    def _arrive(self):
        for place, moment in enumerate(self._work.arrivals):
            if moment > self._env.now:
                yield self._env.timeout(moment - self._env.now)
            self._wait(_Piece(records.order(0, place), place, self._work.cases))

    def _wait(self, piece: _Piece) -> None:
        heapq.heappush(self._waiting, piece)
        self._change()

    def _change(self) -> None:
        if not self._changed.triggered:
            self._changed.succeed()

    def _send(self):
        """Send what may be sent, as the dispatcher does."""
        yield self._env.timeout(self._costs.start)
        while True:
            room = records.count_free(len(self._facts), self._flying)
            for _ in range(min(room, len(self._waiting))):
                self._flying += 1
                yield self._stations["grading process"].do(self._costs.sending)
                self._env.process(self._carry(heapq.heappop(self._waiting)))
            if not self._waiting or not records.count_free(len(self._facts), self._flying):
                self._changed = self._env.event()
                yield self._changed

    def _carry(self, piece: _Piece):
        costs, stations = self._costs, self._stations
        porting = (costs.connector + costs.connector_attempt * piece.cases) / 2
        yield stations["connector"].do(porting)
        yield stations["scheduler"].do(costs.scheduler / 2)
        yield stations["network"].do(self._work.transfer)
        number, done = self._work_on(piece)
        yield self._env.timeout(done - self._env.now)
        yield stations["scheduler"].do(costs.scheduler / 2)
        yield stations["connector"].do(porting)
        yield stations["grading process"].do(costs.writing + costs.recording * piece.cases)
        self._back(piece, f"m{number}")

    def _work_on(self, piece: _Piece) -> tuple[int, float]:
        """Let the worker with the least to do have a piece; return it, and when it is done."""
        number = self._least(piece.not_on)
        engines = sum(self._work.engine(self._random) for _ in range(piece.cases))
        took = (self._costs.unit + self._costs.attempt * piece.cases + engines) / self._speed
        self._ran += took
        self._free[number] = max(self._env.now, self._free[number]) + took
        heapq.heappush(self._queued, (self._free[number], number))
        return number, self._free[number]

    def _least(self, not_on: str) -> int:
        if not_on:  # seldom: of all that the rules allow
            allowed = records.eligible_workers(self._facts, _NEEDS, (not_on,))
            return min((self._number[one.machine] for one in allowed), key=self._free.__getitem__)
        while True:
            free, number = heapq.heappop(self._queued)
            if free == self._free[number]:
                return number

    def _back(self, piece: _Piece, machine: str) -> None:
        self._flying -= 1
        if not piece.not_on and len(self._facts) > 1:
            for _ in range(piece.cases):
                if records.is_seconded(f"{self._random.getrandbits(32):08x}", ""):
                    self._left[piece.place] += 1
                    self._wait(_Piece(records.order(0, piece.place), piece.place, 1, machine))
        self._left[piece.place] -= 1
        if not self._left[piece.place]:
            self._waits.append(self._env.now - self._work.arrivals[piece.place])
        self._change()


def simulate(
    workers: int,
    costs: Costs,
    work: Work,
    speeds: dict[str, float] | None = None,
    seed: int = 18,
) -> Course:
    """Return the course of a grading."""
    return Cluster(workers, costs, work, speeds or {}, seed).run()


# --- costs -------------------------------------------------------------------------------------


def load_costs(path: Path, workers: int) -> Costs:
    """Return what :mod:`tests.benchmarks.bench_cluster` has measured, for so many workers."""
    told = json.loads(path.read_text())
    costs = {int(cases): one for cases, one in told["costs"].items()}
    many = {int(count): one for count, one in told["many"].items()}

    def split(*names: str) -> tuple[float, float]:
        return _split({cases: sum(one[name] for name in names) for cases, one in costs.items()})

    writing, recording = split("server", "ledger")
    connector, connector_attempt = split("connector")
    unit, attempt = split("wall")
    sending, porting, scheduling, idle = (
        _at({count: one[name] for count, one in many.items()}, workers)
        for name in ("server", "connector", "scheduler", "idle")
    )
    return Costs(
        sending=sending / 1000,
        writing=max(0.0, writing - sending / 1000),
        recording=recording,
        # Few units cost more each than many, which go together: what bytes cost is the rest.
        connector=porting / 1000 + max(0.0, connector - many[1]["connector"] / 1000),
        connector_attempt=connector_attempt,
        scheduler=scheduling / 1000 / (1 - idle / 1000),
        unit=unit,
        attempt=attempt,
        start=costs[max(costs)]["start"] / 1000,
    )


def _split(costs: dict[int, float]) -> tuple[float, float]:
    """Return seconds for a unit and for an attempt.

    ``costs``: milliseconds for an attempt where a unit has so many.
    """
    (few, high), *_, (many, low) = sorted(costs.items())
    unit = max(0.0, (high - low) / (1 / few - 1 / many))
    return unit / 1000, max(0.0, low - unit / many) / 1000


def _at(figures: dict[int, float], workers: int) -> float:
    """Return a figure between those that were measured, or beyond the last two of them."""
    pairs = sorted(figures.items())
    for (left, low), (right, high) in pairwise(pairs):
        if workers <= right or right == pairs[-1][0]:
            return max(low + (high - low) * (workers - left) / (right - left), min(low, high) / 2)
    raise AssertionError("one figure alone")


def evening(count: int, seconds: float, doubling: float) -> Iterable[float]:
    """Yield when so many submissions come: twice as often after each ``doubling``, to the end."""
    last = 2 ** (seconds / doubling) - 1
    for number in range(count):
        yield doubling * log2(1 + last * (number + 0.5) / count)
