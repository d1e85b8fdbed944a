"""Limits for a process and all that it starts, whatever these do to get away."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from pathlib import Path

_SET_CHILD_SUBREAPER = 36  # prctl(2)
_NEW_MOUNTS = 0x20000  # unshare(2): CLONE_NEWNS
_ALL_PRIVATE = 0x44000  # mount(2): MS_REC | MS_PRIVATE
_TICK = os.sysconf("SC_CLK_TCK")
_PAUSE = 0.05  # seconds


def adopt_orphans() -> None:
    """Become the parent of each descendant whose own parent ends."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def use_own_mounts() -> None:
    """Mount and unmount for ourselves alone from now on, if we may mount at all.

    Started by root, a changed sandbox once put its own folder in the place of the machine's root.
    """
    libc = ctypes.CDLL(None)
    if libc.unshare(_NEW_MOUNTS) == 0:
        libc.mount(None, b"/", None, _ALL_PRIVATE, None)


def wait(pid: int, cpu: float, wall: float) -> bool:
    """Return whether a child ended within its time. ``cpu``, ``wall``: seconds."""
    end = time.monotonic() + wall
    while pid not in _reap():
        if time.monotonic() > end or _measure_computed(pid) > cpu:
            return False
        time.sleep(_PAUSE)
    return True


def _reap() -> list[int]:
    """Return the children that have ended: orphans must go, for tests wait until they are gone."""
    ended = []
    with contextlib.suppress(ChildProcessError):
        while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
            ended.append(pid)
    return ended


def end_children() -> None:
    """End all descendants."""
    while children := _descendants(os.getpid()):
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _reap()
        time.sleep(_PAUSE / 10)


def _measure_computed(pid: int) -> float:
    """Return the seconds that a process, what it started and what of this ended have computed."""
    return sum(_seconds(one) for one in [pid, *_descendants(pid)])


def _seconds(pid: int) -> float:
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        return sum(map(int, fields.rpartition(")")[2].split()[11:15])) / _TICK
    return 0.0


def _descendants(pid: int) -> list[int]:
    found = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text(encoding="ascii").split())
    return found + [deeper for one in found for deeper in _descendants(one)]
