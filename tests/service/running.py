"""``gtp-harness serve`` as a process that may be killed, and a class that hands in."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from harness.core.errors import ServerError
from harness.service.courses import gradings, making, roster, submissions
from harness.service.people import accounts
from harness.service.records import FAULT, STUDENT, CourseAssignment
from harness.service.settings import Settings
from harness.service.storage import courses, queue, uploads
from harness.service.web.service import Service
from tests.harness import small_class
from tests.harness.small_class import Student
from tests.service.serving import read_roster

PARENT = "harness.cli"
WEB, WORKER = "harness.service.app", "harness.service.jobs.worker"
KEEPER = "harness.service.keeper"
LONG = 400.0  # seconds; on a busy machine
_ROOT = Path(__file__).parents[2]
_SERVER_AWAY = 3  # exit status
_Found = TypeVar("_Found")


class Running:
    """A service of several processes; see :func:`contextlib.closing`."""

    def __init__(self, settings: Settings, workers: int = 2) -> None:
        self.settings = settings
        self._workers = workers
        self.seen: set[int] = set()  # all processes that it ever had
        self.start()

    def start(self) -> None:
        """Start it; the database may be starting, too: an operator tries again."""
        while not self._is_started():
            time.sleep(1)

    def _is_started(self) -> bool:
        words = ["--data", self.settings.data, "--port", "0"]
        words += ["--workers", self._workers]
        words += ["--most-uploads", "100000"]  # of one who uploads all the time
        if self.settings.database:
            words += ["--database", self.settings.database]
        self.process = subprocess.Popen(
            [sys.executable, "-m", PARENT, "serve", *map(str, words)],
            stdout=subprocess.PIPE, text=True, cwd=_ROOT,
        )  # fmt: skip
        assert self.process.stdout
        for line in self.process.stdout:
            if found := re.match(r"Pages: (\S+)", line):
                self.base = found[1]
                return True
        assert self.process.wait() == _SERVER_AWAY
        return False

    def parts(self, module: str = "") -> list[int]:
        """Return the ids of its processes, those that execute a module, the oldest first."""
        found = children(self.process.pid)
        self.seen.update(found)
        return [pid for pid in found if module.encode() in command(pid).split(b"\0") or not module]

    def kill(self, module: str) -> int:
        """Kill the oldest of its processes of a kind; the parent of all is started again.

        Return how many were killed: none may be there yet since the last time.
        """
        if module == PARENT:
            self.parts()
            self.process.kill()
            self.process.wait()
            self.start()
            return 1
        with contextlib.suppress(ProcessLookupError):
            for pid in self.parts(module)[:1]:
                os.kill(pid, signal.SIGKILL)
                return 1
        return 0

    def kill_one(self, module: str) -> None:
        """Kill the oldest of its processes of a kind as soon as one is there."""
        until(lambda: self.kill(module))

    def end(self) -> int:
        self.process.terminate()
        return self.process.wait(60)

    def close(self) -> None:
        """End it if it runs, and see that nothing of it stays behind."""
        if self.process.poll() is None:
            self.parts()
            self.end()
        until(lambda: not any(map(command, self.seen)))


def children(pid: int) -> list[int]:
    """Return the processes that a process started, the oldest first."""
    found: list[int] = []
    with contextlib.suppress(OSError):  # some end meanwhile
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def command(pid: int) -> bytes:
    """Return the words of a process, each with a zero behind it; empty if it has ended.

    So has one that nobody waited for: one of an orphan's, where this process gets these.
    """
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def hand_in(
    service: Service,
    room: Path,
    students: Sequence[Student],
    submission: Callable[[str], bytes] = small_class.submission,
) -> str:
    """Let students hand in; return the id of the assignment, which is in a folder of the room."""
    with service.database.acting() as act:
        by = act._replace(by=accounts.add_person(act, "Tess").id)
        course = making.course(by, "Games").id
        wanted = CourseAssignment("", course, "", str(room / "counting"), "", "", "", "", 0, 0.0)
        assigned = making.assign(by, wanted)
        names = "\n".join(one.name.split()[0].lower() for one in students)
        roster.take(by, course, read_roster(f"student\n{names}\n".encode()))
        members = courses.MEMBERS.all(act.db, "key", course=course, role=STUDENT)
    for place, (member, one) in enumerate(zip(members, students, strict=True)):
        path = room / f"{place}.tgz"
        path.write_bytes(submission(one.body))
        kept = submissions.keep(service.store, path, "a1.tgz", 1 << 20)
        with service.database.acting(member.person) as act:
            submissions.take(act, assigned, member, kept)
    return assigned.id


def begin(service: Service, assignment: str) -> str:
    """Begin a grading; return its id."""
    with service.database.acting() as act:
        by = act._replace(by=accounts.add_person(act, "Tess").id)
        assigned = courses.ASSIGNMENTS.find(act.db, id=assignment)
        assert assigned
        return gradings.begin(by, assigned, public_only=False).id


def until(is_so: Callable[[], _Found]) -> _Found:
    """Wait for something, and return it."""
    ends = time.monotonic() + LONG
    while not (found := is_so()):
        assert time.monotonic() < ends
        time.sleep(0.3)
    return found


def begin_anew(service: Service) -> list[str]:
    """Do what people do where workers died three times; return the kinds of jobs.

    Raises:
        ServerError: the database is away.
    """
    with service.database.acting() as act:
        faults = queue.JOBS.all(act.db, state=FAULT)
        for job in faults:
            assert "died" in job.fault, job.fault
            found = uploads.GRADINGS.find(act.db, id=job.about)
            if found:
                gradings.try_again(act, found)
            else:
                queue.begin_anew(act.db, job.id)
    return [job.kind for job in faults]


def settle(service: Service) -> None:
    """Wait until nothing is left to do; what died three times is begun anew."""

    def is_over() -> bool:
        with contextlib.suppress(ServerError):
            begin_anew(service)
            with service.database.reading() as db:
                return not queue.is_due(db)
        return False

    until(is_over)
