"""Channels between runs: what one box does, and another one can tell.

Each of :data:`PROGRAMS` is both ends of a channel; ``aim["part"]`` says which: ``send`` is given
``bits``, ``receive`` only how many there are (``count``). Both know the ``seed``, from which they
choose the same places. Whoever sends prints ``sent``, whoever receives ``received: 0110…``; each
prints the seconds that it took. What is not on this machine is told by ``nothing to use: …``.

An end prints ``ready`` and waits for a line, the time at which moments begin. Whoever leaves
something that lasts is ready when that is done, and lives until the line comes.

Most bits are two places, or two moments, of which one is used: no threshold has to be guessed.
"""

import contextlib
import ctypes
import mmap
import os
import random
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice, pairwise

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from attacks import Aim, add_calls, call, libc, main, map_memory  # type: ignore[import-not-found]

add_calls("cachestat=451 futex=202/98 mincore=27/232")
PAGE = 4096
APART = 8  # pages from one place in a file to the next: what is read ahead is not the next one
_DAY = 86400.0
_NAMES = 4  # that are looked up for each bit
_SHARED_WAIT, _SHARED_WAKE = 0, 1
_FROM_DISK = 12_000  # nanoseconds: a page that is in memory is read in a fraction, on any machine


class NothingToUseError(Exception):
    """The machine lacks what the channel needs."""


Send = Callable[[Aim], None]
Receive = Callable[[Aim], Iterable[bool]]


def _lasting(ends: tuple[Send, Receive], aim: Aim) -> None:
    """Be an end of a channel through what lasts."""
    if aim["part"] == "send":
        _act(aim, *ends)
    _wait_for_line()
    if aim["part"] == "receive":
        _act(aim, *ends)


def _momentary(ends: tuple[Send, Receive], aim: Aim) -> None:
    """Be an end of a channel through what shows only while it happens."""
    _act(aim | {"at": float(_wait_for_line())}, *ends)


def _wait_for_line() -> str:
    print("ready", flush=True)
    return sys.stdin.readline()


def _act(aim: Aim, send: Send, receive: Receive) -> None:
    begun = time.monotonic()
    try:
        if aim["part"] == "send":
            send(aim)
            told = "sent"
        else:
            told = "received: " + "".join("01"[bit] for bit in receive(aim))
    except NothingToUseError as error:
        told = f"nothing to use: {error}"
    except OSError as error:
        told = f"refused: to {aim['part']} - {error}"
    print(f"seconds: {time.monotonic() - begun:.6f}\n{told}", flush=True)


def _bits(aim: Aim) -> Iterator[bool]:
    return (bit == "1" for bit in aim["bits"])


def _nanoseconds(action: Callable[[], object]) -> int:
    begun = time.perf_counter_ns()
    action()
    return time.perf_counter_ns() - begun


class _Pages:
    """Two pages for each bit, in files of the system."""

    def __init__(self, aim: Aim) -> None:
        if not aim["files"]:
            raise NothingToUseError("no large file is shown")
        self._opened = [(os.open(path, os.O_RDONLY), pages) for path, pages in aim["files"]]
        self._buffer = bytearray(PAGE)

    def place(self, number: int) -> tuple[int, int]:
        page = number * APART
        for file, pages in self._opened:
            if page < pages:
                return file, page * PAGE
            page -= pages // APART * APART
        raise NothingToUseError("the large files are too small")

    def read(self, number: int) -> None:
        file, offset = self.place(number)
        os.preadv(file, [self._buffer], offset)

    def is_there_without_waiting(self, number: int) -> bool:
        """By a read that fails where it would have to wait."""
        file, offset = self.place(number)
        try:
            os.preadv(file, [self._buffer], offset, os.RWF_NOWAIT)
        except BlockingIOError:
            return False
        return True

    def is_counted(self, number: int) -> bool:
        """By a call that counts the pages of a file in memory."""
        file, offset = self.place(number)
        where, found = (ctypes.c_uint64 * 2)(offset, PAGE), (ctypes.c_uint64 * 5)()
        call("cachestat", file, where, found, 0)
        return found[0] > 0

    def is_in_core(self, number: int) -> bool:
        """By a call that tells which pages of a mapping are in memory."""
        file, offset = self.place(number)
        area, found = _map_page(file, offset), ctypes.create_string_buffer(1)
        try:
            call("mincore", area, PAGE, found)
        finally:
            libc.munmap(ctypes.c_void_p(area), ctypes.c_size_t(PAGE))
        return bool(found.raw[0] & 1)


def _map_page(file: int, offset: int) -> int:
    return int(map_memory(PAGE, mmap.MAP_SHARED, mmap.PROT_READ, file, offset))


def _load(aim: Aim) -> None:
    pages = _Pages(aim)
    for number, bit in enumerate(_bits(aim)):
        pages.read(2 * number + bit)


def _clear(aim: Aim) -> None:
    """Take files out of memory, as often as one likes, and load pages again."""
    for path, _ in aim["files"]:
        file = os.open(path, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)
    _load(aim)


