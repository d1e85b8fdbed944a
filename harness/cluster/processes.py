"""The processes of a cluster that speak to Dask, from their start to their end.

A scheduler and a porter hear strangers: before they hear anything, what a pickle may name there is
restricted for good. A worker hears its scheduler alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import dask

from harness.cluster import announcing, errand, porter, roles, rules, unpickling
from harness.cluster.desk import Desk, Equipment
from harness.cluster.fetching import Cache
from harness.cluster.guarding import GuardedScheduler, GuardedWorker
from harness.cluster.records import PorterSettings, SchedulerSettings, WorkerSettings
from harness.cluster.tls import Papers
from harness.work.machine import Machine

# What a client sends a scheduler to have one function run; the scheduler calls none of it.
_OF_A_GRAPH = (
    ("dask._expr", "Expr._reconstruct"),
    ("dask._expr", "LLGExpr"),
    ("dask._task_spec", "Task"),
    (errand.__name__, errand.run.__name__),
)
_GONE = 30.0  # seconds of silence after which a worker counts as dead
_QUIET = {
    "distributed.scheduler.http.routes": [],  # nothing is served but what grading needs
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,
}


def schedule(settings: SchedulerSettings, told: Callable[[str], object]) -> None:
    """Be a scheduler until a signal comes; ``told``: is given the address."""
    _prepare()
    unpickling.restrict(_OF_A_GRAPH)

    async def work() -> None:
        papers = Papers(Path(settings.tls), roles.SCHEDULER) if settings.tls else None
        async with GuardedScheduler(
            host=settings.host,
            port=settings.port,
            protocol="tls" if papers else "tcp",
            security=papers.security() if papers else None,
            allowed_failures=0,  # who sends a unit again is the carrier
            worker_ttl=_GONE,
            dashboard_address="127.0.0.1:0",
        ) as scheduler:
            told(scheduler.address)
            await _until_a_signal(scheduler.finished)

    asyncio.run(work())


def work(settings: WorkerSettings, told: Callable[[str], object]) -> None:
    """Be a worker until a signal comes or its scheduler is gone; ``told``: what it has.

    Raises:
        HarnessError: this machine has not what it needs.
    """
    _prepare()
    pythons = announcing.pythons()
    facts = announcing.facts("", settings.machine, pythons, unsafe=settings.unsafe)
    papers = Papers(Path(settings.tls), roles.WORKER) if settings.tls else None
    cache = Cache(Path(settings.cache), settings.cache_size)
    machine = Machine(Path(settings.locks))
    tls = papers.asking() if papers else None
    with contextlib.closing(Desk(Equipment(facts, tuple(pythons), cache, machine, tls))) as desk:
        errand.RUN[:] = [desk.do]
        told(f"{settings.machine}: sandbox levels {', '.join(facts.levels)}; pace {facts.pace:g}")
        asyncio.run(_work(settings, rules.announced(facts), papers))


async def _work(
    settings: WorkerSettings, resources: dict[str, float], papers: Papers | None
) -> None:
    async with GuardedWorker(
        settings.scheduler,
        name=f"{settings.machine}:{os.getpid()}-{secrets.token_hex(4)}",
        nthreads=1,
        resources=resources,
        security=papers.security() if papers else None,
        host=settings.host or None,
        memory_limit=0,  # else Dask would write results to the disk
        dashboard_address="127.0.0.1:0",
        local_directory=settings.cache,
    ) as worker:
        await _until_a_signal(worker.finished)


def carry(settings: PorterSettings) -> None:
    """Be a porter until standard input ends.

    Raises:
        NoSchedulerError: the scheduler cannot be reached, or not any more.
    """
    _prepare()
    unpickling.restrict(())
    unpickling.refuse_objects()
    asyncio.run(porter.carry(settings))


def _prepare() -> None:
    """Load all of Dask, and let it be quiet: what is to be known is said by us."""
    dask.config.set(_QUIET)
    logging.disable()


async def _until_a_signal(finished: Callable[[], Awaitable[object]]) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    ways = {asyncio.ensure_future(finished()), asyncio.ensure_future(ended.wait())}
    _, pending = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    for one in pending:
        one.cancel()
