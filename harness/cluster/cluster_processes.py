"""Run the processes of a cluster that speak to Dask, from start to end.

A scheduler and a connector accept messages from strangers. Before the first message, they refuse
for good to read pickles. A worker accepts messages only from its scheduler.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import resource
import secrets
import signal
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import dask
import distributed.client
import distributed.comm.utils
import distributed.scheduler
import distributed.worker
from distributed.core import Server

from harness import file_system, network
from harness.cluster import (
    connector,
    dask_messages,
    dask_task,
    lean_comm,
    records,
    state,
    unit_executor,
)
from harness.cluster import tls as tls_files
from harness.cluster.dask_messages import GuardedScheduler, GuardedWorker
from harness.cluster.lean_comm import PromptSender
from harness.cluster.records import ConnectorSettings, Facts, SchedulerSettings, WorkerSettings
from harness.cluster.tls import TlsCredentials
from harness.cluster.unit_executor import Equipment, UnitExecutor
from harness.cluster.worker_files import Cache, EnvironmentStore
from harness.errors import UsageError
from harness.sandbox import plan
from harness.work import canonical_json
from harness.work.machine import Machine

_GONE = 30.0  # seconds of silence after which a worker counts as dead
_JOINING = 30.0  # seconds in which a scheduler must take a worker, which else would wait for ever
_PAUSE = 2.0  # seconds before a worker tries to join again
_QUIET = {
    "distributed.scheduler.http.routes": [],  # nothing is served but what grading needs
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,
    # What it does all the time so that it could be watched, which is nobody's concern here.
    "distributed.admin.tick.interval": "10s",
    "distributed.admin.tick.cycle": "10s",
    "distributed.admin.system-monitor.interval": "10s",
}


def schedule(settings: SchedulerSettings, report: Callable[[str], object]) -> None:
    """Be a scheduler until a signal comes; ``report``: is given the address.

    Raises:
        UsageError: this machine does not have the address, or its port is in use.
    """
    prepare()
    dask_messages.refuse()

    async def work() -> None:
        papers = TlsCredentials(Path(settings.tls), tls_files.SCHEDULER) if settings.tls else None
        scheduler = GuardedScheduler(
            host=settings.host,
            port=settings.port,
            protocol="tls" if papers else "tcp",
            security=papers.security() if papers else None,
            allowed_failures=0,  # who sends a unit again is the dispatcher
            worker_ttl=_GONE,
            dashboard_address="127.0.0.1:0",
        )
        await _start(scheduler, f"{settings.host}:{settings.port}")
        async with scheduler:
            report(scheduler.address)
            await _until_a_signal(scheduler.finished())

    asyncio.run(work())


def work(settings: WorkerSettings, report: Callable[[str], object]) -> None:
    """Be a worker until a signal comes or its scheduler is gone; ``report``: what it has.

    Raises:
        HarnessError: this machine has not what it needs, or not the address.
    """
    prepare()
    # No process of this worker leaves its memory on the disk, where case files would lie then:
    # Linux writes no core file that small. A limit of 1, unlike 0, also keeps it from giving the
    # memory to a program.
    plan.set_limits(0, [(resource.RLIMIT_CORE, 1, 1)])
    pythons = unit_executor.pythons()
    built = Path(settings.cache, "environments")
    file_system.make_open(built)  # as root, engines run as another user
    cache = Cache(Path(settings.cache, "files"), settings.cache_size)
    bases = unit_executor.bases(built)
    machine = Machine(Path(settings.locks))
    with machine.apart():
        pace = unit_executor.pace()
    if wrong := records.wrong_with_pace(pace):
        raise UsageError(f"this machine cannot be a worker: {wrong}")
    facts = unit_executor.facts(settings.machine, pythons, bases, pace, unsafe=settings.unsafe)
    papers = TlsCredentials(Path(settings.tls), tls_files.WORKER) if settings.tls else None
    store = EnvironmentStore(built, settings.environments_size, bases)
    tls = papers.client_context() if papers else None
    own = Equipment(facts, tuple(pythons), cache, store, machine, tls)
    with contextlib.closing(UnitExecutor(own)) as executor:
        dask_task.RUN[:] = [executor.do]
        report(_describe(facts, built))
        resources = records.list_announced_resources(facts)
        asyncio.run(_until_a_signal(_work(settings, resources, papers, executor, report)))


def _describe(facts: Facts, store: Path) -> str:
    taken = ", ".join(facts.bases) or f"none: other users cannot enter {store}, or use a Python"
    levels = ", ".join(facts.levels)
    return (
        f"{facts.machine}: sandbox levels {levels}; pace {facts.pace:g}; environments for {taken}"
    )


async def _work(
    settings: WorkerSettings,
    resources: dict[str, float],
    credentials: TlsCredentials | None,
    executor: UnitExecutor,
    report: Callable[[str], object],
) -> None:
    def make() -> GuardedWorker:
        return GuardedWorker(
            settings.scheduler,
            name=f"{settings.machine}:{os.getpid()}-{secrets.token_hex(4)}",
            nthreads=1,
            resources=resources,
            security=credentials.security() if credentials else None,
            host=settings.host or None,
            memory_limit=0,  # else Dask would write results to the disk
            dashboard_address="127.0.0.1:0",
            local_directory=settings.cache,
            metrics={state.OWN: executor.figures},
            death_timeout=_JOINING,
        )

    async with await _join(settings, credentials, make, report) as worker:
        report(f"joined the scheduler {settings.scheduler}")
        await worker.finished()
    report(f"lost the scheduler {settings.scheduler}")


async def _join(
    settings: WorkerSettings,
    credentials: TlsCredentials | None,
    make: Callable[[], GuardedWorker],
    report: Callable[[str], object],
) -> GuardedWorker:
    """Return a worker that the scheduler has taken; ``report``: why not, once for each reason."""
    tell = connector.without_repeats(report)
    while True:
        await connector.wait_until_reached(settings.scheduler, credentials, report)
        worker = make()
        try:
            await _start(worker, settings.host)
        except ConnectionError as error:
            tell(f"cannot join the scheduler {settings.scheduler}: {error}. It is tried again")
        else:
            return worker
        await asyncio.sleep(_PAUSE)


def carry(settings: ConnectorSettings) -> None:
    """Be a connector until standard input ends.

    Raises:
        NoSchedulerError: the scheduler cannot be reached, or no longer.
    """
    prepare()
    dask_messages.refuse()
    dask_messages.refuse_objects()
    asyncio.run(connector.carry(settings))


def look(settings: ConnectorSettings, report: Callable[[str], object]) -> None:
    """Tell once what a cluster does, as JSON; only its scheduler and certificates are needed.

    Raises:
        NoSchedulerError: the scheduler cannot be reached.
        UsageError: it is not one of ours.
    """
    prepare()
    dask_messages.refuse()
    dask_messages.refuse_objects()
    report(canonical_json.dumps(asyncio.run(connector.look(settings))))


def prepare() -> None:
    """Load all of Dask and silence it: we report what matters."""
    dask.config.set(_QUIET)
    logging.disable()
    # Its messages are small here. To ask how small, or to call another thread, costs more than
    # what that thread would do.
    distributed.comm.utils.OFFLOAD_THRESHOLD = 0
    distributed.scheduler.offload = _call
    lean_comm.use()
    for sends in (distributed.client, distributed.scheduler, distributed.worker):
        sends.BatchedSend = PromptSender


async def _call(function: Callable[..., object], *arguments: Any, **options: Any) -> object:
    return function(*arguments, **options)


async def _start(server: Server, address: str) -> None:
    """Start a scheduler or a worker; ``address``: where others are to reach it.

    Raises:
        UsageError: nobody can be reached there.
        ConnectionError: it has an address, and still cannot begin.
    """
    try:
        await server
    except (RuntimeError, TimeoutError) as error:  # Dask's words for whatever happened
        why = network.explain(error)
        if isinstance(error.__cause__, socket.gaierror) or (
            isinstance(error.__cause__, OSError)
            and error.__cause__.errno in (errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES)
        ):
            raise UsageError(f"cannot be reached at {address}: {why}") from None
        raise ConnectionError(why) from None


async def _until_a_signal(life: Awaitable[object]) -> None:
    """Wait for the end of something, which a signal brings about."""
    ended, living = asyncio.Event(), asyncio.ensure_future(life)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    signalled = asyncio.ensure_future(ended.wait())
    await asyncio.wait({living, signalled}, return_when=asyncio.FIRST_COMPLETED)
    for one in (living, signalled):
        one.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await living