def _by(name: str) -> Callable[[Aim], Iterator[bool]]:
    def receive(aim: Aim) -> Iterator[bool]:
        pages = _Pages(aim)
        is_there: Callable[[int], bool] = getattr(pages, name)
        for number in range(aim["count"]):
            zero, one = is_there(2 * number), is_there(2 * number + 1)
            yield one and not zero

    return receive


def _times(aim: Aim) -> Iterator[tuple[int, int]]:
    pages = _Pages(aim)
    for number in range(aim["count"]):
        zero, one = (partial(pages.read, 2 * number + used) for used in (0, 1))
        yield _nanoseconds(zero), _nanoseconds(one)


def _by_time(aim: Aim) -> Iterator[bool]:
    """Of two pages, which one comes from the disk."""
    return (one < _FROM_DISK < zero for zero, one in _times(aim))


def _unread(aim: Aim) -> Iterator[str]:
    """Yield files that were last read more than a day ago, or by the sender."""
    for folder, folders, names in os.walk("/usr/share"):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                found = os.stat(path, follow_symlinks=False)
                told = found.st_atime < aim["epoch"] - _DAY or found.st_atime >= aim["epoch"] - 1
                if stat.S_ISREG(found.st_mode) and found.st_mode & stat.S_IROTH and told:
                    yield path


def _pairs(aim: Aim) -> list[tuple[str, str]]:
    files = list(islice(_unread(aim), 2 * aim["count"]))
    if len(files) < 2 * aim["count"]:
        raise NothingToUseError("almost all shown files were read within a day")
    return list(zip(files[::2], files[1::2], strict=True))


def _read_files(aim: Aim) -> None:
    for pair, bit in zip(_pairs(aim), _bits(aim), strict=True):
        with open(pair[bit], "rb") as file:
            file.read(1)


def _see_access_times(aim: Aim) -> Iterator[bool]:
    return (os.stat(one).st_atime_ns > os.stat(zero).st_atime_ns for zero, one in _pairs(aim))


_TIMES = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom")
_WIDTH = 6  # bits between two times
_STEP = 0.008  # seconds: the kernel's clock for files may be as coarse
_TRIALS = 4  # on a busy machine a sleep is too long


def _touch_devices(aim: Aim) -> None:
    for _ in range(_TRIALS):
        os.utime(_TIMES[0])
        if os.stat(_TIMES[0]).st_mtime < aim["epoch"] - 1:
            return  # it was not done
        for number, device in enumerate(_TIMES[1:]):
            time.sleep((0.5 + int(aim["bits"][_WIDTH * number :][:_WIDTH], 2)) * _STEP)
            os.utime(device)
        if list(_see_device_times(aim)) == list(_bits(aim)):
            return


def _see_device_times(_aim: Aim) -> Iterator[bool]:
    times = [os.stat(device).st_mtime for device in _TIMES]
    for before, after in pairwise(times):
        value = min(max(int((after - before) / _STEP), 0), (1 << _WIDTH) - 1)
        yield from (bit == "1" for bit in f"{value:0{_WIDTH}b}")


def _names(aim: Aim, number: int) -> list[str]:
    return [f"/usr/lib/{aim['seed']}-{number}-{turn}" for turn in range(_NAMES)]


def _look_up(aim: Aim) -> None:
    for number, bit in enumerate(_bits(aim)):
        for path in _names(aim, 2 * number + bit):
            os.access(path, os.F_OK)


def _see_names(aim: Aim) -> Iterator[bool]:
    for number in range(aim["count"]):
        zero, one = (
            sorted(_nanoseconds(partial(os.access, p, os.F_OK)) for p in _names(aim, n))
            for n in (2 * number, 2 * number + 1)
        )
        yield sum(one[:-1]) < sum(zero[:-1])  # without the slowest: something came between


def _moments(aim: Aim, seconds: float, number: int) -> Iterator[float]:
    """Yield the end of each moment, at its beginning; both ends share a clock.

    What shows only while it happens takes a moment for a bit, or two of which one is used.
    """
    for moment in range(number):
        begin = aim["at"] + moment * seconds
        time.sleep(max(0.0, begin - time.time()))
        yield begin + seconds


def _halves(aim: Aim, seconds: float) -> Iterator[tuple[float, bool]]:
    """Yield, for whoever sends, the end of each half and whether it is used."""
    used = [half == bit for bit in _bits(aim) for half in (False, True)]
    yield from zip(_moments(aim, seconds, len(used)), used, strict=True)


def _compare(aim: Aim, seconds: float, measure: Callable[[float], float]) -> Iterator[bool]:
    """Yield, for whoever receives, whether the second half of each two measured more."""
    found = [measure(end) for end in _moments(aim, seconds, 2 * aim["count"])]
    return (one > zero for zero, one in zip(found[::2], found[1::2], strict=True))


def _shared_word(aim: Aim) -> int:
    if not aim["files"]:
        raise NothingToUseError("no large file is shown")
    path, pages = aim["files"][0]
    file = os.open(path, os.O_RDONLY)
    return _map_page(file, random.Random(aim["seed"]).randrange(pages) * PAGE)


