"""The layers by themselves: the filter on paper, the view, the limits' words."""

from __future__ import annotations

import errno
import os
import struct
import sys
from pathlib import Path

import pytest

from harness.core.options import CPU_SECONDS, GIB, MIB, Limit
from harness.sandbox import landlock, seccomp, view, watch
from harness.sandbox.plan import Mount, MountKind, Watched
from tests import golden

ALLOW, KILL = 0x7FFF0000, 0x80000000
PERM, NOSYS = 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS
UNSUPPORTED, NO_MEMORY = 0x50000 | errno.EOPNOTSUPP, 0x50000 | errno.ENOMEM
INVALID = 0x50000 | errno.EINVAL
SUCCESS = 0x50000  # without being done
ANSWERS = {
    ALLOW: "allowed", PERM: "EPERM", NOSYS: "ENOSYS", UNSUPPORTED: "ENOTSUPP", SUCCESS: "nothing",
}  # fmt: skip
MACHINES = ("x86_64", "aarch64")
ARCH = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}  # linux/audit.h


def evaluate(program: bytes, number: int, arguments: tuple[int, ...] = (), arch: int = 0) -> int:
    """Run a seccomp program as the kernel does (classic BPF, the instructions that ours has)."""
    data = struct.pack("<IIQ6Q", number, arch, 0, *(*arguments, *[0] * 6)[:6])
    code = list(struct.iter_unpack("<HBBI", program))
    accumulator = place = 0
    while True:
        operation, true, false, value = code[place]
        place += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif operation == 0x54:
            accumulator &= value
        elif operation == 0x06:
            return value
        else:
            jumps = {
                0x15: accumulator == value,
                0x35: accumulator >= value,
                0x45: accumulator & value != 0,
            }
            place += true if jumps[operation] else false


def verdict(machine: str, name: str, *arguments: int, **rest: object) -> int:
    program = seccomp.program(machine, **rest)  # type: ignore[arg-type]
    number = seccomp.NUMBERS[machine][name]
    return evaluate(program, number, arguments, ARCH[machine])


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_that_are_not_allowed_whatever_their_arguments(machine: str) -> None:
    golden.check(Path(__file__).parent / "golden" / f"calls-{machine}.txt", calls(machine))


def calls(machine: str) -> str:
    """Return a line for each call that a filter does not allow, and for others of its kind."""
    modes = (
        {}, {"building": True}, {"metadata": True}, {"metadata": True, "building": True},
    )  # fmt: skip
    programs = [seccomp.program(machine, **mode) for mode in modes]  # type: ignore[arg-type]
    lines = []
    for name, number in sorted(seccomp.NUMBERS[machine].items()):
        found = [evaluate(one, number, arch=ARCH[machine]) for one in programs]
        if set(found) != {ALLOW}:
            lines.append(f"{name:24}" + " ".join(f"{ANSWERS[one]:>8}" for one in found))
    columns = ("boxed", "building", "metadata", "and both")
    head = f"{'call':24}" + " ".join(f"{one:>8}" for one in columns)
    return "\n".join([head, *lines, ""])


