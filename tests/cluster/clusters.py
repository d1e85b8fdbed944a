"""A cluster on this machine for tests: a scheduler and workers as processes of their own."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness.cluster.records import SchedulerSettings, WorkerSettings
from harness.work import canonical_json

ROOT = Path(__file__).parents[2]
SCHEDULER = ("harness.cluster", "scheduler")
QUICK_WORKER = ("tests.cluster.quick_worker",)
LYING_WORKER = ("tests.cluster.lying_worker",)


def free_port() -> int:
    """Return a port that nobody listens on, and that no connection takes as its own end.

    Else who looks for a scheduler that was killed may find itself there.
    """
    while True:
        port = random.randrange(20_000, 30_000)
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)):
                return port


class Cluster:
    """A scheduler, and the workers that were started."""

    def __init__(self, folder: Path, tls: str = "", address: str = "") -> None:
        """``address``: where workers look for a scheduler; "" starts one."""
        self.folder = folder
        self.tls = tls
        self.port = free_port()
        self.environments_size = 8 << 30
        self.temporary = tempfile.gettempdir()  # where all its processes put temporary files
        self.parts: list[subprocess.Popen[bytes]] = []
        self.address = address
        if not address:
            self.scheduler = self.schedule()

    def schedule(self) -> subprocess.Popen[bytes]:
        """Start a scheduler; a second one where the first was."""
        settings = SchedulerSettings("127.0.0.1", self.port, self.tls)
        process = self._start(SCHEDULER, settings)
        assert process.stdout
        self.address = process.stdout.readline().decode().strip()
        assert self.address, "the scheduler did not start"
        return process

    def work(
        self, machine: str, wait: bool = True, words: tuple[str, ...] = QUICK_WORKER
    ) -> subprocess.Popen[bytes]:
        """Start a worker on a machine of that name; ``words``: the module, and what it is told."""
        own = self.folder / machine
        settings = WorkerSettings(
            scheduler=self.address,
            tls=self.tls,
            machine=machine,
            host="127.0.0.1",
            cache=str(own / "cache"),
            cache_size=1 << 30,
            locks=str(own / "locks"),
            unsafe=False,
            environments_size=self.environments_size,
        )
        process = self._start(words, settings)
        if wait:
            assert process.stdout
            assert machine.encode() in process.stdout.readline()
        return process

    def _start(self, words, settings):
        process = subprocess.Popen(
            [sys.executable, "-m", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            process_group=0,
            env={**os.environ, "XDG_CACHE_HOME": str(self.folder), "TMPDIR": self.temporary},
        )
        process.stdin.write(canonical_json.dumps(settings).encode() + b"\n")
        process.stdin.flush()
        self.parts.append(process)
        return process

    def close(self) -> None:
        """End all."""
        for part in self.parts[::-1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(part.pid, signal.SIGCONT)
                part.terminate()
        for part in self.parts[::-1]:
            try:
                part.wait(20)
            except subprocess.TimeoutExpired:
                part.kill()
                part.wait()


@contextlib.contextmanager
def cluster(
    folder: Path, *machines: str, tls: str = "", temporary: Path | None = None
) -> Iterator[Cluster]:
    """Give a cluster with a worker on each of these machines."""
    found = Cluster(folder, tls)
    found.temporary = str(temporary or found.temporary)
    try:
        for machine in machines:
            found.work(machine)
        yield found
    finally:
        found.close()
