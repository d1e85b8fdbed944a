"""The system calls that an engine may not make, as a seccomp program assembled here.

It allows what an engine needs, so that any language works; it forbids what reaches beyond
the box or has a history of holes in the kernel: sockets, other processes' memory, namespaces and
mounts, io_uring, keyrings, System V objects (they outlive a process), BPF, perf and the like.
Calls newer than this table, those of another architecture and of the x32 mode, which would slip
past it, are refused as well. The kernel remembers which calls are always allowed, so they cost
nothing.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable
from functools import cache

from harness.sandbox import landlock

# Numbers are those of Linux 6.18's asm/unistd.h. Calls from 424 on have one number everywhere.
NEWEST = 469  # the highest number known when this table was made: what is beyond is refused


def _table(text: str) -> dict[str, int]:
    return {name: int(number) for name, number in (entry.split("=") for entry in text.split())}


_COMMON = _table(
    """
    pidfd_send_signal=424 io_uring_setup=425 io_uring_enter=426 io_uring_register=427
    open_tree=428 move_mount=429 fsopen=430 fsconfig=431 fsmount=432 fspick=433 clone3=435
    pidfd_getfd=438 process_madvise=440 mount_setattr=442 quotactl_fd=443 process_mrelease=448
    cachestat=451 statmount=457 listmount=458
    landlock_create_ruleset=444 landlock_add_rule=445 landlock_restrict_self=446 memfd_secret=447
    fchmodat2=452 setxattrat=463 removexattrat=466 open_tree_attr=467 file_setattr=469
    """
)

NUMBERS = {
    "x86_64": _COMMON
    | _table(
        """
        flock=73 setpriority=141 sched_setparam=142 sched_setscheduler=144 sched_setaffinity=203
        mmap=9 io_setup=206 ioprio_set=251 prlimit64=302 sched_setattr=314
        ioctl=16 shmget=29 shmat=30 shmctl=31 socket=41 connect=42 bind=49 listen=50 socketpair=53
        clone=56 kill=62 semget=64 semop=65 semctl=66 shmdt=67 msgget=68 msgsnd=69 msgrcv=70
        msgctl=71 fcntl=72 truncate=76 chmod=90 fchmod=91 chown=92 fchown=93 lchown=94 ptrace=101
        syslog=103 rt_sigqueueinfo=129 utime=132 mknod=133 uselib=134 vhangup=153 modify_ldt=154
        pivot_root=155 adjtimex=159 chroot=161 acct=163 settimeofday=164 mount=165 umount2=166
        swapon=167 swapoff=168 reboot=169 sethostname=170 setdomainname=171 iopl=172 ioperm=173
        init_module=175 delete_module=176 quotactl=179 nfsservctl=180 setxattr=188 lsetxattr=189
        fsetxattr=190 removexattr=197 lremovexattr=198 fremovexattr=199 tkill=200
        lookup_dcookie=212 semtimedop=220 clock_settime=227 tgkill=234 utimes=235 mq_open=240
        mq_unlink=241 kexec_load=246 add_key=248 request_key=249 keyctl=250 migrate_pages=256
        mknodat=259 fchownat=260 futimesat=261 fchmodat=268 unshare=272 move_pages=279
        utimensat=280 rt_tgsigqueueinfo=297 perf_event_open=298 fanotify_init=300
        name_to_handle_at=303 open_by_handle_at=304 clock_adjtime=305 setns=308
        process_vm_readv=310 process_vm_writev=311 kcmp=312 finit_module=313 memfd_create=319
        kexec_file_load=320 bpf=321 userfaultfd=323 sendmsg=46 setsockopt=54 prctl=157
        inotify_init=253 splice=275 tee=276 vmsplice=278 fallocate=285 inotify_init1=294
        sendmmsg=307
        mincore=27 readahead=187 fadvise64=221 preadv2=327
        pwritev2=328
        read=0 write=1 close=3 fstat=5 lseek=8 mprotect=10 munmap=11 brk=12 rt_sigreturn=15
        pread64=17 sched_yield=24 mremap=25 madvise=28 exit=60 futex=202 restart_syscall=219
        clock_gettime=228 exit_group=231 getrandom=318
        """
    ),
    "aarch64": _COMMON
    | _table(
        """
        io_setup=0 ioprio_set=30 mmap=222 flock=32 sched_setparam=118 sched_setscheduler=119
        sched_setaffinity=122 setpriority=140 prlimit64=261 sched_setattr=274
        setxattr=5 lsetxattr=6 fsetxattr=7 removexattr=14 lremovexattr=15 fremovexattr=16
        lookup_dcookie=18 fcntl=25 ioctl=29 mknodat=33 umount2=39 mount=40 pivot_root=41
        nfsservctl=42 truncate=45 chroot=51 fchmod=52 fchmodat=53 fchownat=54 fchown=55
        vhangup=58 quotactl=60
        utimensat=88 acct=89 unshare=97 kexec_load=104 init_module=105 delete_module=106
        clock_settime=112 syslog=116 ptrace=117 kill=129 tkill=130 tgkill=131 rt_sigqueueinfo=138
        reboot=142 sethostname=161 setdomainname=162 settimeofday=170 adjtimex=171 mq_open=180
        mq_unlink=181 msgget=186 msgctl=187 msgrcv=188 msgsnd=189 semget=190 semctl=191
        semtimedop=192 semop=193 shmget=194 shmctl=195 shmat=196 shmdt=197 socket=198
        socketpair=199 bind=200 listen=201 connect=203 add_key=217 request_key=218 keyctl=219
        clone=220 swapon=224 swapoff=225 migrate_pages=238 move_pages=239 rt_tgsigqueueinfo=240
        perf_event_open=241 fanotify_init=262 name_to_handle_at=264 open_by_handle_at=265
        clock_adjtime=266 setns=268 process_vm_readv=270 process_vm_writev=271 kcmp=272
        finit_module=273 memfd_create=279 bpf=280 userfaultfd=282 kexec_file_load=294
        inotify_init1=26 fallocate=47 vmsplice=75 splice=76 tee=77 prctl=167 setsockopt=208
        sendmsg=211 sendmmsg=269
        readahead=213 fadvise64=223 mincore=232 preadv2=286 pwritev2=287
        read=63 write=64 close=57 fstat=80 lseek=62 mprotect=226 munmap=215 brk=214
        rt_sigreturn=139 pread64=67 sched_yield=124 mremap=216 madvise=233 exit=93 futex=98
        restart_syscall=128 clock_gettime=113 exit_group=94 getrandom=278
        """
    ),
}


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
    changeable = _ITSELF if metadata else _ANYBODY_ELSE
    code += _of_processes(machine, OF_ANYBODY, changeable)
    for name, kind in OF_A_KIND.items():
        body = [_low(0), (_EQUAL, 0, 2, kind), _low(1), changeable, _REFUSE]
        code += _on(NUMBERS[machine][name], body)
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
    return program(landlock.machine(), metadata, signals_of, building)


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
    table, refuse = NUMBERS[machine], _REFUSE
    # EINVAL, as for unknown advice, unless the accumulator is one of the values.
    known = [(_EQUAL, left, 0, value) for left, value in enumerate(reversed(ADVICE), 1)]
    known_advice = [*reversed(known), (_RETURN, 0, 0, _ERROR | errno.EINVAL)]
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
            table["ioctl"], [_low(1), (_EQUAL, 1, 0, _TIOCSTI), (_EQUAL, 0, 1, _TIOCLINUX), refuse]
        ),
        *_on(table["mmap"], _LARGE_SHARED),
        *_on(table["madvise"], [_low(2), *_any_of(IGNORED_ADVICE), _PRETEND, *known_advice]),
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
_REFUSE = (_RETURN, 0, 0, _ERROR | errno.EPERM)

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


# Whether the process that the accumulator names may be changed: the next instruction refuses.
_ITSELF: Instruction = (_EQUAL, 1, 0, 0)
_ANYBODY_ELSE: Instruction = (_EQUAL, 0, 1, LAUNCHER)


def _of_processes(machine: str, names: Iterable[str], allow: Instruction) -> Iterable[Instruction]:
    """Allow calls whose first argument names a process only for those that ``allow`` lets."""
    for name in names:
        yield from _on(NUMBERS[machine][name], [_low(0), allow, _REFUSE])


def _signals(machine: str, process: int) -> list[Instruction]:
    """Allow signals to ``process`` and, by kill(0), to its own group."""
    own = [_low(0), (_EQUAL, 2, 0, process), (_EQUAL, 1, 0, 0), _REFUSE]
    table = NUMBERS[machine]
    code = [instruction for name in SIGNALS[:-1] for instruction in _on(table[name], own)]
    return [*code, *_refuse(machine, SIGNALS[-1:], errno.EPERM)]


def _low(argument: int) -> Instruction:
    """Load the lower half of an argument; both machines are little-endian."""
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * argument)


def _on(number: int, body: list[Instruction]) -> list[Instruction]:
    """Run ``body``, which looks at arguments, for one call; allow it unless refused there."""
    return [(_EQUAL, 0, len(body) + 1, number), *body, (_RETURN, 0, 0, _ALLOW)]
