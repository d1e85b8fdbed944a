"""Attacks through what a box shows, and on what processes of one machine share.

Each reports what it achieved; what it changes it sets to what it was. Some spend CPU time and disk
that nobody notices, or leave what is hard to remove.
"""

import _thread
import contextlib
import ctypes
import fcntl
import mmap
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from attacks import LATE, MIB, Aim, add_calls, call, escaped, libc, main, refusals_of, show, trying  # type: ignore[import-not-found]

add_calls(
    """
    exit=60/93 fallocate=285/47 io_setup=206/0 ioprio_get=252/31 ioprio_set=251/30 listmount=458
    sched_setattr=314/274 timer_create=222/107
    """
)
_MANY_TIMERS = 5000
# What /proc has of each process. That it exists anyone may know.
_OF_PROCESSES = (
    *("auxv", "cgroup", "cmdline", "comm", "cpuset", "environ", "limits", "maps", "mountinfo"),
    *("mounts", "numa_maps", "sched", "smaps", "stat", "statm", "status", "wchan"),
    *("task", "fd", "fdinfo", "attr", "net", "ns"),
)
_SETTINGS = (
    *("oom_score_adj", "autogroup", "coredump_filter", "timerslack_ns", "clear_refs", "sched"),
)
_ON_ANY_MACHINE = ("/sys", "/run", "/dev/pts", "/sys/fs/cgroup")
_PAUSE = 0.03  # seconds for each megabyte, so that a busy machine is not an escape


# What a box shows


def read_what_its_first_line_names(aim: Aim) -> None:
    """Read the folder that the first line of this program names, which is executable."""
    show(aim["notes"])


def read_what_its_settings_name(aim: Aim) -> None:
    """Read the folder that pyvenv.cfg names, beside this program and above it."""
    show(aim["notes"])
    with trying("list the folder"):
        os.listdir(os.path.dirname(aim["notes"]))


def read_mounts(aim: Aim) -> None:
    for folder in ("/proc/self", f"/proc/self/task/{os.getpid()}", "/proc/thread-self"):
        for name, column in {"mountinfo": 4, "mounts": 1, "net/unix": 7}.items():
            with refusals_of(f"read {folder}/{name}"), open(f"{folder}/{name}") as file:
                places = {line.split()[column] for line in file if line.count(" ") > column}
                if places & {*_ON_ANY_MACHINE, f"@{aim['abstract']}"}:
                    escaped(f"{folder}/{name} tells of the machine")
    request, found = (ctypes.c_uint64 * 3)(24, (1 << 64) - 1), (ctypes.c_uint64 * 64)()
    with trying("list mounts by call"):
        call("listmount", request, found, 64, 0)


def read_counters(_aim: Aim) -> None:
    """Read how many pages were ever locked: whoever locks some sets it, and nobody else does."""
    with refusals_of("read /proc/vmstat"), open("/proc/vmstat") as file:
        if "unevictable_pgs_mlocked" in file.read():
            escaped("counts pages that others have locked")


def enter_private_folder(aim: Aim) -> None:
    """Stand in the folder of the private case file, and hold a descriptor of it."""
    folder = os.path.dirname(aim["secret"])
    with trying("hold the private folder"):
        os.close(os.open(folder, os.O_PATH))
    with trying("stand in the private folder"):
        os.chdir(folder)
    show(os.path.basename(aim["secret"]))


def watch_private_folder(aim: Aim) -> None:
    """Be told of each file that is opened in a private folder, and in the system's."""
    for folder in (os.path.dirname(aim["secret"]), "/usr/bin", "/tmp"):
        watching = libc.inotify_init()
        if watching >= 0 and libc.inotify_add_watch(watching, folder.encode(), 0xFFF) >= 0:
            escaped(f"watches {folder} (inotify)")
        with trying(f"watch {folder} (dnotify)"):
            held = os.open(folder, os.O_RDONLY)
            fcntl.fcntl(held, fcntl.F_NOTIFY, 1)


