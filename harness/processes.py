"""Which processes there are, read from ``/proc``."""

from __future__ import annotations

import contextlib
import os

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
