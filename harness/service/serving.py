"""Run a service: a process that answers HTTP, one for mail, some that judge, and one that speaks
to a cluster if engines run there.

This process starts them, restarts any that dies, and ends them. It owns the socket: while the web
process restarts, requests wait instead of being turned away. Nothing is lost with any of them,
because unfinished work is in the queue.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from harness.core.errors import ServerError
from harness.service.people import accounts, mails
from harness.service.settings import Settings, dump_settings
from harness.service.storage import people
from harness.service.web.service import Service

_ROOM = Path(__file__).resolve().parents[2]
# Not "-m": there may be another harness where we are.
# A thousand modules are loaded without looking for garbage: `background.begin` turns that on.
_TURN = (
    "import gc, sys, runpy; gc.disable(); sys.path.insert(0, sys.argv[1]); name = sys.argv[2];"
    " del sys.argv[1:3]; runpy.run_module(name, run_name='__main__', alter_sys=True)"
)
_WEB, _WORKER = "harness.service.app", "harness.service.jobs.worker"
_KEEPER, _CLUSTER = "harness.service.keeper", "harness.service.machines"
_LOOK = 0.2  # seconds between two looks at the processes
_SOON, _MOST = 10.0, 5  # so often a process may die within so many seconds of its start
_PATIENCE = 30.0  # seconds for processes to end


class _ServicePart(NamedTuple):
    module: str
    process: subprocess.Popen[bytes]
    started: float
    deaths: int  # soon after a start, in a row


def first_link(settings: Settings) -> str:
    """Return the address at which the first teacher signs in; "": somebody has done so already.

    Raises as :class:`harness.service.storage.database.Database`.
    """
    service = Service(settings)
    try:
        with service.database.acting() as act:
            if people.has_entered(act.db):
                return ""
            known = people.PEOPLE.all(act.db, "made", "id", is_admin=1)
            first = known[0] if known else accounts.add_person(act, "Teacher", is_admin=True)
            people.revoke_links(act.db, first.id)
            secret = accounts.make_link(act, first.id, accounts.FIRST_LINK, once=True)
        return f"{settings.base}/enter/{secret.text}"
    finally:
        service.close()


def serve(settings: Settings, open_socket: socket.socket) -> None:
    """Serve until a signal; raises ServerError if a process of it dies again and again."""
    parts: list[_ServicePart] = []
    try:
        with open_socket:
            # What workers need goes before them.
            cluster = [_CLUSTER] if settings.scheduler else []
            for module in (_WEB, *cluster, *[_WORKER] * settings.workers, _KEEPER):
                parts.append(_start(module, settings, open_socket))
            while True:
                time.sleep(_LOOK)
                parts[:] = [_keep_running(part, settings, open_socket) for part in parts]
    finally:  # they are asked to end first
        for part in parts:
            part.process.send_signal(signal.SIGTERM)
        ends = time.monotonic() + _PATIENCE
        for part in parts:
            with contextlib.suppress(subprocess.TimeoutExpired):
                part.process.wait(max(ends - time.monotonic(), 0))
                continue
            part.process.kill()
            part.process.wait()


def _start(
    module: str, settings: Settings, open_socket: socket.socket, deaths: int = 0
) -> _ServicePart:
    descriptor = open_socket.fileno()
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", _TURN, str(_ROOM), module, str(descriptor)],
        stdin=subprocess.PIPE,
        pass_fds=[descriptor] if module == _WEB else [],
        env=os.environ if module == _KEEPER else without_secrets(os.environ),
        process_group=0,
    )
    assert process.stdin
    with contextlib.suppress(BrokenPipeError), process.stdin:  # it has died: that is seen soon
        # By a pipe: an address may have a password in it.
        process.stdin.write(dump_settings(settings).encode())
    return _ServicePart(module, process, time.monotonic(), deaths)


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment for what sends no mails: engines are started from some of it."""
    return {name: value for name, value in environment.items() if name != mails.PASSWORD}


def _keep_running(
    part: _ServicePart, settings: Settings, open_socket: socket.socket
) -> _ServicePart:
    """Return a process that runs: the same, or another one in its place."""
    if part.process.poll() is None:
        return part
    is_soon = time.monotonic() - part.started < _SOON
    is_own = (part.process.returncode or 0) > 0  # nobody else killed it
    deaths = part.deaths + 1 if is_soon and is_own else 0
    if deaths >= _MOST:
        raise ServerError(f"{part.module} died {deaths} times as soon as it was started")
    return _start(part.module, settings, open_socket, deaths)