_FUTEX = 0.002


def _wake(aim: Aim) -> None:
    word = _shared_word(aim)
    moments = _moments(aim, _FUTEX, aim["count"])
    for end, bit in zip(moments, _bits(aim), strict=True):
        while bit and time.time() < end - _FUTEX / 2:
            call("futex", word, _SHARED_WAKE, 9, None, None, 0)
            time.sleep(_FUTEX / 10)


def _be_woken(aim: Aim) -> Iterator[bool]:
    word = _shared_word(aim)
    value = ctypes.c_uint32.from_address(word).value
    for end in _moments(aim, _FUTEX, aim["count"]):
        left = max(0, int((end - _FUTEX / 4 - time.time()) * 1e9))
        timeout = (ctypes.c_long * 2)(0, left)
        try:
            call("futex", word, _SHARED_WAIT, value, timeout, None, 0)
            yield True
        except TimeoutError:
            yield False


_DISK = 0.006


def _fill_disk(aim: Aim) -> None:
    with open("channel", "wb", buffering=0) as file:
        for _, used in _halves(aim, _DISK):
            file.truncate(0)
            file.seek(0)
            file.write(bytes(1 << 20 if used else 1))


def _see_disk(aim: Aim) -> Iterator[bool]:
    def measure(end: float) -> float:
        time.sleep(max(0.0, end - _DISK / 3 - time.time()))
        return -sum(os.statvfs(path).f_bfree for path in (".", "/usr"))

    return _compare(aim, _DISK, measure)


_FORKS = 0.01


def _fork() -> int:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


def _count_forks() -> int:
    with open("/proc/stat", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("processes "))


def _start_processes(aim: Aim) -> None:
    for end, used in _halves(aim, _FORKS):
        while used and time.time() < end - _FORKS / 3:
            _fork()


def _by_growth(count: Callable[[], int], seconds: float) -> Receive:
    def receive(aim: Aim) -> Iterator[bool]:
        before = count()

        def measure(end: float) -> float:
            nonlocal before
            time.sleep(max(0.0, end - seconds / 4 - time.time()))
            last, before = before, count()
            return before - last

        return _compare(aim, seconds, measure)

    return receive


_PIPES = 0.006


def _make_pipe() -> int:
    ends = os.pipe()
    number = os.fstat(ends[0]).st_ino
    for end in ends:
        os.close(end)
    return number


def _stay_on_one_processor() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # each counts by itself


def _make_pipes(aim: Aim) -> None:
    _stay_on_one_processor()
    for end, used in _halves(aim, _PIPES):
        while used and time.time() < end - _PIPES / 2:
            _make_pipe()


def _see_pipe_numbers(aim: Aim) -> Iterable[bool]:
    _stay_on_one_processor()
    return _by_growth(_make_pipe, _PIPES)(aim)


_BUSY = 0.02
_HELPERS = 11  # more than there are processors: others may be busy as well


def _compute(aim: Aim) -> None:
    is_helper = any(os.fork() == 0 for _ in range(_HELPERS))
    if is_helper:
        os.setsid()  # for some schedulers a session has its share, whatever is in it
    for end, used in _halves(aim, _BUSY):
        while used and time.time() < end:
            pass
    if is_helper:
        os._exit(0)


def _see_speed(aim: Aim) -> Iterator[bool]:
    def measure(end: float) -> float:
        rounds = 0
        while time.time() < end:
            rounds += 1
        return -rounds

    return _compare(aim, _BUSY, measure)


# What is done at each end: by the sender, by the receiver.
_LASTING: dict[str, tuple[Send, Receive]] = {
    "loaded_pages_by_preadv2": (_load, _by("is_there_without_waiting")),
    "loaded_pages_by_cachestat": (_load, _by("is_counted")),
    "loaded_pages_by_mincore": (_load, _by("is_in_core")),
    "loaded_pages_by_time": (_load, _by_time),
    "cleared_pages": (_clear, _by_time),
    # Of two pages, which one is read faster.
    "read_pages": (_load, lambda aim: (one < zero for zero, one in _times(aim))),
    "access_times": (_read_files, _see_access_times),
    "device_times": (_touch_devices, _see_device_times),
    "looked_up_names": (_look_up, _see_names),
}
_MOMENTARY: dict[str, tuple[Send, Receive]] = {
    "shared_futex": (_wake, _be_woken),
    "free_disk": (_fill_disk, _see_disk),
    "process_numbers": (_start_processes, _by_growth(_fork, _FORKS)),
    "machine_counters": (_start_processes, _by_growth(_count_forks, _FORKS)),
    "pipe_numbers": (_make_pipes, _see_pipe_numbers),
    "busy_processors": (_compute, _see_speed),
}
PROGRAMS = {name: partial(_lasting, ends) for name, ends in _LASTING.items()} | {
    name: partial(_momentary, ends) for name, ends in _MOMENTARY.items()
}

if __name__ == "__main__":
    main(PROGRAMS)