NEW_NAMESPACE = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
ARGUMENTS = [
    *(("clone", (flag | 17,), PERM) for flag in NEW_NAMESPACE),
    ("clone", (0x3D0F00 | 17,), ALLOW),  # what pthread_create asks for
    ("clone", (0x3D0B00,), PERM),  # a thread with descriptors of its own
    ("clone", (17,), ALLOW),  # a process
    ("clone", (0x4100 | 17,), ALLOW),  # vfork
    ("fcntl", (3, 1031, 1 << 20), PERM),  # F_SETPIPE_SZ
    ("fcntl", (3, 1032, 0), ALLOW),  # F_GETPIPE_SZ
    ("fcntl", (3, 8, 78), ALLOW),  # F_SETOWN, where a pid namespace keeps signals in
    ("setsockopt", (3, 1, 7), PERM),  # SO_SNDBUF
    ("setsockopt", (3, 1, 32), PERM),  # SO_SNDBUFFORCE
    ("setsockopt", (3, 1, 2), ALLOW),
    ("prctl", (4, 0), PERM),  # PR_SET_DUMPABLE
    ("prctl", (4, 1), ALLOW),
    ("prctl", (78, 1, 1 << 23), PERM),  # PR_FUTEX_HASH
    ("prctl", (67, 1), PERM),  # PR_SET_MEMORY_MERGE
    ("prctl", (15, 0), ALLOW),  # PR_SET_NAME
    *(("madvise", (0, 4096, advice), ALLOW) for advice in (0, 1, 2, 4, 8, 9, 14, 15, 16, 23, 102)),
    *(("madvise", (0, 4096, advice), SUCCESS) for advice in (3, 20, 21)),  # MADV_WILLNEED, …
    *(
        ("madvise", (0, 4096, advice), INVALID)
        for advice in (5, 12, 22, 25, 100, 101, 104, 1 << 31)
    ),
    ("socketpair", (1, 1), ALLOW),  # AF_UNIX, SOCK_STREAM
    ("socketpair", (1, 1 | 0x80000), ALLOW),  # with SOCK_CLOEXEC
    ("socketpair", (1, 2), PERM),  # a datagram socket can address others
    ("socketpair", (1, 5), PERM),
    ("ioctl", (0, 0x5412), PERM),  # TIOCSTI
    ("ioctl", (0, 0x541C), PERM),  # TIOCLINUX
    ("ioctl", (0, 0x5401), ALLOW),  # TCGETS: isatty()
]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("name", "arguments", "answer"), ARGUMENTS)
def test_arguments(machine: str, name: str, arguments: tuple[int, ...], answer: int) -> None:
    assert verdict(machine, name, *arguments) == answer
    # The upper half of an argument is not looked at, nor by the kernel for these.
    assert verdict(machine, name, *(a | 1 << 40 for a in arguments)) == answer


SHARED, PRIVATE, ANONYMOUS, POPULATE = 1, 2, 0x20, 0x8000
LARGE = 16 * MIB + 1
MAPPINGS = [
    (16 * MIB, SHARED | ANONYMOUS, ALLOW),
    (LARGE, SHARED | ANONYMOUS, NO_MEMORY),
    (LARGE, SHARED | ANONYMOUS | POPULATE, NO_MEMORY),
    (1 << 32, SHARED | ANONYMOUS, NO_MEMORY),
    (1 << 40, PRIVATE | ANONYMOUS, ALLOW),
    (LARGE, SHARED, ALLOW),  # of a file
]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("size", "flags", "answer"), MAPPINGS)
def test_shared_memory_without_a_file_comes_in_small_pieces(
    machine: str, size: int, flags: int, answer: int
) -> None:
    assert verdict(machine, "mmap", 0, size, 3, flags, 2**64 - 1, 0) == answer


