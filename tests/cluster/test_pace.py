"""Fast and slow machines: an engine near its limit gets the same mark on each."""

import os

import pytest

from harness.cluster import calibration
from harness.grading.ledger.ledger import Ledger
from harness.work import canonical_json
from harness.work.canonical_json import Measurements
from tests.cluster.clusters import SLOW_WORKER, WORKER, cluster
from tests.cluster.slow_worker import OF, SLOWER
from tests.cluster.test_carrying import (
    ATTENTION,
    OK,
    grade,
    list_last_planned,
    marks,
    strip_measurements,
)
from tests.harness import small_class
from tests.harness.small_class import Student
from tests.harness.test_sandbox_boxes import needs

TIMEOUT = 1  # seconds
COMPUTES = f"""\
factor = {SLOWER} if len(os.sched_getaffinity(0)) == 1 else 1
    end = time.process_time() + factor * (%s)
    while time.process_time() < end:
        pass
    return 2 * n"""
# In seconds of the faster machine.
STUDENTS = (
    Student("Ada Right", "return 2 * n", 7),
    Student("Nan Near", COMPUTES % "0.65 if n == 1 else 0", 7),
    Student("Max More", COMPUTES % "1.5 if n == 7 else 0", 5),
    Student("Sue Sleeps", f"time.sleep({1.4 * TIMEOUT} if n == 7 else 0)\n    return 2 * n", 5),
    Student("Pam Processor", f"{COMPUTES % 0.7}", 7),  # 1.4 of 2 s in each case file
)


@pytest.mark.quick
def test_a_pace_is_a_part_of_the_quickest_round(monkeypatch):
    rounds = iter([0.3, 0.2, 0.18, 0.5, 0.4, 0.3, 0.2])
    monkeypatch.setattr(calibration, "_round", lambda: next(rounds))
    assert calibration.pace() == 2.0


@pytest.fixture
def room(tmp_path):
    """A class of engines that are near their limits."""
    needs(3)
    if len(os.sched_getaffinity(0)) == 1:
        pytest.skip("a machine with one processor cannot play two")
    room = small_class.make(tmp_path, STUDENTS)
    path = room / "counting" / "assignment.toml"
    text = path.read_text().replace("timeout = 20 ", f"timeout = {TIMEOUT} ")
    path.write_text(text.replace("cpu = 1\n", "cpu = 2\n"))
    return room


def figures(room, output):
    """What was measured in all runs."""
    ledger = Ledger(room / output / "ledger.sqlite")
    try:
        runs = [run for basis in list_last_planned(ledger) for run in ledger.results(basis)]
        return [canonical_json.loads(Measurements, text) for _, text in runs]
    finally:
        ledger.close()


@pytest.mark.processes
@pytest.mark.long(60)
def test_an_engine_near_its_limit_gets_the_same_mark_on_a_slow_machine(
    room, tmp_path, monkeypatch
):
    paces = []
    for machine, words in (("fast", WORKER), ("slow", SLOW_WORKER)):
        with cluster(tmp_path / machine) as found:
            found.work(machine, words=words)
            more = ("--scheduler", found.address, "--no-images")
            assert grade(room, *more, output=machine) in (OK, ATTENTION)
        (pace,) = {one.pace for one in figures(room, machine)}
        monkeypatch.setenv(OF, str(pace))
        paces.append(pace)
    assert marks(room, "slow") == marks(room, "fast")
    expected = {"0", *(str(one.mark) for one in STUDENTS)}
    assert set(marks(room, "fast").values()) == expected
    assert strip_measurements(room, "slow") == strip_measurements(room, "fast")
    assert paces[1] == SLOWER * paces[0]
