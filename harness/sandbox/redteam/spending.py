"""Ways to spend CPU time and disk that nobody notices, and to leave what is hard to remove."""

import contextlib
import ctypes
import mmap
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from attacks import CALLS, LATE, MIB, _libc, call, escaped, main, numbers, trying  # type: ignore[import-not-found]

Aim = dict[str, Any]
CALLS |= numbers("fallocate=285/47")
_PAUSE = 0.03  # seconds for each megabyte, so that a busy machine is not an escape


def _burn(seconds: float) -> None:
    while time.process_time() < seconds:
        sum(range(1000))


def _spend(aim: Aim, seconds: float, several: int = 1, adopted: bool = False) -> None:
    """Let children that nobody waits for take CPU time, a moment each; count what they say.

    Each writes a byte when it has had its moment.
    """
    told, tell = os.pipe2(os.O_NONBLOCK)
    allowed, spent, living = aim["cpu"] * 1.25, 0.0, 0
    deadline = time.monotonic() + 8
    while spent < allowed + 0.3 and time.monotonic() < deadline:
        while living < several and _start(seconds, tell, adopted):
            living += 1
        time.sleep(0.001)
        with contextlib.suppress(BlockingIOError):
            done = len(os.read(told, 1000))
            living -= done
            spent += done * seconds
    if spent > allowed:
        escaped(f"spent {spent:.1f} s of CPU time")
    print("spent:", spent, flush=True)


def _start(seconds: float, tell: int, adopted: bool = False) -> bool:
    """Start a child that computes; ``adopted``: its own child does, and it ends at once."""
    with contextlib.suppress(OSError):
        if os.fork() == 0:
            if adopted:
                _start(seconds, tell)
            else:
                _burn(time.process_time() + seconds)
                os.write(tell, b".")
            os._exit(0)
        return True
    return False


def ignored_children(aim: Aim) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _spend(aim, 0.04)


def short_children(aim: Aim) -> None:
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
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _spend(aim, 0.04, 2, adopted=True)


def many_threads(aim: Aim) -> None:
    import _thread

    def work() -> None:
        _burn(aim["cpu"] * 1.25 + 0.2)
        escaped(f"spent {time.process_time():.1f} s of CPU time")
        os._exit(0)

    _thread.start_new_thread(work, ())
    _libc.syscall(ctypes.c_long(60 if os.uname().machine == "x86_64" else 93), 0)


def _use(aim: Aim, steps: Iterator[None]) -> None:
    """Use a megabyte of disk at each step, up to a quarter more than is allowed."""
    used, most = 0, aim["scratch"] * 5 // 4 + 2 * MIB
    for _ in steps:
        used += MIB
        time.sleep(_PAUSE)
        if used > most:
            time.sleep(LATE)
            escaped(f"used {used // MIB} MiB of disk")
            return


def unlinked_disk(aim: Aim) -> None:
    kept = []

    def write() -> Iterator[None]:
        while True:
            kept.append(os.open("hidden", os.O_CREAT | os.O_RDWR))
            os.unlink("hidden")
            os.write(kept[-1], bytes(MIB))
            yield

    _use(aim, write())


def mapped_disk(aim: Aim) -> None:
    """Write files, remove their names and keep a page of each mapped."""
    kept = []

    def write() -> Iterator[None]:
        while True:
            with open("hidden", "w+b") as file:
                file.write(bytes(MIB))
                kept.append(mmap.mmap(file.fileno(), 4096))
            os.unlink("hidden")
            yield

    _use(aim, write())


def _write_files(folder: str) -> Iterator[None]:
    for number in range(1000):
        with open(f"{folder}/{number}", "wb") as file:
            file.write(bytes(MIB))
        yield


def shut_folders(aim: Aim) -> None:
    os.mkdir("shut")
    os.chmod("shut", 0o300)
    _use(aim, _write_files("shut"))


def deep_disk(aim: Aim) -> None:
    """Write into a folder whose path is longer than any may be."""
    for _ in range(40):
        os.mkdir("d" * 250)
        os.chdir("d" * 250)
    _use(aim, _write_files("."))


def reserved_disk(aim: Aim) -> None:
    """Reserve disk without writing to it, as much as a file may have at once."""
    for number in range(4):
        file = os.open(f"{number}", os.O_CREAT | os.O_RDWR)
        with trying("reserve disk"):
            call("fallocate", file, 0, 0, aim["file_size"])


def deep_folders(_aim: Aim) -> None:
    """Make folders within folders, 1,500 deep; the referee looks whether they are left."""
    for _ in range(1500):
        os.mkdir("d")
        os.chdir("d")


def odd_names(_aim: Aim) -> None:
    """Make folders that nobody may enter, with names that are hard to say."""
    for name in (b"\xff\xfe", b"new\nline", b"-rf", b" ", b"x" * 255, b"\x1b[2J"):
        os.mkdir(name)
        with open(name + b"/" + name, "w"):
            pass
        os.chmod(name, 0)


if __name__ == "__main__":
    main(globals())
