"""Processes that run engines on one machine: their locks, and their end.

All may run engines together; what is in doubt is run with nothing beside it. The locks are files,
which the kernel frees when a process ends. Who wants to be apart holds the gate, so that it does
not wait for ever while others come. What is most likely hopeless waits outside the gate: others
pass it, though not for ever.
"""

import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGTERM
from threading import Thread

from harness.sandbox.landlock import PR_SET_PDEATHSIG, prctl

PATIENCE = 600.0  # seconds for which what is likely hopeless lets others pass
_LOOK = 0.1  # seconds between two looks whether they do


class Machine:
    """The machine, seen from one process; ``folder``: one on this machine, alike for all."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._gate = folder / "gate.lock"
        self._machine = folder / "machine.lock"

    @contextmanager
    def together(self) -> Iterator[None]:
        """Give a time in which others may run engines, too."""
        with _opened(self._machine) as machine:
            with _opened(self._gate) as gate:
                fcntl.flock(gate, fcntl.LOCK_EX)
                fcntl.flock(machine, fcntl.LOCK_SH)
            yield

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Give a time in which nobody else runs engines here."""
        with _opened(self._gate) as gate, _opened(self._machine) as machine:
            fcntl.flock(gate, fcntl.LOCK_EX)
            fcntl.flock(machine, fcntl.LOCK_EX)
            yield

    @contextmanager
    def last(self) -> Iterator[None]:
        """Give a time apart as soon as nobody else runs engines, or after :data:`PATIENCE`."""
        ends = time.monotonic() + PATIENCE
        with _opened(self._machine) as machine:
            while time.monotonic() < ends:
                try:
                    fcntl.flock(machine, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    time.sleep(_LOOK)
                else:
                    yield
                    return
        with self.apart():
            yield


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Give the descriptor of a file that is locked; a unit is too short for Python's own way."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


# --- A worker does not outlive the process that it works for -------------------------------------


_LOOK_AT_PARENT = 0.5  # seconds between two looks, where the kernel tells nobody


def die_with_parent(parent: int) -> None:
    """Get SIGTERM when our parent ends, so that engines and folders do not stay behind.

    ``parent``: its id; where it has ended already, this process does so now.
    """
    if sys.platform == "linux":
        prctl("die with parent", PR_SET_PDEATHSIG, SIGTERM)
    else:
        Thread(target=_watch, args=[parent], daemon=True).start()
    if os.getppid() != parent:
        raise SystemExit


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_AT_PARENT)
    os.kill(os.getpid(), SIGTERM)
