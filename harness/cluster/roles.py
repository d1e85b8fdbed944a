"""The role of a peer, from its certificate, and the operations that each role may ask for.

Dask has no roles: anyone who reaches a scheduler may run code on all workers. Here a certificate
names the role of its owner. A worker may only say that it is alive and give the results of its
tasks; only the scheduler speaks to a worker. Without TLS, which is allowed only on one machine,
everybody on it may do everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

AUTHORITY, SCHEDULER, SERVER, WORKER = "authority", "scheduler", "server", "worker"
ROLES = (SCHEDULER, SERVER, WORKER)
UNIT = "gtp-harness"  # the organizational unit of our certificates; the common name is the role

# Operations of Dask, as they are called in its messages.
_OF_A_WORKER = frozenset(
    {
        *("register-worker", "heartbeat_worker", "unregister", "close", "close-stream"),
        *("task-finished", "task-erred", "long-running", "reschedule", "keep-alive"),
        *("worker-status-change", "request-refresh-who-has", "release-worker-data", "add-keys"),
        "steal-response",
    }
)
_AT_SCHEDULER: dict[str, frozenset[str] | None] = {SERVER: None, WORKER: _OF_A_WORKER}
_AT_WORKER: dict[str, frozenset[str] | None] = {SCHEDULER: None}
_NONE: frozenset[str] = frozenset()


def role(certificate: Mapping[str, Any] | None) -> str:
    """Return the role that a certificate gives its owner, or "" for an unknown one.

    ``certificate``: as :meth:`ssl.SSLSocket.getpeercert` returns it.
    """
    parts = [pair for part in (certificate or {}).get("subject", ()) for pair in part]
    if ("organizationalUnitName", UNIT) not in parts:
        return ""
    names = [value for key, value in parts if key == "commonName"]
    return names[0] if len(names) == 1 and names[0] in ROLES else ""


def at_scheduler(asks: str) -> frozenset[str] | None:
    """Return the operations that a role may ask a scheduler for; None: all."""
    return _AT_SCHEDULER.get(asks, _NONE)


def at_worker(asks: str) -> frozenset[str] | None:
    """Return the operations that a role may ask a worker for; None: all."""
    return _AT_WORKER.get(asks, _NONE)
