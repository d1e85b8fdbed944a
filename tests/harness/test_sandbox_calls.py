"""What the kernel, Landlock and bubblewrap are asked for, word by word."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.options import BoxLimits
from harness.sandbox import bubblewrap, inside, kernel, landlock, launcher, limits, view
from harness.sandbox.folder_copies import Size
from harness.sandbox.plan import LaunchPlan, Mount, Watched, WritableSpace

# As sched.h, mount.h, fcntl.h, prctl.h, landlock.h and unistd.h of Linux have them.
NUMBERS = {
    "CLONE_NEWNS": 1 << 17,
    "CLONE_NEWCGROUP": 1 << 25,
    "CLONE_NEWUTS": 1 << 26,
    "CLONE_NEWIPC": 1 << 27,
    "CLONE_NEWUSER": 1 << 28,
    "CLONE_NEWPID": 1 << 29,
    "CLONE_NEWNET": 1 << 30,
    "SIGCHLD": 17,
    "MS_NOSUID": 1 << 1,
    "MS_NODEV": 1 << 2,
    "MS_NOEXEC": 1 << 3,
    "MS_BIND": 1 << 12,
    "MS_REC": 1 << 14,
    "MS_PRIVATE": 1 << 18,
    "MNT_DETACH": 2,
    "MOUNT_ATTR_RDONLY": 1,
    "MOUNT_ATTR_NOSUID": 2,
    "MOUNT_ATTR_NODEV": 4,
    "AT_FDCWD": -100,
    "AT_RECURSIVE": 0x8000,
    "PR_SET_PDEATHSIG": 1,
    "PR_SET_DUMPABLE": 4,
    "PR_SET_SECCOMP": 22,
    "PR_CAPBSET_DROP": 24,
    "PR_SET_CHILD_SUBREAPER": 36,
    "PR_SET_NO_NEW_PRIVS": 38,
    "PR_CAP_AMBIENT": 47,
    "PR_CAP_AMBIENT_CLEAR_ALL": 4,
    "SECCOMP_MODE_FILTER": 2,
    "LANDLOCK_CREATE_RULESET": 444,
    "LANDLOCK_ADD_RULE": 445,
    "LANDLOCK_RESTRICT_SELF": 446,
    "_MOUNT_SETATTR": 442,
    "_CAPABILITY_VERSION_3": 0x20080522,
    "_NUMBERS": {
        "x86_64": {"capset": 126, "pivot_root": 155, "clone": 56, "perf": 298},
        "aarch64": {"capset": 91, "pivot_root": 41, "clone": 220, "perf": 241},
    },
}


def test_the_numbers_are_those_of_the_kernels_headers():
    found = {name: value for name, value in vars(kernel).items() if name in NUMBERS}
    assert found == NUMBERS
    names = ("EXECUTE", "WRITE_FILE", "READ_FILE", "READ_DIR")
    assert [getattr(landlock, name) for name in names] == [1 << 0, 1 << 1, 1 << 2, 1 << 3]
    assert (landlock.TRUNCATE, landlock.IOCTL_DEVICE) == (1 << 14, 1 << 15)
    assert (landlock.READ, landlock.WRITE, landlock.DEVICE) == (0b1101, 0x7FFF, 0b110 | 1 << 14)


class Library:
    """A C library that notes its calls. ``answers``: of each function's calls, the last for ever.

    Pointers are noted by what they point to.
    """

    def __init__(self, **answers: list[int]) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        def call(*given: Any) -> int:
            self.calls.append((name, *map(plain, given)))
            answers = self._answers.get(name, [0])
            return answers.pop(0) if len(answers) > 1 else answers[0]

        return call


def plain(value: Any) -> Any:
    if hasattr(value, "_obj"):
        value = value._obj
    if isinstance(value, kernel._Filter):
        return value.length, value.program
    return list(value) if isinstance(value, ctypes.Array) else getattr(value, "value", value)


@pytest.fixture
def library(monkeypatch):
    made = Library()
    monkeypatch.setattr(kernel, "_libc", made)
    monkeypatch.setattr(kernel, "machine", lambda: "x86_64")
    return made


CALLS = [
    (kernel.clone, (kernel.CLONE_NEWPID,), ("syscall", 56, (1 << 29) | 17, 0, 0, 0, 0)),
    (kernel.mount, ("none", "/a", "tmpfs", 6, "size=1"),
     ("mount", b"none", b"/a", b"tmpfs", 6, b"size=1")),
    (kernel.mount, ("none", "/a", "tmpfs"), ("mount", b"none", b"/a", b"tmpfs", 0, b"")),
    (kernel.set_mount_attributes, ("/a", 5),
     ("syscall", 442, -100, b"/a", 0x8000, [5, 0, 0, 0], 32)),
    (kernel.set_mount_attributes, ("/a", 5, False),
     ("syscall", 442, -100, b"/a", 0, [5, 0, 0, 0], 32)),
    (kernel.pivot_root, ("/a", "/b"), ("syscall", 155, b"/a", b"/b")),
    (kernel.unmount, ("/a",), ("umount2", b"/a", 2)),
    (kernel.no_new_privileges, (), ("prctl", 38, 1, 0, 0, 0)),
    (kernel.filter_system_calls, (b"12345678" * 3,), ("prctl", 22, 2, (3, b"12345678" * 3), 0, 0)),
    (kernel.prctl, ("a name", 9, 1, 2, 3, 4), ("prctl", 9, 1, 2, 3, 4)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "given", "call"), CALLS)
def test_a_call_of_the_kernel(function, given, call, library):
    function(*given)
    assert library.calls == [call]


def test_a_bound_folder_gains_attributes_and_no_privileges(library):
    kernel.bind("/a", "/b", kernel.MOUNT_ATTR_RDONLY)
    assert library.calls == [
        ("mount", b"/a", b"/b", b"", (1 << 12) | (1 << 14), b""),
        ("syscall", 442, -100, b"/b", 0x8000, [1 | 2, 0, 0, 0], 32),
    ]


def test_every_capability_is_given_up(monkeypatch):
    library = Library(prctl=[0, 0, 0, -1, 0])
    monkeypatch.setattr(kernel, "_libc", library)
    monkeypatch.setattr(kernel, "machine", lambda: "x86_64")
    kernel.drop_capabilities()
    assert library.calls == [
        *(("prctl", 24, number, 0, 0, 0) for number in range(4)),
        ("prctl", 47, 4, 0, 0, 0),
        ("syscall", 126, [0x20080522, 0], [0] * 6),
    ]
    library = Library()
    monkeypatch.setattr(kernel, "_libc", library)
    kernel.drop_capabilities()
    assert [call[2] for call in library.calls if call[:2] == ("prctl", 24)] == list(range(64))


def test_a_counter_of_this_process(library):
    kernel.perf_event_open(ctypes.create_string_buffer(b"ab", 3), 8)
    assert library.calls == [("syscall", 298, [b"a", b"b", b"\0"], 0, -1, -1, 8)]


FAILURES = [
    (kernel.mount, ("none", "/a", "tmpfs"), "mount tmpfs on /a: "),
    (kernel.mount, ("/x", "/a", ""), "mount /x on /a: "),
    (kernel.set_mount_attributes, ("/a", 5), "mount_setattr /a: "),
    (kernel.pivot_root, ("/a", "/b"), "pivot_root: "),
    (kernel.unmount, ("/a",), "umount /a: "),
    (kernel.clone, (0,), "clone: "),
    (kernel.perf_event_open, (None, 0), "perf_event_open: "),
    (kernel.no_new_privileges, (), "no_new_privs: "),
    (kernel.filter_system_calls, (b"",), "seccomp: "),
    (kernel.drop_capabilities, (), "clear ambient capabilities: "),
]


@pytest.mark.parametrize(("function", "given", "said"), FAILURES)
def test_an_error_has_the_name_of_its_call(function, given, said, monkeypatch):
    refusing = Library(syscall=[-1], mount=[-1], umount2=[-1], prctl=[-1])
    monkeypatch.setattr(kernel, "_libc", refusing)
    monkeypatch.setattr(kernel, "machine", lambda: "x86_64")
    ctypes.set_errno(errno.EPERM)
    with pytest.raises(OSError, match=said) as told:
        function(*given)
    assert told.value.errno == errno.EPERM
    assert str(told.value).endswith(f"{said}{os.strerror(errno.EPERM)}")


# --- Landlock


# ABI; access to files, to the network, scopes, and the bytes of the record.
RULESETS = [
    (1, 0x1FFF, 0, 0, 8),
    (2, 0x3FFF, 0, 0, 8),
    (3, 0x7FFF, 0, 0, 8),
    (4, 0x7FFF, 3, 0, 16),
    (5, 0xFFFF, 3, 0, 16),
    (6, 0xFFFF, 3, 3, 24),
    (9, 0xFFFF, 3, 3, 24),
]


@pytest.fixture
def landlock_calls(monkeypatch):
    """Note what Landlock is asked for; the ruleset is the descriptor 99."""
    calls = []

    def syscall(name: str, number: int, *given: Any) -> int:
        records = [getattr(one, "_obj", one) for one in given]
        calls.append((name, number, *(fields(one) for one in records)))
        return 99

    monkeypatch.setattr(kernel, "syscall", syscall)
    closed = []
    close = os.close
    monkeypatch.setattr(
        landlock.os, "close", lambda one: closed.append(one) if one == 99 else close(one)
    )
    return calls, closed


def fields(record: Any) -> Any:
    if isinstance(record, landlock._Ruleset):
        return record.files, record.network, record.scoped
    return ("beneath", record.access) if isinstance(record, landlock._Beneath) else record


@pytest.mark.parametrize(("version", "files", "network", "scoped", "size"), RULESETS)
def test_each_kernel_is_asked_for_all_it_knows(
    version, files, network, scoped, size, landlock_calls
):
    landlock.confine([], version)
    assert landlock_calls[0] == [
        ("landlock_create_ruleset", 444, (files, network, scoped), size, 0),
        ("landlock_restrict_self", 446, 99, 0),
    ]
    assert landlock_calls[1] == [99]


def test_what_is_allowed_to_a_path(tmp_path, landlock_calls):
    (tmp_path / "file").touch()
    paths = [str(tmp_path), str(tmp_path / "file"), str(tmp_path / "nothing")]
    landlock.confine([(path, 0xFFFF) for path in paths], 3)
    on_files = 0b111 | 1 << 14
    assert landlock_calls[0][1:-1] == [
        ("landlock_add_rule", 445, 99, 1, ("beneath", 0x7FFF), 0),
        ("landlock_add_rule", 445, 99, 1, ("beneath", on_files), 0),
    ]
    landlock.confine([(paths[1], 0xFFFF)], 5)
    assert landlock_calls[0][-2][4] == ("beneath", on_files | 1 << 15)


@pytest.mark.parametrize(("version", "asked_for"), [(5, []), (6, [(0, 0, 3)]), (7, [(0, 0, 3)])])
def test_signals_are_kept_in_where_the_kernel_can(version, asked_for, landlock_calls):
    landlock.keep_signals_in(version)
    assert [call[2] for call in landlock_calls[0][:1]] == asked_for


def test_the_version_of_a_kernel(landlock_calls, monkeypatch):
    assert landlock.abi() == 99
    assert landlock_calls[0] == [("landlock_create_ruleset", 444, None, 0, 1)]

    def refuse(*_: object) -> int:
        raise OSError

    monkeypatch.setattr(kernel, "syscall", refuse)
    assert landlock.abi() == 0


# --- bubblewrap

TREE = [
    Mount("bind", "/usr", "/usr"),
    Mount("writable", "/out/results", "/real/results"),
    Mount("device", "/dev/null", "/dev/null"),
    Mount("link", "/bin", "usr/bin"),
    Mount("scratch", "/tmp"),
    Mount("copy", "/stage/sub", "/stage/sub"),
    Mount("proc", "/proc"),
    Mount("mask file", "/usr/a.tst"),
    Mount("mask folder", "/usr/cases"),
]
ISOLATION = (
    "--unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup-try"
    " --die-with-parent --new-session --cap-drop ALL"
)
MADE = """
--dir / --ro-bind /usr /usr
--dir /out --bind /real/results /out/results
--dir /dev --dev-bind /dev/null /dev/null
--dir / --symlink usr/bin /bin
--dir / --perms 1777 {size} --tmpfs /tmp
--dir /stage --perms 1777 {larger} --tmpfs /stage/sub
--dir / --proc /proc --ro-bind /proc/sys /proc/sys
--dir /usr --ro-bind /dev/null /usr/a.tst
--dir /usr --perms 0000 --tmpfs /usr/cases --remount-ro /usr/cases
--remount-ro / --chdir /stage/sub --setenv A 1 --setenv B 2
"""


@pytest.mark.parametrize(
    ("room", "user", "size", "larger"),
    [
        (WritableSpace(1000, 5, (24, 1)), "--unshare-user", "--size 1000", "--size 1024"),
        (WritableSpace(0, 5, (24, 1)), "--unshare-user", "", ""),
        (WritableSpace(7, 5, (0, 0), 1234), "--cap-add CAP_SETUID --cap-add CAP_SETGID",
         "--size 7", "--size 7"),
    ],
)  # fmt: skip
def test_all_options_of_bubblewrap(room, user, size, larger):
    made = bubblewrap.options(TREE, room, "/stage/sub", {"A": "1", "B": "2"})
    wanted = f"{ISOLATION} {user} {MADE.format(size=size, larger=larger)}"
    assert made == b"".join(word.encode() + b"\0" for word in wanted.split())


PLAN = LaunchPlan(
    *(3, ("engine", "x"), "/", {}, 0, (), (), 0, "/usr/bin/bwrap", b"", (), 0),
    *(Watched(0, 0, 0, 0, 0), (), (), (0, 0)),
)


def test_the_command_of_bubblewrap():
    pipes = bubblewrap.Pipes(11, 12, 13, 14)
    without = bubblewrap.command(PLAN, pipes)
    fixed = "/usr/bin/bwrap --args 11 --json-status-fd 12 --block-fd 13 --seccomp 14"
    assert without == [*fixed.split(), "--", "engine", "x"]
    plan = PLAN._replace(mounts=(Mount("copy", "/a", "/b"), Mount("copy", "/c", "/d")))
    waiting = ["--file", "15", "/a/.gtp-harness-waits"]
    assert bubblewrap.command(plan, pipes._replace(hold=15)) == [
        *fixed.split(), *waiting, "--", "engine", "x",
    ]  # fmt: skip
    assert bubblewrap.mark(plan, 7) == "/proc/7/root/newroot/a/.gtp-harness-waits"
    assert bubblewrap.place_of(7, "/c") == "/proc/7/root/newroot/c"


def test_the_command_within_the_box_becomes_a_user_first():
    connect = ("/bin/sh", "-c", 'exec "$@" <&8 >&9 8<&- 9>&-', "sh", "engine", "x")
    assert bubblewrap.connect_command(0, ["engine", "x"]) == connect
    become = "/usr/bin/setpriv --reuid=77 --regid=77 --clear-groups --inh-caps=-all --"
    assert bubblewrap.connect_command(77, iter(["engine", "x"])) == (*become.split(), *connect)


# --- the file tree of level 2


@pytest.fixture
def mount_calls(monkeypatch, tmp_path):
    """Note what is mounted; what is outside the box lies in a folder."""
    calls = []
    for name in ("mount", "bind", "pivot_root", "unmount", "set_mount_attributes"):

        def note(*given, _name=name, **named):
            calls.append((_name, *given, *named.values()))

        monkeypatch.setattr(kernel, name, note)
    outside = tmp_path / "outside"
    outside.mkdir()
    monkeypatch.setattr(inside, "_OUTSIDE", str(outside))
    return calls


NO_DEVICES = 2 | 4  # no set-user-id, no devices


@pytest.mark.parametrize(("kind", "attributes"), [("bind", 1 | 4), ("writable", 4), ("device", 0)])
@pytest.mark.parametrize("is_folder", [True, False])
def test_what_is_shown_in_a_file_tree(kind, attributes, is_folder, mount_calls, tmp_path):
    source = tmp_path / "outside" / "it"
    source.mkdir() if is_folder else source.touch()
    place = tmp_path / "above" / "place"
    inside._MAKERS[kind](Mount(kind, str(place), "/it"), WritableSpace(0, 0))
    assert mount_calls == [("bind", str(source), str(place), attributes)]
    assert place.is_dir() == is_folder
    if not is_folder:
        assert place.stat().st_mode & 0o777 == 0o644


def test_what_is_written_to_in_a_file_tree(mount_calls, tmp_path):
    (tmp_path / "outside" / "from").mkdir()
    (tmp_path / "outside" / "from" / "file").write_text("text")
    (tmp_path / "outside" / "from" / "secret").write_text("text")
    scratch, copy = tmp_path / "scratch", tmp_path / "copy"
    room = WritableSpace(1000, 5, (24, 1))
    inside._MAKERS["scratch"](Mount("scratch", str(scratch)), room)
    inside._MAKERS["copy"](Mount("copy", str(copy), "/from", ("/from/secret",)), room)
    assert mount_calls == [
        ("mount", "tmpfs", str(scratch), "tmpfs", NO_DEVICES, "mode=1777,size=1000,nr_inodes=5"),
        ("mount", "tmpfs", str(copy), "tmpfs", NO_DEVICES, "mode=1777,size=1024,nr_inodes=6"),
    ]
    assert [path.name for path in copy.iterdir()] == ["file"]
    assert scratch.is_dir()
    mount_calls.clear()
    inside._MAKERS["scratch"](Mount("scratch", str(scratch)), WritableSpace(0, 0, (24, 1)))
    assert mount_calls[0][-1] == "mode=1777,size=50%,nr_inodes=0"


def test_what_is_hidden_in_a_file_tree(mount_calls, tmp_path):
    room = WritableSpace(1000, 5)
    inside._MAKERS["mask file"](Mount("mask file", "/a"), room)
    inside._MAKERS["mask folder"](Mount("mask folder", "/b"), room)
    link = tmp_path / "above" / "link"
    inside._MAKERS["link"](Mount("link", str(link), "to/it"), room)
    proc = tmp_path / "proc"
    inside._MAKERS["proc"](Mount("proc", str(proc)), room)
    assert mount_calls == [
        ("bind", str(tmp_path / "outside/dev/null"), "/a", 1 | 4),
        ("mount", "tmpfs", "/b", "tmpfs", NO_DEVICES, "mode=000,size=4k,nr_inodes=1"),
        ("mount", "proc", str(proc), "proc", NO_DEVICES | 8),
        ("bind", f"{proc}/sys", f"{proc}/sys", 1 | 4),
    ]
    assert os.readlink(link) == "to/it"
    assert proc.is_dir()


def test_a_file_tree_is_made_apart_and_becomes_the_whole(mount_calls, monkeypatch):
    monkeypatch.setattr(inside, "_OUTSIDE", "/.outside")
    for name in ("mkdir", "chdir", "rmdir"):
        monkeypatch.setattr(inside.os, name, lambda path, _n=name: mount_calls.append((_n, path)))
    monkeypatch.setitem(
        inside._MAKERS, "bind", lambda mount, room: mount_calls.append(mount.place)
    )
    inside.arrange([Mount("bind", "/a"), Mount("bind", "/b")], WritableSpace(0, 0))
    assert mount_calls == [
        ("mount", "none", "/", "", (1 << 14) | (1 << 18)),
        ("mount", "tmpfs", "/tmp", "tmpfs", NO_DEVICES, "mode=755"),
        ("mkdir", "/tmp/.outside"),
        ("pivot_root", "/tmp", "/tmp/.outside"),
        ("chdir", "/"),
        "/a",
        "/b",
        ("unmount", "/.outside"),
        ("rmdir", "/.outside"),
        ("set_mount_attributes", "/", 1, False),
    ]


# --- limits, and the plan of an engine

NONE = [(resource.RLIMIT_CORE, 0, 0), (resource.RLIMIT_MSGQUEUE, 0, 0),
        (resource.RLIMIT_RTPRIO, 0, 0), (resource.RLIMIT_SIGPENDING, 1024, 1024)]  # fmt: skip
ALLOWED = BoxLimits()._replace(
    address_space=100, cpu=2.5, open_files=30, file_size=40, memory=50, processes=6
)


def test_the_limits_of_a_process():
    assert limits.rlimits(ALLOWED, 9) == [
        (resource.RLIMIT_AS, 100, 100),
        (resource.RLIMIT_CPU, 3, 4),
        (resource.RLIMIT_NOFILE, 30, 30),
        (resource.RLIMIT_FSIZE, 40, 40),
        (resource.RLIMIT_NPROC, 9, 9),
        *NONE,
    ]
    without = dict.fromkeys(("address_space", "cpu", "open_files", "file_size"), 0)
    assert limits.rlimits(ALLOWED._replace(**without), 0) == NONE


@pytest.mark.parametrize(
    ("most", "found"), [(resource.RLIM_INFINITY, (3, 4)), (4, (3, 4)), (3, (3, 3)), (1, (1, 1))]
)
def test_no_limit_is_raised(most, found, monkeypatch):
    calls = []

    def prlimit(pid: int, kind: int, *wanted: object) -> tuple[int, int]:
        calls.extend((pid, kind, one) for one in wanted)
        return (0, most)

    monkeypatch.setattr(limits.resource, "prlimit", prlimit)
    limits.set_limits(7, [(resource.RLIMIT_CPU, 3, 4)])
    assert calls == [(7, resource.RLIMIT_CPU, found)]


def made_launcher(level: int, identity: int = 0) -> launcher.BoxLauncher:
    """Return a launcher without a server."""
    made = object.__new__(launcher.BoxLauncher)
    made.level = level
    made.limits = ALLOWED._replace(scratch=70, scratch_files=8)
    made._identity, made._landlock = identity, 5
    made._bubblewrap = "/usr/bin/bwrap"
    return made


SEEN = view.View(
    shown=("/usr", "/stage/sub"), hidden=(), links=(("/bin", "usr/bin"),), folder="/stage/sub",
    program="/stage/sub/run", copied=("/stage/sub",),
)  # fmt: skip


@pytest.mark.parametrize("level", [3, 2, 1])
def test_the_plan_of_an_engine(level, monkeypatch):
    made = made_launcher(level, 77 if level == 3 else 0)
    asked = []
    monkeypatch.setattr(launcher, "_most_threads", lambda *words: asked.append(words) or 9)
    own = Size(4096, 1)
    found = made.plan(SEEN, ["run", "-x"], own, spent=1.0)
    words = ("/stage/sub/run", "-x")
    assert found.level == level
    assert found.arguments == (bubblewrap.connect_command(77, words) if level == 3 else words)
    assert (found.folder, found.identity) == ("/stage/sub", 77 if level == 3 else 0)
    kinds = [one.kind for one in found.mounts]
    assert kinds.count("copy") == (level > 1)
    assert ("bind" in kinds, "scratch" in kinds) == (level == 2, level == 2)
    assert bool(found.reach) == (level < 3)
    assert (found.landlock, found.bubblewrap, found.threads) == (5, "/usr/bin/bwrap", 9)
    assert (resource.RLIMIT_NPROC, 9, 9) in found.rlimits
    assert asked == [(ALLOWED.threads, level, found.identity)]
    assert found.watched == Watched(50, 1.5, 6, 70, 8)
    assert (resource.RLIMIT_CPU, 2, 3) in found.rlimits
    assert found.scratch == (("/tmp", "/stage/sub") if level > 1 else ())
    assert (found.writable, found.own) == ((), own)
    words_of_bubblewrap = found.options.decode().split("\0")
    assert bool(found.options) == (level == 3)
    if level == 3:
        assert {"CAP_SETUID", "70", str(70 + 4096), "/stage/sub"} <= set(words_of_bubblewrap)


def test_an_engine_that_spent_nothing_has_all_its_time(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    seen = SEEN._replace(copied=(), writable=(str(tmp_path / "link"),))
    found = made_launcher(2).plan(seen, ["run"])
    assert found.watched.cpu == 2.5
    assert found.own == Size(0, 0)
    assert found.writable == (str(tmp_path / "real"),)
    assert found.environment["TMPDIR"] == str(tmp_path / "link")


MAPS = [
    ("0 0 4294967295\n", {"far"}),
    ("0 100000 65536\n", {"near"}),
    ("0 1000 1\n1 100000 65535\n", {"near"}),
    ("0 1000 1\n", {"nobody"}),
    ("0 1000 1000\n", {"none"}),
]


@pytest.mark.parametrize(("mapped", "expected"), MAPS)
def test_an_engine_of_root_is_a_user_that_nobody_is(mapped, expected, tmp_path, monkeypatch):
    file = tmp_path / "uid_map"
    file.write_text(mapped)
    opened = open
    monkeypatch.setattr(
        launcher, "open", lambda path, **named: opened(file, **named), raising=False
    )
    if expected == {"none"}:
        with pytest.raises(launcher.SandboxError, match="no user id is left"):
            launcher.nobody()
        return
    found = {launcher.nobody() for _ in range(20)}
    if expected == {"nobody"}:
        assert found == {0}
        return
    assert len(found) > 1
    first, last = (0x7F00_0000, 0x7FFE_FFFF) if expected == {"far"} else (61184, 65519)
    assert first <= min(found)
    assert max(found) <= last


@pytest.mark.parametrize(
    ("limit", "level", "identity", "expected"),
    [
        (0, 1, 0, 0),
        (0, 3, 0, 0),
        (9, 2, 0, 9),
        (9, 3, 0, 9),
        (1, 3, 0, 2),
        (1, 2, 0, 1),
        (9, 1, 77, 9),
    ],
)
def test_the_threads_that_an_engine_may_have(limit, level, identity, expected):
    """At level 3 bubblewrap's own process is counted, too."""
    assert launcher._most_threads(limit, level, identity) == expected


