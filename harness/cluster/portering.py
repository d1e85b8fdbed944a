"""A porter, seen from the process that started it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

from harness.cluster import lines
from harness.cluster.records import Load, News, PorterSettings
from harness.errors import UsageError
from harness.work import canonical_json

_ROOM = Path(__file__).resolve().parents[2]
# Not "-m": there may be another harness where we are.
_TURN = (
    "import sys; sys.path.insert(0, sys.argv.pop(1));"
    " from harness.cluster.__main__ import main; sys.exit(main(sys.argv[1:]))"
)
_PIECE = 1 << 16  # bytes read or written at once
_PATIENCE = 10.0  # seconds for it to end


def command(kind: str) -> list[str]:
    """Return what starts a process of a cluster; see :mod:`harness.cluster.__main__`."""
    return [sys.executable, "-P", "-c", _TURN, str(_ROOM), kind]


class PorterProcess:
    """A porter. Neither of us waits for the other one to read; to be closed."""

    def __init__(self, settings: PorterSettings) -> None:
        # Ctrl-C is for us: we end it.
        self._process = subprocess.Popen(
            command("porter"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
        )
        assert self._process.stdin
        assert self._process.stdout
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        for descriptor in (self._in, self._out):
            os.set_blocking(descriptor, False)
        self._to_tell = canonical_json.dumps(settings).encode() + b"\n"
        self._heard = b""
        self.status: int | None = None  # how it ended

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

    def send(self, load: Load) -> None:
        """Let it send a load, as soon as it reads."""
        self._to_tell += canonical_json.dumps(load).encode() + b"\n"

    def hear(self, seconds: float) -> list[News]:
        """Return what it says; wait so long for something. ``status`` tells when it has ended."""
        writing = [self._in] if self._to_tell else []
        readable, writable, _ = select.select([self._out], writing, [], seconds)
        if writable:
            self._write()
        return self._read() if readable else []

    def _write(self) -> None:
        try:
            written = os.write(self._in, self._to_tell[:_PIECE])
        except BlockingIOError:
            return
        except BrokenPipeError:  # it has ended, which is seen when it is heard
            written = len(self._to_tell)
        self._to_tell = self._to_tell[written:]

    def _read(self) -> list[News]:
        piece = os.read(self._out, _PIECE)
        if not piece:
            self.status = self._process.wait()
            return []
        *found, self._heard = (self._heard + piece).split(b"\n")
        try:
            return [lines.read(line) for line in found]
        except UsageError:
            self._process.kill()  # it is not a porter of ours any more
            return []
