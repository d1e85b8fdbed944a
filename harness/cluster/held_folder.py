"""Folders of processes that may be killed: a later process removes those without an owner."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

_HELD = "held"


class HeldFolder:
    """A new folder, locked as long as this process lives. Close it."""

    def __init__(self, place: Path, prefix: str) -> None:
        """Make it in ``place``, and remove those there whose processes have ended.

        Raises:
            OSError: that cannot be done.
        """
        _sweep(place, prefix)
        self._made = tempfile.TemporaryDirectory(prefix=prefix, dir=place)
        self.path = Path(self._made.name)
        self._held = (self.path / _HELD).open("w")
        fcntl.flock(self._held, fcntl.LOCK_EX)
        print(os.getpid(), file=self._held, flush=True)

    def close(self) -> None:
        """Remove the folder."""
        self._held.close()
        self._made.cleanup()


def _sweep(place: Path, prefix: str) -> None:
    """Remove the folders of processes that were killed: the kernel has freed what they held."""
    for path in place.glob(f"{prefix}*/{_HELD}"):
        with contextlib.suppress(OSError), path.open("a") as held:  # another user's, or held
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.stat().st_size:  # or just made, and not locked yet
                shutil.rmtree(path.parent, ignore_errors=True)
