"""A class graded on a cluster: the marks of one machine, whatever happens to its parts."""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.assignments import assignment
from harness.cli import main
from harness.cluster.dispatcher import Dispatcher
from harness.cluster.records import ConnectorSettings, Facts
from harness.cluster.worker_files import MEMORY
from harness.core.errors import SandboxError
from harness.grading.ledger.ledger import Ledger
from harness.work import canonical_json
from harness.work.records import Measurements
from tests.cluster.clusters import LYING_WORKER, ROOT, Cluster, cluster, free_port
from tests.harness import small_class
from tests.harness.small_class import CLASS, Student
from tests.harness.spoilt_submissions import SUBMISSIONS
from tests.harness.test_sandbox_boxes import needs

pytestmark = [pytest.mark.processes, pytest.mark.long(40)]

OK, BAD, FAULT, ATTENTION = 0, 2, 3, 4


def grade(room, *more, output="graded"):
    """Grade the class in a room; return the exit status."""
    words = [str(room / "submissions"), "--assignment", str(room / "counting")]
    return main(["grade", *words, "--output", str(room / output), "--no-color", *more])


def marks(room, output="graded"):
    """The marks by name."""
    document = json.loads((room / output / "class.json").read_text())
    return {one["key"]: one["marks"]["total"]["exact"] for one in document["submissions"]}


def strip_measurements(room, output="graded"):
    """All that marks are made of, without what was measured."""
    ledger = Ledger(room / output / "ledger.sqlite")
    try:
        found = list_last_planned(ledger)
        return {basis: [text for text, _ in ledger.results(basis)][-1] for basis in found}
    finally:
        ledger.close()


def list_last_planned(ledger):
    number, _ = ledger.find_run()
    return [one.basis for one in ledger.list_planned(number)]


def machines(room):
    """The machines of each attempt, one for each time that it was run."""
    with contextlib.closing(Ledger(room / "graded" / "ledger.sqlite")) as ledger:
        runs = [ledger.results(basis) for basis in list_last_planned(ledger)]
    return [[canonical_json.loads(Measurements, one).machine for _, one in of] for of in runs]


def check_ledger(room, machines, output="graded"):
    """Check what must hold in the record of any grading on a cluster."""
    ledger = Ledger(room / output / "ledger.sqlite")
    try:
        ledger.check()
        for basis, state in ledger.states(list_last_planned(ledger)).items():
            assert state.state == "done"
            runs = [canonical_json.loads(Measurements, one) for _, one in ledger.results(basis)]
            assert 1 <= len(runs) <= 2  # never counted twice: number is a part of the key
            for one in runs:
                assert one.machine in machines
                assert not one.sandbox or one.sandbox.startswith("level 3")
    finally:
        ledger.close()


# Computes for more than four fifths of its CPU time: on a cluster that is in doubt.
SPIN = "end = time.process_time() + 0.82 * (n == 7)\n    while time.process_time() < end: pass"
NEAR = Student("Nia Near", f"{SPIN}\n    return 2 * n", 7)
STUDENTS = (CLASS[0], *CLASS[2:5], CLASS[7], NEAR)  # one of each kind


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    """A class that was graded on one machine alone."""
    needs(3)
    found = small_class.make(tmp_path_factory.mktemp("class"), STUDENTS)
    assert grade(found, output="alone") in (OK, ATTENTION)
    return found


class Two(NamedTuple):
    """A cluster of the machines ``one`` and ``two``, reached by TLS."""

    cluster: Cluster
    papers: Path
    folder: Path  # of both
    temporary: Path  # where their temporary files are

    @property
    def words(self):
        return ("--scheduler", self.cluster.address, "--tls", str(self.papers))


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    papers, temporary = folder / "papers", folder / "t"
    assert main(["cluster", "certificates", str(papers)]) == OK
    temporary.mkdir()
    temporary.chmod(0o1777)
    with cluster(folder / "c", "one", "two", tls=str(papers), temporary=temporary) as found:
        yield Two(found, papers, folder / "c", temporary)


def test_a_class_gets_the_same_marks_from_two_machines(room, two, monkeypatch):
    monkeypatch.setattr("harness.cluster.records.SECONDED", 3)  # a second opinion of a third
    assert grade(room, *two.words) in (OK, ATTENTION)
    expected = sorted(str(Fraction(one.mark)) for one in STUDENTS)
    assert sorted(marks(room).values())[-len(expected) :] == expected
    assert marks(room) == marks(room, "alone")
    assert strip_measurements(room) == strip_measurements(room, "alone")
    check_ledger(room, {"one", "two"})
    twice = [of for of in machines(room) if len(of) > 1]
    assert twice and all(set(of) == {"one", "two"} for of in twice)


def test_an_adapter_finds_what_private_cases_name_beside_them(tmp_path, two, c_tools):
    """It starts where they are, which on a worker is in memory; the program was built there."""
    source = SUBMISSIONS / "gosensei" / "gosensei"
    texts = {
        path.relative_to(source).as_posix(): path.read_text()
        for path in source.rglob("*")
        if path.is_file()
    }
    own = assignment.find("gosensei")
    handed = tmp_path / "submissions"
    handed.mkdir()
    name = small_class.file_name(CLASS[0], 0)
    (handed / name).write_bytes(small_class.archive(texts, own.archive.folder))
    private = shutil.copytree(own.place / "thorough", tmp_path / "private")
    words = [str(handed), "--assignment", "gosensei", "--private", str(private), "--no-color"]
    words += ["--output", str(tmp_path / "graded"), *two.words]
    assert main(["grade", *words]) in (OK, ATTENTION)
    assert list(marks(tmp_path).values()) == ["50"]


