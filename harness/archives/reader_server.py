"""A small process that has archives read by confined children, and the frames that those write.

A frame is a letter, a length of four bytes and so many bytes: JSON, or of DATA the bytes of a
file. In this order, or it is nonsense::

    KIND    of harness.archives.archive_streams
    MEMBER  [name, is_folder, executable, size], then DATA, as many bytes as its size
    END     null; or REFUSED [message, member]: the archive is; or FAULT, a sentence: we are

A reader that an archive has taken over can say what it likes. So names are checked by who hears
them, bytes are counted, and all that is not of this form is an error of ours.
"""

import contextlib
import gc
import json
import os
import resource
import signal
import socket
import struct
from collections.abc import Callable, Iterator
from typing import BinaryIO

from harness.archives import archive_streams, reading
from harness.archives.archive_streams import MIB, ArchiveMember, IntakeLimits, Meter
from harness.archives.reading import Reader
from harness.core.errors import ArchiveError, ReadingFailedError
from harness.core.text import one_line
from harness.sandbox import landlock, plan, seccomp

KIND, MEMBER, DATA, END, REFUSED, FAULT = b"K", b"M", b"D", b"E", b"R", b"F"

_HEAD = struct.Struct("!cI")
_LONGEST = 1 << 20  # bytes of a frame
_MOST_SAID = 500  # characters of a message

Take = Callable[[int], bytes]  # so many bytes, from the reader


def write(sink: BinaryIO, kind: bytes, payload: bytes) -> None:
    """Write a frame."""
    sink.write(_HEAD.pack(kind, len(payload)))
    sink.write(payload)


def say(sink: BinaryIO, kind: bytes, value: object) -> None:
    """Write a frame of JSON."""
    write(sink, kind, json.dumps(value).encode())


def read_kind(take: Take) -> str:
    """Return the kind of the archive, which comes first.

    Raises:
        ArchiveError: it is refused.
        ReadingFailedError: the reader failed, or says something else.
    """
    kind, payload = _read(take)
    found = _json(payload) if kind == KIND else None
    if not isinstance(found, str) or found not in archive_streams.WORDS:
        raise ReadingFailedError("the reader of an archive did not say what it is")
    return found


def read_members(take: Take, most: int) -> Iterator[ArchiveMember]:
    """Yield the members, which have ``most`` bytes together; raises as :func:`read_kind`."""
    heard = _Heard(take, most)
    heard.next()
    while heard.kind == MEMBER:
        match _json(heard.payload):
            case [str(name), bool(is_folder), bool(executable), int(size)] if size >= 0:
                content = heard.content(size)
            case _:
                raise ReadingFailedError("the reader of an archive does not say what a member is")
        yield ArchiveMember(name, is_folder, executable, size, content)
        for _ in content:
            pass
    if heard.kind != END:
        raise ReadingFailedError("the reader of an archive talks nonsense")


class _Heard:
    """The frame that was heard last."""

    def __init__(self, take: Take, most: int) -> None:
        self._take = take
        self._left = most
        self.kind, self.payload = b"", b""

    def next(self) -> None:
        self.kind, self.payload = _read(self._take)

    def content(self, size: int) -> Iterator[bytes]:
        """Yield the bytes of a member, and hear what comes after them."""
        self.next()
        while self.kind == DATA:
            size -= len(self.payload)
            self._left -= len(self.payload)
            if min(size, self._left) < 0:
                break
            yield self.payload
            self.next()
        if size or self._left < 0:
            raise ReadingFailedError("the reader of an archive miscounts its bytes")


def _read(take: Take) -> tuple[bytes, bytes]:
    """Return the kind and payload of the next frame; raise what it reports."""
    kind, length = _HEAD.unpack(take(_HEAD.size))
    if length > _LONGEST:
        raise ReadingFailedError("the reader of an archive says too much")
    payload = take(length)
    if kind == REFUSED:
        match _json(payload):
            case [str(message), str(member)]:
                raise ArchiveError(one_line(message, _MOST_SAID), member)
        raise ReadingFailedError("the reader of an archive does not say why it is refused")
    if kind == FAULT:
        said = one_line(str(_json(payload)), _MOST_SAID)
        raise ReadingFailedError(f"the reader of an archive failed: {said}")
    return kind, payload