OTHERS = [  # with the answers without and with a pid namespace, whose process 1 is the launcher
    *((name, (0, 5), ALLOW, ALLOW) for name in (*seccomp.LIMITS, *seccomp.OF_ANYBODY)),
    *((name, (77, 5), PERM, PERM) for name in seccomp.LIMITS),
    *((name, (77, 5), PERM, ALLOW) for name in seccomp.OF_ANYBODY),
    *((name, (1, 5), PERM, PERM) for name in (*seccomp.LIMITS, *seccomp.OF_ANYBODY)),
    ("setpriority", (0, 0, 5), ALLOW, ALLOW),
    ("setpriority", (0, 77, 5), PERM, ALLOW),
    ("setpriority", (0, 1, 5), PERM, PERM),
    *(("setpriority", (1, one, 5), PERM, PERM) for one in (0, 1, 77)),  # a group of processes
    *(("setpriority", (2, one, 5), PERM, PERM) for one in (0, 1, 77)),  # all of the user's
    ("ioprio_set", (1, 0, 5), ALLOW, ALLOW),
    ("ioprio_set", (1, 77, 5), PERM, ALLOW),
    ("ioprio_set", (1, 1, 5), PERM, PERM),
    *(("ioprio_set", (kind, 0, 5), PERM, PERM) for kind in (2, 3)),
]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("name", "arguments", "alone", "boxed"), OTHERS)
def test_no_process_changes_one_that_is_not_the_engine_s(
    machine: str, name: str, arguments: tuple[int, ...], alone: int, boxed: int
) -> None:
    assert verdict(machine, name, *arguments, metadata=True) == alone
    assert verdict(machine, name, *arguments) == boxed
    high = tuple(one | 1 << 40 for one in arguments)  # the kernel does not look at the upper half
    assert verdict(machine, name, *high) == boxed


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("owner", [None, 77])
def test_locks_of_others_cannot_be_seen(machine: str, owner: int | None) -> None:
    for command in (5, 36, 1024, 1026, 1031):  # F_GETLK … F_SETPIPE_SZ
        assert verdict(machine, "fcntl", 3, command, signals_of=owner) == PERM
    for command in (6, 7, 37, 38):  # F_SETLK …: answered with success, and not done
        assert verdict(machine, "fcntl", 3, command, signals_of=owner) == 0x50000
    for command in (0, 1, 2, 3, 4, 1030):  # F_DUPFD …
        assert verdict(machine, "fcntl", 3, command, signals_of=owner) == ALLOW


SIGNALS = [
    ("kill", (77, 9), ALLOW),
    ("kill", (0, 9), ALLOW),  # its own group
    ("kill", (78, 0), PERM),
    ("kill", (2**64 - 1, 9), PERM),
    ("tgkill", (77, 79, 6), ALLOW),  # abort() in a thread
    ("tgkill", (78, 78, 6), PERM),
    ("tkill", (78, 6), PERM),
    ("rt_sigqueueinfo", (78, 6), PERM),
    ("pidfd_send_signal", (77, 6), PERM),
    ("fcntl", (3, 8, 78), PERM),  # F_SETOWN
    ("fcntl", (3, 15, 78), PERM),  # F_SETOWN_EX
    ("fcntl", (3, 4, 2048), ALLOW),  # F_SETFL
]


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("name", "arguments", "answer"), SIGNALS)
def test_signals_to_itself_alone(
    machine: str, name: str, arguments: tuple[int, ...], answer: int
) -> None:
    assert verdict(machine, name, *arguments, signals_of=77) == answer
    assert verdict(machine, name, *arguments) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_other_modes_and_the_future(machine: str) -> None:
    program, arch = seccomp.program(machine), ARCH[machine]
    assert evaluate(program, 57, arch=arch) == ALLOW  # fork, close
    for other in (0x40000003, 0xC00000B7, 0xC000003E, 0x40000028, 0):
        if other != arch:
            assert evaluate(program, 0, arch=other) == KILL
    assert evaluate(program, 0x40000000, arch=arch) == KILL  # x32
    assert evaluate(program, seccomp.NEWEST, arch=arch) != KILL
    assert evaluate(program, seccomp.NEWEST + 1, arch=arch) == NOSYS


def test_no_jump_leaves_the_program() -> None:
    """And what does not jump says so: a kernel to come may refuse anything else."""
    for machine in MACHINES:
        code = list(struct.iter_unpack("<HBBI", seccomp.program(machine, True, 5)))
        assert code[-1] == (0x06, 0, 0, ALLOW)
        for place, (operation, true, false, _value) in enumerate(code):
            assert place + 1 + max(true, false) < len(code) or (true, false) == (0, 0)
            assert operation in (0x15, 0x35, 0x45) or (true, false) == (0, 0)
        assert len(code) < 4096  # the kernel's limit


# --- the view


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "engine.py").write_text("print()\n")
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "a.tst").write_text("1 name\n")
    return tmp_path


