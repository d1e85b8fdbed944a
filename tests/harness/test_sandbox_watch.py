"""What a box uses, read from ``/proc`` and from folders: by hand, and of this very process."""

from __future__ import annotations

import contextlib
import mmap
import os
import select
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.sandbox import memory, watch
from harness.sandbox.plan import LaunchPlan, Watched

KIB = 1024
MUCH = 1 << 60
PLAN = LaunchPlan(
    *(3, ("engine",), "/", {}, 0, (), (), 0, "", b"", (), 0, Watched(0, 0, 0, 0, 0)),
    *((), (), (0, 0)),
)
# proc(5): the state is the third field, utime the fourteenth, the number of threads the twentieth.
STAT = (
    "{pid} (a) b (c) {state} 1 2 3 4 5 6 7 8 9 10 250 150 70 30 20 0 {threads} 99 98"
    " {virtual} {resident} 97 96\n"
)
PAGE, TICKS = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")


@pytest.fixture
def proc(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    files: dict[str, str] = {}

    def read(path: str) -> str:
        if path not in files:
            raise FileNotFoundError(path)
        return files[path]

    monkeypatch.setattr(watch, "read", read)
    return files


def stat_of(pid: int, state: str = "S", threads: int = 1, virtual: int = 8192, pages: int = 3):
    return STAT.format(pid=pid, state=state, threads=threads, virtual=virtual, resident=pages)


@pytest.mark.parametrize(
    ("state", "dead", "running"),
    [("R", False, True), ("S", False, False), ("Z", True, False), ("X", True, False)],
)
def test_the_figures_of_a_process(state, dead, running, proc):
    proc["/proc/7/stat"] = stat_of(7, state)
    (found,) = watch.processes([6, 7])
    assert found == watch.ProcessStat(
        pid=7,
        task=7,
        name="a) b (c",
        dead=dead,
        running=running,
        own=400 / TICKS,
        waited=100 / TICKS,
        threads=1,
        virtual=8192,
        resident=3 * PAGE,
    )


@pytest.mark.parametrize(
    ("threads", "second", "task"),
    [(2, "S", 9), (1, "S", 7), (2, "Z", 7), (2, "", 7)],
    ids=["it lives", "nobody is left", "it is dead as well", "it has just ended"],
)
def test_a_process_lives_as_long_as_one_of_its_threads(threads, second, task, proc, monkeypatch):
    """Its memory is told of a thread that lives."""
    proc["/proc/7/stat"] = stat_of(7, "Z", threads, virtual=0, pages=0)
    if second:
        proc["/proc/9/stat"] = stat_of(9, second, threads, virtual=4096, pages=5)
    monkeypatch.setattr(watch.os, "listdir", lambda path: ["7", "9"])
    (found,) = watch.processes([7])
    assert (found.pid, found.task, found.dead) == (7, task, task == 7)
    assert (found.virtual, found.resident) == ((0, 0) if task == 7 else (4096, 5 * PAGE))


def test_a_process_that_has_just_ended_has_no_threads(proc):
    last = 1 << 22  # no process has such a number
    proc[f"/proc/{last}/stat"] = stat_of(last, "Z", 2)
    (found,) = watch.processes([last])
    assert found.dead


def test_what_the_processes_of_a_box_use_is_added_up(proc, monkeypatch):
    """The box's own ones count for time alone, the dead for no more."""
    looks = []

    def measure_held(engine, look):
        looks.append(([one.pid for one in engine], look))
        return 77

    monkeypatch.setattr(memory, "measure_held", measure_held)
    monkeypatch.setattr(watch, "_scratch_use", lambda pids, places: (1000, 20))
    proc.update({f"/proc/{pid}/stat": stat_of(pid, "Z" if pid == 3 else "S") for pid in (1, 2, 3)})
    look = memory.MemoryLook(5, 0, 6)
    plan = PLAN._replace(own=(300, 4))
    used = watch.measure(watch.processes([1, 2, 3]), 1, plan, look, watch.Disk(10, 2))
    assert used == watch.Usage(77, pytest.approx(3 * 500 / TICKS), 1, 710, 18)
    assert looks == [([2], memory.MemoryLook(5, 700, 6))]
    plan = PLAN._replace(own=(3000, 40))
    used = watch.measure([], 0, plan, look, watch.Disk())
    assert used == watch.Usage(77, 0, 0, 0, 0)
    assert looks[1] == ([], memory.MemoryLook(5, 0, 6))


def test_what_is_in_folders_in_memory_is_seen_through_the_last_process_that_lets_us(tmp_path):
    mine = os.getpid()
    size = os.statvfs(tmp_path)
    used, files = watch._scratch_use([mine, 99_999_991], (str(tmp_path), str(tmp_path)))
    assert used == pytest.approx(2 * (size.f_blocks - size.f_bfree) * size.f_frsize, rel=0.05)
    assert files == pytest.approx(2 * (size.f_files - size.f_ffree), rel=0.05)
    assert watch._scratch_use([mine], ()) == (0, 0)
    assert watch._scratch_use([99_999_991], (str(tmp_path),)) == (0, 0)


# --- folders outside, and files without a name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "made").mkdir()
    return tmp_path / "made"


@contextlib.contextmanager
def open_unlinked(folder: Path, size: int) -> Iterator[int]:
    """Give the descriptor of an open file that was deleted."""
    place = folder / "unlinked"
    descriptor = os.open(place, os.O_RDWR | os.O_CREAT)
    try:
        os.write(descriptor, b"x" * size)
        os.fsync(descriptor)
        place.unlink()
        yield descriptor
    finally:
        os.close(descriptor)


def blocks(descriptor: int) -> int:
    return os.fstat(descriptor).st_blocks * 512


def mine() -> list[watch.ProcessStat]:
    return watch.processes([os.getpid()])


def test_nothing_to_write_to_holds_nothing():
    assert watch.disk(mine(), PLAN, 0) == watch.Disk(0, 0)


def unlinked_before(folder):
    """The bytes of files without a name that this process has open already."""
    return watch._measure_unlinked([os.getpid()], {folder.stat().st_dev})


def test_what_folders_hold_is_added_up(folder):
    places = [folder / name for name in ("one", "two")]
    for number, place in enumerate(places):
        place.mkdir()
        (place / "file").write_bytes(b"x" * (number + 1) * 64 * KIB)
        (place / "empty").touch()
    found = watch.disk(mine(), PLAN._replace(writable=tuple(map(str, places))), 0)
    assert 192 * KIB <= found.size - unlinked_before(folder) < 256 * KIB
    assert found.files == 4


def test_files_without_a_name_count_where_they_are_open(folder):
    plan = PLAN._replace(writable=(str(folder),))
    device = folder.stat().st_dev
    task, before = os.getpid(), unlinked_before(folder)
    with open_unlinked(folder, 64 * KIB) as descriptor:
        size = blocks(descriptor)
        assert size >= 64 * KIB
        with open(os.dup(descriptor), "rb"):  # twice open, once counted
            found = watch._measure_unlinked([task, 99_999_991, task], {device})
            assert found == before + size
        assert watch._measure_unlinked([task], {device + 1}) == 0
        assert watch.disk(mine(), plan, 0) == watch.Disk(before + size, 0)
        dead = mine()[0]._replace(dead=True)
        assert watch.disk([dead], plan, 0) == watch.Disk(0, 0)


def test_files_without_a_name_count_where_they_are_mapped_alone(folder):
    """Only root may look at them; else what has vanished from the file system is charged."""
    device, before = folder.stat().st_dev, unlinked_before(folder)
    with open_unlinked(folder, 64 * KIB) as descriptor:
        size = blocks(descriptor)
        mapped = mmap.mmap(descriptor, 64 * KIB)
    with mapped:
        expected = before + size if os.geteuid() == 0 else None
        assert watch._measure_unlinked([os.getpid()], {device}) == expected


def test_what_cannot_be_measured_is_what_has_vanished(folder, monkeypatch):
    (folder / "file").write_bytes(b"x" * 64 * KIB)
    plan = PLAN._replace(writable=(str(folder),))
    monkeypatch.setattr(watch, "_measure_unlinked", lambda tasks, devices: None)
    monkeypatch.setattr(watch, "free", lambda places: 1000)
    assert watch.disk([], plan, 1000 + (1 << 30)).size == 1 << 30
    assert 64 * KIB <= watch.disk([], plan, 900).size < 128 * KIB


MAPS = """\
1000-2000 r--p 0 08:01 50 /usr/lib/here.so
00003000-00004000 r--p 0 08:01 51 /a file (deleted)
5000-6000 r--p 0 08:02 52 /elsewhere (deleted)
7000-8000 r--p 0 08:01 {program} /the/program (deleted)
00000000-00001000 r--p 0 08:01 53 /at the start (deleted)
"""


def test_where_a_process_has_mapped_files_without_a_name(proc):
    pid = os.getpid()
    proc[f"/proc/{pid}/maps"] = MAPS.format(program=os.stat(f"/proc/{pid}/exe").st_ino)
    assert watch._maps_unlinked(pid, {os.makedev(8, 1)}) == [
        f"/proc/{pid}/map_files/3000-4000",
        f"/proc/{pid}/map_files/0-1000",
    ]
    proc[f"/proc/{pid}/maps"] = MAPS.splitlines()[0]
    assert watch._maps_unlinked(pid, {os.makedev(8, 1)}) == []


@pytest.mark.parametrize(
    ("state", "virtual", "expected"),
    [("S", 8192, None), ("R", 0, 0), ("Z", 0, 0), ("", 0, 0)],
    ids=["it lives", "it is ending", "it is dead", "it is gone"],
)
def test_only_a_process_that_lives_can_hide_files(state, virtual, expected, proc, monkeypatch):
    """One that is ending belongs to root for a moment: an ordinary user then misses nothing."""

    def listdir(path: str) -> list[str]:
        raise PermissionError(path)

    monkeypatch.setattr(watch.os, "listdir", listdir)
    if state:
        proc["/proc/7/stat"] = stat_of(7, state, virtual=virtual)
    assert watch._measure_unlinked([7], {1}) == expected


def test_free_space_counts_once_for_each_file_system(folder):
    places = (str(folder), str(folder.parent))
    size = os.statvfs(folder)
    assert watch.free(places) == pytest.approx(size.f_bfree * size.f_frsize, rel=0.05)


# --- what open files hold


def measure_held_files() -> int:
    return memory._open_files([os.getpid()], MUCH)


def test_each_kind_of_open_file_is_charged_what_it_may_hold(tmp_path):
    before = measure_held_files()
    with contextlib.ExitStack() as opened:
        for one in socket.socketpair():
            opened.enter_context(one)
        assert measure_held_files() - before == 2 * 384 * KIB
        for end in os.pipe():
            opened.callback(os.close, end)
        with_pipe = 2 * 384 * KIB + 64 * KIB
        assert measure_held_files() - before == with_pipe
        opened.enter_context(open(os.devnull, "rb"))
        assert measure_held_files() - before == with_pipe + 8 * KIB
        epoll = opened.enter_context(select.epoll())
        assert measure_held_files() - before == with_pipe + 16 * KIB
        for end in os.pipe():
            opened.callback(os.close, end)
            epoll.register(end)
        assert measure_held_files() - before == with_pipe + 64 * KIB + 16 * KIB + 2 * 256


def test_what_processes_share_counts_once():
    with contextlib.ExitStack() as opened:
        for one in socket.socketpair():
            opened.enter_context(one)
        once = memory._Opened()
        once._add("socket:[1]", 1, "3")
        once._add("socket:[1]", 2, "3")
        once._add("pipe:[1]", 2, "4")
        once._add("pipe:[1]", 2, "5")
        assert once.size() == 384 * KIB + 64 * KIB


@pytest.mark.parametrize(
    ("pipes", "size"), [(1024, 1024 * 64 * KIB), (1030, 1024 * 64 * KIB + 6 * 8 * KIB)]
)
def test_very_many_pipes_are_small_ones(pipes, size):
    opened = memory._Opened()
    for number in range(pipes):
        opened._add(f"pipe:[{number}]", 1, "3")
    assert opened.size() == size


def test_no_more_is_looked_at_once_it_is_too_much(monkeypatch):
    seen = []
    monkeypatch.setattr(memory._Opened, "add", lambda self, task: seen.append(task))
    monkeypatch.setattr(memory._Opened, "size", lambda self: len(seen) * 10)
    assert memory._open_files([1, 2, 3, 4], 20) == 30
    assert memory._open_files([], 20) == 30
    assert seen == [1, 2, 3]


def test_open_files_that_are_secret_are_charged_as_full_sockets(monkeypatch):
    def refuse(path: str, flags: int) -> int:
        raise PermissionError(path)

    monkeypatch.setattr(memory.os, "open", refuse)
    monkeypatch.setattr(memory, "_room", lambda task: 3)
    assert memory._open_files([1], MUCH) == 3 * 384 * KIB


@pytest.mark.parametrize(
    ("text", "size"),
    [("", 0), ("pos: 0\ntfd: 4 events: 1\ntfd: 5 events: 1\n", 512), ("x" * (1 << 24), 1 << 32)],
)
def test_the_list_of_an_epoll(text, size, monkeypatch):
    """One too long to be read is charged more than there is."""
    monkeypatch.setattr(memory, "MOST_OF_A_FILE", 1 << 24)
    monkeypatch.setattr(memory, "read", lambda path: {"/proc/7/fdinfo/3": text}[path])
    assert memory._waits(7, "3") == size


def test_the_pages_that_are_of_no_file():
    assert memory._anonymous(99_999_991) == 0
    before = memory._anonymous(os.getpid())
    kept = bytearray(b"x") * (32 << 20)
    assert memory._anonymous(os.getpid()) - before > 16 << 20
    assert len(kept) == 32 << 20


@pytest.mark.parametrize("is_new", [True, False])
def test_the_table_of_descriptors_is_counted(is_new, monkeypatch):
    """Before Linux 6.2 the size of the folder is 0, and its names are counted."""
    if not is_new:
        monkeypatch.setattr(memory.os, "stat", lambda path: os.stat_result([0] * 10))
    before = memory._descriptors(os.getpid())
    with contextlib.ExitStack() as opened:
        for _ in range(100):
            opened.enter_context(open(os.devnull, "rb"))
        # Threads of other tests may open some, too.
        assert memory._descriptors(os.getpid()) - before == pytest.approx(100, abs=10)
