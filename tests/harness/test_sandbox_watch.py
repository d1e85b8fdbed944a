"""What a box uses, read from ``/proc`` and from folders: by hand, and of this very process."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from harness.sandbox import memory, untrusted_folders, watch

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
    monkeypatch.setattr("harness.core.processes.read", read)
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


# --- what lies on the disk


@pytest.mark.processes
def test_an_open_file_counts_once_it_has_no_name(tmp_path):
    """One with a name is counted where it lies."""
    path = tmp_path / "file"
    with path.open("wb+") as file:
        file.write(bytes(1 << 16))
        file.flush()
        os.fsync(file.fileno())
        found = os.stat(path)
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(["sleep", "60"], stdin=file, **silent) as process:
            try:
                named = watch._measure_unlinked([process.pid], {found.st_dev})
                path.unlink()
                unlinked = watch._measure_unlinked([process.pid], {found.st_dev})
            finally:
                process.kill()
    assert (named, unlinked) == (0, found.st_blocks * 512)
    assert unlinked >= 1 << 16


@pytest.mark.parametrize(
    ("unlinked", "vanished", "more"),
    [(0, 0, 0), (5000, 1 << 40, 5000), (None, 0, 0), (None, 1 << 40, None)],
)
def test_the_disk_has_what_folders_hold_and_files_without_a_name(
    unlinked, vanished, more, tmp_path, monkeypatch
):
    """What cannot be measured is at most what has vanished from the file system."""
    (tmp_path / "file").write_bytes(bytes(1 << 16))
    folders = (str(tmp_path),)
    used, files = untrusted_folders.use(str(tmp_path))
    monkeypatch.setattr(watch, "_measure_unlinked", lambda *_: unlinked)
    monkeypatch.setattr(watch, "free", lambda _: 1 << 41)
    meter = SimpleNamespace(_plan=SimpleNamespace(writable=folders), _free=(1 << 41) + vanished)
    expected = vanished if more is None else used + more
    assert watch.Meter._measure_disk(meter, []) == (expected, files)
    nowhere = SimpleNamespace(_plan=SimpleNamespace(writable=()))
    assert watch.Meter._measure_disk(nowhere, []) == (0, 0)


# --- processes that end


@pytest.mark.processes
def test_a_process_that_ends_while_its_files_are_listed_holds_nothing(monkeypatch):
    process = subprocess.Popen(["sleep", "60"])
    opened = os.open

    def ends_meanwhile(*arguments, **options):
        descriptor = opened(*arguments, **options)
        process.kill()
        process.wait()
        return descriptor

    monkeypatch.setattr(memory.os, "open", ends_meanwhile)
    assert memory._open_files([process.pid], most=1 << 30) == 0


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