def test_a_script_shows_its_folder(place: Path) -> None:
    seen = view.of_program(["/usr/bin/python3", str(place / "sub" / "engine.py")], "/")
    assert str(place / "sub") in seen.shown
    assert str(place) not in seen.shown
    assert str(place / "cases") not in seen.shown


def test_a_relative_script_is_one_of_the_working_directory(place: Path) -> None:
    seen = view.of_program(["/usr/bin/python3", "engine.py"], str(place / "sub"))
    assert str(place / "sub") in seen.shown


@pytest.mark.parametrize("word", ["-Dx={}/sub/engine.py", "/nowhere:{}/sub", "--lib={}/sub:x"])
def test_paths_within_words(word: str, place: Path) -> None:
    seen = view.of_program(["/usr/bin/env", word.format(place)], "/")
    assert str(place / "sub") in seen.shown


EVERYBODYS = (
    "/ ~ /home /root /tmp /var /var/tmp /etc /run /mnt /media /srv /proc /sys /dev /dev/shm"
)


@pytest.mark.parametrize("word", EVERYBODYS.split())
def test_what_is_far_too_much_is_not_shown(word: str) -> None:
    seen = view.of_program(["/usr/bin/env", os.path.expanduser(word)], "/usr")
    assert os.path.expanduser(word) not in seen.shown


def test_a_program_beside_many_others_shows_itself_alone(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(place))
    program = place / "engine"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    seen = view.of_program([str(program)], "/")
    assert str(program) in seen.shown
    assert str(place) not in seen.shown


def test_the_interpreter_of_a_virtual_environment(place: Path) -> None:
    seen = view.of_program([sys.executable], "/")
    assert any(view.is_within(sys.prefix, path) for path in seen.shown)
    assert any(view.is_within(os.path.realpath(sys.executable), path) for path in seen.shown)


