"""Attacks through what a box shows, and on what processes of one machine share.

Each reports what it achieved; what it changes it sets to what it was.
"""

import ctypes
import fcntl
import os
import resource
import signal
import sys
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from attacks import CALLS, _libc, call, escaped, main, numbers, refusals_of, show, trying  # type: ignore[import-not-found]

Aim = dict[str, Any]
CALLS |= numbers(
    """
    io_setup=206/0 ioprio_get=252/31 ioprio_set=251/30 listmount=458 sched_setattr=314/274
    timer_create=222/107
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
    """See where the machine's file systems are, and its sockets."""
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
        watching = _libc.inotify_init()
        if watching >= 0 and _libc.inotify_add_watch(watching, folder.encode(), 0xFFF) >= 0:
            escaped(f"watches {folder} (inotify)")
        with trying(f"watch {folder} (dnotify)"):
            held = os.open(folder, os.O_RDONLY)
            fcntl.fcntl(held, fcntl.F_NOTIFY, 1)


def lock_shown_files(_aim: Aim) -> None:
    """Tell another engine something by a lock on a file that both are shown."""
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
    """Take the processors from the harness: affinity, priority, scheduling, disk."""
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
    """Take the machine's 65,536 slots for asynchronous input and output."""
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


if __name__ == "__main__":
    main(globals())
