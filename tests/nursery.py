"""Forks workers of gradings from a process that has loaded what they need; see ``tests.warm``.

On standard input, a socket, it is sent a folder, a umask, an environment and options with three
files, which become the worker's own; it answers with the worker's id.
"""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import signal
import socket
import sys

_CLONE = {"x86_64": 56, "aarch64": 220}[platform.machine()]  # the number of clone(2)
_CLONE_PARENT = 0x8000  # the child is our parent's, who waits for it


def main() -> None:
    import harness.work.__main__  # noqa: F401 - what a worker loads

    line = socket.socket(fileno=0)
    gc.freeze()
    while True:
        message, files, _, _ = socket.recv_fds(line, 1 << 17, 3)
        if not message:
            return
        pid = ctypes.PyDLL(None).syscall(_CLONE, _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
        if pid == 0:
            line.detach()
            _work(message, files)
        for file in files:
            os.close(file)
        line.send(str(pid).encode())


def _work(message: bytes, files: list[int]) -> None:
    """Be a worker. Never returns."""
    status = 1
    try:
        for place, file in enumerate(files):
            os.dup2(file, place)
            os.close(file)
        os.setpgid(0, 0)
        folder, mask, *rest = message.split(b"\0")
        end = rest.index(b"")
        os.chdir(folder)
        os.umask(int(mask))
        os.environb.clear()
        os.environb.update(one.split(b"=", 1) for one in rest[:end])
        status = sys.modules["harness.work.__main__"].main(list(map(os.fsdecode, rest[end + 1 :])))
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