def _json(payload: bytes) -> object:
    try:
        return json.loads(payload)
    except (ValueError, RecursionError):
        raise ReadingFailedError("the reader of an archive says what is not JSON") from None


# A child is given an archive, open for reading, and the end of a pipe to write to. Before it looks
# at a byte it gives up all else, for good: system calls other than those for computing with what
# it has, files, rights, memory and time without limit. An attacker who takes it over by a hole in
# what reads archives has that archive, of his own making, and a pipe to somebody who believes
# nothing.
#
# The server forks, so that no archive pays for the start of a Python; it has no secrets, for it
# was executed anew, with an empty environment. It ends when the process that started it does.

_LONGEST_REQUEST = 1 << 14
_MEMORY = 1024 * MIB  # of addresses; xz may have 96 MiB, the directory of a large download 400


def request(limits: IntakeLimits, seconds: float) -> bytes:
    """Return the message with which one archive, and the pipe, come to the server.

    ``seconds``: of wall time and of CPU time, after which the child is ended.
    """
    return json.dumps([limits, seconds]).encode()


def main(descriptor: int, read: Reader = reading.read_here) -> None:
    """Serve the process at the other end of the socket ``descriptor`` until it hangs up."""
    os.setsid()  # a Ctrl-C at the terminal is for that process
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children leave nothing to be waited for
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    "".encode("cp437")  # loaded when it is first used, which a child could not do
    calls = seccomp.computing(landlock.machine())
    control = socket.socket(fileno=descriptor)
    # Given up for good: what neither this process needs nor a child.
    landlock.drop_capabilities()
    landlock.no_new_privileges()
    landlock.prctl("not dumpable", landlock.PR_SET_DUMPABLE, 0)
    if abi := landlock.abi():
        landlock.confine((), abi)
    gc.freeze()
    gc.disable()
    with contextlib.suppress(OSError):
        while True:
            message, descriptors, _, _ = socket.recv_fds(control, _LONGEST_REQUEST, 2)
            if not message:
                break
            # The client takes a child that ends early, or was not started, for a fault.
            with contextlib.suppress(OSError):  # the system cannot start another process
                if os.fork() == 0:
                    with contextlib.suppress(BaseException):
                        control.close()
                        archive, sink = descriptors
                        _answer(message, archive, sink, calls, read)
                    os._exit(0)
            for received in descriptors:
                os.close(received)


def _answer(message: bytes, archive_fd: int, sink_fd: int, calls: bytes, read: Reader) -> None:
    """Read an archive, confined, and say what is in it."""
    limits, seconds = json.loads(message)
    archive, sink = os.fdopen(archive_fd, "rb"), os.fdopen(sink_fd, "wb")
    size = archive.seek(0, os.SEEK_END)
    archive.seek(0)
    try:
        _confine(seconds, calls)
        found = read(archive, Meter(IntakeLimits(*limits), size))
        say(sink, KIND, found.kind)
        for member in found.members:
            say(sink, MEMBER, [member.name, member.is_folder, member.executable, member.size])
            for piece in member.content:
                write(sink, DATA, piece)
        say(sink, END, None)
    except ArchiveError as error:
        say(sink, REFUSED, [error.message, error.member])
    except Exception as error:  # noqa: BLE001 - whatever it is, it becomes a sentence
        say(sink, FAULT, f"{type(error).__name__}: {error}")
    sink.flush()


def _confine(seconds: float, calls: bytes) -> None:
    """Take on limits, and give up all system calls except those of a filter."""
    cpu = int(seconds) + 1
    signal.setitimer(signal.ITIMER_REAL, seconds)  # which ends us
    none = (
        resource.RLIMIT_CORE,
        resource.RLIMIT_FSIZE,
        resource.RLIMIT_NOFILE,
        resource.RLIMIT_NPROC,
    )
    limits = [(resource.RLIMIT_AS, _MEMORY, _MEMORY), (resource.RLIMIT_CPU, cpu, cpu)]
    plan.set_limits(0, [*limits, *((kind, 0, 0) for kind in none)])
    landlock.filter_system_calls(calls)
