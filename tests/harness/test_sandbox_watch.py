"""What a box uses, read from ``/proc`` and from folders: by hand, and of this very process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from harness.sandbox import memory, watch

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
