"""What a box's keeper does before the engine is executed, step by step; groups; the canary."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from harness.options import GIB
from harness.sandbox import canary, cgroup, inside, kernel, landlock, seccomp
from harness.sandbox.plan import LaunchPlan, Mount, Watched, WritableSpace

PLAN = LaunchPlan(
    *(2, ("/bin/engine", "x"), "/folder", {"A": "1"}, 0, (Mount("proc", "/proc"),)),
    *((("/", 5),), 4, "", b"", ((7, 3, 4),), 9, Watched(1, 2, 3, 40, 5), (), (), (24, 1)),
)


class Exited(BaseException):
    """In place of the end of a process."""


class System:
    """In place of :mod:`os` in one module: what is set here, and all else as it is."""

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)


@pytest.fixture
def noted_calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Note all that would change this process, and change nothing."""
    calls: list[tuple[Any, ...]] = []

    def note(name: str, result: object = None) -> Any:
        return lambda *given: calls.append((name, *given)) or result

    for name in ("prctl", "drop_capabilities", "no_new_privileges", "filter_system_calls"):
        monkeypatch.setattr(kernel, name, note(name))
    monkeypatch.setattr(kernel, "clone", note("clone", 77))
    monkeypatch.setattr(inside, "os", System())
    for name in ("setsid", "setgroups", "setresgid", "setresuid", "chdir", "close", "execve"):
        monkeypatch.setattr(inside.os, name, note(name), raising=False)
    for name in ("dup2", "kill"):
        monkeypatch.setattr(inside.os, name, note(name), raising=False)
    monkeypatch.setattr(inside.os, "fork", note("fork", 77), raising=False)
    monkeypatch.setattr(inside.signal, "signal", note("signal"))
    monkeypatch.setattr(inside, "arrange", note("arrange"))
    monkeypatch.setattr(landlock, "confine", note("confine"))
    monkeypatch.setattr(landlock, "keep_signals_in", note("keep_signals_in"))
    monkeypatch.setattr(inside, "set_limits", note("set_limits"))
    monkeypatch.setattr(inside, "_write", note("write"))
    monkeypatch.setattr(inside, "tell", note("tell"))

    def leave(status: int) -> None:
        calls.append(("_exit", status))
        raise Exited

    monkeypatch.setattr(inside.os, "_exit", leave, raising=False)
    return calls


DIES = ("prctl", "die with parent", 1, signal.SIGKILL)


@pytest.mark.parametrize(
    ("level", "identity", "call"),
    [
        (1, 0, ("fork",)),
        (1, 77, ("fork",)),
        (2, 0, ("clone", 0x7E02_0000)),
        (2, 77, ("clone", 0x6E02_0000)),
    ],
)
def test_a_keeper_is_forked_into_namespaces_at_level_2(level, identity, call, noted_calls):
    """All of clone(2)'s, that of users only where we are no root."""
    assert inside.start(PLAN._replace(level=level, identity=identity), (3, 4, 5), 6) == 77
    assert noted_calls == [call]


@pytest.mark.parametrize("identity", [0, 77])
def test_a_keeper_s_first_steps(identity, noted_calls, monkeypatch):
    monkeypatch.setattr(kernel, "clone", lambda namespaces: 0)
    monkeypatch.setattr(inside, "_keep", lambda *given: noted_calls.append(("keep", *given)))
    plan = PLAN._replace(identity=identity)
    with pytest.raises(Exited):
        inside.start(plan, (3, 4, 5), 6)
    mapped = [
        ("write", "/proc/self/setgroups", b"deny"),
        ("write", "/proc/self/uid_map", b"%d %d 1" % (os.getuid(), os.getuid())),
        ("write", "/proc/self/gid_map", b"%d %d 1" % (os.getgid(), os.getgid())),
    ]
    assert noted_calls == [
        DIES,
        ("setsid",),
        ("signal", signal.SIGPIPE, signal.SIG_DFL),
        ("write", "/proc/self/oom_score_adj", b"500"),
        *([] if identity else mapped),
        ("keep", plan, (3, 4, 5), 6),
        ("_exit", 1),
    ]


