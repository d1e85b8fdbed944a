"""The system calls an engine may not make, as a seccomp program assembled here.

It allows what an engine needs, so that any language works; it forbids what reaches beyond
the box or has a history of holes in the kernel: sockets, other processes' memory, namespaces and
mounts, io_uring, keyrings, System V objects (they outlive a process), BPF, perf and the like.
Calls newer than this table, those of another architecture and of the x32 mode, which would slip
past it, are refused as well.

The kernel remembers which calls are always allowed, so they cost nothing.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable
from functools import cache

from harness.sandbox import kernel
from harness.sandbox.syscalls import NEWEST, NUMBERS

# struct seccomp_data: nr, arch, instruction pointer, then six arguments of 64 bits.
_NR, _ARCH, _ARGUMENTS = 0, 4, 16
_LOAD, _EQUAL, _GREATER_EQUAL, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF_0000, 0x8000_0000, 0x0005_0000
AUDIT_ARCH = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
_X32 = 0x4000_0000


_NAMESPACES = 0x7E02_0000  # every CLONE_NEW… bit of clone(2)
_SOCK_STREAM, _SOCK_TYPE = 1, 0xF
_THREAD, _SHARED_FILES = 0x1_0000, 0x400  # CLONE_THREAD, CLONE_FILES
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_F_SETOWN, _F_SETOWN_EX = 8, 15  # whom the kernel is to signal when a pipe can be read
_F_SETPIPE_SZ = 1031
# Locks of others, leases of files, changes in folders: an engine needs none of them.
_F_GETLK, _F_OFD_GETLK, _F_SETLEASE, _F_NOTIFY = 5, 36, 1024, 1026
_LOCKS = (6, 7, 37, 38)  # F_SETLK, F_SETLKW, and F_OFD_… of both
_PRIO_PROCESS, _IOPRIO_WHO_PROCESS = 0, 1
_SO_SNDBUF, _SO_SNDBUFFORCE = 7, 32
_PR_SET_DUMPABLE, _PR_SET_MEMORY_MERGE, _PR_FUTEX_HASH = 4, 67, 78
_SHARED_ANONYMOUS = 0x21  # MAP_SHARED | MAP_ANONYMOUS
LARGEST_SHARED = 16 << 20  # bytes of one piece of memory without a file that processes share


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Refused with EPERM: "operation not permitted".
FORBIDDEN = _names(
    """
    ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_getfd
    socket connect bind listen sendmsg sendmmsg
    mount umount2 pivot_root move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick
    mount_setattr chroot unshare setns
    add_key request_key keyctl bpf perf_event_open userfaultfd
    kexec_load kexec_file_load init_module finit_module delete_module reboot swapon swapoff acct
    settimeofday clock_settime adjtimex clock_adjtime sethostname setdomainname quotactl
    quotactl_fd syslog vhangup iopl ioperm modify_ldt
    open_by_handle_at name_to_handle_at fanotify_init migrate_pages move_pages
    lookup_dcookie nfsservctl uselib
    """
)

# Refused with ENOSYS: programs then take another way. clone3 because a filter cannot see its
# flags; System V and POSIX queues because they outlive us; the others because they hold memory
# where nobody can count it: sendmsg (above) puts descriptors into a socket, out of sight; a pipe
# given a page of an engine keeps the two megabytes around it, a Landlock rule set has no limit;
# io_setup takes slots, and the whole machine has few. From mincore on they tell what other runs
# have left: which pages of a shown file are in memory (preadv2 by a read that may not wait; the C
# library then uses preadv), and, at level 1, the machine's mounts. (What is free on a disk must be
# told: posix_fallocate asks for it.)
ABSENT = _names(
    """
    clone3 io_uring_setup io_uring_enter io_uring_register io_setup memfd_create memfd_secret
    vmsplice splice tee inotify_init inotify_init1
    landlock_create_ruleset landlock_add_rule landlock_restrict_self
    shmget shmat shmctl shmdt semget semop semctl semtimedop msgget msgsnd msgrcv msgctl
    mq_open mq_unlink
    mincore cachestat preadv2 pwritev2 statmount listmount
    """
)

# Refused with EOPNOTSUPP, as file systems do that do not have it: memory and disk without a count.
UNSUPPORTED = _names(
    """
    setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat
    fallocate
    """
)

# Answered with success, and not done, as are the locks of fcntl: a lock on a file that other
# engines are shown, too, would tell them something, and /dev/null they may even write. An engine
# that locks a file of its own continues; its processes do not keep each other out. The others are
# advice about files, which many programs give: it would say which pages of a shown file leave the
# memory, for all to see.
NOT_DONE = ("flock", "fadvise64", "readahead")

# Advice about memory that may be given: a process's own pages, or how it will read a mapping.
ADVICE = (
    *(0, 1, 2, 4, 8),  # MADV_NORMAL, _RANDOM, _SEQUENTIAL, _DONTNEED, _FREE
    *(9, 10, 11, 13),  # _REMOVE, _DONTFORK, _DOFORK, _UNMERGEABLE
    *(14, 15, 16, 17),  # _HUGEPAGE, _NOHUGEPAGE, _DONTDUMP, _DODUMP
    *(18, 19, 23),  # _WIPEONFORK, _KEEPONFORK, _POPULATE_WRITE
    *(102, 103),  # _GUARD_INSTALL, _GUARD_REMOVE
)
# Advice that is answered with success, and not followed: it brings pages of files into memory, or
# out of it. All else is unknown: to share equal pages, to join pages of files to huge ones.
IGNORED_ADVICE = (3, 20, 21)  # MADV_WILLNEED, _COLD, _PAGEOUT

# Answered with success, and not done, except while building: the times of devices, which everybody
# may write, are the same in all boxes. A build needs the times of its results.
TIMES = ("utime", "utimes", "futimesat", "utimensat")

# Where no mount namespace makes files read-only: what Landlock does not see.
METADATA = (
    *TIMES,
    *_names(
        """
        chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat truncate mknod mknodat
        file_setattr
        """
    ),
)

# Of these, what those cannot do without who may write into a folder: answered with success, and
# not done. (A linker makes its result executable; who gave it the folder can do that afterwards.)
PRETENDED = ("chmod", "fchmod", "fchmodat", "fchmodat2")

# These change the process that their first argument names. Limits may only be set of the caller
# itself, by 0. So may the others without a pid namespace; within one, of all but its first
# process, which is the engine's launcher.
LIMITS = ("prlimit64",)
OF_ANYBODY = ("sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr")
LAUNCHER = 1
# The same with two arguments: the kind of what is named, which must be a process, and its id. A
# group may be the launcher's, and a user is the launcher's, too.
OF_A_KIND = {"setpriority": _PRIO_PROCESS, "ioprio_set": _IOPRIO_WHO_PROCESS}

# Where neither a pid namespace nor Landlock keeps signals in: a process may signal itself alone.
SIGNALS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal")

# All that a process needs that computes with the descriptors that it has: memory of its own, and
# its end. No file is opened by these, no process begun or signalled, no socket made.
COMPUTING = _names(
    """
    read write pread64 lseek fstat close mmap mprotect munmap mremap brk madvise futex sched_yield
    clock_gettime getrandom restart_syscall rt_sigreturn exit exit_group
    """
)

Instruction = tuple[int, int, int, int]


def program(
    machine: str, metadata: bool = False, signals_of: int | None = None, building: bool = False
) -> bytes:
    """Return the filter for ``machine`` as the kernel reads it: 8 bytes for each instruction.

    ``metadata``: without namespaces, refuse the calls of :data:`METADATA` too, and what changes
    any other process, instead of what changes the launcher; ``building``: but pretend to do those
    of :data:`PRETENDED`, and, with namespaces, do those of :data:`TIMES`.
    ``signals_of``: the one process (its id) to which signals may be sent; None: no rule.

    Raises:
        KeyError: for any machine but x86_64 and aarch64.
    """
    code = [*_entrance(machine)]
    code += _refuse(machine, FORBIDDEN, errno.EPERM)
    code += _refuse(machine, ABSENT, errno.ENOSYS)
    code += _refuse(machine, UNSUPPORTED, errno.EOPNOTSUPP)
    code += _refuse(machine, NOT_DONE, 0)
    code += _refuse(machine, TIMES, 0) if not metadata and not building else []
    code += _refuse(machine, PRETENDED, 0) if metadata and building else []
    code += _refuse(machine, METADATA, errno.EPERM) if metadata else []
    code += _arguments(machine, owners=signals_of is None)
    code += _of_processes(machine, LIMITS, _ITSELF)
    code += [*_of_scheduling(machine, _ITSELF if metadata else _ANYBODY_ELSE)]
    code += [] if signals_of is None else _signals(machine, signals_of)
    code.append((_RETURN, 0, 0, _ALLOW))
    return _pack(code)


def _pack(code: Iterable[Instruction]) -> bytes:
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in code)


def computing(machine: str) -> bytes:
    """Return a filter for ``machine`` that refuses all calls except those of :data:`COMPUTING`.

    Raises:
        KeyError: for any machine but x86_64 and aarch64.
    """
    allowed = _any_of(NUMBERS[machine][name] for name in COMPUTING)
    ends = [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _ERROR | errno.EPERM)]
    return _pack([*_entrance(machine), *allowed, *ends])


@cache
def for_this_machine(metadata: bool, building: bool, signals_of: int | None = None) -> bytes:
    """The filter for the machine we run on; see :func:`program`."""
    return program(kernel.machine(), metadata, signals_of, building)


def _entrance(machine: str) -> Iterable[Instruction]:
    """Kill what runs in another mode, whose numbers mean other calls; refuse the future."""
    yield (_LOAD, 0, 0, _ARCH)
    yield (_EQUAL, 1, 0, AUDIT_ARCH[machine])
    yield (_RETURN, 0, 0, _KILL)
    yield (_LOAD, 0, 0, _NR)
    yield (_GREATER_EQUAL, 0, 1, _X32)
    yield (_RETURN, 0, 0, _KILL)
    yield (_GREATER_EQUAL, 0, 1, NEWEST + 1)
    yield (_RETURN, 0, 0, _ERROR | errno.ENOSYS)


def _refuse(machine: str, names: Iterable[str], error: int) -> list[Instruction]:
    """Answer the calls with ``error``; the accumulator holds the call's number."""
    table = NUMBERS[machine]
    numbers = [table[name] for name in names if name in table]
    return [*_any_of(numbers), (_RETURN, 0, 0, _ERROR | error)] if numbers else []


