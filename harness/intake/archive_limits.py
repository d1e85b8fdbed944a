"""How much an archive may be, hold and unpack to, and the meter that holds it to that."""

from __future__ import annotations

import time
from typing import NamedTuple

from harness.errors import ArchiveError

KIB = 1024
MIB = 1024 * KIB
_SLACK = MIB  # unpacked bytes that are never too many for the ratio: a file of blanks is one
_HINT = ": hand in your own files, without virtual environments and what tools have made"


class IntakeLimits(NamedTuple):
    """What is taken in. Bytes, seconds and counts; submissions are far below all of them."""

    compressed: int = 32 * MIB
    unpacked: int = 128 * MIB
    members: int = 10_000  # a virtual environment has thousands, and is left out
    ratio: int = 100  # unpacked to compressed
    depth: int = 16  # folders within one another
    name: int = 512  # bytes of a whole name; 255 of each part, as file systems have it
    seconds: float = 20.0  # of CPU time: a busy machine is not the archive's fault


class Meter:
    """Counts what an archive of so many bytes unpacks to, and stops it in time.

    Every method raises :class:`ArchiveError` when a limit is passed.
    """

    def __init__(self, limits: IntakeLimits, compressed: int) -> None:
        self.limits = limits
        self._compressed = compressed
        self._unpacked = 0
        self._members = 0
        self._deadline = time.thread_time() + limits.seconds
        if compressed > limits.compressed:
            raise ArchiveError(
                f"the archive has {compressed:,} bytes; the limit is {limits.compressed:,}"
            )

    def count_unpacked(self, count: int) -> None:
        """Count unpacked bytes.

        Raises:
            ArchiveError: they are more than a limit allows, or reading takes too long.
        """
        self._unpacked += count
        limits = self.limits
        if self._unpacked > limits.unpacked:
            raise ArchiveError(
                f"it unpacks to more than the limit of {limits.unpacked:,} bytes{_HINT}"
            )
        if self._unpacked > limits.ratio * self._compressed + _SLACK:
            raise ArchiveError(
                f"it unpacks to more than {limits.ratio} times its size, as a zip bomb does"
            )
        if time.thread_time() > self._deadline:
            raise ArchiveError(f"reading it takes more than {limits.seconds:g} s of CPU time")

    def member(self) -> None:
        """Count a member."""
        self._members += 1
        if self._members > self.limits.members:
            raise ArchiveError(
                f"it has more members than the limit of {self.limits.members:,}{_HINT}"
            )
