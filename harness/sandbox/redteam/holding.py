"""Ways to hold memory. Each claims what it has got: more than allowed is an escape.

Allowed is the limit of the box and a quarter. A claim is never more than is truly held: what was
written into a pipe, what a table needs at the least.
"""

import _thread
import contextlib
import ctypes
import fcntl
import mmap
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from attacks import LATE, MIB, Aim, add_calls, call, escaped, libc, main, map_memory, refusals_of  # type: ignore[import-not-found]

add_calls(
    "exit=60/93 landlock_add_rule=445 landlock_create_ruleset=444 prctl=157/167 vmsplice=278/75"
)
_SHARED, _PRIVATE, _ANONYMOUS, _NORESERVE = 1, 2, 0x20, 0x4000
_PAGE = 4096
_TIME = 3.5  # seconds: an attack that needs longer was held off
_PACE = 5e-9  # seconds for each byte of all: almost two, so that a busy machine is not an escape
_STEP = 8e-5  # seconds for each piece at least, however small it is
_NAP = 2e-3  # seconds at once: to sleep for each small piece would be most of what is computed


class LimitExceededError(Exception):
    """More is held than is allowed."""


class Hoard:
    """Counts what one process holds."""

    def __init__(self, limit: int, pace: float = 0.0) -> None:
        self.allowed = limit
        self._pace = pace
        self._owed = 0.0  # seconds to sleep
        self.held = 0
        self.kept: list[Any] = []
        self._deadline = time.monotonic() + _TIME

    def add(self, size: int, *objects: Any) -> None:
        """Note ``size`` more bytes; stop when it is enough, or there is no time left."""
        self.held += size
        self.kept += objects
        if self.held > self.allowed:
            raise LimitExceededError
        if time.monotonic() > self._deadline:
            raise OSError("no time left")
        if self._pace:
            self._owed += max(_STEP, size * self._pace)
        if self._owed >= _NAP:
            time.sleep(self._owed)
            self._owed = 0.0


Way = Callable[[Hoard], None]
_kept: list[Hoard] = []


