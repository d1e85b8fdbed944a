"""The socket on which a service answers."""

from __future__ import annotations

import errno
import socket

from harness.errors import UsageError

_BACKLOG = 512  # connections that wait while the web process is started again

_OF_PORTS = (errno.EADDRINUSE, errno.EACCES)


def open_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens; ``port``: 0 for any that is free.

    Raises:
        UsageError: another process has the port, or the address is not this machine's.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        reason = str(error.strerror).partition(" (while attempting")[0]  # the address once more
        option = "--port" if error.errno in _OF_PORTS else "--host"
        raise UsageError(
            f"cannot answer on {host}:{port}: {reason}; {option} names another one"
        ) from None
