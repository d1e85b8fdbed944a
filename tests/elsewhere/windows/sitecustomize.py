"""Python as it is on Windows, as far as that can be had elsewhere.

What the documentation of Python 3.11 calls available on Unix is gone from this process and its
children: modules cannot be imported, functions and signals are not there. Paths stay as they are.
"""

from __future__ import annotations

import _ctypes
import _signal
import os
import select
import signal
import socket
import subprocess  # noqa: F401 - as it is on Windows it cannot be had here; it stays as it is
import sys
import time

_MODULES = frozenset({
    "_posixshmem", "crypt", "fcntl", "grp", "nis", "ossaudiodev", "pty", "pwd",
    "readline", "resource", "spwd", "syslog", "termios", "tty",
})  # fmt: skip
_KEPT = frozenset({  # of the signals that Linux has
    "SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM", "SIG_DFL", "SIG_IGN",
})  # fmt: skip
_GONE = {
    _ctypes: "dlclose dlopen dlsym",
    os: "CLD_EXITED O_CLOEXEC O_DIRECTORY O_DSYNC O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH"
    " O_SYNC O_TMPFILE P_ALL P_PID P_PIDFD RTLD_NOW WEXITED WNOHANG WNOWAIT chown chroot"
    " confstr ctermid eventfd fchdir fchmod fchown fdatasync fork forkpty fpathconf"
    " fstatvfs getegid geteuid getgid getgroups getloadavg getpgid getpgrp getpriority"
    " getrandom getresuid getsid getuid initgroups killpg lchown lockf login_tty major"
    " makedev memfd_create minor mkfifo mknod nice openpty pathconf pidfd_open pipe2"
    " posix_fadvise posix_fallocate posix_spawn posix_spawnp pread preadv pwrite pwritev"
    " register_at_fork sched_getaffinity sched_setaffinity sched_yield sendfile setegid"
    " seteuid setgid setgroups setpgid setpgrp setpriority setresuid setsid setuid"
    " splice statvfs sync sysconf tcgetpgrp tcsetpgrp uname unshare wait wait3 wait4"
    " waitid writev",
    select: "epoll poll",
    signal: "ITIMER_REAL ITIMER_VIRTUAL SIG_BLOCK SIG_SETMASK SIG_UNBLOCK alarm getitimer"
    " pause pidfd_send_signal pthread_kill pthread_sigmask setitimer siginterrupt"
    " sigpending sigtimedwait sigwait sigwaitinfo",
    socket: "AF_NETLINK AF_PACKET AF_UNIX",
    time: "CLOCK_BOOTTIME clock_getcpuclockid pthread_getcpuclockid tzset",
}


class _Refuse:
    """Finds no module that Windows has not."""

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> None:
        """Raise :class:`ModuleNotFoundError` for these; others are looked for elsewhere."""
        if name in _MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _take_away() -> None:
    gone = {module: set(names.split()) for module, names in _GONE.items()}
    gone[signal] |= {name for name in dir(signal) if name.startswith("SIG") and name not in _KEPT}
    for module, names in gone.items():
        for place in (module, {os: sys.modules["posix"], signal: _signal}.get(module)):
            for name in names:
                if hasattr(place, name):
                    delattr(place, name)
    for name in _MODULES:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, _Refuse())
    os.environ["_PYTHON_SYSCONFIGDATA_NAME"] = (
        f"_sysconfigdata_{sys.abiflags}_linux_{sys.implementation._multiarch}"
    )
    sys.platform = "win32"


_take_away()
