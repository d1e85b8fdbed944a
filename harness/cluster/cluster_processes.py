"""The processes of a cluster that speak to Dask, each from start to end.

A scheduler and a connector accept messages from strangers. Before the first message, they refuse
for good to read pickles. A worker accepts messages only from its scheduler.

:func:`main` reads the settings of one from standard input. Exit status: 0 if it was asked to end,
2 if a setting or certificate is wrong, 3 if the harness failed, 4 if the scheduler cannot be
reached.
"""

import asyncio
import contextlib
import errno
import hashlib
import logging
import os
import resource
import secrets
import signal
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import dask
import distributed.client
import distributed.comm.utils
import distributed.scheduler
import distributed.worker
from distributed.core import Server

from harness.assignments import needs
from harness.cluster import connector, dask_messages, records, state
from harness.cluster import tls as tls_files
from harness.cluster.connector_link import LOST, SCHEDULER
from harness.cluster.unit_executor import UnitExecutor
from harness.cluster.worker_files import Cache, EnvironmentStore
from harness.core import file_system, network, processes
from harness.core.errors import ExitCode, HarnessError, SandboxError, UsageError
from harness.environments import environment_cache, interpreters
from harness.environments.interpreters import EnginePython, Interpreter
from harness.sandbox import levels, plan
from harness.work import canonical_json
from harness.work.machine import Machine, die_with_parent
from oracle import __version__

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


def main(arguments: list[str]) -> int:
    """Be a process of this kind until its end; return its exit status."""
    die_with_parent(os.getppid())
    kind, be = KINDS[arguments[0]]
    try:
        with open(0, "rb", buffering=0, closefd=False) as source:  # what follows is read by others
            settings = canonical_json.read(kind, source.readline(), "the settings")
        be(settings)
    except connector.NoSchedulerError as error:
        return _complain(f"{SCHEDULER}{error}", LOST)
    except SandboxError as error:
        return _complain(str(error), ExitCode.FAULT)
    except (HarnessError, OSError) as error:
        return _complain(str(error), ExitCode.BROKEN)
    return ExitCode.OK


def _tell(text: str) -> None:
    print(text, flush=True)


def _complain(message: str, status: int) -> int:
    print(f"gtp-harness: {message}", file=sys.stderr, flush=True)
    return status


def schedule(settings: records.SchedulerSettings) -> None:
    """Be a scheduler until a signal comes; print its address.

    Raises:
        UsageError: this machine does not have the address, or its port is in use.
    """
    prepare()
    dask_messages.refuse()

    async def work() -> None:
        credentials = tls_files.credentials_in(settings.tls, tls_files.SCHEDULER)
        scheduler = dask_messages.GuardedScheduler(
            host=settings.host,
            port=settings.port,
            protocol="tls" if credentials else "tcp",
            security=credentials.security() if credentials else None,
            allowed_failures=0,  # who sends a unit again is the dispatcher
            worker_ttl=_GONE,
            dashboard_address="127.0.0.1:0",
        )
        await _start(scheduler, f"{settings.host}:{settings.port}")
        async with scheduler:
            _tell(scheduler.address)
            await _until_a_signal(scheduler.finished())

    asyncio.run(work())


def work(settings: records.WorkerSettings) -> None:
    """Be a worker until a signal comes or its scheduler is gone; print what it has.

    Raises:
        HarnessError: this machine has not what it needs, or not the address.
    """
    prepare()
    # No process of this worker leaves its memory on the disk, where case files would lie then:
    # Linux writes no core file that small. A limit of 1, unlike 0, also keeps it from giving the
    # memory to a program.
    plan.set_limits(0, [(resource.RLIMIT_CORE, 1, 1)])
    here = pythons()
    built = Path(settings.cache, "environments")
    file_system.make_open(built)  # as root, engines run as another user
    cache = Cache(Path(settings.cache, "files"), settings.cache_size)
    taken = bases(built)
    machine = Machine(Path(settings.locks))
    with machine.apart():
        measured = pace()
    if wrong := records.wrong_with_pace(measured):
        raise UsageError(f"this machine cannot be a worker: {wrong}")
    proven = [*find_working_levels(), *(["off"] if settings.unsafe else [])]
    if not proven:
        raise SandboxError("no sandbox works on this machine; gtp-harness doctor tells why")
    found = records.Facts(
        "",  # its address is not known yet
        settings.machine,
        __version__,
        tuple(proven),
        tuple(tool.name for tool in needs.tools(needs.PACKAGES) if tool.path),
        tuple(dict.fromkeys(one.fingerprint for one in here)),
        measured,
        tuple(dict.fromkeys(one.base for one in taken)),
    )
    credentials = tls_files.credentials_in(settings.tls, tls_files.WORKER)
    store = EnvironmentStore(built, settings.environments_size, taken)
    tls = credentials.client_context() if credentials else None
    executor = UnitExecutor(found, here, cache, store, machine, tls)
    with contextlib.closing(executor):
        dask_messages.TASK_RUNNER[:] = [executor.do]
        kinds = ", ".join(found.bases)
        kinds = kinds or f"none: other users cannot enter {built}, or use a Python"
        _tell(
            f"{found.machine}: sandbox levels {', '.join(found.levels)}; pace {found.pace:g};"
            f" environments for {kinds}"
        )
        resources = records.list_announced_resources(found)
        asyncio.run(_until_a_signal(_work(settings, resources, credentials, executor)))


