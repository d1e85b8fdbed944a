"""A class graded on a cluster: the marks of one machine, whatever happens to its parts."""

import json
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction

import pytest

from harness.cli import main
from harness.cluster.dispatcher import Dispatcher
from harness.cluster.records import ConnectorSettings
from harness.cluster.rules import Facts
from harness.errors import SandboxError
from harness.grading.ledger.ledger import Ledger
from harness.work import canonical_json
from harness.work.canonical_json import Measurements
from tests.cluster.clusters import LYING_WORKER, ROOT, cluster, free_port
from tests.harness import small_class
from tests.harness.small_class import CLASS, Student
from tests.harness.test_sandbox_boxes import needs

pytestmark = [pytest.mark.processes, pytest.mark.long(40)]

OK, BAD, ATTENTION = 0, 2, 4


def grade(room, *more, output="graded"):
    """Grade the class in a room; return the exit status."""
    words = [str(room / "submissions"), "--assignment", str(room / "counting")]
    return main(["grade", *words, "--output", str(room / output), "--no-color", *more])


def marks(room, output="graded"):
    """The marks by name."""
    document = json.loads((room / output / "class.json").read_text())
    return {one["key"]: one["marks"]["total"]["exact"] for one in document["submissions"]}


def settled(room, output="graded"):
    """All that marks are made of, without what was measured."""
    ledger = Ledger(room / output / "ledger.sqlite")
    try:
        found = remembered(ledger)
        return {basis: [text for text, _ in ledger.results(basis)][-1] for basis in found}
    finally:
        ledger.close()


def remembered(ledger):
    number, _ = ledger.last_run()
    return [one.basis for one in ledger.list_planned(number)]


def check_ledger(room, machines, output="graded"):
    """Check what must hold in the record of any grading on a cluster."""
    ledger = Ledger(room / output / "ledger.sqlite")
    try:
        ledger.check()
        for basis, state in ledger.states(remembered(ledger)).items():
            assert state.state == "done"
            runs = [canonical_json.loads(Measurements, one) for _, one in ledger.results(basis)]
            assert 1 <= len(runs) <= 2  # never counted twice: number is a part of the key
            for one in runs:
                assert one.machine in machines
                assert not one.sandbox or one.sandbox.startswith("level 3")
    finally:
        ledger.close()


EXPECTED = sorted(str(Fraction(one.mark)) for one in CLASS)


@pytest.fixture
def room(tmp_path):
    """A class that was not graded yet."""
    needs(3)
    return small_class.make(tmp_path)


@pytest.fixture
def few(tmp_path):
    """Three of them, who are quick, and the one who hands in nothing."""
    needs(3)
    return small_class.make(tmp_path, CLASS[:3])


def test_a_class_gets_the_same_marks_from_two_machines(room, tmp_path, monkeypatch):
    monkeypatch.setattr("harness.cluster.rules.SECONDED", 3)  # a second opinion of a third
    with cluster(tmp_path / "c", "one", "two") as found:
        assert grade(room, "--scheduler", found.address) in (OK, ATTENTION)
    assert grade(room, output="alone") in (OK, ATTENTION)
    assert sorted(marks(room).values())[-len(EXPECTED) :] == EXPECTED
    assert marks(room) == marks(room, "alone")
    assert settled(room) == settled(room, "alone")
    check_ledger(room, {"one", "two"})


def test_of_private_cases_nothing_is_on_the_disk_of_a_worker(few, tmp_path):
    room = few
    with cluster(tmp_path / "c", "one") as found:
        assert grade(room, "--scheduler", found.address, "--no-images") in (OK, ATTENTION)
    (private,) = (room / "counting" / "private").iterdir()
    own = private.read_bytes()
    kept = [path for path in (tmp_path / "c").rglob("*") if path.is_file()]
    assert kept  # archives
    assert not [path for path in kept if own in path.read_bytes()]


def test_workers_and_scheduler_may_be_killed_and_stopped(room, tmp_path, capfd):
    with cluster(tmp_path / "c", "one", "two") as found:
        words = [sys.executable, "-m", "harness.cli", "grade", str(room / "submissions")]
        words += ["--assignment", str(room / "counting"), "--output", str(room / "graded")]
        words += ["--scheduler", found.address, "--no-color"]
        grading = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        disturb(found)
        said, _ = grading.communicate(timeout=300)
    assert grading.returncode in (OK, ATTENTION), said
    assert grade(room, output="alone") in (OK, ATTENTION)
    assert marks(room) == marks(room, "alone")
    assert settled(room) == settled(room, "alone")
    check_ledger(room, {"one", "two", "three", "four"})


