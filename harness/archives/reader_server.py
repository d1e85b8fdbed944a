"""A small process that has archives read: each by a child that can do nothing else.

A child is given an archive, open for reading, and the end of a pipe to write to. Before it looks
at a byte it gives up all else, for good: system calls other than those for computing with what it
has, files, rights, memory and time without limit. An attacker who takes it over by a hole in what
reads archives has that archive, of his own making, and a pipe to somebody who believes nothing.

The server forks, so that no archive pays for the start of a Python; it has no secrets, for it was
executed anew, with an empty environment. It ends when the process that started it does.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import signal
import socket
from collections.abc import Callable
from typing import BinaryIO, NamedTuple

from harness.archives import frames, reading
from harness.archives.archive_streams import MIB, IntakeLimits, Meter
from harness.errors import ArchiveError
from harness.sandbox import kernel, landlock, limits, seccomp

_LONGEST_REQUEST = 1 << 14
_MEMORY = 1024 * MIB  # of addresses; xz may have 96 MiB, the directory of a large download 400

Read = Callable[[BinaryIO, Meter], reading.OpenArchive]


class Request(NamedTuple):
    """The request to read one archive. The archive and the pipe come with it."""

    limits: IntakeLimits
    seconds: float  # of wall time and of CPU time, after which the child is ended

    def pack(self) -> bytes:
        """Return it as a message."""
        return json.dumps([self.limits, self.seconds]).encode()

    @staticmethod
    def unpack(message: bytes) -> Request:
        """Return the request of a message."""
        allowed, seconds = json.loads(message)
        return Request(IntakeLimits(*allowed), seconds)


def main(descriptor: int, read: Read = reading.read_here) -> None:
    """Serve the process at the other end of the socket ``descriptor`` until it hangs up."""
    os.setsid()  # a Ctrl-C at the terminal is for that process
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children leave nothing to be waited for
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    "".encode("cp437")  # loaded when it is first used, which a child could not do
    calls = seccomp.computing(kernel.machine())
    control = socket.socket(fileno=descriptor)
    _give_up()
    gc.freeze()
    gc.disable()
    with contextlib.suppress(OSError):
        while request := _receive(control):
            _fork(request, calls, control, read)


def _give_up() -> None:
    """Give up, for good, what neither this process needs nor a child: rights and files."""
    kernel.drop_capabilities()
    kernel.no_new_privileges()
    kernel.prctl("not dumpable", kernel.PR_SET_DUMPABLE, 0)
    if abi := landlock.abi():
        landlock.confine((), abi)


class _ReceivedArchive(NamedTuple):
    """A request, and the descriptors that came with it."""

    request: Request
    archive: int
    sink: int


def _receive(control: socket.socket) -> _ReceivedArchive | None:
    message, descriptors, _, _ = socket.recv_fds(control, _LONGEST_REQUEST, 2)
    return _ReceivedArchive(Request.unpack(message), *descriptors) if message else None


def _fork(got: _ReceivedArchive, calls: bytes, control: socket.socket, read: Read) -> None:
    """Have a child read an archive; if it ends in the middle, that tells of a fault."""
    with contextlib.suppress(OSError):  # there is no room for another process
        if os.fork() == 0:
            with contextlib.suppress(BaseException):
                control.close()
                _answer(got, calls, read)
            os._exit(0)
    os.close(got.archive)
    os.close(got.sink)


def _answer(got: _ReceivedArchive, calls: bytes, read: Read) -> None:
    """Read an archive, confined, and say what is in it."""
    archive, sink = os.fdopen(got.archive, "rb"), os.fdopen(got.sink, "wb")
    size = archive.seek(0, os.SEEK_END)
    archive.seek(0)
    try:
        _confine(got.request, calls)
        frames.write_reading(sink, read(archive, Meter(got.request.limits, size)))
    except ArchiveError as error:
        frames.say(sink, frames.REFUSED, [error.message, error.member])
    except Exception as error:  # noqa: BLE001 - whatever it is, it becomes a sentence
        frames.say(sink, frames.FAULT, f"{type(error).__name__}: {error}")
    sink.flush()


def _confine(wanted: Request, calls: bytes) -> None:
    """Take on limits, and give up all system calls except those of a filter."""
    seconds = int(wanted.seconds) + 1
    signal.setitimer(signal.ITIMER_REAL, wanted.seconds)  # which ends us
    none = (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC)
    limits.set_limits(
        0,
        [
            (resource.RLIMIT_AS, _MEMORY, _MEMORY),
            (resource.RLIMIT_CPU, seconds, seconds),
            (resource.RLIMIT_CORE, 0, 0),
            *((kind, 0, 0) for kind in none),
        ],
    )
    kernel.filter_system_calls(calls)