def _arguments(machine: str, owners: bool) -> list[Instruction]:
    """The calls that depend on an argument.

    Namespaces, sockets that can address, terminals, advice about memory that others could notice;
    and what would hide memory from the count: a thread with descriptors of its own, larger pipes
    and sockets, a process that cannot be seen.
    ``owners``: a descriptor may be given an owner, who gets its signals.
    """
    table = NUMBERS[machine]
    refuse = (_RETURN, 0, 0, _ERROR | errno.EPERM)
    of_others = (_F_SETPIPE_SZ, _F_GETLK, _F_OFD_GETLK, _F_SETLEASE, _F_NOTIFY)
    refused = of_others if owners else (*of_others, _F_SETOWN, _F_SETOWN_EX)
    alone = [(_AND, 0, 0, _THREAD | _SHARED_FILES), (_EQUAL, 0, 1, _THREAD), refuse]
    return [
        *_on(table["clone"], [_low(0), (_ANY_BIT, 0, 1, _NAMESPACES), refuse, *alone]),
        # A datagram socket of a pair can still send to any address: streams only.
        *_on(
            table["socketpair"],
            [_low(1), (_AND, 0, 0, _SOCK_TYPE), (_EQUAL, 1, 0, _SOCK_STREAM), refuse],
        ),
        *_on(
            table["ioctl"],
            [_low(1), (_EQUAL, 1, 0, _TIOCSTI), (_EQUAL, 0, 1, _TIOCLINUX), refuse],
        ),
        *_on(table["mmap"], _LARGE_SHARED),
        *_on(table["madvise"], [_low(2), *_any_of(IGNORED_ADVICE), _PRETEND, *_none_of(ADVICE)]),
        *_on(table["fcntl"], [_low(1), *_any_of(refused), refuse, *_any_of(_LOCKS), _PRETEND]),
        *_on(
            table["setsockopt"],
            [_low(2), (_EQUAL, 1, 0, _SO_SNDBUF), (_EQUAL, 0, 1, _SO_SNDBUFFORCE), refuse],
        ),
        *_on(
            table["prctl"],
            [
                *[_low(0), (_EQUAL, 4, 0, _PR_SET_MEMORY_MERGE)],
                *[(_EQUAL, 3, 0, _PR_FUTEX_HASH), (_EQUAL, 0, 3, _PR_SET_DUMPABLE)],
                *[_low(1), (_EQUAL, 0, 1, 0), refuse],
            ],
        ),
    ]


