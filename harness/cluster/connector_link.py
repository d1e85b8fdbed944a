"""The link from a process with loads to a connector: its own, or one that several share."""

import contextlib
import os
import select
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from harness.cluster import records
from harness.core.errors import UsageError
from harness.work import canonical_json, crew

LOST = 4  # exit status: no scheduler
SCHEDULER = "the scheduler: "  # messages about it begin with this
SOCKET = "hub.sock"  # where a hub is reached, in its folder
_PIECE = 1 << 16  # bytes read or written at once
_PATIENCE = 10.0  # seconds for it to end


def explain(message: str) -> str:
    """Return what a process of a cluster said, without what it begins each message with."""
    return message.removeprefix("gtp-harness: ").removeprefix(SCHEDULER)


def command(kind: str) -> list[str]:
    """Return what starts a process of a cluster; see :mod:`harness.cluster.__main__`."""
    return crew.command("harness.cluster.__main__", kind)


class Link:
    """A link to a connector, in lines. Neither end waits for the other one to read. Close it.

    ``status``: how it ended; None if it has not.
    """

    def __init__(self, into: int, out: int, first: bytes = b"") -> None:
        """``into``, ``out``: descriptors; ``first``: what is told at once."""
        self._in, self._out = into, out
        for descriptor in (into, out):
            os.set_blocking(descriptor, False)
        self._outgoing, self._incoming = first, b""
        self.status: int | None = None

    def close(self) -> None:
        """End it."""
        raise NotImplementedError

    def _exit_status(self) -> int:
        """Return how it ended, now that its output has ended."""
        raise NotImplementedError

    def send(self, load: records.Load) -> None:
        """Let it send a load, as soon as it reads."""
        self._outgoing += records.to_line(load)

    def receive(self, seconds: float) -> list[records.News]:
        """Return what it says; wait so long for something. ``status`` tells when it has ended."""
        writing = [self._in] if self._outgoing else []
        readable, writable, _ = select.select([self._out], writing, [], seconds)
        if writable:
            self._write()
        return self._read() if readable else []

    def _write(self) -> None:
        try:
            written = os.write(self._in, self._outgoing[:_PIECE])
        except BlockingIOError:
            return
        except (BrokenPipeError, ConnectionResetError):  # it has ended, which is seen when heard
            written = len(self._outgoing)
        self._outgoing = self._outgoing[written:]

    def _read(self) -> list[records.News]:
        try:
            piece = os.read(self._out, _PIECE)
        except ConnectionResetError:
            piece = b""
        if not piece:
            self.status = self._exit_status()
            return []
        *found, self._incoming = (self._incoming + piece).split(b"\n")
        try:
            return [records.read_news(line) for line in found]
        except UsageError:
            self.status = self._exit_status()  # the PID no longer is our connector's
            return []


class ConnectorProcess(Link):
    """A connector for this process alone."""

    def __init__(self, settings: records.ConnectorSettings) -> None:
        # Ctrl-C is for us: we end it.
        self._process = subprocess.Popen(
            command("connector"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
        )
        assert self._process.stdin
        assert self._process.stdout
        told = canonical_json.dumps(settings).encode() + b"\n"
        super().__init__(self._process.stdin.fileno(), self._process.stdout.fileno(), told)

    def close(self) -> None:
        """End it."""
        assert self._process.stdin
        self._process.stdin.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout
        self._process.stdout.close()

    def _exit_status(self) -> int:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(_PATIENCE)
        self._process.kill()
        return self._process.wait()


class HubLink(Link):
    """A connector that several processes share; see :mod:`harness.cluster.hub`."""

    def __init__(self, folder: Path) -> None:
        """``folder``: of the hub. One that is not there is a scheduler that is not there."""
        self._socket = socket.socket(socket.AF_UNIX)
        super().__init__(self._socket.fileno(), self._socket.fileno())
        try:
            with address(folder) as place:
                self._socket.connect(place)
        except OSError:
            self.status = LOST

    def close(self) -> None:
        """Let the connector drop what we have sent and not heard of."""
        self._socket.close()

    def receive(self, seconds: float) -> list[records.News]:
        """Return what it says; see :meth:`Link.receive`."""
        return [] if self.status is not None else super().receive(seconds)

    def _exit_status(self) -> int:
        return LOST


@contextlib.contextmanager
def address(folder: Path) -> Iterator[str]:
    """Give the name of a hub's socket, however long that of its folder is."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{SOCKET}"
    finally:
        os.close(descriptor)
