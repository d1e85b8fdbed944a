"""Numbers of the system calls that a filter looks at, on the two machines we know.

From Linux 6.18's ``asm/unistd.h``. Calls from 424 on have one number everywhere.
"""

from __future__ import annotations

NEWEST = 469  # the highest number known when this table was made: what is beyond is refused


def _table(text: str) -> dict[str, int]:
    pairs = (entry.split("=") for entry in text.split())
    return {name: int(number) for name, number in pairs}


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