def files_below(place):
    """All files there; what is removed meanwhile does not matter."""
    return [os.path.join(folder, name) for folder, _, names in os.walk(place) for name in names]


class Search(threading.Thread):
    """Looks again and again for files with some bytes, in memory and on the disk."""

    def __init__(self, wanted, disk):
        super().__init__()
        self._wanted, self._disk = wanted, disk
        self._is_over = threading.Event()
        self.files = set()  # on the disk
        self.found = set()  # of these, those that have the bytes
        self.meanwhile = 0  # looks at the disk while the bytes were in memory

    def run(self):
        while not self._is_over.is_set():
            before = self._is_in_memory()
            self.look()
            self.meanwhile += before and self._is_in_memory()
            self._is_over.wait(0.02)  # the machine is for the others, too

    def _is_in_memory(self):
        return any(map(self._has_it, files_below(MEMORY)))

    def look(self):
        files = {path for folder in self._disk for path in files_below(folder)}
        self.files |= files
        self.found |= set(filter(self._has_it, files))

    def _has_it(self, path):
        with contextlib.suppress(OSError):  # just removed
            return self._wanted in Path(path).read_bytes()
        return False

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        self.join()


def test_of_private_cases_nothing_is_on_the_disk_of_a_worker(tmp_path, two):
    """While its engines wait, and afterwards; nor among temporary files."""
    waits = Student("Wim Waits", "time.sleep(4 * (n == 5))\n    return 2 * n", 7)
    room = small_class.make(tmp_path, (waits,))
    private = room / "counting" / "private" / "secret.gtp"
    private.write_text("# of this class alone\n1 twice 5\n#? [10]\n")
    folders = two.folder, two.temporary
    with Search(private.read_bytes(), folders) as search:
        assert grade(room, *two.words, "--no-images") in (OK, ATTENTION)
    search.look()
    assert search.meanwhile
    for folder in folders:  # archives, and temporary files
        assert [path for path in search.files if path.startswith(str(folder))]
    assert not search.found


def test_workers_and_scheduler_may_be_killed_and_stopped(room, tmp_path):
    with cluster(tmp_path / "c", "one", "two") as found:
        words = [sys.executable, "-m", "harness.cli", "grade", str(room / "submissions")]
        words += ["--assignment", str(room / "counting"), "--output", str(room / "disturbed")]
        words += ["--scheduler", found.address, "--no-color", "--no-images"]
        grading = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        disturb(found, room / "disturbed" / "ledger.sqlite")
        said, _ = grading.communicate(timeout=300)
    assert grading.returncode in (OK, ATTENTION), said
    assert marks(room, "disturbed") == marks(room, "alone")
    alone, disturbed = (strip_measurements(room, one) for one in ("alone", "disturbed"))
    assert len(disturbed) == 3 * len(STUDENTS)
    assert disturbed == {basis: alone[basis] for basis in disturbed}
    check_ledger(room, {"one", "two", "three", "four"}, "disturbed")


def disturb(found, ledger):
    """Kill a worker, then the scheduler, and stop a worker, with others in their place."""
    wait_for_results(ledger, 1)
    found.parts[1].kill()
    wait_for_results(ledger, 4)
    found.scheduler.kill()
    found.scheduler.wait()
    found.scheduler = found.schedule()
    found.work("three", wait=False)
    four = found.work("four", wait=False)
    wait_for_results(ledger, 7)
    os.kill(four.pid, signal.SIGSTOP)
    time.sleep(4)
    os.kill(four.pid, signal.SIGCONT)


def wait_for_results(path, count):
    """Wait until a grading under way has so many results."""
    ends = time.monotonic() + 200
    while count_results(path) < count:
        assert time.monotonic() < ends
        time.sleep(0.1)


def count_results(path):
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
            return db.execute("SELECT count(*) FROM result").fetchone()[0]
    except sqlite3.OperationalError:  # it is being made
        return 0


def test_a_scheduler_that_takes_anything_from_workers_is_refused(room, capfd):
    words = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
    port = free_port()
    process = subprocess.Popen([*words, "--host", "127.0.0.1", "--port", str(port)])
    try:
        address = f"tcp://127.0.0.1:{port}"
        assert grade(room, "--scheduler", address, output="refused") == BAD
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


def test_with_certificates_and_not_without(room, two, capfd):
    assert main(["cluster", "certificates", str(two.papers)]) == BAD  # there are some
    own = two.cluster.address
    far = own.replace("127.0.0.1", "192.0.2.1").replace("tls", "tcp")
    for address, why in ((far, "with TLS only"), (own, "--tls")):
        assert grade(room, "--scheduler", address, output="refused") == BAD
        assert why in capfd.readouterr().err


def test_a_worker_that_lies_changes_no_mark(tmp_path, two, monkeypatch, capfd):
    """What it said before a second opinion found it out is run again. It stays to the end."""
    monkeypatch.setattr("harness.cluster.records.SECONDED", 2)  # a second opinion of a half
    students = (*CLASS[:3], *(Student(f"Stu{n} Right", "return 2 * n", 7) for n in "abcde"))
    room = small_class.make(tmp_path, students)
    two.cluster.work("liar", words=LYING_WORKER)
    assert grade(room, *two.words, "--no-images") in (OK, ATTENTION)
    assert "liar is set aside" in capfd.readouterr().out
    assert sorted(marks(room).values())[1:] == sorted(str(Fraction(one.mark)) for one in students)
    check_ledger(room, {"one", "two"})