def test_what_goes_wrong_before_is_told_the_server(noted_calls, monkeypatch):
    monkeypatch.setattr(kernel, "clone", lambda namespaces: 0)

    def refuse(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(inside, "_keep", refuse)
    with pytest.raises(Exited):
        inside.start(PLAN, (3, 4, 5), 6)
    assert noted_calls[-2:] == [("tell", 6, "fault no room"), ("_exit", 1)]


@pytest.mark.parametrize("level", [1, 2])
def test_a_keeper_gives_up_all_rights_before_it_starts_the_engine(level, noted_calls, monkeypatch):
    monkeypatch.setattr(inside, "_attend", lambda *given: noted_calls.append(("attend", *given)))
    monkeypatch.setattr(inside.os, "getppid", lambda: 55, raising=False)
    inside._keep(PLAN._replace(level=level, identity=77), (3, 4, 5), 6)
    arranged = [("arrange", PLAN.mounts, WritableSpace(40, 5, (24, 1), 77))]
    ready = [("keep_signals_in", 4), ("kill", 55, 0)]
    assert noted_calls == [
        *(arranged if level == 2 else []),
        ("chdir", "/folder"),
        ("setgroups", []),
        ("setresgid", 77, 77, 77),
        ("setresuid", 77, 77, 77),
        ("drop_capabilities",),
        ("no_new_privileges",),
        DIES,
        ("prctl", "not dumpable", 4, 0),
        *(ready if level == 1 else []),
        ("fork",),
        *(("close", number) for number in (3, 4, 5)),
        ("attend", 77, 6),
    ]


def test_who_stays_who_they_are_gives_up_all_rights_too(noted_calls):
    inside._become_nobody(0)
    assert noted_calls[0] == ("drop_capabilities",)
    assert len(noted_calls) == 4


def test_all_is_ended_at_one_stroke_only_where_we_cannot_reach_the_server(
    noted_calls, monkeypatch
):
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(inside.os, "kill", refuse, raising=False)
    inside._be_ready_to_end_all(4)
    assert noted_calls == [
        ("keep_signals_in", 4),
        ("signal", signal.SIGTERM, inside._end_all),
        ("prctl", "die with parent", 1, signal.SIGTERM),
    ]


@pytest.mark.parametrize("is_empty", [False, True])
def test_the_stroke(is_empty, noted_calls, monkeypatch):
    def kill(*given: object) -> None:
        noted_calls.append(given)
        if is_empty:
            raise ProcessLookupError

    monkeypatch.setattr(inside.os, "kill", kill, raising=False)
    with pytest.raises(Exited):
        inside._end_all(15, None)
    assert noted_calls == [(-1, signal.SIGKILL), ("_exit", 0)]


@pytest.mark.parametrize("abi", [0, 4])
def test_an_engine_gets_its_layers_and_the_filter_last(abi, noted_calls, monkeypatch):
    monkeypatch.setattr(inside, "_filter", lambda plan: b"a filter")
    plan = PLAN._replace(landlock=abi)
    with pytest.raises(Exited):
        inside._become_engine(plan, (3, 4, 5), 6)
    assert noted_calls == [
        ("setsid",),
        *(("dup2", stream, number) for number, stream in enumerate((3, 4, 5))),
        *([("confine", PLAN.reach, 4)] if abi else []),
        ("set_limits", 0, PLAN.rlimits),
        ("filter_system_calls", b"a filter"),
        ("tell", 6, "ready"),
        ("execve", "/bin/engine", ("/bin/engine", "x"), {"A": "1"}),
        ("_exit", 1),
    ]


def test_a_program_that_cannot_be_executed_is_told_apart_from_a_box(noted_calls, monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError(2, "No such file")

    monkeypatch.setattr(inside.os, "execve", refuse, raising=False)
    with pytest.raises(Exited):
        inside._execute(PLAN, 6)
    assert noted_calls == [("tell", 6, "unstarted No such file"), ("_exit", 1)]
    noted_calls.clear()
    monkeypatch.setattr(inside, "set_limits", refuse)
    with pytest.raises(Exited):
        inside._become_engine(PLAN, (3, 4, 5), 6)
    assert noted_calls[-2:] == [("tell", 6, "fault [Errno 2] No such file"), ("_exit", 1)]


FILTERS = [
    (2, (), 6, (False, False)),
    (2, ("/out",), 6, (False, True)),
    (1, (), 6, (True, False)),
    (1, ("/out",), 7, (True, True)),
    (1, (), 5, (True, False, os.getpid())),
    (1, ("/out",), 0, (True, True, os.getpid())),
]


@pytest.mark.parametrize(("level", "writable", "abi", "given"), FILTERS)
def test_which_filter_an_engine_gets(level, writable, abi, given, monkeypatch):
    asked = []
    monkeypatch.setattr(seccomp, "for_this_machine", lambda *given: asked.append(given) or b"x")
    plan = PLAN._replace(level=level, writable=writable, landlock=abi)
    assert inside._filter(plan) == b"x"
    assert asked == [given]


def test_a_keeper_tells_how_the_engine_ended_and_reaps_the_others(noted_calls, monkeypatch):
    ended = [(99, 0), (77, 3 << 8), (98, 9)]

    def wait() -> tuple[int, int]:
        if not ended:
            raise ChildProcessError
        return ended.pop(0)

    monkeypatch.setattr(inside.os, "wait", wait, raising=False)
    with pytest.raises(Exited):
        inside._attend(77, 6)
    assert noted_calls == [("tell", 6, "ended 3"), ("_exit", 0)]


def test_what_is_told_is_one_line(tmp_path):
    reading, writing = os.pipe()
    inside.tell(writing, "fault a\nb \udcff")
    assert os.read(reading, 99) == b"fault a b ?\n"
    os.close(reading)
    os.close(writing)
    inside_file = tmp_path / "file"
    inside_file.touch()
    inside._write(str(inside_file), b"500")
    assert inside_file.read_bytes() == b"500"


# --- control groups, in plain folders


def test_groups_are_entered_and_left(tmp_path, monkeypatch):
    """In a plain folder files are made as they are written; the kernel has them already."""
    parents = [str(tmp_path / name) for name in ("one", "missing", "two")]
    for place in (parents[0], parents[2]):
        os.mkdir(place)
    entered = cgroup.enter(parents)
    folders = entered._folders
    assert [os.path.dirname(one) for one in folders] == [parents[0], parents[2]]
    assert all(os.path.basename(one).startswith("gtp-harness-") for one in folders)
    assert [Path(one, "cgroup.procs").read_text() for one in folders] == ["0", "0"]
    removed: list[str] = []
    monkeypatch.setattr(os, "rmdir", removed.append)
    entered.close()
    assert removed == folders
    assert [Path(one, "cgroup.procs").read_text() for one in (parents[0], parents[2])] == ["0"] * 2


def test_a_group_that_cannot_be_entered_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(cgroup, "_write", lambda *given: False)
    assert cgroup.enter([str(tmp_path)])._folders == []
    assert list(tmp_path.iterdir()) == []


def test_groups_of_servers_that_were_killed_are_removed(tmp_path):
    for name, age in (("gtp-harness-old", 100), ("gtp-harness-new", 10), ("other", 100)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    (tmp_path / "gtp-harness-used").mkdir()
    (tmp_path / "gtp-harness-used" / "file").touch()
    os.utime(tmp_path / "gtp-harness-used", (time.time() - 100,) * 2)
    (own,) = cgroup.enter([str(tmp_path), str(tmp_path / "missing")])._folders
    left = {path.name for path in tmp_path.iterdir()} - {os.path.basename(own)}
    assert left == {"gtp-harness-new", "other", "gtp-harness-used"}


def test_the_peak_of_a_group(tmp_path):
    group = tmp_path / "group"
    group.mkdir()
    for name in ("memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control"):
        (group / name).touch()
    counted = cgroup.ControlGroups([str(group)])
    assert counted.peak() == 0  # the file is empty
    (group / "memory.max_usage_in_bytes").write_text(str((24 << 20) - 1))
    assert counted.peak() == 0
    (group / "memory.max_usage_in_bytes").write_text(str((24 << 20) + 5))
    assert counted.peak() == 5
    counted.allow(GIB, 3)
    assert (group / "memory.max_usage_in_bytes").read_text() == "0"
    assert (group / "memory.memsw.limit_in_bytes").read_text() == str(GIB + (24 << 20))
    watched = Watched(1, 2, 3, 4, 5)
    assert counted.keep_polled(watched) == Watched(0, 2, 3, 4, 5)
    counted.allow(0, 0)
    assert (group / "memory.limit_in_bytes").read_text() == str(1 << 62)
    assert counted.cpu() is None
    assert not cgroup._write(str(tmp_path / "missing"), "x", 1)


# --- the canary

HELD = {"CapEff": "0000", "CapPrm": "0000", "NoNewPrivs": "1", "Seccomp": "2"}
FOUND = [
    (2, {}, 4, []),
    (2, {}, 5, ["sees other processes"]),
    (1, {}, 5, []),
    (2, {"CapEff": "0001"}, 4, ["has capabilities"]),
    (2, {"CapPrm": "000f"}, 4, ["has capabilities"]),
    (2, {"NoNewPrivs": "0"}, 4, ["may gain privileges"]),
    (2, {"Seccomp": "0"}, 4, ["has no system call filter"]),
]


@pytest.mark.parametrize(("level", "status", "seen", "found"), FOUND)
def test_what_a_canary_finds(level, status, seen, found, monkeypatch):
    listed = ["self", "meminfo", *map(str, range(seen))]
    monkeypatch.setattr(canary.os, "listdir", lambda path: listed if path == "/proc" else [])
    monkeypatch.setattr(canary, "_status", lambda: {**HELD, **status})
    monkeypatch.setattr(canary, "ATTEMPTS", ())
    assert canary.escapes("/secret", 77, level) == found


@pytest.mark.parametrize(
    ("level", "harness", "asked"), [(2, 4, 1 << 22), (2, 5, 5), (1, 4, 4), (3, 1, 1 << 22)]
)
def test_a_canary_tries_each_way_out(level, harness, asked, monkeypatch):
    """Where processes have numbers of their own, one of ours is not taken for the harness."""
    tried = []

    def hold_limits(*given: object) -> None:
        tried.append(given)
        raise PermissionError

    attempts = (("gets out", lambda *given: tried.append(given)), ("is held", hold_limits))
    monkeypatch.setattr(canary, "ATTEMPTS", attempts)
    monkeypatch.setattr(canary, "_status", lambda: HELD)
    monkeypatch.setattr(canary.os, "listdir", lambda path: [])
    assert canary.escapes("/secret", harness, level) == ["gets out"]
    assert tried == [("/secret", asked)] * 2


TRIED = [
    ("reads a private file", ("open", "/secret", os.O_RDONLY)),
    ("signals the harness", ("kill", 77, 0)),
    ("reads the harness's environment", ("open", "/proc/77/environ", os.O_RDONLY)),
    ("opens a socket", ("socket",)),
    ("writes outside", ("open", "/usr", os.O_RDWR | os.O_TMPFILE)),
    ("sets the kernel's settings", ("open", "/proc/sys/kernel/core_pattern", os.O_WRONLY)),
    ("opens the terminal", ("open", "/dev/tty", os.O_RDWR)),
]


def test_the_ways_out_that_a_canary_tries(monkeypatch):
    import _socket

    done: list[tuple[object, ...]] = []
    fake: Any = System()
    fake.open = lambda *given: done.append(("open", *given))
    fake.kill = lambda *given: done.append(("kill", *given))
    monkeypatch.setattr(canary, "os", fake)
    monkeypatch.setattr(_socket, "socket", lambda *given: sockets.append(given))
    sockets: list[tuple[object, ...]] = []
    for name, attempt in canary.ATTEMPTS:
        attempt("/secret", 77)
        if sockets:
            assert sockets == [(_socket.AF_INET, _socket.SOCK_DGRAM)]
            sockets.clear()
            done.append(("socket",))
        assert (name, done.pop()) in TRIED
        assert not done
    assert [name for name, _ in canary.ATTEMPTS] == [name for name, _ in TRIED]


def test_the_status_of_this_process():
    found = canary._status()
    assert {"CapEff", "CapPrm", "NoNewPrivs", "Seccomp"} <= set(found)
    assert found["Pid"] == str(os.getpid())


@pytest.mark.processes
@pytest.mark.quick
def test_a_canary_writes_to_its_egg_and_comes_back(tmp_path):
    (tmp_path / "egg").write_text("egg")
    script = Path(canary.__file__).read_text(encoding="ascii")
    words = [sys.executable, "-I", "-S", "-c", script, str(tmp_path / "egg"), "1", "1"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    said = done.stdout.splitlines()
    assert said[0] == "reads a private file"
    assert said[-1] == "done"
    assert (tmp_path / "egg").read_text() == "eggegg"