async def _work(
    settings: records.WorkerSettings,
    resources: dict[str, float],
    credentials: tls_files.TlsCredentials | None,
    executor: UnitExecutor,
) -> None:
    """Work for the scheduler once it has taken us; print why not, once for each reason."""
    tell = connector.without_repeats(_tell)
    while True:
        await connector.wait_until_reached(settings.scheduler, credentials, _tell)
        worker = dask_messages.GuardedWorker(
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
        try:
            await _start(worker, settings.host)
        except ConnectionError as error:
            tell(f"cannot join the scheduler {settings.scheduler}: {error}. It is tried again")
        else:
            break
        await asyncio.sleep(_PAUSE)
    async with worker:
        _tell(f"joined the scheduler {settings.scheduler}")
        await worker.finished()
    _tell(f"lost the scheduler {settings.scheduler}")


def carry(settings: records.ConnectorSettings) -> None:
    """Be a connector until standard input ends.

    Raises:
        NoSchedulerError: the scheduler cannot be reached, or no longer.
    """
    prepare()
    dask_messages.refuse()
    dask_messages.refuse_objects()
    asyncio.run(connector.carry(settings))


def look(settings: records.ConnectorSettings) -> None:
    """Print once what a cluster does, as JSON; only its scheduler and certificates are needed.

    Raises:
        NoSchedulerError: the scheduler cannot be reached.
        UsageError: it is not one of ours.
    """
    prepare()
    dask_messages.refuse()
    dask_messages.refuse_objects()
    _tell(canonical_json.dumps(asyncio.run(connector.look(settings))))


KINDS: dict[str, tuple[type[Any], Callable[[Any], None]]] = {
    "scheduler": (records.SchedulerSettings, schedule),
    "worker": (records.WorkerSettings, work),
    "connector": (records.ConnectorSettings, carry),
    "look": (records.ConnectorSettings, look),
}


def prepare() -> None:
    """Load all of Dask and silence it: we report what matters."""
    dask.config.set(_QUIET)
    logging.disable()
    # Its messages are small here. To ask how small, or to call another thread, costs more than
    # what that thread would do.
    distributed.comm.utils.OFFLOAD_THRESHOLD = 0
    distributed.scheduler.offload = _call
    dask_messages.use()
    for sends in (distributed.client, distributed.scheduler, distributed.worker):
        sends.BatchedSend = dask_messages.PromptSender


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


# --- What a worker announces: levels that have just held, programs, Pythons, and its pace --------


_REFERENCE = 0.09  # seconds that the reference machine takes for a round
_ROUNDS = 7  # the quickest counts: the others were disturbed
_WORK = 1_000_000  # steps of a round
_MOST = 6  # times that all rounds are done on a machine that is busy with something else
_BETWEEN = 0.5  # seconds between two of them
_CALM = 0.1  # of a processor: others may use as much while it is measured
_OTHERS = (0, 1, 2, 5, 6, 7)  # of a line of /proc/stat: all but idle, and waiting for a disk


def pace() -> float:
    """Return how many seconds this machine computes for what the reference does in one.

    No engine should compute beside it. If something else does, it is measured again, a few times,
    and the quickest round counts. For a core beside a busy one is slower, and what was measured
    then would give each engine of this machine more time than on another.
    """
    found = []
    for _ in range(_MOST):
        begun, others = time.monotonic(), _others()
        found.append(min(_round() for _ in range(_ROUNDS)))
        if _others() - others < _CALM * (time.monotonic() - begun):
            break
        time.sleep(_BETWEEN)
    return round(min(found) / _REFERENCE, 4)


def _others() -> float:
    """Return the seconds of CPU time of all other processes so far; 0 where nobody tells."""
    try:
        total = processes.read("/proc/stat").partition("\n")[0]
    except OSError:
        return 0.0
    ticks = [int(word) for word in total.split()[1:]]
    return sum(ticks[place] for place in _OTHERS) / os.sysconf("SC_CLK_TCK") - time.process_time()


def _round() -> float:
    """Return the seconds of CPU time of one round: as engines are, most of it is Python."""
    begun = time.process_time()
    found, state = 0, hashlib.sha256()
    for number in range(_WORK):
        found = (found * 31 + number) & 0xFFFFFFFF
        if not number % 64:
            state.update(found.to_bytes(4))
    return time.process_time() - begun


def find_working_levels() -> Iterator[str]:
    """Yield the sandbox levels that have just held here.

    Raises:
        EscapeError: one does not hold.
    """
    for level in ("3", "2", "1"):
        try:
            levels.make_proven(int(level)).close()
        except levels.EscapeError:
            raise
        except SandboxError:
            continue
        yield level


def pythons() -> list[EnginePython]:
    """Return the Pythons that engines may get here: the system's, and the environments built."""
    found = []
    for stored in environment_cache.all_of_them():
        try:
            own = interpreters.inspect_python(stored.program)
        except UsageError:
            continue
        found.append(EnginePython(own.program, own.describe(), interpreters.fingerprint(own)))
    try:
        return [needs.of_system(), *found]
    except UsageError:
        return found


def bases(store: Path) -> list[Interpreter]:
    """Return the Pythons with which environments work that were built on another machine.

    ``store``: the folder for these. As root, engines run as another user, who must get there.
    """
    if os.geteuid() != 0:
        return interpreters.of_all_versions()
    if not interpreters.is_open(str(store)):
        return []
    return [one for one in interpreters.of_all_versions() if interpreters.is_open(one.program)]
