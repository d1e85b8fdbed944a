"""The few calls of Linux that Python 3.11 has no name for, each as a function.

Nothing here decides anything. Errors are ``OSError`` with the name of the call.
"""

from __future__ import annotations

import ctypes
import os

# Namespaces, for clone(2).
CLONE_NEWNS = 0x0002_0000
CLONE_NEWCGROUP = 0x0200_0000
CLONE_NEWUTS = 0x0400_0000
CLONE_NEWIPC = 0x0800_0000
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWPID = 0x2000_0000
CLONE_NEWNET = 0x4000_0000
SIGCHLD = 17

# mount(2), umount2(2), mount_setattr(2)
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2
MOUNT_ATTR_RDONLY = 1
MOUNT_ATTR_NOSUID = 2
MOUNT_ATTR_NODEV = 4
AT_FDCWD = -100
AT_RECURSIVE = 0x8000

# prctl(2)
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
SECCOMP_MODE_FILTER = 2

# System calls without a function in the C library, by machine; those from 424 on are alike.
_NUMBERS = {
    "x86_64": {"capset": 126, "pivot_root": 155, "clone": 56, "perf": 298},
    "aarch64": {"capset": 91, "pivot_root": 41, "clone": 220, "perf": 241},
}
_MOUNT_SETATTR = 442
LANDLOCK_CREATE_RULESET = 444
LANDLOCK_ADD_RULE = 445
LANDLOCK_RESTRICT_SELF = 446
_CAPABILITY_VERSION_3 = 0x2008_0522

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def machine() -> str:
    """Return the machine's architecture as ``uname -m`` says it."""
    return os.uname().machine


def _check(result: int, name: str) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
    return result


def syscall(name: str, number: int, *arguments: object) -> int:
    """Make a system call by its number. Integers are passed as 64 bits."""
    passed = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _check(_libc.syscall(ctypes.c_long(number), *passed), name)


def prctl(name: str, option: int, *arguments: object) -> None:
    """Set a property of this process; ``name`` is for the error."""
    passed = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in arguments]
    passed += [ctypes.c_ulong(0)] * (4 - len(passed))
    _check(_libc.prctl(ctypes.c_int(option), *passed), name)


def clone(namespaces: int) -> int:
    """Fork into new ``namespaces``; return the child's process id, 0 in the child.

    The raw call does without the C library's preparations for threads, so this process must have
    no other threads.
    """
    number = _NUMBERS[machine()]["clone"]
    return syscall("clone", number, namespaces | SIGCHLD, 0, 0, 0, 0)


def perf_event_open(attributes: ctypes.Array[ctypes.c_char], flags: int) -> int:
    """Open a performance counter of this process; return its descriptor."""
    number = _NUMBERS[machine()]["perf"]
    return syscall("perf_event_open", number, attributes, 0, -1, -1, flags)


def mount(source: str, target: str, kind: str, flags: int = 0, data: str = "") -> None:
    """Mount a file system; the error names the target."""
    result = _libc.mount(
        source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode()
    )
    _check(result, f"mount {kind or source} on {target}")


def bind(source: str, target: str, attributes: int) -> None:
    """Show ``source``, with all that is mounted below it, at ``target`` too."""
    mount(source, target, "", MS_BIND | MS_REC)
    set_mount_attributes(target, attributes | MOUNT_ATTR_NOSUID)


def set_mount_attributes(target: str, attributes: int, below: bool = True) -> None:
    """Add attributes to a mount and all ``below`` it; unlike a remount, this clears none."""
    wanted = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    syscall(
        f"mount_setattr {target}",
        _MOUNT_SETATTR,
        AT_FDCWD,
        target.encode(),
        AT_RECURSIVE if below else 0,
        ctypes.byref(wanted),
        ctypes.sizeof(wanted),
    )


def pivot_root(new: str, old: str) -> None:
    """Make ``new`` the root and keep the former one at ``old``."""
    syscall("pivot_root", _NUMBERS[machine()]["pivot_root"], new.encode(), old.encode())


def unmount(target: str) -> None:
    """Take a mount and all below it out of the tree."""
    _check(_libc.umount2(target.encode(), MNT_DETACH), f"umount {target}")


def drop_capabilities() -> None:
    """Give up every capability, for this process and all it will ever start."""
    for capability in range(64):
        if _libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0) < 0:
            break  # past the last one, or not ours to drop: no_new_privs covers that
    prctl("clear ambient capabilities", PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    none = (ctypes.c_uint32 * 6)()
    number = _NUMBERS[machine()]["capset"]
    syscall("capset", number, ctypes.byref(header), ctypes.byref(none))


def no_new_privileges() -> None:
    """No program started from here gains a privilege, set-user-id or not."""
    prctl("no_new_privs", PR_SET_NO_NEW_PRIVS, 1)


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_char_p))


def filter_system_calls(program: bytes) -> None:
    """Load a seccomp filter (see :mod:`harness.sandbox.seccomp`) for good."""
    loaded = _Filter(len(program) // 8, program)
    prctl("seccomp", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(loaded))