_PRETEND = (_RETURN, 0, 0, _ERROR)  # an error of 0: success

# Memory that is shared by inheritance. What is cut off from it is kept out of sight while any page
# is mapped: so no piece is large, and each can be counted at its largest.
_LARGE_SHARED = [
    (_LOAD, 0, 0, _ARGUMENTS + 8 * 3),
    (_AND, 0, 0, _SHARED_ANONYMOUS),
    (_EQUAL, 0, 5, _SHARED_ANONYMOUS),
    (_LOAD, 0, 0, _ARGUMENTS + 8 + 4),  # the upper half of its length
    (_EQUAL, 0, 2, 0),
    (_LOAD, 0, 0, _ARGUMENTS + 8),
    (_GREATER_EQUAL, 0, 1, LARGEST_SHARED + 1),
    (_RETURN, 0, 0, _ERROR | errno.ENOMEM),
]


def _any_of(values: Iterable[int]) -> list[Instruction]:
    """Continue to the next instruction if the accumulator is one of the values, else skip it."""
    *others, last = values
    before = [(_EQUAL, 1 + left, 0, value) for left, value in enumerate(reversed(others))]
    return [*reversed(before), (_EQUAL, 0, 1, last)]


def _none_of(values: tuple[int, ...]) -> list[Instruction]:
    """Answer that there is no such thing unless the accumulator is one of the values."""
    tests = [(_EQUAL, left, 0, value) for left, value in enumerate(reversed(values), 1)]
    return [*reversed(tests), (_RETURN, 0, 0, _ERROR | errno.EINVAL)]


