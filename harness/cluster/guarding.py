"""A scheduler and a worker of Dask that take from others only what these may send.

What a connection carries is looked at where it is read, before Dask acts on it: a message with an
operation that its sender may not ask for ends the connection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from distributed import Scheduler, Worker
from distributed.comm import Comm
from distributed.comm.core import CommClosedError

from harness.cluster import roles

Rule = Callable[[str], frozenset[str] | None]


class GuardedScheduler(Scheduler):  # type: ignore[misc] # Dask has no types
    """A scheduler that does for workers only what they need."""

    def handle_comm(self, comm: Comm) -> Any:
        """Take a connection that somebody opened."""
        return super().handle_comm(guarded(comm, roles.at_scheduler))


class GuardedWorker(Worker):  # type: ignore[misc]
    """A worker to which nobody speaks but its scheduler."""

    def handle_comm(self, comm: Comm) -> Any:
        """Take a connection that somebody opened."""
        return super().handle_comm(guarded(comm, roles.at_worker))


def guarded(comm: Comm, rule: Rule) -> Comm:
    """Return a connection that carries only what its other end may send."""
    if "peercert" not in comm.extra_info:  # no TLS: all is on this machine
        return comm
    allowed = rule(roles.role(comm.extra_info["peercert"]))
    if allowed is None:
        return comm
    read = comm.read

    async def read_allowed(deserializers: Any = None) -> Any:
        said = await read(deserializers=deserializers)
        if unwanted := unasked(said, allowed):
            comm.abort()
            raise CommClosedError(f"{comm.peer_address} may not ask for {unwanted}")
        return said

    comm.read = read_allowed
    return comm


def unasked(said: Any, allowed: frozenset[str]) -> str:
    """Return an operation of a message, or of a list of them, that is not allowed; "": none."""
    messages = said if isinstance(said, list | tuple) else (said,)
    for one in messages:
        if isinstance(one, dict) and str(one.get("op")) not in allowed:
            return repr(one.get("op"))[:60]
    return ""
