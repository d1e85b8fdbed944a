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
    for path in folder.glob("*"):
        if not _lives(path):
            path.unlink(missing_ok=True)
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
    """Return how many workers live; nothing is changed."""
    return sum(map(_lives, folder.glob("*")))


def _lives(own: Path) -> bool:
    try:
        return time.time() - own.stat().st_mtime < GONE
    except FileNotFoundError:
        return False