def test_where_all_processes_of_a_user_count_those_there_are_are_added_and_some_more():
    own = [path for path in Path("/proc").iterdir() if path.name.isdigit()]
    mine = sum(1 for path in own if launcher._is_of(path, os.getuid()))
    assert launcher._most_threads(9, 1, 0) >= 9 + 128 + max(1, mine // 2)
    assert not launcher._is_of(Path("/proc/99999991"), os.getuid())
    assert launcher._entries(Path("/proc/99999991")) == []


@pytest.mark.parametrize(
    ("level", "shut", "said"),
    [
        (1, (), None),
        (1, ("above",), "above"),
        (2, ("above",), None),
        (3, ("above",), None),
        (2, ("above/it",), "above/it"),
        (1, ("above", "above/it"), "above/it"),
    ],
)
def test_a_file_that_others_cannot_read_is_told(level, shut, said, tmp_path, monkeypatch):
    (tmp_path / "above").mkdir()
    (tmp_path / "above" / "it").touch()
    for name in ("above", "above/it"):
        (tmp_path / name).chmod(0o700 if name in shut else 0o755)
    monkeypatch.setattr(
        launcher, "_list_parents", lambda path: [str(tmp_path / "above")]
    )  # those above are the system's
    if said is None:
        launcher._refuse_shut(str(tmp_path / "above/it"), level)
        return
    with pytest.raises(launcher.SandboxError) as told:
        launcher._refuse_shut(str(tmp_path / "above/it"), level)
    assert str(told.value) == (
        "engines of root are run as a user without rights, who may not read"
        f" {tmp_path / said} (chmod -R o+rX would allow it)"
    )


def test_the_folders_above_a_path():
    assert launcher._list_parents("/a/b/c") == ["/a/b", "/a", "/"]


WANTING = [
    (3, "sparc", 5, "/usr/bin/bwrap", "there is no system call filter for sparc machines"),
    (3, "x86_64", 5, None, "level 3 needs bubblewrap, which is not installed"),
    (1, "x86_64", 0, None, "level 1 needs Landlock, which this kernel does not offer"),
]


@pytest.fixture
def machine_without_server(monkeypatch):
    """Let a launcher start no server; return the machine that it finds."""
    machine = {"name": "x86_64", "abi": 5, "bwrap": "/usr/bin/bwrap"}
    monkeypatch.setattr(kernel, "machine", lambda: machine["name"])
    monkeypatch.setattr(landlock, "abi", lambda: machine["abi"])
    monkeypatch.setattr(launcher.shutil, "which", lambda name: machine[name])
    monkeypatch.setattr(launcher, "nobody", lambda: 77)
    monkeypatch.setattr(launcher, "_start_server", lambda: ("a socket", "a server"))
    return machine


@pytest.mark.parametrize(("level", "name", "abi", "bwrap", "said"), WANTING)
def test_what_a_level_lacks_is_told(level, name, abi, bwrap, said, machine_without_server):
    machine_without_server.update(name=name, abi=abi, bwrap=bwrap)
    with pytest.raises(launcher.SandboxError) as told:
        launcher.BoxLauncher(level)
    assert str(told.value) == said


@pytest.mark.parametrize("level", [3, 2])
def test_a_launcher_that_is_made(level, machine_without_server):
    made = launcher.BoxLauncher(level, ALLOWED)
    assert (made.level, made.limits) == (level, ALLOWED)
    assert made._identity == (77 if os.geteuid() == 0 else 0)
    assert (made._landlock, made._bubblewrap) == (5, "/usr/bin/bwrap")
    assert (made._control, made._server) == ("a socket", "a server")
    machine_without_server["bwrap"] = None
    assert launcher.BoxLauncher(2)._bubblewrap == ""


def test_a_plan_that_is_too_long_is_not_sent(monkeypatch):
    made = made_launcher(2)
    plan = PLAN._replace(arguments=("x" * (1 << 17),))
    with pytest.raises(launcher.SandboxError) as told:
        made._send(plan)
    length = len(launcher.plan.pack_plan(plan))
    assert str(told.value) == f"the engine's command is too long: {length:,} bytes"


def test_a_launcher_that_was_closed_leaves_no_descriptor_open():
    made = made_launcher(2)
    before = os.listdir("/proc/self/fd")
    made._control, theirs = launcher.socket.socketpair()
    theirs.close()
    made._control.close()
    with pytest.raises(launcher.SandboxError, match=r"^the box server is gone: "):
        made._send(PLAN)
    del made
    assert os.listdir("/proc/self/fd") == before


def test_a_plan_is_sent_with_three_ends_of_pipes():
    made = made_launcher(2)
    made._control, theirs = launcher.socket.socketpair()
    with made._control, theirs:
        stdin, stdout, stderr = made._send(PLAN)
        message, numbers, _, _ = launcher.socket.recv_fds(theirs, 1 << 17, 9)
        assert launcher.plan.unpack_plan(message) == PLAN
        assert len(numbers) == 3
        stdin.write(b"in")
        assert os.read(numbers[0], 9) == b"in"
        for number, stream in ((numbers[1], stdout), (numbers[2], stderr)):
            os.write(number, b"out")
            assert stream.read(9) == b"out"
        for one in (stdin, stdout, stderr):
            one.close()
        for number in numbers:
            os.close(number)


def test_a_report_comes_back_as_it_was():
    report = launcher.BoxReport(1, "fault", "no", ("a", 1, 2.5, "b"), 3, 4.5, ("x", "y"))
    assert launcher.plan.unpack_report(launcher.plan.pack_report(report)) == report
    plan = PLAN._replace(mounts=(Mount("copy", "/a", "/b", ("/c",)),), own=Size(1, 2))
    assert launcher.plan.unpack_plan(launcher.plan.pack_plan(plan)) == plan


def test_copies_that_are_too_large_are_not_made(monkeypatch):
    sizes = {"/a": Size(10, 1), "/b": None, "/c": Size(5, 2)}
    monkeypatch.setattr(launcher.folder_copies, "measure", sizes.get)
    seen, own = launcher._with_copies(SEEN._replace(copied=("/a", "/b", "/c")))
    assert (seen.copied, own) == (("/a", "/c"), Size(15, 3))


def test_a_launcher_that_is_closed_ends_its_server():
    made = made_launcher(2)
    waited = []
    made._control, theirs = launcher.socket.socketpair()
    made._server = SimpleNamespace(wait=lambda: waited.append(theirs.recv(9)))
    assert not made.closed
    made.close()
    assert made.closed
    assert waited == [b""]
    theirs.close()
    made._server = SimpleNamespace(wait=lambda: waited.append("again"))
    made.close()
    assert waited == [b"", "again"]


def test_folders_are_given_to_the_engines_user_alone(monkeypatch):
    given = []
    monkeypatch.setattr(launcher.untrusted_folders, "give", lambda *one: given.append(one))
    monkeypatch.setattr(launcher, "_refuse_shut", lambda *one: given.append(one))
    made_launcher(2).give(Path("/out"))
    made_launcher(2).refuse_shut(["/a"])
    assert given == []
    made_launcher(2, 77).give(Path("/out"))
    made_launcher(2, 77).refuse_shut(["/a", "/b"])
    assert given == [("/out", 77), ("/a", 2), ("/b", 2)]


def test_what_root_s_engines_need_is_open_to_all(monkeypatch):
    asked = []
    monkeypatch.setattr(launcher, "_refuse_shut", lambda *one: asked.append(one))
    monkeypatch.setattr(launcher.relocating, "bring_files", lambda seen: ("/usr",))
    launcher._refuse_unreadable(SEEN, 2)
    assert asked == [("/usr", 2), ("/stage/sub", 2)]
    asked.clear()
    launcher._refuse_unreadable(SEEN._replace(program="/bin/x"), 1)
    assert asked == [("/stage/sub", 1), ("/bin/x", 1)]
    asked.clear()
    launcher._refuse_unreadable(SEEN._replace(writable=("/out",)), 1)
    assert asked == [("/usr", 1), ("/stage/sub", 1)]
