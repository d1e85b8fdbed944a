"""The box server's decisions about one engine, without an engine: the words of a box, times."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.options import GIB
from harness.records import CPU_SECONDS
from harness.sandbox import box_clock, cgroup, server, watch
from harness.sandbox.plan import BoxReport, LaunchPlan, Watched

ROOT = Path(__file__).parents[2]
PLAN = LaunchPlan(
    *(2, ("engine",), "/", {}, 0, (), (), 0, "", b"", ((resource.RLIMIT_FSIZE, 40, 41),), 0),
    *(Watched(GIB, 2.5, 3, 50, 7), ("/tmp",), (), (0, 0)),
)


@pytest.fixture
def unstarted_box(monkeypatch: pytest.MonkeyPatch) -> Iterator[server.Box]:
    """Give a box that was not started, without a counter or a control group."""
    monkeypatch.setattr(box_clock, "_open", lambda: -1)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield server.Box(PLAN, ours, cgroup.ControlGroups([]))


def test_what_every_engine_needs_is_made_before_the_first(monkeypatch: pytest.MonkeyPatch):
    """Both filters of system calls, with and without calls that change metadata: as it is asked
    for later, or it would be made again in each child."""
    made: list[tuple[bool, bool]] = []
    monkeypatch.setattr(server.seccomp, "for_this_machine", lambda *given: made.append(given))
    monkeypatch.setattr(server, "gc", SimpleNamespace(freeze=int, disable=int))
    server._warm_up()
    assert made == [(False, False), (True, False)]


def with_plan(box: server.Box, **changes: object) -> server.Box:
    box._plan = box._plan._replace(**changes)
    return box


def test_a_box_that_nothing_happened_to(unstarted_box):
    assert unstarted_box._report() == BoxReport(None, "", "", None, 0, 0.0, ())
    assert (
        unstarted_box._first,
        unstarted_box._hold,
        unstarted_box._ready,
        unstarted_box._broken,
    ) == (0, -1, False, False)
    assert unstarted_box._watched == PLAN.watched
    assert not unstarted_box._is_much


@contextlib.contextmanager
def open_pipe(text: bytes) -> Iterator[int]:
    """Give a pipe from which a text can be read, and then its end."""
    reading, writing = os.pipe()
    os.write(writing, text)
    os.close(writing)
    try:
        yield reading
    finally:
        os.close(reading)


# What a keeper says; whether it may say more, and the report's status, fault and unstarted.
WORDS = [
    (b"ready\n", True, (None, "", "")),
    (b"ready\nended 3\n", True, (3, "", "")),
    (b"ended -9\n", True, (-9, "", "")),
    (b"unstarted No such file\n", False, (None, "", "No such file")),
    (b"fault mount /a b: refused\n", False, (None, "mount /a b: refused", "")),
    (b"something else\n", True, (None, "", "")),
    (b"ended 3", True, (None, "", "")),
    (b"", False, (None, "", "")),
]


@pytest.mark.parametrize(("text", "goes_on", "report"), WORDS)
def test_what_a_keeper_says(text, goes_on, report, unstarted_box, monkeypatch):
    monkeypatch.setattr(server.Box, "_living", lambda self: [])
    with open_pipe(text) as reading:
        assert unstarted_box._read_status(reading, -1) is goes_on
    assert (
        unstarted_box._report().status,
        unstarted_box._fault,
        unstarted_box._unstarted,
    ) == report
    assert unstarted_box._ready == text.startswith(b"ready")
    assert unstarted_box._broken == (not text)


def test_words_that_come_in_pieces(unstarted_box, monkeypatch):
    monkeypatch.setattr(server.Box, "_living", lambda self: [])
    for piece in (b"rea", b"dy\nend", b"ed 1", b"2\n"):
        with open_pipe(piece) as reading:
            assert unstarted_box._read_status(reading, -1)
    assert (unstarted_box._ready, unstarted_box._status) == (True, 12)


def test_what_bubblewrap_says(unstarted_box, monkeypatch):
    """The engine is let go when its limits are set, and its folders are there."""
    limited = []
    monkeypatch.setattr(server.Box, "_limit", lambda self, first: limited.append(first) or True)
    with_plan(unstarted_box, level=3)
    waiting, block = os.pipe()
    try:
        with open_pipe(b'{ "child-pid": 77 }\n') as reading:
            assert unstarted_box._read_status(reading, block)
        assert os.read(waiting, 9) == b"."
    finally:
        os.close(waiting)
        os.close(block)
    assert (limited, unstarted_box._first, unstarted_box._ready, unstarted_box._status) == (
        [77],
        77,
        True,
        None,
    )
    with open_pipe(b'{ "exit-code": 139 }\n') as reading:
        assert unstarted_box._read_status(reading, -1)
    assert (unstarted_box._status, unstarted_box._leftovers) == (-11, ())


def test_a_box_whose_folders_are_to_be_filled_is_not_ready(unstarted_box, monkeypatch):
    monkeypatch.setattr(server.Box, "_limit", lambda self, first: True)
    waiting, block = os.pipe()
    unstarted_box._hold = os.dup(block)
    try:
        unstarted_box._take_bubblewrap({"child-pid": 77}, block)
        assert not unstarted_box._ready
        with pytest.raises(KeyError):
            select.poll().unregister(unstarted_box._hold)
        unstarted_box._poll.unregister(unstarted_box._hold)
        unstarted_box._let_go()
        assert unstarted_box._hold == -1
        unstarted_box._let_go()
    finally:
        os.close(waiting)
        os.close(block)


@pytest.mark.parametrize("is_told_to_stop", [False, True])
@pytest.mark.parametrize("is_there", [False, True])
def test_folders_are_filled_until_somebody_wants_the_end(
    is_told_to_stop, is_there, unstarted_box, monkeypatch, tmp_path
):
    """The mark goes first: it shows whose folder that is."""
    mark = tmp_path / "mark"
    if is_there:
        mark.write_text("")
    copied: list[object] = []

    def copy(*words):
        copied.append(words)
        yield from "ab"

    ours, theirs = socket.socketpair()
    mount = SimpleNamespace(source="/from", place="/to", left_out=("x",))
    unstarted_box._plan = SimpleNamespace(identity=7, mounts=[mount, mount])
    unstarted_box._control, unstarted_box._first = ours, 77
    monkeypatch.setattr(server.bubblewrap, "mark", lambda plan, first: str(mark))
    monkeypatch.setattr(server.bubblewrap, "place_of", lambda first, place: f"/{first}{place}")
    monkeypatch.setattr(server.folder_copies, "copy", copy)
    with ours, theirs:
        if is_told_to_stop:
            theirs.send(b"x")
        filled = unstarted_box._fill()
    assert filled is unstarted_box._ready is (is_there and not is_told_to_stop)
    assert not mark.exists()
    words = ("/from", "/77/to", 7, ("x",))
    assert copied == [words] * (2 * filled + (is_there and is_told_to_stop))
    reason = "" if is_there else "a folder cannot be filled: No such file or directory"
    assert unstarted_box._fault == reason


def test_limits_that_cannot_be_set_start_nothing(unstarted_box, monkeypatch):
    def refuse(pid: int, wanted: object) -> None:
        raise error

    monkeypatch.setattr(server.limits, "set_limits", refuse)
    error: OSError = ProcessLookupError(3, "gone")
    assert not unstarted_box._limit(77)
    assert unstarted_box._fault == ""
    error = PermissionError(1, "not allowed")
    unstarted_box._take_bubblewrap({"child-pid": 77}, -1)
    assert unstarted_box._fault == "limits cannot be set: not allowed"
    assert (unstarted_box._first, unstarted_box._ready) == (0, False)


CODES = [(0, 0), (1, 1), (127, 127), (128, 128), (129, -1), (137, -9), (192, -64), (193, 193),
         (255, 255)]  # fmt: skip


@pytest.mark.parametrize(("code", "status"), CODES)
def test_what_a_shell_calls_the_end_of_a_program(code, status):
    assert server._as_returncode(code) == status


# --- when to look, and how long to wait


@pytest.mark.parametrize(
    ("used", "pause"), [(0, 0.05), (GIB, 0.002), (2 * GIB, 0.002), (GIB // 2, None)]
)
def test_the_next_look_comes_before_memory_can_be_full(used, pause, unstarted_box):
    between = 0.5 / (4 * (os.cpu_count() or 1))
    expected = min(0.05, max(0.002, between)) if pause is None else pause
    assert unstarted_box._pause(used) == pytest.approx(
        expected if used else min(0.05, 2 * between)
    )


def test_without_a_limit_of_memory_looks_are_seldom(unstarted_box):
    unstarted_box._watched = Watched(0, 1, 1, 1, 1)
    assert unstarted_box._pause(1 << 50) == 0.05


@pytest.mark.parametrize(
    ("age", "is_ready", "takes"),
    [(0.4, False, False), (0.6, False, True), (0.6, True, False)],
)
def test_a_box_takes_too_long(age, is_ready, takes, unstarted_box):
    unstarted_box._begun, unstarted_box._ready = time.monotonic() - age, is_ready
    assert unstarted_box._takes(0.5) is takes


FAULTS = [
    ({}, False, ""),
    ({}, True, "it could not be made in time"),
    ({"_unstarted": "No such file"}, True, ""),
    ({"_broken": True}, False, "it ended before the engine did"),
    ({"_broken": True}, True, "it ended before the engine did"),
    ({"_broken": True, "_fault": "mount: refused"}, False, "mount: refused"),
    ({"_fault": "mount: refused"}, True, "mount: refused"),
]


@pytest.mark.parametrize(("state", "late", "fault"), FAULTS)
def test_why_an_engine_never_ran(state, late, fault, unstarted_box):
    for name, value in state.items():
        setattr(unstarted_box, name, value)
    unstarted_box._find_fault(late)
    assert unstarted_box._fault == fault


SIGNALS = [
    (None, None),
    (0, None),
    (-signal.SIGKILL, None),
    (-signal.SIGXCPU, ("time", 1.5, 2.5, CPU_SECONDS)),
    (-signal.SIGXFSZ, ("disk", 40, 40, "bytes")),
]


@pytest.mark.parametrize(("status", "hit"), SIGNALS)
def test_a_signal_of_the_kernel_that_is_a_limit(status, hit, unstarted_box):
    unstarted_box._status, unstarted_box._cpu = status, 1.5
    assert unstarted_box._signal_hit() == hit


def stat_of(pid: int, **more: object) -> watch.ProcessStat:
    given = {"dead": False, "running": False, "own": 0.0, "waited": 0.0, **more}
    return watch.ProcessStat(
        pid=pid, task=pid, name=f"p{pid}", threads=1, virtual=0, resident=0, **given
    )


@pytest.mark.parametrize(("level", "names"), [(1, ("p2", "p3")), (2, ("p2", "p3")), (3, ())])
def test_what_outlives_an_engine_is_told_by_name(level, names, unstarted_box, monkeypatch):
    """It is looked for twice: who changes its parent meanwhile is missed once."""
    looks = [[stat_of(1)], [stat_of(1), stat_of(2), stat_of(3)]]
    monkeypatch.setattr(server.Box, "_living", lambda self: looks.pop(0))
    with_plan(unstarted_box, level=level)._note_end(5)
    assert (unstarted_box._status, unstarted_box._leftovers) == (5, names)


def test_the_dead_do_not_outlive_anybody(unstarted_box, monkeypatch):
    found = [stat_of(1), stat_of(2, dead=True), stat_of(3)]
    monkeypatch.setattr(server.Box, "_find_processes", lambda self: found)
    assert [one.pid for one in unstarted_box._living()] == [1, 3]


@pytest.fixture
def usage(unstarted_box, monkeypatch) -> dict[str, float]:
    """Let a look find what is said here, and nothing of processes."""
    found = {"memory": 0, "cpu": 0.0, "processes": 0, "scratch": 0, "scratch_files": 0}
    found_looks: dict[str, object] = {}

    def measure(processes, own, plan, look, disk):
        found_looks.update(own=own, look=look, disk=disk)
        return watch.Usage(**found)

    monkeypatch.setattr(watch, "measure", measure)
    monkeypatch.setattr(server.Box, "_find_processes", lambda self: [])
    monkeypatch.setattr(unstarted_box, "looks", found_looks, raising=False)
    return found


def test_a_look_keeps_the_most_that_was_used(unstarted_box, usage):
    usage.update(memory=GIB // 4, cpu=1.0)
    unstarted_box._look()
    usage.update(memory=GIB // 8, cpu=0.5)
    assert unstarted_box._look() == unstarted_box._pause(GIB // 8)
    assert (unstarted_box._memory, unstarted_box._cpu, unstarted_box._hit) == (GIB // 4, 1.0, None)
    usage.update(processes=4)
    unstarted_box._look()
    assert unstarted_box._hit == ("processes", 4, 3, "processes")
    assert unstarted_box._report()[3:6] == (("processes", 4, 3, "processes"), GIB // 4, 1.0)
    assert unstarted_box.looks["own"] == 1


def test_a_close_look_comes_now_and_then_and_always_when_much_is_used(unstarted_box, usage):
    usage.update(memory=GIB // 2)
    unstarted_box._looked_closely = time.monotonic() - 0.24
    unstarted_box._look()
    assert not unstarted_box.looks["look"].closely
    unstarted_box._looked_closely = time.monotonic() - 0.26
    unstarted_box._look()
    assert unstarted_box.looks["look"].closely
    unstarted_box._look()
    assert not unstarted_box.looks["look"].closely
    usage.update(memory=GIB // 2 + 1)
    unstarted_box._look()
    assert not unstarted_box.looks["look"].closely
    unstarted_box._look()
    assert unstarted_box.looks["look"].closely
    assert unstarted_box.looks["look"].limit == GIB
    assert unstarted_box.looks["look"].scratch == 0


def test_a_disk_is_looked_at_less_often(unstarted_box, usage, monkeypatch):
    disks = [watch.Disk(1, 1), watch.Disk(2, 2)]
    monkeypatch.setattr(watch, "disk", lambda *given: disks.pop(0))
    unstarted_box._look()
    assert unstarted_box.looks["disk"] == watch.Disk(1, 1)
    unstarted_box._looked_at_disk = time.monotonic() + 5
    unstarted_box._look()
    assert unstarted_box.looks["disk"] == watch.Disk(1, 1)
    unstarted_box._looked_at_disk = time.monotonic() - 0.06
    unstarted_box._look()
    assert unstarted_box.looks["disk"] == watch.Disk(2, 2)
    assert time.monotonic() - unstarted_box._looked_at_disk < 5


def test_time_is_what_is_counted_or_what_is_seen_and_estimated(unstarted_box, monkeypatch):
    monkeypatch.setattr(box_clock, "share", lambda task: 0.5)
    begun = unstarted_box._looked
    running = stat_of(7, own=1.0, running=True)
    assert unstarted_box._time([running], 1.0) == 1.0
    assert unstarted_box._looked > begun
    assert unstarted_box._time([], 1.0) >= 2.0  # the process that is gone has used its second
    monkeypatch.setattr(unstarted_box._clock, "seconds", lambda: 7.0)
    assert unstarted_box._time([], 1.0) == 7.0
    assert unstarted_box._time([], 9.0) == 9.0


def test_what_was_written_at_the_last_moment_counts(unstarted_box, monkeypatch):
    monkeypatch.setattr(watch, "disk", lambda *given: watch.Disk(50, 0))
    assert unstarted_box._find_late_excess() == ("disk", 50, 50, "bytes")
    monkeypatch.setattr(watch, "disk", lambda *given: watch.Disk(49, 6))
    assert unstarted_box._find_late_excess() is None


# --- processes


@pytest.mark.parametrize("breaks", [False, True])
def test_an_engine_leaves_no_file_open_in_the_server_of_the_next_ones(
    breaks, unstarted_box, monkeypatch
):
    def start(self: server.Box, streams: object, status: int) -> tuple[int, int]:
        return 0, status  # which is closed with the pipe that an engine waits at

    def attend(self: server.Box, *_: int) -> None:
        if breaks:
            raise OSError("the engine is gone")

    for name, own in (("_start", start), ("_attend", attend), ("_end", lambda *_: None)):
        monkeypatch.setattr(server.Box, name, own)
    before = set(os.listdir("/proc/self/fd"))
    unstarted_box._clock._counter = os.open(os.devnull, os.O_RDONLY)
    monkeypatch.setattr(unstarted_box._clock, "seconds", lambda: 1.0)
    with pytest.raises(OSError, match="is gone") if breaks else contextlib.nullcontext():
        assert unstarted_box.run((0, 1, 2)).cpu == 1.0
    assert set(os.listdir("/proc/self/fd")) == before


def test_a_plan_that_cannot_be_read_is_a_fault(unstarted_box):
    with contextlib.closing(socket.socket()) as control:
        report = server._serve(b"", (0, 1, 2), control, cgroup.ControlGroups([]))
    assert report.fault.startswith("EOFError: ")
    assert report._replace(fault="") == BoxReport(None, "", "", None, 0, 0.0, ())


@pytest.mark.processes
def test_little_is_loaded_by_a_server_that_every_command_starts():
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import harness.sandbox.server;"
        " print(*{'json', 're', 'enum', 'socket', 'signal', 'typing'} & set(sys.modules))"
    )
    words = [sys.executable, "-I", "-S", "-c", code]
    assert subprocess.run(words, capture_output=True, check=True).stdout == b"\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{ "exit-code": 7 }', {"exit-code": 7}),
        ('{"child-pid": 12, "net-namespace": 4026531840}',
         {"child-pid": 12, "net-namespace": 4026531840}),
    ],
)  # fmt: skip
def test_the_words_of_bubblewrap_are_objects_of_numbers(line, expected):
    assert server._read_numbers(line) == expected == json.loads(line)


def test_a_message_has_three_descriptors_or_is_too_late():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, open(os.devnull) as one:
        socket.send_fds(ours, [b"end"], [])
        socket.send_fds(ours, [b"plan"], [one.fileno()] * 3)
        ours.close()
        found = server._receive(theirs)
        assert found is not None
        data, streams = found
        try:
            assert data == b"plan"
            assert len(streams) == 3
            assert not any(map(os.get_inheritable, streams))
        finally:
            for stream in streams:
                os.close(stream)
        assert server._receive(theirs) is None


ENDING = """
import os, signal, time
from harness.sandbox import server
pids = []
for _ in range(3):
    pids.append(os.fork())
    if not pids[-1]:
        time.sleep(60)
        os._exit(0)
begun = time.monotonic()
server._wait_for(pids[0], 0.05)
assert time.monotonic() - begun >= 0.05
os.kill(pids[0], signal.SIGKILL)
server._wait_for(pids[0], 60)
assert time.monotonic() - begun < 30
server.end_children(lambda pid: pids if pid == os.getpid() else [])
assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)
server.end_children()
"""


@pytest.mark.processes
def test_children_are_ended_and_reaped():
    done = subprocess.run(
        [sys.executable, "-c", ENDING], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_time_of_children_that_ended():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert server._cpu_of_the_dead() == pytest.approx(usage.ru_utime + usage.ru_stime)
