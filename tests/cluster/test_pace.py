"""Fast and slow machines: an engine near its limit gets the same mark on each."""

import os
import time

import pytest

from harness.cluster import cluster_processes
from harness.grading.ledger.ledger import Ledger
from harness.work import canonical_json
from harness.work.records import Measurements
from tests.cluster.clusters import cluster
from tests.cluster.paced_worker import PACES
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
pace = {PACES["slow"]} if len(os.sched_getaffinity(0)) == 1 else {PACES["fast"]}
    end = time.process_time() + pace * (%s)
    while time.process_time() < end:
        pass
    return 2 * n"""
# In seconds of the reference machine.
STUDENTS = (
    Student("Ada Right", "return 2 * n", 7),
    Student("Nan Near", COMPUTES % "0.65 if n == 1 else 0", 7),
    Student("Max More", COMPUTES % "1.5 if n == 7 else 0", 5),
    Student("Sue Sleeps", f"time.sleep({1.4 * TIMEOUT} if n == 7 else 0)\n    return 2 * n", 5),
    Student("Pam Processor", f"{COMPUTES % 0.7}", 7),  # 1.4 of 2 s in each case file
)


ROUNDS = [0.3, 0.2, 0.18, 0.5, 0.4, 0.3, 0.2]


@pytest.fixture
def measure(monkeypatch):
    """Return the pace if rounds take so long, and others so much CPU time until each look."""

    def measure(rounds, others):
        monkeypatch.setattr(cluster_processes, "_round", iter(rounds).__next__)
        monkeypatch.setattr(cluster_processes, "_others", iter(others).__next__)
        monkeypatch.setattr(time, "sleep", lambda seconds: None)
        return cluster_processes.pace()

    return measure


@pytest.mark.quick
def test_a_pace_is_a_part_of_the_quickest_round(measure):
    assert measure(ROUNDS, [5.0, 5.0]) == 2.0


@pytest.mark.quick
def test_a_machine_that_is_busy_is_measured_again_until_it_is_quiet(measure):
    slower = [1.7 * seconds for seconds in ROUNDS]
    assert measure([*slower, *ROUNDS], [5.0, 6.0, 7.0, 7.0]) == 2.0


@pytest.mark.quick
def test_a_machine_that_stays_busy_is_measured_six_times(measure):
    slower = [1.7 * seconds for seconds in ROUNDS]
    assert measure([*ROUNDS, *slower * 5], range(12)) == 2.0


@pytest.mark.quick
@pytest.mark.skipif(not os.path.exists("/proc/stat"), reason="only Linux tells")
def test_what_others_compute_is_told_without_our_own():
    before, own, begun = cluster_processes._others(), time.process_time(), time.monotonic()
    while time.process_time() < own + 0.3:
        pass
    most = len(os.sched_getaffinity(0)) * (time.monotonic() - begun) - 0.3
    assert -0.1 < cluster_processes._others() - before < most + 0.1


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
@pytest.mark.slow
def test_an_engine_near_its_limit_gets_the_same_mark_on_a_slow_machine(room, tmp_path):
    for machine, pace in PACES.items():
        with cluster(tmp_path / machine) as found:
            found.work(machine, words=("tests.cluster.paced_worker", machine))
            more = ("--scheduler", found.address, "--no-images")
            assert grade(room, *more, output=machine) in (OK, ATTENTION)
        assert {one.pace for one in figures(room, machine)} == {pace}
    assert marks(room, "slow") == marks(room, "fast")
    expected = {"0", *(str(one.mark) for one in STUDENTS)}
    assert set(marks(room, "fast").values()) == expected
    assert strip_measurements(room, "slow") == strip_measurements(room, "fast")
