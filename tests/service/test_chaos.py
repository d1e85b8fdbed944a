"""Processes are killed at any moment: each attempt is done once all the same, marks are right."""

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import httpx
import pytest

from harness.errors import ServerError
from harness.grading.ledger.ledger import Ledger
from harness.grading.records import Marks
from harness.service.courses import making, roster
from harness.service.handing_in import taking
from harness.service.people import entering
from harness.service.records import (
    DONE,
    FAULT,
    PLAN,
    STUDENT,
    WAITING,
    Assigned,
    Grading,
    Job,
)
from harness.service.settings import Settings, sent
from harness.service.storage import courses, queue, uploads
from harness.service.storage.rows import new_id
from harness.work import canonical_json
from tests.harness import small_class
from tests.harness.small_class import CLASS, spin
from tests.service.serving import KINDS, opened, settings_of

pytestmark = [pytest.mark.processes, pytest.mark.long(90)]

ROOT = Path(__file__).parents[2]
STUDENTS = (CLASS[0], CLASS[2], CLASS[3], CLASS[5])
LONG = 400.0  # seconds; on a busy machine
KILLS = 8
SERVER_AWAY = 3  # exit status


class Running:
    """``gtp-harness serve`` as a process."""

    def __init__(self, settings):
        self.settings = settings
        self.seen = set()  # all processes that it ever had
        self.start()

    def start(self):
        words = ["--data", self.settings.data, "--port", "0", "--workers", "2"]
        if self.settings.database:
            words += ["--database", self.settings.database]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "harness.cli", "serve", *map(str, words)],
            stdout=subprocess.PIPE, text=True, cwd=ROOT,
        )  # fmt: skip
        self.base = ""
        while not self.base:
            line = self.process.stdout.readline()
            if not line:  # the database may be starting, too: an operator tries again
                assert self.process.wait() == SERVER_AWAY
                time.sleep(1)
                self.start()
                return
            found = re.match(r"Pages: (\S+)", line)
            self.base = found[1] if found else ""

    def parts(self):
        """Return the ids of its processes: the one that answers, then the workers."""
        task = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        with contextlib.suppress(OSError):
            found = [int(word) for word in task.read_text().split()]
            self.seen.update(found)
            return found
        return []

    def kill(self, which):
        """Kill one of its processes; 0 is the parent of all, which is started again."""
        if which == 0:
            self.parts()
            self.process.kill()
            self.process.wait()
            self.start()
            return
        with contextlib.suppress(ProcessLookupError, IndexError):
            os.kill(self.parts()[which - 1], signal.SIGKILL)

    def end(self):
        self.process.terminate()
        return self.process.wait(60)

    def close(self):
        """End it if it runs, and see that nothing of it stays behind."""
        if self.process.poll() is None:
            self.parts()
            self.end()
        until(lambda: not [pid for pid in self.seen if Path(f"/proc/{pid}").exists()])


@pytest.fixture(params=KINDS)
def settings(request, tmp_path):
    small_class.make(tmp_path)
    return settings_of(request.param, request, tmp_path / "data")


@pytest.fixture
def running(settings):
    with closing(Running(settings)) as found:
        yield found


def hand_in(service, room, students):
    """Let students hand in; return the id of the assignment."""
    with service.database.acting() as act:
        by = act._replace(by=entering.add_person(act, "Tess").id)
        course = making.course(by, "Games").id
        wanted = Assigned("", course, "", str(room / "counting"), "", "", "", "", 0, 0.0)
        assigned = making.assign(by, wanted)
        names = "\n".join(one.name.split()[0].lower() for one in students)
        roster.take(by, course, roster.read(f"student\n{names}\n".encode()))
        members = courses.MEMBERS.all(act.db, "key", course=course, role=STUDENT)
    for place, (member, one) in enumerate(zip(members, students, strict=True)):
        path = room / f"{place}.tgz"
        path.write_bytes(small_class.submission(one.body))
        kept = taking.keep(service.store, path, "a1.tgz", 1 << 20)
        with service.database.acting(member.person) as act:
            taking.take(act, assigned, member, kept)
    return assigned.id


def begin(service, assignment):
    """Begin a grading; return its id."""
    with service.database.acting() as act:
        person = entering.add_person(act, "Tess").id
        grading = Grading(new_id(), assignment, person, time.time())
        uploads.GRADINGS.add(act.db, grading)
        queue.put(act.db, Job("", PLAN, assignment, grading.id))
    return grading.id


def until(is_so):
    ends = time.monotonic() + LONG
    while not (found := is_so()):
        assert time.monotonic() < ends
        time.sleep(0.3)
    return found


