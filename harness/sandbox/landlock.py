"""Landlock: what of the file system a process may still reach, enforced by the kernel.

It needs no privilege and no namespace. Newer kernels know more kinds of access (their *ABI*
number says which), and each is refused as soon as the kernel knows it. What no version sees, such
as ``stat``, ``chdir``, ``chmod`` and UDP, is the business of the other layers, or of none.

===  =====  ==================================================================================
ABI  Linux  what it adds for us
===  =====  ==================================================================================
1    5.13   reading, writing, executing, listing, making and removing files
2    5.19   moving files between folders, which was refused before
3    6.2    truncating files
4    6.7    TCP, though our system call filter refuses all sockets that can address others
5    6.10   commands to devices (``ioctl``)
6    6.12   signals and abstract sockets; before, the system call filter keeps signals in
7    6.15   nothing more: what is refused may be logged
===  =====  ==================================================================================
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable

from harness.sandbox import kernel

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
        return kernel.syscall(
            "landlock_create_ruleset", kernel.LANDLOCK_CREATE_RULESET, None, 0, _VERSION
        )
    except OSError:
        return 0


def confine(rules: Iterable[Rule], version: int) -> None:
    """Allow this process, for good, only what ``rules`` name, as ABI ``version`` knows it.

    A path that does not exist allows nothing. Needs ``no_new_privs``.
    """
    _restrict(rules, _file_access(version), version)


def keep_signals_in(version: int) -> None:
    """Let this process and its descendants signal nobody else; files stay as they are."""
    if version >= ABI_WITH_SCOPES:
        _restrict((), 0, version)


def _file_access(version: int) -> int:
    return (1 << _KNOWN_FILE_ACCESS[min(version, max(_KNOWN_FILE_ACCESS))]) - 1


def _restrict(rules: Iterable[Rule], handled: int, version: int) -> None:
    ruleset = _create(handled, version)
    for path, access in rules:
        _allow(ruleset, path, access & handled)
    kernel.syscall("landlock_restrict_self", kernel.LANDLOCK_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _create(handled: int, version: int) -> int:
    scoped = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= ABI_WITH_SCOPES else 0
    network = _BIND_AND_CONNECT_TCP if handled and version >= 4 else 0
    ruleset = _Ruleset(handled, network, scoped)
    size = 24 if version >= ABI_WITH_SCOPES else 16 if version >= 4 else 8
    return kernel.syscall(
        "landlock_create_ruleset",
        kernel.LANDLOCK_CREATE_RULESET,
        ctypes.byref(ruleset),
        size,
        0,
    )


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not stat.S_ISDIR(os.fstat(opened).st_mode):
        access &= _ON_FILES
    rule = _Beneath(access, opened)
    kernel.syscall(
        "landlock_add_rule",
        kernel.LANDLOCK_ADD_RULE,
        ruleset,
        _PATH_BENEATH,
        ctypes.byref(rule),
        0,
    )
    os.close(opened)
