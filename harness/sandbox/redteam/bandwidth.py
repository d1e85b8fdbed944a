"""How much gets through a channel, and what the machine is like before it is tried."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import secrets
import stat
from collections.abc import Iterator

_CERTAIN = 4.2  # standard deviations: chance does better in one of 75,000 trials
_LARGE = 1 << 20  # bytes
_ENOUGH = 64 << 20
_PLACES = ("/usr/lib", "/usr/bin", "/usr/libexec")
_CHUNK = 1 << 20
_IN_MEMORY = ("cleared_pages", "read_pages")
_ON_DISK = "loaded_pages_by_"


def draw_bits(count: int) -> str:
    """Return random bits: nobody who has not been told them gets more than half right."""
    return f"{secrets.randbits(count):0{count}b}"


def information(sent: str, received: str) -> float:
    """Return how many bits were learnt, 0 if chance may have done the same.

    A channel that gets a share of all bits wrong carries so much less (Shannon).
    """
    right = sum(map(str.__eq__, sent, received))
    if not sent or (2 * right - len(sent)) / math.sqrt(len(sent)) < _CERTAIN:
        return 0.0
    wrong = 1 - right / len(sent)
    lost = -sum(share * math.log2(share) for share in (wrong, 1 - wrong) if share)
    return len(sent) * (1 - lost)


@functools.cache
def large_files() -> tuple[tuple[str, int], ...]:
    """Return large files that every box is shown, with the number of their pages."""
    found = sorted(set(_large_files()), reverse=True)
    chosen, size = [], 0
    for length, path in found:
        if size < _ENOUGH:
            chosen.append((path, length // os.sysconf("SC_PAGE_SIZE")))
            size += length
    return tuple(chosen)


def _large_files() -> Iterator[tuple[int, str]]:
    inner = [entry.path for entry in os.scandir(_PLACES[0]) if entry.is_dir(follow_symlinks=False)]
    for folder in (*_PLACES, *inner):
        with contextlib.suppress(OSError):
            for entry in os.scandir(folder):
                found = entry.stat(follow_symlinks=False)
                large = stat.S_ISREG(found.st_mode) and found.st_size >= _LARGE
                if large and found.st_mode & stat.S_IROTH:
                    yield found.st_size, entry.path


def prepare(program: str) -> None:
    """Leave the large files as a channel through them needs it: in memory, or read long ago."""
    if program not in _IN_MEMORY and not program.startswith(_ON_DISK):
        return
    for path, _ in large_files():
        with open(path, "rb") as file:
            if program in _IN_MEMORY:
                while file.read(_CHUNK):
                    pass
            else:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
