"""The living workers: each has a file in a folder of the data, and touches it every few seconds.

Machines that share the data see each other's workers so, too. Whether a worker does anything is
told by the queue: this says only that its process is there.
"""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from harness.service.periodic import meanwhile

BEAT = 5.0  # seconds
GONE = 30.0  # seconds without a sign after which a worker does not count


@contextlib.contextmanager
def announce(folder: Path) -> Iterator[None]:
    """Show meanwhile that this process is a worker; ``folder``: of all of them."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    own = folder / f"{socket.gethostname()}-{os.getpid()}"
    own.touch(0o600)
    try:
        with meanwhile(functools.partial(_show, own), BEAT):
            yield
    finally:
        own.unlink(missing_ok=True)


def _show(own: Path) -> None:
    with contextlib.suppress(OSError):  # a full disk, perhaps: readiness tells of it
        own.touch(0o600)


def count(folder: Path) -> int:
    """Return how many workers live; what dead ones left is removed."""
    found = 0
    for path in folder.glob("*"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime < GONE:
                found += 1
            else:
                path.unlink()
    return found
