"""The processes of this machine, read from ``/proc``, and the number of processors.

Where there is no ``/proc``, as on macOS, nothing is known of other processes.
"""

from __future__ import annotations

import contextlib
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from socket import socket
    from subprocess import Popen

_ROOM = os.path.realpath(__file__).rsplit("/", 3)[0]
MOST_OF_A_FILE = 1 << 22  # bytes to read of a list that an engine can make longer


def read(path: str) -> str:
    """Return the text of a file of ``/proc``, the beginning of one that is far too long."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts: list[bytes] = []
        size = 0
        while size < MOST_OF_A_FILE and (part := os.read(descriptor, 1 << 16)):
            parts.append(part)
            size += len(part)
        return b"".join(parts).decode(errors="replace")
    finally:
        os.close(descriptor)


def children(pid: int) -> list[int]:
    """Return the ids of a process's children, whichever of its threads made them."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            found += map(int, read(f"/proc/{pid}/task/{thread}/children").split())
    return found


def descendants(pid: int) -> list[int]:
    """Return the ids of all processes below ``pid``, parents before their children."""
    found = children(pid)
    for child in found:
        found += children(child)
    return found


def processor_seconds() -> float:
    """Return what this process and all below it have computed, those that have ended as well."""
    from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

    ours = sum(sum(getrusage(who)[:2]) for who in (RUSAGE_SELF, RUSAGE_CHILDREN))
    return ours + sum(map(_cpu_seconds, descendants(os.getpid())))


def read_stat(pid: int) -> tuple[str, list[str]]:
    """Return the name of a process or thread, and the fields of proc(5) from its state on.

    Raises:
        OSError: it is gone.
    """
    text = read(f"/proc/{pid}/stat")  # pid (name) state parent group session …
    start, end = text.index("("), text.rindex(")")
    return text[start + 1 : end], text[end + 2 :].split()


def _cpu_seconds(pid: int) -> float:
    """Return the seconds of a process and of its children that ended; 0 if it is gone."""
    try:
        figures = read_stat(pid)[1]
    except OSError:
        return 0.0
    return sum(map(int, figures[11:15])) / os.sysconf("SC_CLK_TCK")


def start_server(program: str, *arguments: str, umask: int = -1) -> tuple[socket, Popen[bytes]]:
    """Start a Python with an empty environment; return the socket to it, and its process.

    ``program``: its text. It is given the folder of our packages, the descriptor of its end of the
    socket, and ``arguments``.
    """
    import socket
    from subprocess import DEVNULL, Popen

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        end = theirs.fileno()
        process = Popen(
            [sys.executable, "-I", "-S", "-E", "-c", program, _ROOM, str(end), *arguments],
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=DEVNULL,
            pass_fds=[end],
            env={},
            cwd="/",
            umask=umask,
        )
    return ours, process


def processors() -> int:
    """Return how many processors this process may use; all, where the system does not tell."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def move_beside(pid: int) -> None:
    """Go on on the processor that a process was on last, if this thread may.

    From there it may go wherever it might before. Raises OSError if the process is gone.
    """
    processor = int(read_stat(pid)[1][36])
    allowed = os.sched_getaffinity(0)
    if processor not in allowed or len(allowed) == 1:
        return
    try:
        os.sched_setaffinity(0, {processor})
    finally:
        os.sched_setaffinity(0, allowed)