def disturb(found):
    """Kill a worker, then the scheduler, and stop a worker, with others in their place."""
    time.sleep(4)
    found.parts[1].kill()
    found.work("three", wait=False)
    time.sleep(4)
    found.scheduler.kill()
    found.scheduler.wait()
    found.scheduler = found.schedule()
    found.work("three", wait=False)
    four = found.work("four", wait=False)
    time.sleep(6)
    os.kill(four.pid, signal.SIGSTOP)
    time.sleep(4)
    os.kill(four.pid, signal.SIGCONT)


def test_a_scheduler_that_takes_anything_from_workers_is_refused(few, capfd):
    words = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
    port = free_port()
    process = subprocess.Popen([*words, "--host", "127.0.0.1", "--port", str(port)])
    try:
        assert grade(few, "--scheduler", f"tcp://127.0.0.1:{port}") == BAD
    finally:
        process.terminate()
        process.wait()
    assert "was not started by gtp-harness cluster scheduler" in capfd.readouterr().err


@pytest.mark.quick
@pytest.mark.parametrize(
    ("levels", "level"), [(["3", "1"], "3"), (["2", "off"], "2"), (["9", "1"], "1")]
)
def test_the_strongest_sandbox_of_a_worker_is_taken(levels, level):
    dispatcher = Dispatcher(ConnectorSettings("tcp://127.0.0.1:1", "", "127.0.0.1", 0))
    dispatcher.workers = tuple(Facts("", "one", "1", (one,), (), ()) for one in levels)
    assert dispatcher.level("auto") == level


@pytest.mark.quick
def test_none_is_never_taken_by_itself():
    dispatcher = Dispatcher(ConnectorSettings("tcp://127.0.0.1:1", "", "127.0.0.1", 0))
    dispatcher.workers = (Facts("", "one", "1", ("off",), (), ()),)
    with pytest.raises(SandboxError, match="no worker"):
        dispatcher.level("auto")
    assert dispatcher.level("off") == "off"  # but when it is asked for


def test_with_certificates_and_not_without(few, tmp_path, capfd):
    room = few
    papers = tmp_path / "papers"
    assert main(["cluster", "certificates", str(papers)]) == OK
    assert main(["cluster", "certificates", str(papers)]) == BAD
    with cluster(tmp_path / "c", "one", tls=str(papers)) as found:
        assert found.address.startswith("tls://")
        far = found.address.replace("127.0.0.1", "192.0.2.1").replace("tls", "tcp")
        assert grade(room, "--scheduler", far) == BAD
        assert "no way but TLS" in capfd.readouterr().err
        assert grade(room, "--scheduler", found.address) == BAD
        assert "--tls" in capfd.readouterr().err
        words = ("--scheduler", found.address, "--tls", str(papers), "--no-images")
        assert grade(room, *words) in (OK, ATTENTION)
    assert sorted(marks(room).values()) == ["0", "28/5", "6", "7"]
    check_ledger(room, {"one"})


def test_a_worker_that_lies_changes_no_mark(tmp_path, monkeypatch, capfd):
    """What it said before a second opinion found it out is run again, too."""
    needs(3)
    monkeypatch.setattr("harness.cluster.rules.SECONDED", 2)  # a second opinion of a half
    students = (*CLASS[:3], *(Student(f"Stu{n} Right", "return 2 * n", 7) for n in "abcde"))
    room = small_class.make(tmp_path, students)
    with cluster(tmp_path / "c", "one", "two") as found:
        found.work("liar", words=LYING_WORKER)
        assert grade(room, "--scheduler", found.address, "--no-images") in (OK, ATTENTION)
    assert "liar is set aside" in capfd.readouterr().out
    assert grade(room, "--no-images", output="alone") in (OK, ATTENTION)
    assert marks(room) == marks(room, "alone")
    assert settled(room) == settled(room, "alone")
    check_ledger(room, {"one", "two"})
