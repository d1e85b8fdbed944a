"""``python -m harness.service.web_process FD``: the process that answers HTTP on a socket.

The settings come as JSON on standard input. Threads answer: the database waits for a disk or a
server most of the time.
"""

from __future__ import annotations

import socket
import sys

import uvicorn
from anyio import to_thread

from harness.service import processes
from harness.service.app import guard_application
from harness.service.storage.database import CONNECTIONS, Database
from harness.service.web.service import Service

_PATIENCE = 5  # seconds for open connections at the end


class _WebServer(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # No more threads than connections: each keeps half a megabyte for good.
        to_thread.current_default_thread_limiter().total_tokens = CONNECTIONS
        await super().startup(sockets)


def main(descriptor: int) -> int:
    """Answer until a signal comes, and then what was asked before it."""
    settings = processes.begin()
    service = Service.open(settings, Database.patiently)
    config = uvicorn.Config(
        guard_application(service),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.address),
        timeout_graceful_shutdown=_PATIENCE,
        timeout_keep_alive=30,
    )
    try:
        with socket.socket(fileno=descriptor) as listening:
            _WebServer(config).run(sockets=[listening])
    finally:
        service.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
