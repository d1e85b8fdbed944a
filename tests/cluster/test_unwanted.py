"""A worker ends a unit, with its engines, as soon as nobody waits for the result."""

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import main
from tests.cluster.clusters import ROOT, cluster
from tests.cluster.test_places import until
from tests.harness import small_class
from tests.harness.small_class import Student
from tests.harness.test_sandbox_boxes import needs

pytestmark = [pytest.mark.processes, pytest.mark.long(40)]

SOON = 10.0  # seconds; the engine waits for longer than that, and six times
WAITS = Student("Wim Waits", "time.sleep(15)\n    return 2 * n", 7)


@contextlib.contextmanager
def grading(room, found):
    """Grade the class in a room; give the process, and the engines once they run."""
    words = [sys.executable, "-m", "harness.cli", "grade", str(room / "submissions")]
    words += ["--assignment", str(room / "counting"), "--output", str(room / "graded")]
    process = subprocess.Popen([*words, "--scheduler", found.address], cwd=ROOT)
    _, worker = found.parts
    try:
        until(lambda: list_engines(worker.pid), 60)
        yield process, list_engines(worker.pid)
    finally:
        process.terminate()
        process.wait(20)


def list_engines(pid):
    """The processes below one that are engines, or the sandboxes around them."""
    return {one for one in list_descendants(pid) if is_engine(one)}


def list_descendants(pid):
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # it has just ended
            for child in map(int, thread.read_text().split()):
                yield child
                yield from list_descendants(child)


def is_engine(pid):
    with contextlib.suppress(OSError):
        return b"/engine.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def wait_until_ended(engines):
    until(lambda: not any(map(is_engine, engines)), SOON)


def test_it_does_so_when_a_grading_ends_and_when_the_scheduler_is_lost(tmp_path, capfd):
    """It is free for the next grading, which else would wait for a worker that seems at work."""
    needs(3)
    small_class.make(tmp_path, (WAITS,))
    with cluster(tmp_path / "c", "one") as found:
        with grading(tmp_path, found) as (process, engines):
            process.terminate()
            wait_until_ended(engines)
        with grading(tmp_path, found) as (_, engines):
            capfd.readouterr()
            assert main(["cluster", "status", found.address, "--json"]) == 0
            (worker,) = json.loads(capfd.readouterr().out)["workers"]
            assert (worker["done"], worker["troubles"], len(worker["loads"])) == (0, 0, 1)
            found.scheduler.kill()
            wait_until_ended(engines)
            assert found.parts[1].wait(SOON) == 0
