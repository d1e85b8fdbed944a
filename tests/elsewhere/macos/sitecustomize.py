"""Python as it is on macOS: whatever Linux alone has is gone from this process and its children.

On :data:`sys.path` it is imported at the start of each Python. It takes away what the
documentation of Python 3.11 calls available on Linux, or on Unix but not on macOS. ``/proc`` and
``/sys`` cannot be opened or listed; programs that are not Python still see them.
"""

from __future__ import annotations

import _ctypes
import ctypes
import errno
import os
import resource
import select
import signal
import socket
import sys
import time
import types

_GONE = {
    os: "CLD_CONTINUED CLD_DUMPED CLD_EXITED CLD_KILLED CLD_STOPPED CLD_TRAPPED"
    " EFD_CLOEXEC EFD_NONBLOCK EFD_SEMAPHORE GRND_NONBLOCK GRND_RANDOM"
    " MFD_CLOEXEC O_DIRECT O_LARGEFILE O_NOATIME O_PATH O_RSYNC O_TMPFILE"
    " P_ALL P_PGID P_PID P_PIDFD WEXITED WNOWAIT WSTOPPED"
    " copy_file_range eventfd eventfd_read eventfd_write fdatasync getrandom getresgid getresuid"
    " getxattr listxattr memfd_create pidfd_open pipe2 posix_fadvise posix_fallocate removexattr"
    " sched_getaffinity sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity"
    " sched_setparam sched_setscheduler setresgid setresuid setxattr splice waitid waitid_result",
    resource: "RLIMIT_MSGQUEUE RLIMIT_NICE RLIMIT_OFILE RLIMIT_RTPRIO RLIMIT_RTTIME"
    " RLIMIT_SIGPENDING RUSAGE_THREAD prlimit",
    select: "epoll EPOLLIN EPOLLOUT EPOLLERR EPOLLHUP EPOLL_CLOEXEC POLLRDHUP",
    signal: "SIGCLD SIGPOLL SIGPWR SIGRTMAX SIGRTMIN SIGSTKFLT pidfd_send_signal sigtimedwait"
    " sigwaitinfo",
    socket: "AF_ALG AF_NETLINK AF_PACKET AF_VSOCK SOCK_CLOEXEC SOCK_NONBLOCK SO_PEERCRED",
    time: "CLOCK_BOOTTIME CLOCK_TAI pthread_getcpuclockid",
}
# Of the C library, whatever header they are in.
_FUNCTIONS = frozenset({
    "environ", "pidfd_open", "posix_spawn_file_actions_addclosefrom_np", "prctl", "seccomp",
    "mount", "setns", "unshare",
})  # fmt: skip


def _hide(event: str, given: tuple[object, ...]) -> None:
    if event in {"open", "os.listdir", "os.scandir"} and given:
        path = os.fsdecode(given[0]) if isinstance(given[0], str | bytes) else ""
        if path == "/proc" or path.startswith(("/proc/", "/sys/")):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def _without(found):
    def dlsym(library, name):
        if name in _FUNCTIONS:
            raise OSError(f"dlsym({library}, {name}): symbol not found")
        return found(library, name)

    return dlsym


def _without_attribute(found):
    def function(library, name):
        if name in _FUNCTIONS:
            raise AttributeError(f"dlsym({library}, {name}): symbol not found")
        return found(library, name)

    return function


def _proxies() -> types.ModuleType:
    """Return what macOS has instead: a module that knows the proxies of its settings."""
    module = types.ModuleType("_scproxy")
    module._get_proxies = module._get_proxy_settings = dict
    return module


def _take_away() -> None:
    for module, names in _GONE.items():
        for name in names.split():
            for place in (module, sys.modules.get(f"_{module.__name__}"), _POSIX.get(module)):
                if hasattr(place, name):
                    delattr(place, name)
    os.uname = lambda: os.uname_result(("Darwin", "mac", "23.0.0", "Darwin 23", "arm64"))
    _ctypes.dlsym = _without(_ctypes.dlsym)
    ctypes.CDLL.__getitem__ = _without_attribute(ctypes.CDLL.__getitem__)
    # How this Python was built is in a module that is named after the system.
    os.environ["_PYTHON_SYSCONFIGDATA_NAME"] = (
        f"_sysconfigdata_{sys.abiflags}_linux_{sys.implementation._multiarch}"
    )
    sys.platform = "darwin"
    sys.modules["_scproxy"] = _proxies()
    sys.addaudithook(_hide)


_POSIX = {os: sys.modules["posix"]}
_take_away()
