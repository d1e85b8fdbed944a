"""Ways to spend CPU time and disk that nobody notices."""

import contextlib
import ctypes
import os
import signal
import sys
import time
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from attacks import _libc, escaped, main  # type: ignore[import-not-found]

Aim = dict[str, Any]


def _burn(seconds: float) -> None:
    while time.process_time() < seconds:
        sum(range(1000))


def _spend(aim: Aim, seconds: float, several: int = 1) -> None:
    """Let children that nobody waits for take CPU time, a moment each; count what they say.

    Each writes a byte when it has had its moment.
    """
    told, tell = os.pipe2(os.O_NONBLOCK)
    allowed, spent, living = aim["cpu"] * 1.25, 0.0, 0
    deadline = time.monotonic() + 8
    while spent < allowed + 0.3 and time.monotonic() < deadline:
        while living < several and _start(seconds, tell):
            living += 1
        time.sleep(0.001)
        with contextlib.suppress(BlockingIOError):
            done = len(os.read(told, 1000))
            living -= done
            spent += done * seconds
    if spent > allowed:
        escaped(f"spent {spent:.1f} s of CPU time")
    print("spent:", spent, flush=True)


def _start(seconds: float, tell: int) -> bool:
    with contextlib.suppress(OSError):
        if os.fork() == 0:
            _burn(time.process_time() + seconds)
            os.write(tell, b".")
            os._exit(0)
        return True
    return False


def ignored_children(aim: Aim) -> None:
    """Ignore the end of children of 40 ms."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _spend(aim, 0.04)


def short_children(aim: Aim) -> None:
    """Ignore the end of children of 8 ms, two at a time."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _spend(aim, 0.008, 2)


def unwaited_children(aim: Aim) -> None:
    """Say by SA_NOCLDWAIT that nobody will wait, with a handler that looks innocent."""
    action = (ctypes.c_ulong * 19)()
    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda _: None)
    action[0] = ctypes.cast(handler, ctypes.c_void_p).value or 0
    action[17] = 2 | 0x1000_0000  # SA_NOCLDWAIT, SA_RESTART: glibc's struct, after its mask
    if _libc.sigaction(signal.SIGCHLD, action, None):
        raise OSError("sigaction")
    _spend(aim, 0.04)


def adopted_children(aim: Aim) -> None:
    """Have each child's child do the work, and the child end at once."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    told, tell = os.pipe2(os.O_NONBLOCK)
    spent, allowed, deadline = 0.0, aim["cpu"] * 1.25, time.monotonic() + 8
    running = 0
    while spent < allowed + 0.3 and time.monotonic() < deadline:
        if running < 2:
            with contextlib.suppress(OSError):
                if os.fork() == 0:
                    _start(0.04, tell)
                    os._exit(0)
                running += 1
        time.sleep(0.001)
        with contextlib.suppress(BlockingIOError):
            done = len(os.read(told, 100))
            spent, running = spent + done * 0.04, running - done
    if spent > allowed:
        escaped(f"spent {spent:.1f} s of CPU time")


def many_threads(aim: Aim) -> None:
    """Compute in a process whose first thread has ended."""
    import _thread

    def work() -> None:
        _burn(aim["cpu"] * 1.25 + 0.2)
        escaped(f"spent {time.process_time():.1f} s of CPU time")
        os._exit(0)

    _thread.start_new_thread(work, ())
    _libc.syscall(ctypes.c_long(60 if os.uname().machine == "x86_64" else 93), 0)


if __name__ == "__main__":
    main(globals())
