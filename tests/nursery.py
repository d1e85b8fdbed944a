"""Forks programs of the product from a process that has loaded what they need; see ``tests.warm``.

On standard input, a socket, it is sent a folder, a umask, an environment and words, with the three
files that become the program's own; it answers with its process id. The words are those after
``python``: ``-m`` and a module, or the path of a program, and its arguments.

A command gets a nursery of its own: it starts workers of gradings, which are its children.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import platform
import runpy
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

_CLONE = {"x86_64": 56, "aarch64": 220}.get(platform.machine(), 0)  # the number of clone(2)
_CLONE_PARENT = 0x8000  # the child is our parent's, who waits for it
WORKER = "harness.work"


def is_possible() -> bool:
    """Return whether programs can be forked on this machine."""
    return sys.platform == "linux" and _CLONE != 0


def ask(
    line: socket.socket,
    words: Sequence[str],
    files: Sequence[int],
    folder: str | None = None,
    environment: Mapping[bytes, bytes] = os.environb,
) -> int:
    """Have a nursery start a program; return its process id. It is a child of this process."""
    mask = os.umask(0)
    os.umask(mask)
    variables = [b"%s=%s" % one for one in environment.items()]
    head = [os.fsencode(folder or os.getcwd()), b"%d" % mask, *variables, b""]
    socket.send_fds(line, [b"\0".join([*head, *map(os.fsencode, words)])], list(files))
    return int(line.recv(100))


def start_worker(line: socket.socket) -> Any:
    """Return what starts workers of gradings in place of :class:`subprocess.Popen`."""

    from harness.work import crew

    beginning = len(crew.command(WORKER))

    def start(command: Sequence[str], *, stdin: int, stdout: int, **_: Any) -> object:
        words = ["-m", WORKER, *command[beginning:]]
        return SimpleNamespace(pid=ask(line, words, [stdin, stdout, 2]))

    return start


def main() -> None:

    import harness.cli.check
    import harness.cli.grade
    import harness.cli.run
    import harness.grading.attempts.attempt_runner
    import harness.report.json
    import harness.specifications.go_scoring
    import harness.specifications.gomoku_rules
    import harness.work.__main__  # noqa: F401 - what programs load

    gc.freeze()
    _serve(socket.socket(fileno=0))


def _serve(line: socket.socket) -> None:
    while True:
        message, files, _, _ = socket.recv_fds(line, 1 << 17, 3)
        if not message:
            return
        pid = ctypes.PyDLL(None).syscall(_CLONE, _CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
        if pid == 0:
            line.close()
            _run(message, files)
        for file in files:
            os.close(file)
        line.send(str(pid).encode())


def _run(message: bytes, files: list[int]) -> None:
    """Be a program. Never returns."""
    status = 1
    try:
        for place, file in enumerate(files):
            os.dup2(file, place)
            os.close(file)
        folder, mask, *rest = message.split(b"\0")
        end = rest.index(b"")
        os.chdir(folder)
        os.umask(int(mask))
        os.environb.clear()
        os.environb.update(one.split(b"=", 1) for one in rest[:end])
        time.tzset()
        _open_streams()
        words = list(map(os.fsdecode, rest[end + 1 :]))
        if words[:2] == ["-m", WORKER]:
            os.setpgid(0, 0)
            status = sys.modules[f"{WORKER}.__main__"].main(words[2:])
        else:
            _have_own_nursery()
            status = _run_python(words)
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            print(ended.code, file=sys.stderr)
    except BaseException:  # noqa: BLE001 - as Python does
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _open_streams() -> None:
    """Open the standard streams as Python does when it starts."""
    encoding, errors = sys.stdout.encoding, sys.stdout.errors
    for file, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        how = "backslashreplace" if name == "stderr" else errors
        stream = open(file, mode, encoding=encoding, errors=how, closefd=False)  # noqa: SIM115
        if name == "stderr":
            stream.reconfigure(line_buffering=True)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _have_own_nursery() -> None:
    from harness.work import crew

    line, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        line.close()
        nothing = os.open(os.devnull, os.O_RDWR)
        for file in range(3):
            os.dup2(nothing, file)
        try:
            _serve(other)
        finally:
            os._exit(0)
    other.close()
    crew.subprocess = SimpleNamespace(Popen=start_worker(line))


def _run_python(words: list[str]) -> int:
    if words[0] == "-m":
        sys.argv = words[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        sys.path[0] = os.path.dirname(words[0])
        runpy.run_path(words[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    main()
