"""A service under load, by Locust: 500 students submit in two minutes, 50 watch live pages.

Said and checked: no request fails, pages take 300 ms at most (the 95th percentile), everything is
checked, a grading gives everybody the mark that is expected, nobody waits more than twice as long
as somebody with as many before, and the memory of all processes is flat. Engines sleep, so that a
queue forms. One machine does all of it: the service, its workers and those who ask. Needs the
extras ``load`` and ``service``.

    python -m tests.benchmarks.bench_service                        on SQLite
    python -m tests.benchmarks.bench_service --database postgresql  on a server of its own
    python -m tests.benchmarks.bench_service --hour                 as many students in an hour
    python -m tests.benchmarks.bench_service --students 60 --seconds 10 --watchers 5
"""

import argparse
import contextlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx

from harness.grading.records import Marks
from harness.service.courses import gradings, making, roster
from harness.service.people import accounts
from harness.service.people.accounts import form_token
from harness.service.records import DONE, STUDENT, CourseAssignment
from harness.service.settings import Settings
from harness.service.storage import courses, queue, uploads
from harness.service.web.service import Service
from harness.work import canonical_json
from tests import postgresql
from tests.benchmarks import service_memory
from tests.benchmarks.service_waits import Report, fairness, waits
from tests.harness import small_class
from tests.service.serving import read_roster

ROOT = Path(__file__).parents[2]
STUDENTS, SECONDS, WATCHERS = 500, 120.0, 50
HOUR = 3600.0
PAUSE = 0.4  # seconds that an engine sleeps, once in each case file
MOST_MS = 300  # for a page, of 95 of 100
LONGEST = 3600.0  # seconds until all is graded
SERVERS = ("sqlite", "postgresql")
# By the number of a student, with the mark of each, of 7.
BODIES = (("return 2 * n", 7), ("return 2 * n if n != 2 else 5", 6), ("return n + n", 7))


class Course(NamedTuple):
    """A course that is made for the load."""

    assigned: CourseAssignment
    teacher: str  # a person's id
    students: list[dict[str, str]]  # session, form_token, body

    @property
    def path(self) -> str:
        return f"/courses/{self.assigned.course}/assignments/{self.assigned.id}"


def body(number: int) -> str:
    """Return what the engine of a student computes; it sleeps once in each case file."""
    return f"time.sleep({PAUSE} if n in (1, 3, 7) else 0); {BODIES[number % len(BODIES)][0]}"


# --- the service -------------------------------------------------------------------------------


