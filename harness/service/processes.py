"""Common parts of a service's processes: settings, database, socket and end."""

import contextlib
import ctypes
import errno
import gc
import socket
import sys
from collections.abc import Callable

from harness.archives import confined_reading
from harness.core import signals
from harness.core.errors import UsageError
from harness.service.settings import Settings, load_settings
from harness.service.storage.database import Database
from harness.work.machine import die_with_parent

_M_ARENA_MAX = -8  # of malloc.h


def begin() -> Settings:
    """Return the settings that come on standard input, as JSON; end when the parent ends."""
    share_one_heap()
    gc.freeze()  # what was loaded stays
    gc.enable()
    signals.leave_sigint_to_the_parent()
    settings, parent = load_settings(sys.stdin.read())
    die_with_parent(parent)  # it may have been killed by now
    if settings.sandbox != "off":
        confined_reading.confine()
    return settings


def share_one_heap() -> None:
    """Let all threads to come take memory from one heap (mallopt(3)), where the C library can.

    By itself each gets a heap of its own, and keeps for good what its largest answer took: a web
    process grew by a tenth in an hour. Python's lock lets one thread at a time ask for memory.
    """
    with contextlib.suppress(AttributeError, OSError):  # glibc alone has it
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def run(work: Callable[[Settings, Database], None]) -> int:
    """Do work with the settings from the parent; return the exit status.

    SIGTERM ends it without a word, also while the database is still being opened.
    """
    signals.end_on_sigterm()
    with contextlib.suppress(KeyboardInterrupt):
        settings = begin()
        with contextlib.closing(Database.patiently(settings)) as database:
            work(settings, database)
    return 0


# --- The socket on which a service answers -------------------------------------------------------

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