def settle(service):
    """Wait until nothing is left to do; what died three times a person begins anew."""

    def is_over():
        with contextlib.suppress(ServerError), service.database.changing() as db:
            for job in queue.JOBS.all(db, state=FAULT):
                assert "died" in job.fault, job.fault
                queue.begin_anew(db, job.id)
            return not queue.is_due(db)
        return False

    until(is_over)


def test_whatever_is_killed_each_attempt_is_done_once(settings, running, tmp_path):
    draw = random.Random(17)
    with opened(settings) as service:
        assignment = hand_in(service, tmp_path, STUDENTS)
        grading = begin(service, assignment)
        for _ in range(KILLS):
            time.sleep(draw.uniform(0.2, 3))
            running.kill(draw.choice((0, 1, 2, 2, 3, 3)))
        settle(service)
        check(service, assignment, grading)


def check(service, assignment, grading):
    """See that all is done, once, and that everybody has the right mark."""
    with service.database.reading() as db:
        marked = uploads.MARKS.all(db, "key", grading=grading)
        states = {one.state for one in queue.JOBS.all(db)}
        assert service.database.log.tampering(db) == []
    assert states == {DONE}
    marks = {one.key: canonical_json.loads(Marks, one.marks).total for one in marked}
    # 20 % less: the deadline of the small class is long ago.
    late = Fraction(4, 5)
    assert marks == {one.name.split()[0].lower(): one.mark * late for one in STUDENTS}
    with closing(Ledger(service.settings.ledger(assignment))) as ledger:
        ledger.check()
        planned = ledger.wanted(ledger.last_run()[0])
        assert {ledger.states([one.basis])[one.basis].state for one in planned} == {"done"}


def test_a_backend_of_the_database_may_be_killed(own_postgresql, tmp_path):
    small_class.make(tmp_path)
    own_postgresql.execute("CREATE DATABASE tests OWNER grader")
    settings = Settings(tmp_path / "data", own_postgresql.address("tests"))
    running = Running(settings)
    with closing(running), opened(settings) as service:
        assignment = hand_in(service, tmp_path, STUDENTS)
        grading = begin(service, assignment)
        for _ in range(3):
            time.sleep(4)
            assert own_postgresql.kill_backends() > 0
        settle(service)
        check(service, assignment, grading)


def test_who_asks_waits_while_what_answers_is_started_anew(running):
    assert httpx.get(f"{running.base}/health", timeout=LONG).text == "ok\n"
    running.kill(1)
    assert httpx.get(f"{running.base}/health", timeout=LONG).text == "ok\n"


MODULES = ("harness.service.web_process", "harness.service.work")


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("text", ["", "{", "whole"])
def test_a_process_whose_parent_was_killed_while_it_started_ends(tmp_path, module, text):
    told = sent(Settings(tmp_path)).replace(str(os.getpid()), "1") if text == "whole" else text
    done = subprocess.run(
        [sys.executable, "-m", module, "0"], input=told, text=True, cwd=ROOT, timeout=60,
        capture_output=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "service.sqlite").exists()


def descendants(pid):
    """Return all processes that a process started, and those that they started."""
    found = []
    with contextlib.suppress(OSError):  # some end meanwhile
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *descendants(child)]
    return found


def is_engine(pid):
    with contextlib.suppress(OSError):
        return b"engine.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def test_sigterm_gives_back_what_is_under_way(settings, running, tmp_path):
    """An engine computes just then: it is ended, and its submission is checked after a start."""
    slow = CLASS[0]._replace(body=f"{spin(0.5)}\n    return 2 * n")
    with opened(settings) as service:
        assignment = hand_in(service, tmp_path, [slow])
        until(lambda: any(map(is_engine, descendants(running.process.pid))))
        under_way = descendants(running.process.pid)
        assert running.end() == 128 + signal.SIGTERM
        assert not [pid for pid in under_way if Path(f"/proc/{pid}").exists()]
        with service.database.reading() as db:
            (job,) = queue.JOBS.all(db)
        assert (job.state, job.deaths, job.token) in ((WAITING, 0, ""), (DONE, 0, ""))
        running.start()
        settle(service)
        with service.database.reading() as db:
            (job,) = queue.JOBS.all(db)
            (upload,) = uploads.UPLOADS.all(db)
        assert (job.state, job.deaths) == (DONE, 0)
        with closing(Ledger(settings.ledger(assignment))) as ledger:
            ledger.check()
            planned = ledger.wanted(upload.run)
            states = ledger.states([one.basis for one in planned])
        assert [one.state for one in states.values()] == ["done"] * 2