def lock_shown_files(_aim: Aim) -> None:
    set_lock, get_lock = 37, 36  # F_OFD_SETLK, F_OFD_GETLK
    shown = [path for path in ("/usr/bin/env", "/bin/sh", sys.executable) if os.path.exists(path)]
    for path in shown:
        with open(path, "rb") as one, open(path, "rb") as other:
            with refusals_of(f"flock {path}"):
                fcntl.flock(one, fcntl.LOCK_EX)
                try:
                    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    escaped(f"flock on {path} is seen")
            with refusals_of(f"see a lock on {path}"):
                # Lock a range with one open file, and ask for it with another.
                fcntl.fcntl(one.fileno(), set_lock, _flock(fcntl.F_RDLCK))
                found = fcntl.fcntl(other.fileno(), get_lock, _flock(fcntl.F_WRLCK))
                if found[:2] != int(fcntl.F_UNLCK).to_bytes(2, "little"):
                    escaped(f"a lock on {path} is seen")
    null = "/dev/null"
    with refusals_of(f"lock {null}"), open(null, "wb") as one, open(null, "wb") as other:
        fcntl.fcntl(one, set_lock, _flock(fcntl.F_WRLCK))
        try:
            fcntl.fcntl(other, set_lock, _flock(fcntl.F_WRLCK))
        except BlockingIOError:
            escaped(f"a lock on {null} is seen")
    for path in (*shown, os.path.abspath(__file__)):
        with refusals_of(f"a lease of {path}"), open(path, "rb") as one:
            fcntl.fcntl(one, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            escaped(f"it blocks writers of {path}")


def _flock(kind: int) -> bytes:
    """Return ``struct flock`` for the whole file, as 64-bit machines have it."""
    return kind.to_bytes(2, "little") + bytes(30)


def _others(aim: Aim) -> set[int]:
    """Return the processes that an engine knows of and that are not its own."""
    return {aim["victim"], os.getppid(), 1} - {os.getpid()}


def see_launcher(aim: Aim) -> None:
    """Read what /proc tells of the processes that started this one, and of its control group."""
    for pid in _others(aim):
        for name in _OF_PROCESSES:
            path = f"/proc/{pid}/{name}"
            with trying(f"read {name} of {pid}"):
                if os.path.isdir(path):
                    os.listdir(path)
                else:
                    with open(path, "rb") as file:
                        file.read(1)
        for name in ("cwd", "exe", "root"):
            with trying(f"follow {name} of {pid}"):
                os.readlink(f"/proc/{pid}/{name}")
    for name in ("cgroup", "cpuset"):
        with refusals_of(f"read its own {name}"), open(f"/proc/self/{name}") as file:
            if any(line.rpartition(":")[2].strip() != "/" for line in file):
                escaped(f"its own {name} tells of the machine's control groups")
    for name in ("/proc/cmdline", "/proc/swaps"):  # both name files of the machine
        with refusals_of(f"read {name}"), open(name) as file:
            if file.read():
                escaped(f"{name} tells of the machine")


def set_up_launcher(aim: Aim) -> None:
    """Write to the settings that /proc has of the processes that started this one."""
    for pid in _others(aim):
        for name in _SETTINGS:
            with trying(f"open {name} of {pid} for writing"):
                os.close(os.open(f"/proc/{pid}/{name}", os.O_WRONLY))


def limit_others(aim: Aim) -> None:
    """Read and set the limits of the harness: too little CPU time, and it is killed."""
    for pid in (aim["victim"], os.getppid()):
        for name in ("RLIMIT_CPU", "RLIMIT_NOFILE", "RLIMIT_CORE"):
            with trying(f"prlimit of {pid}, {name}"):
                kind = getattr(resource, name)
                resource.prlimit(pid, kind, resource.prlimit(pid, kind))


def slow_others(aim: Aim) -> None:
    for pid in _others(aim):
        with trying(f"affinity of {pid}"):
            os.sched_setaffinity(pid, os.sched_getaffinity(pid))
        with trying(f"scheduling of {pid}"):
            os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))
        with trying(f"parameters of scheduling of {pid}"):
            os.sched_setparam(pid, os.sched_param(0))
        with trying(f"attributes of scheduling of {pid}"):
            call("sched_setattr", pid, (ctypes.c_uint32 * 12)(48), 0)
        with trying(f"priority of {pid}"):
            os.setpriority(os.PRIO_PROCESS, pid, 0)
        with trying(f"priority of the group of {pid}"):
            os.setpriority(os.PRIO_PGRP, os.getpgid(pid), 0)
        with trying(f"disk of {pid}"):
            call("ioprio_set", 1, pid, call("ioprio_get", 1, pid))
        with trying(f"disk of the group of {pid}"):
            call("ioprio_set", 2, os.getpgid(pid), call("ioprio_get", 1, pid))
    own = os.getuid()
    with trying("priority of all of the user's"):
        os.setpriority(os.PRIO_USER, own, os.getpriority(os.PRIO_USER, own))
    with trying("disk for all of the user's"):
        call("ioprio_set", 3, own, call("ioprio_get", 1, 0))


def take_slots(_aim: Aim) -> None:
    context = ctypes.c_ulong(0)
    with trying("io_setup"):
        call("io_setup", 1000, ctypes.byref(context))


def hoard_timers(_aim: Aim) -> None:
    """Make thousands of timers, which count as signals of the user that wait."""
    made, timer = 0, ctypes.c_int(0)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    with refusals_of("timer_create"):
        for _ in range(_MANY_TIMERS):
            call("timer_create", 1, None, ctypes.byref(timer))
            made += 1
    if made >= _MANY_TIMERS:
        escaped(f"{made:,} timers")


# CPU time and disk


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
    if libc.sigaction(signal.SIGCHLD, action, None):
        raise OSError("sigaction")
    _spend(aim, 0.04)


def adopted_children(aim: Aim) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _spend(aim, 0.04, 2, adopted=True)


def many_threads(aim: Aim) -> None:
    def work() -> None:
        _burn(aim["cpu"] * 1.25 + 0.2)
        escaped(f"spent {time.process_time():.1f} s of CPU time")
        os._exit(0)

    _thread.start_new_thread(work, ())
    call("exit", 0)


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
    for _ in range(40):
        os.mkdir("d" * 250)
        os.chdir("d" * 250)
    _use(aim, _write_files("."))


def reserved_disk(aim: Aim) -> None:
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