def test_the_interpreter_in_the_first_line_of_what_is_on_the_path(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = place / "python" / "bin"
    base.mkdir(parents=True)
    (base / "python3").symlink_to("/usr/bin/env")
    (place / "tools").mkdir()
    script = place / "tools" / "run"
    for first in (f"#!{base}/python3 -u", f"#!/usr/bin/env -S {base}/python3"):
        script.write_text(first + "\n")
        script.chmod(0o755)
        unknown = view.of_program([str(script)], "/")
        assert str(place / "python") not in unknown.shown, first
        of_an_assignment = view.of_program([str(script)], "/", submission=str(place / "sub"))
        assert str(place / "python") in of_an_assignment.shown, first
        with monkeypatch.context() as patch:
            patch.setenv("PATH", str(place / "tools"))
            assert str(place / "python") in view.of_program(["run"], "/").shown, first


def test_case_files_in_a_shown_folder_are_hidden_by_all_their_names(place: Path) -> None:
    case = place / "cases" / "a.tst"
    (place / "cases" / "soft").symlink_to("a.tst")
    os.link(case, place / "cases" / "hard")
    os.link(case, place / "sub" / "hard")
    words = ["/usr/bin/env", str(place / "cases"), str(place / "sub")]
    seen = view.of_program(words, "/", hidden=[str(case), str(place / "gone.tst")])
    expected = [case, place / "cases" / "hard", place / "sub" / "hard"]
    assert seen.hidden == tuple(map(str, expected))
    masks = [mount for mount in view.mounts(seen) if str(place) in mount.place]
    assert [mount.kind for mount in masks] == [
        "bind",
        "mask file",
        "mask file",
        "bind",
        "mask file",
    ]
    rules = dict(view.reach(seen, 1))
    assert str(case) not in rules
    assert str(place / "cases" / "soft") not in rules  # a rule would be one for the case itself
    assert rules[str(place / "cases")] == landlock.READ_DIR
    assert rules[str(place / "sub" / "engine.py")] == landlock.READ


def test_own_folders_are_hidden_where_they_are_shown() -> None:
    home = view.own_folders()[0].removesuffix("/harness")
    seen = view.of_program(["/usr/bin/env"], "/", also=[home], hidden=view.own_folders())
    hidden = {home + "/harness", home + "/oracle", home + "/cases"}
    assert hidden - set(seen.hidden) <= {home + "/cases"}
    assert Mount(MountKind.MASK_FOLDER, home + "/oracle") in view.mounts(seen)


def test_the_working_directory_can_be_written(place: Path) -> None:
    script = str(place / "sub" / "engine.py")
    away = view.of_program(["/usr/bin/env", script], str(place / "cases"))
    assert Mount(MountKind.SCRATCH, str(place / "cases")) in view.mounts(away)
    at_home = view.of_program(["/usr/bin/env", script], str(place / "sub"))
    assert Mount(MountKind.COPY, str(place / "sub"), str(place / "sub")) in view.mounts(at_home)
    assert view.scratch_places(at_home) == ("/tmp", str(place / "sub"))
    system = view.of_program(["/usr/bin/env", script], "/usr/share")
    assert view.scratch_places(system) == ("/tmp",)
    assert view.scratch_places(view.of_program(["/usr/bin/env"], "/")) == ("/tmp",)


# --- limits


@pytest.mark.parametrize(
    ("hit", "text"),
    [
        (
            Limit("memory", 1.5 * GIB, GIB, "bytes"),
            "memory limit: 1.5 GiB used, 1 GiB allowed",
        ),
        (Limit("disk", 65 * MIB, 64 * MIB, "bytes"), "disk limit: 65 MiB used, 64 MiB allowed"),
        (
            Limit("time", 301.23, 300, CPU_SECONDS),
            "time limit: 301.2 s of CPU time used, 300 s of CPU time allowed",
        ),
        (Limit("memory", None, GIB, "bytes"), "memory limit: 1 GiB allowed"),
        (Limit("command", 120.02, 120, "seconds"), "within 120 s"),
        (Limit("run", 1800, 1800, "seconds"), "the whole run's 1800 s were used up"),
        (
            Limit("one reply", 1_114_112, 1 << 20, "bytes"),
            "output limit: it wrote 1,114,112 bytes without ending its reply,"
            " 1,048,576 are allowed",
        ),
    ],
)
def test_a_limit_says_what_was_reached(hit: Limit, text: str) -> None:
    assert str(hit) == text


# --- control groups, of a kernel that is not this one's: plain files


LIMITS = Watched(memory=100, cpu=2.5, processes=3, scratch=50, scratch_files=7)
NOTHING_USED = Watched(memory=0, cpu=0.0, processes=0, scratch=0, scratch_files=0)
# What is used; the limit that is hit. Memory and processes may be as many as are allowed; time and
# disk end at their limit.
EXCEEDED = [
    ({}, None),
    ({"memory": 100, "cpu": 2.4, "processes": 3, "scratch": 49, "scratch_files": 6}, None),
    ({"memory": 101}, ("memory", 101, 100, "bytes")),
    ({"cpu": 2.5}, ("time", 2.5, 2.5, CPU_SECONDS)),
    ({"processes": 4}, ("processes", 4, 3, "processes")),
    ({"scratch": 50}, ("disk", 50, 50, "bytes")),
    ({"scratch_files": 7}, ("disk", 7, 7, "files")),
    ({"memory": 101, "cpu": 9.0, "scratch": 99}, ("memory", 101, 100, "bytes")),
]


@pytest.mark.parametrize(("used", "hit"), EXCEEDED)
def test_the_limit_that_is_hit(
    used: dict[str, float], hit: tuple[str, float, float, str] | None
) -> None:
    usage = NOTHING_USED._replace(**used)  # type: ignore[arg-type]
    assert watch.find_exceeded(usage, LIMITS) == hit
    assert watch.find_exceeded(usage, Watched(0, 0, 0, 0, 0)) is None
