"""How long submissions waited in a service's queue, and whether the queue was fair."""

from __future__ import annotations

import itertools
import statistics
from datetime import datetime
from typing import NamedTuple

from harness.service.records import CHECK
from harness.service.storage import queue
from harness.service.web.service import Service
from tests.service.serving import read_log

MOST_RATIO = 2.0
LEAST_AHEAD = 20  # with fewer before, a wait is one attempt more or less


class Report(NamedTuple):
    """Something that is to hold, and whether it does."""

    holds: bool
    said: str


class Wait(NamedTuple):
    """How long a check waited, and how many waited before it when it came."""

    seconds: float
    ahead: int


def waits(service: Service) -> list[Wait]:
    """Return the waits of the first uploads, in the order in which they came."""
    with service.database.reading() as db:
        jobs = {one.id: one for one in queue.JOBS.all(db, "made", kind=CHECK)}
    begun = {
        str(one["job"]): _seconds(str(one["at"])) - float(str(one["seconds"]))
        for one in read_log(service.settings)
        if one["what"] == "job" and one["ended"] == "done"
    }
    first = [
        (one.made, begun[one.id]) for one in jobs.values() if not one.turn and one.id in begun
    ]
    return [
        Wait(start - made, sum(other < made < then for other, then in first))
        for made, start in first
    ]


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def pairs(found: list[Wait]) -> list[tuple[Wait, Wait]]:
    """Return all pairs with as many before them, give or take a twentieth, the shorter first."""
    queued = [one for one in found if one.ahead >= LEAST_AHEAD]
    return [
        (min(pair), max(pair))
        for pair in itertools.combinations(queued, 2)
        if abs(pair[0].ahead - pair[1].ahead) <= max(pair[0].ahead, pair[1].ahead) / 20
    ]


def fairness(found: list[Wait]) -> Report:
    """Compare waits of students with equally many before them; show nothing without a pair."""
    compared = pairs(found)
    if not compared:
        most = max((one.ahead for one in found), default=0)
        return Report(False, f"waits: no two to compare; at most {most} waited before another")
    worst = max(compared, key=_ratio)
    longest = max(one.seconds for one in found)
    middle = statistics.median(one.seconds for one in found)
    return Report(
        _ratio(worst) <= MOST_RATIO,
        f"waits: {longest:.0f} s at most, {middle:.0f} s in the middle; in {len(compared)} pairs"
        f" with as many before, {_ratio(worst):.2f} times at most: {worst}",
    )


def _ratio(pair: tuple[Wait, Wait]) -> float:
    return pair[1].seconds / max(pair[0].seconds, 0.001)