@contextlib.contextmanager
def run_service(settings: Settings) -> Iterator[tuple[int, str]]:
    """Run a service; give its process and its address."""
    words = ["--data", settings.data, "--port", "0"]
    words += ["--database", settings.database] if settings.database else []
    process = subprocess.Popen(
        [sys.executable, "-m", "harness.cli", "serve", *map(str, words)],
        stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    try:
        yield process.pid, _address(process)
    finally:
        process.terminate()
        process.wait()


def _address(process: subprocess.Popen) -> str:
    for line in process.stdout:
        if found := re.match(r"Pages: (\S+)", line):
            assert httpx.get(f"{found[1]}/sign-in", timeout=60).status_code == 200
            return found[1]
    raise SystemExit("the service did not start")


def make_course(service: Service, room: Path, students: int) -> Course:
    """Make a course of so many, with a session each."""
    with service.database.acting() as act:
        by = act._replace(by=accounts.add_person(act, "Tess").id)
        made = making.course(by, "Load").id
        wanted = CourseAssignment("", made, "", str(room / "counting"), "", "2999-01-01T12:00",
                          "2999-01-01T12:00", "", 0, 0.0)  # fmt: skip
        assigned = making.assign(by, wanted)
        names = "\n".join(map(key, range(students)))
        roster.take(by, made, read_roster(f"student\n{names}\n".encode()))
        sessions = [
            accounts.enter_by_link(
                act, accounts.make_link(act, one.person, 600.0, once=True).text
            )[1].text
            for one in courses.MEMBERS.all(act.db, "key", course=made, role=STUDENT)
        ]
    found = [
        {"session": one, "form_token": form_token(one), "body": body(number)}
        for number, one in enumerate(sessions)
    ]
    return Course(assigned, by.by, found)


def key(number: int) -> str:
    return f"s{number:04}"


# --- load --------------------------------------------------------------------------------------


def locust(room: Path, plan: dict) -> list[dict]:
    """Let students and watchers loose; return Locust's figures of each kind of request."""
    (room / "plan.json").write_text(json.dumps(plan))
    users = len(plan["students"]) + plan["watchers"]
    words = ["-f", "tests/benchmarks/service_users.py", "--headless", "--json", "--only-summary",
             "--users", users, "--spawn-rate", users, "--run-time", f"{plan['seconds'] + 20:.0f}s",
             "--stop-timeout", "15", "--loglevel", "WARNING"]  # fmt: skip
    ran = subprocess.run(
        [sys.executable, "-m", "locust", *map(str, words)],
        env={**os.environ, "GTP_LOAD": str(room / "plan.json"), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    return json.loads(ran.stdout[ran.stdout.index("[") :])


def quantile(times: dict[str, int], share: float) -> float:
    """Return the time within which a share of requests was answered; Locust rounds them."""
    left = share * sum(times.values())
    for time_, count in sorted((float(key), value) for key, value in times.items()):
        left -= count
        if left <= 0:
            return time_
    return 0.0


def requests(figures: list[dict]) -> list[Report]:
    return [_request(one) for one in sorted(figures, key=lambda one: one["name"])]


def _request(one: dict) -> Report:
    slowest = quantile(one["response_times"], 0.95)
    return Report(
        one["num_failures"] == 0 and slowest <= MOST_MS,
        f"{one['name']:16} {one['num_requests']:6} requests, {one['num_failures']} failed,"
        f" median {quantile(one['response_times'], 0.5):.0f} ms, 95 %: {slowest:.0f} ms",
    )


# --- what became of it -------------------------------------------------------------------------


def wait_until_settled(service: Service) -> float:
    """Wait until nothing is left to do; return how many seconds that took."""
    begun = time.monotonic()
    while time.monotonic() - begun < LONGEST:
        with service.database.reading() as db:
            if not queue.is_due(db):
                break
        time.sleep(1)
    return time.monotonic() - begun


def jobs(service: Service, least: int) -> Report:
    """See that each upload was checked, and nothing failed."""
    with service.database.reading() as db:
        found = queue.JOBS.all(db)
        states = Counter(one.state for one in found)
        faults = {one.fault for one in found if one.state != DONE}
        count = len(uploads.UPLOADS.all(db))
    holds = set(states) == {DONE} and states[DONE] >= count >= least
    return Report(holds, f"{count} uploads, jobs: {states} {' '.join(sorted(faults))}".rstrip())


def grade(service: Service, course: Course) -> Report:
    """Grade the class; compare each mark with the one that is expected."""
    with service.database.acting(course.teacher) as act:
        begun = gradings.begin(act, course.assigned, public_only=False)
    seconds = wait_until_settled(service)
    with service.database.reading() as db:
        found = {one.key: one.marks for one in uploads.MARKS.all(db, grading=begun.id)}
    return marks(found, len(course.students), seconds)


def marks(found: dict[str, str], students: int, seconds: float) -> Report:
    """Compare the marks of a grading, by key and as its ledger has them."""
    expected = {key(number): BODIES[number % len(BODIES)][1] for number in range(students)}
    read = {name: canonical_json.loads(Marks, text) for name, text in found.items()}
    totals = {name: None if one.withheld else one.total for name, one in read.items()}
    wrong = sorted(name for name in expected | totals if expected.get(name) != totals.get(name))
    counts = dict(Counter(map(str, totals.values())))
    said = f"graded in {seconds:.0f} s: {len(totals)} marks {counts}"
    return Report(not wrong, f"{said}, not as expected: {' '.join(wrong[:5]) or 'none'}")


# --- all of it ---------------------------------------------------------------------------------


def measure(given: argparse.Namespace, database: str, room: Path) -> list[Report]:
    """Run a service under load; return what holds."""
    small_class.make(room)
    settings = Settings(room / "data", database)
    service = Service(settings)
    with contextlib.closing(service), run_service(settings) as (pid, base):
        course = make_course(service, room, given.students)
        plan = {"base": base, "assignment": course.path, "students": course.students,
                "seconds": given.seconds, "watchers": given.watchers}  # fmt: skip
        with service_memory.watching(pid, given.seconds) as seen:
            found = requests(locust(room, plan))
            after = wait_until_settled(service)
            found += [jobs(service, given.students), grade(service, course)]
        said = f"all was checked {after:.0f} s after the last request"
        fair = [] if given.hour else [fairness(waits(service))]
        return [*found, *fair, *service_memory.flat(seen), Report(True, said)]


@contextlib.contextmanager
def database(wanted: str, room: Path) -> Iterator[str]:
    """Give the address of an empty database: a file, on a server of its own, or the given one."""
    if wanted != "postgresql":
        yield "" if wanted == "sqlite" else wanted
        return
    with postgresql.use_server(room) as server, server.new_database() as address:
        yield address


def measure_on(wanted: str, given: argparse.Namespace) -> bool:
    """Measure on a database, and print what holds; return whether all does."""
    print(f"-- {wanted if wanted in SERVERS else 'a server'}", flush=True)
    with tempfile.TemporaryDirectory(prefix="load-") as name:
        (Path(name) / "server").mkdir()
        with database(wanted, Path(name) / "server") as address:
            found = measure(given, address, Path(name))
    for one in found:
        print(f"{'' if one.holds else 'NOT '}{one.said}", flush=True)
    return all(one.holds for one in found)


def command_line() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--students", type=int, default=STUDENTS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--watchers", type=int, default=WATCHERS)
    parser.add_argument("--hour", action="store_true", help="in an hour, for memory")
    parser.add_argument(
        "--database", default="both",
        help="sqlite, postgresql (a server is started), both, or the address of an empty one",
    )  # fmt: skip
    return parser


def main(words: list[str] | None = None) -> int:
    """Print what holds; return 1 if something does not, 2 without Locust."""
    given = command_line().parse_args(words or [])
    if given.hour:
        given.seconds = HOUR
    if importlib.util.find_spec("locust") is None:
        print("needs locust: pip install 'gtp-harness[load,service]'")
        return 2
    wanted = SERVERS if given.database == "both" else (given.database,)
    held = [measure_on(one, given) for one in wanted]  # both, if the first does not hold, too
    return int(not all(held))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
