"""Archives read by confined children, and how much of what those say is believed: nothing.

:mod:`harness.archives.reader_server` decides what a child may do. A child that dies, hangs or
talks nonsense is an error of the harness, whatever made it so, and costs no mark.
"""

import contextlib
import os
import select
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import BinaryIO

from harness.archives import reading
from harness.archives.archive_streams import ArchiveMember, Meter
from harness.archives.reader_server import read_kind, read_members, request
from harness.core import processes, requirements
from harness.core.errors import ReadingFailedError
from harness.sandbox import landlock, seccomp

PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from harness.archives.reader_server import main; main(int(sys.argv[2]))"
)
PATIENCE = 10.0  # seconds more than an archive may take, after which its child is ended
_PIECE = 1 << 16


def is_possible() -> bool:
    """Whether children can be confined on a machine like this one."""
    return requirements.has_sandboxes() and landlock.machine() in seccomp.AUDIT_ARCH


def confine() -> None:
    """Let this process have all archives read by confined children from now on, if it can."""
    if is_possible():
        reading.choose(ConfinedReader().read)


class ConfinedReader:
    """Has archives read. Several threads may use one."""

    def __init__(self, program: str = PROGRAM, patience: float = PATIENCE) -> None:
        """Start nothing yet. ``program``: of the server, in Python."""
        self._program = program
        self._patience = patience
        self._lock = threading.Lock()
        self._server: tuple[socket.socket, subprocess.Popen[bytes]] | None = None

    def read(self, file: BinaryIO, meter: Meter) -> reading.OpenArchive:
        """Have an archive read; see :func:`harness.archives.reading.read`."""
        seconds = meter.limits.seconds + self._patience
        heard = self._begin(file, request(meter.limits, seconds), seconds + self._patience)
        try:
            kind = read_kind(heard.take)
        except BaseException:
            heard.close()
            raise
        return reading.OpenArchive(kind, _hear(heard, meter.limits.unpacked))

    def close(self) -> None:
        """End the server."""
        with self._lock:
            if self._server:
                control, process = self._server
                control.close()
                process.wait()
                self._server = None

    def _begin(self, file: BinaryIO, message: bytes, seconds: float) -> "_Pipe":
        ours, theirs = os.pipe()
        try:
            self._send(message, [file.fileno(), theirs])
        except OSError as error:
            os.close(ours)
            raise ReadingFailedError(f"no archive can be read: {error}") from None
        finally:
            os.close(theirs)
        return _Pipe(ours, seconds)

    def _send(self, message: bytes, descriptors: list[int]) -> None:
        """Send a request to the server; to another one if that has died meanwhile."""
        with self._lock:
            for _ in range(2):
                self._server = self._server or processes.start_server(self._program)
                control, process = self._server
                try:
                    socket.send_fds(control, [message], descriptors)
                except (BrokenPipeError, ConnectionResetError):
                    control.close()
                    process.wait()
                    self._server = None
                else:
                    return
        raise BrokenPipeError("the reader of archives cannot be started")


def _hear(pipe: "_Pipe", most: int) -> Iterator[ArchiveMember]:
    with contextlib.closing(pipe):
        yield from read_members(pipe.take, most)


class _Pipe:
    """Output of a child with a time limit."""

    def __init__(self, descriptor: int, seconds: float) -> None:
        self._descriptor = descriptor
        self._ends = time.monotonic() + seconds
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        self._rest = b""

    def take(self, count: int) -> bytes:
        """Return so many bytes.

        Raises:
            ReadingFailedError: the child ends before, or does not in time.
        """
        found = [self._rest]
        missing = count - len(self._rest)
        while missing > 0:
            left = self._ends - time.monotonic()
            if left <= 0 or not self._poll.poll(left * 1000):
                raise ReadingFailedError("the reader of an archive did not end in time")
            piece = os.read(self._descriptor, _PIECE)
            if not piece:
                raise ReadingFailedError("the reader of an archive died")
            found.append(piece)
            missing -= len(piece)
        data = b"".join(found)
        self._rest = data[count:]
        return data[:count]

    def close(self) -> None:
        """Hear no more: a child that still talks ends."""
        os.close(self._descriptor)
