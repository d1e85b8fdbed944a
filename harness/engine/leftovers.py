"""Processes that a program leaves behind: found and ended, however they hid.

On Linux this process declares itself a *subreaper* (``prctl(2)``): a process whose parent is gone
becomes our child instead of init's, so that even a daemon that forked twice can be found. No
process can enter our session from another one; hence a child of ours in a foreign session, that
was not there before the engine and is not an engine, is something the engine left. (Who runs
engines in a process of his own should not start daemons in it meanwhile. Of engines in several
threads at once, nobody can tell whose it is: all of it ends with the first of them. In a sandbox
each has its own.)
"""

from __future__ import annotations

import _thread
import contextlib
import os
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache

from harness.signals import SIGKILL
from harness.typed import NamedTuple

_PR_SET_CHILD_SUBREAPER = 36
_PATIENCE = 1.0  # seconds for killed processes to be gone; only a kernel at fault needs more

# Processes this one started itself, and which are nobody's leftovers.
engines: set[int] = set()
lock = _thread.allocate_lock()  # held while one is started, and while leftovers are ended


class _LeftProcess(NamedTuple):
    pid: int
    name: str
    state: str
    session: int


def become_subreaper() -> bool:
    """Adopt the orphans among our descendants from now on; False where that is impossible."""
    return _become_subreaper(os.getpid())  # a forked process is none, though its parent is


@cache
def _become_subreaper(_pid: int) -> bool:
    import _ctypes  # ctypes, which is built on it, takes three times as long to load

    try:
        prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]
    except OSError:
        return False
    return bool(_ctypes.call_function(prctl, (_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) == 0)


def children() -> list[int]:
    """Return the process ids of this process's children, none where /proc cannot tell."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir("/proc/self/task"):
            found += map(int, _read(f"/proc/self/task/{thread}/children").split())
    return found


def _read(path: str) -> bytes:
    """Return a small file of /proc, a third as fast with :class:`pathlib.Path`."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 1 << 16)
    finally:
        os.close(descriptor)


def end_leftovers(known: frozenset[int]) -> list[str]:
    """Kill what engines left behind; return the names of those that were still running.

    ``known``: children that we must not end (those from before the engine started).
    """
    names: dict[int, str] = {}
    deadline = time.monotonic() + _PATIENCE
    while found := _orphans(known):
        names |= {orphan.pid: orphan.name for orphan in found if orphan.state != "Z"}
        for orphan in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(orphan.pid, SIGKILL)
        gone = [_reap(orphan.pid) for orphan in found]
        if not any(gone):
            if time.monotonic() > deadline:
                break
            time.sleep(0.001)
    return [_times(name, count) for name, count in Counter(names.values()).items()]


@contextlib.contextmanager
def end_on_exit() -> Iterator[None]:
    """End all engines if the block is left in a hurry: by Ctrl-C, a signal, or an early close.

    The code that starts an engine ends it too; but between its start and the first line that could
    do so there is always a moment.
    """
    known = frozenset(children())
    become_subreaper()
    try:
        yield
    except BaseException:
        engines.clear()
        end_leftovers(known)
        raise


def _times(name: str, count: int) -> str:
    return f"{name} × {count}" if count > 1 else name


def _orphans(known: frozenset[int]) -> list[_LeftProcess]:
    own = os.getsid(0)
    strangers = [pid for pid in children() if pid not in known and pid not in engines]
    found = [process for pid in strangers if (process := _process(pid)) is not None]
    return [process for process in found if process.session != own]


def _process(pid: int) -> _LeftProcess | None:
    """Read ``/proc/PID/stat``: ``pid (name) state parent group session …``."""
    try:
        text = _read(f"/proc/{pid}/stat").decode(errors="replace")
    except OSError:
        return None
    start, end = text.index("("), text.rindex(")")
    state, _, _, session = text[end + 2 :].split(maxsplit=4)[:4]
    return _LeftProcess(pid, text[start + 1 : end], state, int(session))


def _reap(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True