# Whether the process that the accumulator names may be changed: the next instruction refuses.
_ITSELF: Instruction = (_EQUAL, 1, 0, 0)
_ANYBODY_ELSE: Instruction = (_EQUAL, 0, 1, LAUNCHER)


def _of_processes(machine: str, names: Iterable[str], allow: Instruction) -> Iterable[Instruction]:
    """Allow calls whose first argument names a process only for those that ``allow`` lets."""
    table, refuse = NUMBERS[machine], (_RETURN, 0, 0, _ERROR | errno.EPERM)
    for name in names:
        yield from _on(table[name], [_low(0), allow, refuse])


def _of_scheduling(machine: str, allow: Instruction) -> Iterable[Instruction]:
    """Allow scheduling and priority only for the processes that ``allow`` lets."""
    table, refuse = NUMBERS[machine], (_RETURN, 0, 0, _ERROR | errno.EPERM)
    yield from _of_processes(machine, OF_ANYBODY, allow)
    for name, kind in OF_A_KIND.items():
        yield from _on(table[name], [_low(0), (_EQUAL, 0, 2, kind), _low(1), allow, refuse])


def _signals(machine: str, process: int) -> list[Instruction]:
    """Allow signals to ``process`` and, by kill(0), to its own group."""
    refuse = (_RETURN, 0, 0, _ERROR | errno.EPERM)
    own = [_low(0), (_EQUAL, 2, 0, process), (_EQUAL, 1, 0, 0), refuse]
    table = NUMBERS[machine]
    code = [instruction for name in SIGNALS[:-1] for instruction in _on(table[name], own)]
    return [*code, *_refuse(machine, SIGNALS[-1:], errno.EPERM)]


def _low(argument: int) -> Instruction:
    """Load the lower half of an argument; both machines are little-endian."""
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * argument)


def _on(number: int, body: list[Instruction]) -> list[Instruction]:
    """Run ``body``, which looks at arguments, for one call; allow it unless refused there."""
    end = [(_RETURN, 0, 0, _ALLOW)]
    return [(_EQUAL, 0, len(body) + 1, number), *body, *end]
