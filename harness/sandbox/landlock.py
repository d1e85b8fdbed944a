"""Landlock, and the other calls of Linux that Python 3.11 has no name for, each as a function.

Nothing here decides anything. Errors are ``OSError`` with the name of the call.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable

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


# Landlock: what of the file system a process may still reach, enforced by the kernel. It needs no
# privilege and no namespace. Newer kernels know more kinds of access (their *ABI* number says
# which), and each is refused as soon as the kernel knows it. What no version sees, such as
# ``stat``, ``chdir``, ``chmod`` and UDP, is the business of the other layers, or of none.
#
# ===  =====  ==================================================================================
# ABI  Linux  what it adds for us
# ===  =====  ==================================================================================
# 1    5.13   reading, writing, executing, listing, making and removing files
# 2    5.19   moving files between folders, which was refused before
# 3    6.2    truncating files
# 4    6.7    TCP, though our system call filter refuses all sockets that can address others
# 5    6.10   commands to devices (``ioctl``)
# 6    6.12   signals and abstract sockets; before, the system call filter keeps signals in
# 7    6.15   nothing more: what is refused may be logged
# ===  =====  ==================================================================================


# Kinds of access to files, one bit each, as linux/landlock.h numbers them.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
TRUNCATE, IOCTL_DEVICE = 1 << 14, 1 << 15
_ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
READ = EXECUTE | READ_FILE | READ_DIR
WRITE = (1 << 15) - 1  # everything but ioctl on devices
DEVICE = READ_FILE | WRITE_FILE | TRUNCATE

# How many kinds of file access each ABI knows; from the last one on it stays.
_KNOWN_FILE_ACCESS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_BIND_AND_CONNECT_TCP = 3  # from ABI 4
_ABSTRACT_SOCKETS_AND_SIGNALS = 3  # from ABI 6: kept inside the domain
ABI_WITH_SCOPES = 6
_VERSION = 1
_PATH_BENEATH = 1

Rule = tuple[str, int]  # a path and the access allowed to it and beneath it


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("directory", ctypes.c_int32))


def abi() -> int:
    """Return the version this kernel offers, 0 if none (not built in, or switched off)."""
    try:
        return syscall("landlock_create_ruleset", LANDLOCK_CREATE_RULESET, None, 0, _VERSION)
    except OSError:
        return 0


def confine(rules: Iterable[Rule], version: int) -> None:
    """Allow this process, for good, only what ``rules`` name, as ABI ``version`` knows it.

    A path that does not exist allows nothing. Needs ``no_new_privs``.
    """
    _restrict(rules, (1 << _KNOWN_FILE_ACCESS[min(version, max(_KNOWN_FILE_ACCESS))]) - 1, version)


def keep_signals_in(version: int) -> None:
    """Let this process and its descendants signal nobody else; files stay as they are."""
    if version >= ABI_WITH_SCOPES:
        _restrict((), 0, version)


def _restrict(rules: Iterable[Rule], rights: int, version: int) -> None:
    scoped = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= ABI_WITH_SCOPES else 0
    network = _BIND_AND_CONNECT_TCP if rights and version >= 4 else 0
    handled = ctypes.byref(_Ruleset(rights, network, scoped))
    size = 24 if version >= ABI_WITH_SCOPES else 16 if version >= 4 else 8
    ruleset = syscall("landlock_create_ruleset", LANDLOCK_CREATE_RULESET, handled, size, 0)
    for path, access in rules:
        try:
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        on_files = -1 if stat.S_ISDIR(os.fstat(opened).st_mode) else _ON_FILES
        rule = ctypes.byref(_Beneath(access & rights & on_files, opened))
        syscall("landlock_add_rule", LANDLOCK_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
        os.close(opened)
    syscall("landlock_restrict_self", LANDLOCK_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
