"""What a unit of work costs those who carry it when there are many workers.

Scheduler and connector are the real ones, with TLS; the workers are in one process and do nothing
(:mod:`tests.benchmarks.cluster_workers`). What idle workers cost by the second is subtracted.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from harness.cluster import records
from harness.cluster.connector_link import ConnectorProcess
from harness.cluster.records import (
    ConnectorSettings,
    Facts,
    FinishedUnit,
    Load,
    LostUnit,
    Needs,
    PresentWorkers,
)
from harness.work import canonical_json
from harness.work.records import UnitCase, WorkUnit
from oracle import __version__
from tests.benchmarks.cluster_workers import CASES, LEVEL
from tests.benchmarks.processor import of_tree
from tests.cluster.clusters import Cluster, cluster
from tests.cluster.test_report_checks import UNIT

ROOT = Path(__file__).parents[2]
_RESTS = 8.0  # seconds in which nothing is carried
_PATIENCE = 240.0
_NEEDS = Needs(__version__, LEVEL, ("javac",), "0" * 64)


class Carrying(NamedTuple):
    """What many workers cost: milliseconds of the processor."""

    server: float  # for a unit, until it is handed to the connector
    connector: float  # for a unit
    scheduler: float  # for a unit
    idle: float  # of the scheduler, for a second in which nothing is done


def carrying(room: Path, tls: str, workers: int, units: int) -> Carrying:
    """Carry so many units to so many workers."""
    with cluster(room, tls=tls) as found, _hire(found, workers):
        settings = ConnectorSettings(found.address, tls, "127.0.0.1", 0)
        with closing(ConnectorProcess(settings)) as connector:
            present = _all(connector, workers)
            pids = (connector._process.pid, found.scheduler.pid)
            idle = _idle(connector, pids)
            before, begun = [of_tree(pid) for pid in pids], time.monotonic()
            own = _carry(connector, present, units)
            took = time.monotonic() - begun
            after = [of_tree(pid) for pid in pids]
    porting, scheduling = (
        1000 * (now - then - took * rest) / units
        for now, then, rest in zip(after, before, idle, strict=True)
    )
    return Carrying(1000 * own / units, porting, scheduling, 1000 * idle[1])


@contextmanager
def _hire(found: Cluster, workers: int) -> Iterator[None]:
    words = ["-m", "tests.benchmarks.cluster_workers", found.address, found.tls, str(workers)]
    process = subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin
    assert process.stdout
    try:
        assert process.stdout.readline() == b"ready\n"
        yield
    finally:
        process.stdin.close()
        process.wait(60)


def _all(connector: ConnectorProcess, workers: int) -> tuple[Facts, ...]:
    """Wait until all workers are there."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        for news in connector.receive(0.25):
            if isinstance(news, PresentWorkers) and len(news.workers) == workers:
                return news.workers
    raise AssertionError("they do not come")


def _idle(connector: ConnectorProcess, pids: tuple[int, ...]) -> list[float]:
    """Return the seconds of the processor in a second in which nothing is done."""
    before, end = [of_tree(pid) for pid in pids], time.monotonic() + _RESTS
    while time.monotonic() < end:
        connector.receive(0.25)
    return [(of_tree(pid) - then) / _RESTS for pid, then in zip(pids, before, strict=True)]


def _carry(connector: ConnectorProcess, present: tuple[Facts, ...], units: int) -> float:
    """Carry units as the dispatcher does; return the seconds of our processor for sending them."""
    sent = back = 0
    used, end = 0.0, time.monotonic() + _PATIENCE
    while back < units:
        assert time.monotonic() < end
        begun = time.process_time()
        for _ in range(min(records.count_free(len(present), sent - back), units - sent)):
            sent += 1
            only = tuple(one.address for one in records.eligible_workers(present, _NEEDS))
            unit = canonical_json.dumps(_unit(sent))
            connector.send(Load(f"{sent}-0123456789abcdef", sent, unit, (), _NEEDS, only))
        used += time.process_time() - begun
        for news in connector.receive(0.25):
            assert not isinstance(news, LostUnit), news
            back += isinstance(news, FinishedUnit)
    return used


def _unit(number: int) -> WorkUnit:
    cases = tuple(
        UnitCase(f"{number:032}{case:032}", f"case{case}.gtp", "1" * 64) for case in range(CASES)
    )
    return UNIT._replace(cases=cases)