def alone(way: Way, aim: Aim) -> None:
    """Hold as much as one process can."""
    _fill(way, Hoard(aim["memory"] * 5 // 4))


def together(way: Way, aim: Aim, number: int = 12) -> None:
    """Hold as much in several processes: a twelfth each."""
    allowed = aim["memory"] * 5 // 4
    reading, writing = os.pipe()
    for _ in range(number):
        if os.fork() == 0:
            share = allowed // number + 1
            os.write(writing, b"+" if _has_share(way, share, number * _PACE) else b"-")
            time.sleep(_TIME + LATE)
            os._exit(0)
    told = b""
    while b"-" not in told and len(told) < number and select.select([reading], [], [], _TIME)[0]:
        told += os.read(reading, number)
    if told == b"+" * number:
        _claim(allowed)
    print("full:", told.decode(), flush=True)
    os.killpg(0, signal.SIGKILL)


def _has_share(way: Way, share: int, pace: float) -> bool:
    _kept.append(Hoard(share, pace))  # for what is forgotten is not held
    try:
        way(_kept[-1])
    except LimitExceededError:
        return True
    except BaseException as error:  # noqa: BLE001 - a child may not continue as its parent
        print("refused:", error, flush=True)
    return False


def _fill(way: Way, hoard: Hoard) -> None:
    try:
        way(hoard)
    except LimitExceededError:
        _claim(hoard.held)
    except (OSError, MemoryError, ValueError) as error:
        print("refused:", error, "after", hoard.held // MIB, "MiB", flush=True)


def _claim(size: int) -> None:
    time.sleep(LATE)
    escaped(f"holds {size // MIB} MiB")


def anonymous(hoard: Hoard) -> None:
    while True:
        ctypes.memset(map_memory(MIB, _PRIVATE | _ANONYMOUS), 1, MIB)
        hoard.add(MIB)


def shared_cut_off(hoard: Hoard) -> None:
    """Fill shared memory, and keep but a page of each piece mapped."""
    while True:
        size = 4 * MIB
        area = map_memory(size, _SHARED | _ANONYMOUS)
        ctypes.memset(area, 1, size)
        libc.munmap(ctypes.c_void_p(area + _PAGE), ctypes.c_size_t(size - _PAGE))
        hoard.add(size)


def shared_out_of_sight(hoard: Hoard) -> None:
    """Fill shared memory whose pages are then taken out of the table."""
    while True:
        size = 4 * MIB
        area = map_memory(size, _SHARED | _ANONYMOUS)
        ctypes.memset(area, 1, size)
        libc.madvise(ctypes.c_void_p(area), ctypes.c_size_t(size), 4)
        hoard.add(size)


def page_tables(hoard: Hoard) -> None:
    """Read a page of every two megabytes: the page is everybody's zero, its table is not."""
    while True:
        size = 1024 * MIB
        area = map_memory(size, _PRIVATE | _ANONYMOUS | _NORESERVE, 1)
        for place in range(area, area + size, 2 * MIB):
            ctypes.string_at(place, 1)
            hoard.add(_PAGE)


def mappings(hoard: Hoard) -> None:
    """Give every other page of an area another protection: each becomes a mapping."""
    size = 60_000 * _PAGE
    area = map_memory(size, _PRIVATE | _ANONYMOUS | _NORESERVE, 0)
    for place in range(area, area + size, 2 * _PAGE):
        if libc.mprotect(ctypes.c_void_p(place), ctypes.c_size_t(_PAGE), 1) < 0:
            break
        hoard.add(2 * 200)
    raise OSError("no more mappings")


def not_dumpable(hoard: Hoard) -> None:
    with refusals_of("not dumpable"):
        call("prctl", 4, 0, 0, 0, 0)
        socket_pairs(hoard)
    socket_pairs(hoard)


def unreadable_program(hoard: Hoard) -> None:
    """Be a program that may not be read: then nobody may look into the process."""
    for folder in ("/tmp", os.environ.get("HOME", "/tmp"), "."):
        with refusals_of(f"a program in {folder}"):
            place = f"{folder}/unreadable"
            with open(sys.executable, "rb") as own, open(place, "wb") as copy:
                while part := own.read(MIB):
                    copy.write(part)
            os.chmod(place, 0o111)
            words = [place, "-I", "-S", __file__, "socket_pairs", sys.argv[2]]
            os.execv(place, words)
    raise OSError("nowhere to write to")


def thread_that_stays(hoard: Hoard) -> None:
    """End the first thread: what its process holds is then in no one's figures."""

    def work() -> None:
        time.sleep(0.1)
        _fill(anonymous, hoard)
        os._exit(0)

    _thread.start_new_thread(work, ())
    call("exit", 0)


def locked(hoard: Hoard) -> None:
    with refusals_of("mlockall"):
        libc.mlockall(3)
    anonymous(hoard)


def huge_pages(hoard: Hoard) -> None:
    while True:
        ctypes.memset(map_memory(2 * MIB, _PRIVATE | _ANONYMOUS | 0x40000), 1, 2 * MIB)
        hoard.add(2 * MIB)


def pipes(hoard: Hoard, size: int = 0) -> None:
    while True:
        reading, writing = os.pipe2(os.O_NONBLOCK)
        if size:
            with refusals_of("F_SETPIPE_SZ"):
                fcntl.fcntl(writing, 1031, size)
        written = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                written += os.write(writing, bytes(64 * 1024))
        hoard.add(written, reading)


def large_pipes(hoard: Hoard) -> None:
    pipes(hoard, MIB)


def pipes_with_huge_pages(hoard: Hoard) -> None:
    """Give pipes one small page of every huge page, and forget the rest."""
    size = 2 * MIB
    while True:
        reading, writing = os.pipe2(os.O_NONBLOCK)
        for _ in range(16):
            area = -(-map_memory(2 * size, _PRIVATE | _ANONYMOUS) // size) * size
            libc.madvise(ctypes.c_void_p(area), ctypes.c_size_t(size), 14)  # MADV_HUGEPAGE
            ctypes.memset(area, 1, size)
            vector = (ctypes.c_void_p * 2)(area, _PAGE)
            call("vmsplice", writing, vector, 1, 0)
            libc.munmap(ctypes.c_void_p(area), ctypes.c_size_t(size))
            hoard.add(size)
        hoard.kept.append(reading)


def spliced_files(hoard: Hoard) -> None:
    for number in count(1):
        reading, writing = os.pipe2(os.O_NONBLOCK)
        name = f"/tmp/spliced{number}"
        file = os.open(name, os.O_CREAT | os.O_RDWR)
        os.write(file, bytes(64 * 1024))
        os.lseek(file, 0, 0)
        moved = os.splice(file, writing, 64 * 1024)
        os.close(file)
        os.unlink(name)
        hoard.add(moved, reading)


def socket_pairs(hoard: Hoard, kind: int = socket.SOCK_STREAM, size: int = 0) -> None:
    while True:
        one, other = socket.socketpair(socket.AF_UNIX, kind)
        for each in (one, other) if size else ():
            with refusals_of("SO_SNDBUF"):
                each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)
        hoard.add(_stuff_sockets(one, other), one, other)


def large_sockets(hoard: Hoard) -> None:
    socket_pairs(hoard, size=MIB)


def _stuff_sockets(*sockets: socket.socket) -> int:
    written = 0
    for each in sockets:
        each.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                written += each.send(bytes(64 * 1024))
    return written


def sockets_under_way(hoard: Hoard) -> None:
    """Send full sockets through a socket, and close one's own ends."""
    carriers = []
    while True:
        one, other = socket.socketpair()
        written = _stuff_sockets(one, other)
        near, far = socket.socketpair()
        near.setblocking(False)
        socket.send_fds(near, [b"x"], [one.fileno(), other.fileno()])
        one.close()
        other.close()
        carriers.append((near, far))
        hoard.add(written)


def datagram_pairs(hoard: Hoard) -> None:
    socket_pairs(hoard, socket.SOCK_DGRAM)


def threads_with_descriptors(hoard: Hoard) -> None:
    """Start threads with tables of descriptors of their own (they do not come back)."""
    flags = 0x100 | 0x200 | 0x800 | 0x10000  # VM, FS, SIGHAND, THREAD: but not FILES
    for _ in range(8):
        socket_number = len(hoard.kept)
        stack = map_memory(MIB, _PRIVATE | _ANONYMOUS) + MIB
        # The new thread runs pause() at once: its table keeps what is open now.
        _clone_and_pause(flags, stack)
        for _ in range(100):
            one, other = socket.socketpair()
            hoard.add(_stuff_sockets(one, other), one, other)
        _clone_and_pause(flags, stack)
        for each in hoard.kept[socket_number:]:
            each.close()


def _clone_and_pause(flags: int, stack: int) -> None:
    """The child would need code of its own to live on: it is enough that it is refused."""
    if call("clone", flags, stack, 0, 0, 0) == 0:
        while True:
            time.sleep(1)


def memory_files(hoard: Hoard) -> None:
    while True:
        file = call("memfd_create", b"hoard", 0)
        os.write(file, bytes(4 * MIB))
        hoard.add(4 * MIB, file)


def secret_memory(hoard: Hoard) -> None:
    while True:
        call("memfd_create", b"hoard", 8)
        hoard.add(4 * MIB)


def shared_segments(hoard: Hoard) -> None:
    libc.shmat.restype = ctypes.c_void_p
    while True:
        segment = call("shmget", 0, 4 * MIB, 0o1600)
        area = libc.shmat(segment, None, 0)
        ctypes.memset(area, 1, 4 * MIB)
        libc.shmctl(segment, 0, None)
        hoard.add(4 * MIB)


def unlinked_files(hoard: Hoard) -> None:
    for number in count(1):
        name = f"/tmp/unlinked{number}"
        file = os.open(name, os.O_CREAT | os.O_RDWR)
        os.unlink(name)
        hoard.add(os.write(file, bytes(MIB)), file)


def shared_files(hoard: Hoard) -> None:
    for number in count(1):
        with open(f"/dev/shm/shared{number}", "w+b") as file:
            file.truncate(MIB)
            area = mmap.mmap(file.fileno(), MIB)
        area[:] = bytes(MIB)
        hoard.add(MIB, area)


def small_files(hoard: Hoard) -> None:
    for number in count(1):
        os.close(os.open(f"/tmp/{number:0200}", os.O_CREAT | os.O_WRONLY))
        hoard.add(1024)


def folders(hoard: Hoard) -> None:
    os.chdir("/tmp")
    while True:
        os.mkdir("d")
        os.chdir("d")
        hoard.add(1024)


def attributes(hoard: Hoard) -> None:
    for number in count(1):
        name = f"/tmp/attributes{number % 500}"
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
        os.setxattr(name, f"user.{number}", bytes(60_000))
        hoard.add(60_000)


def access_lists(hoard: Hoard) -> None:
    entries = [struct.pack("<HHI", tag, 7, who) for tag, who in [(1, -1 & 0xFFFFFFFF)]]
    entries += [struct.pack("<HHI", 2, 7, number) for number in range(8000)]
    entries += [struct.pack("<HHI", tag, 7, 0xFFFFFFFF) for tag in (4, 16, 32)]
    value = struct.pack("<I", 2) + b"".join(entries)
    for number in count(1):
        name = f"/tmp/list{number}"
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
        os.setxattr(name, "system.posix_acl_access", value)
        hoard.add(8 * 8000)


def message_queues(hoard: Hoard) -> None:
    message = ctypes.create_string_buffer(8192 + 8)
    while True:
        queue = call("msgget", 0, 0o1600)
        for _ in range(2):
            call("msgsnd", queue, message, 8000, 0o4000)
            hoard.add(8000)


def keys(hoard: Hoard) -> None:
    for number in count(1):
        call("add_key", b"user", f"hoard{number}".encode(), bytes(1000), 1000, -2)
        hoard.add(1000)


def epolls(hoard: Hoard) -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    pipes_ = [os.pipe()[0] for _ in range(min(100, most // 8))]
    numbers = range(most - min(150, most // 8), most)
    while True:
        epoll = select.epoll()
        hoard.kept.append(epoll)
        for number in numbers:
            for each in pipes_:
                os.dup2(each, number)
                epoll.register(number, 0)
                hoard.add(128)
            # The entry stays: the file is open by its first number.


def changes(hoard: Hoard) -> None:
    while True:
        watcher = libc.inotify_init1(0)
        if watcher < 0:
            raise OSError("inotify")
        libc.inotify_add_watch(watcher, b"/tmp", 0xFFF)
        for number in range(8000):
            name = f"/tmp/{number:0200}"
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
            os.unlink(name)
            hoard.add(2 * 256)


def locks(hoard: Hoard) -> None:
    for number in count(1):
        name = f"/tmp/locked{number}"
        file = open(name, "wb")  # noqa: SIM115 - it is kept
        hoard.kept.append(file)
        # Refuse to continue with locks that are not done.
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0)
        with open(name, "wb") as other, contextlib.suppress(BlockingIOError):
            fcntl.fcntl(other, 37, fcntl.F_WRLCK.to_bytes(2, "little") + bytes(30))  # F_OFD_SETLK
            raise OSError("locks hold nobody")
        for place in range(0, 4000, 2):
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
            hoard.add(192)


def rule_sets(hoard: Hoard) -> None:
    attribute = (ctypes.c_uint64 * 2)(1, 3)
    while True:
        rules = call("landlock_create_ruleset", attribute, 16, 0)
        for port in range(65_536):
            rule = (ctypes.c_uint64 * 2)(1, port)
            call("landlock_add_rule", rules, 2, rule, 0)
            hoard.add(64)


def futex_table(hoard: Hoard) -> None:
    call("prctl", 78, 1, 1 << 23, 0, 0)
    hoard.add((1 << 23) * 64)


def rings(hoard: Hoard) -> None:
    zeros = ctypes.create_string_buffer(128)
    while True:
        call("io_uring_setup", 4096, zeros)
        hoard.add(4096 * 64)


def programs(hoard: Hoard) -> None:
    while True:
        attribute = ctypes.create_string_buffer(struct.pack("<IIII", 2, 4, 1 << 20, 1), 128)
        call("bpf", 0, attribute, 128)
        hoard.add(1 << 20)


def open_files(hoard: Hoard) -> None:
    while True:
        file = os.open("/proc/self/status", os.O_RDONLY)
        os.read(file, 1)
        hoard.add(_PAGE, file)


def queued_signals(hoard: Hoard) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
    while True:
        if libc.sigqueue(os.getpid(), int(signal.SIGRTMIN), None) < 0:
            raise OSError("no more signals")
        hoard.add(80)


# Ways that one process can go far enough; and those that take several, with a limit for each.
ALONE = (
    *(anonymous, shared_cut_off, shared_out_of_sight, thread_that_stays, locked, huge_pages),
    *(pipes_with_huge_pages, memory_files, secret_memory, shared_segments, message_queues, keys),
    *(small_files, folders, attributes, access_lists, epolls, changes, locks, rule_sets),
    *(futex_table, rings, programs, queued_signals, unlinked_files, shared_files),
)
TOGETHER = (
    *(pipes, large_pipes, socket_pairs, large_sockets, sockets_under_way, datagram_pairs),
    *(page_tables, mappings, spliced_files, threads_with_descriptors, not_dumpable, open_files),
    *(unreadable_program,),
)
PROGRAMS = {way.__name__: partial(alone, way) for way in ALONE} | {
    way.__name__: partial(together, way) for way in TOGETHER
}

if __name__ == "__main__":
    main(PROGRAMS)
