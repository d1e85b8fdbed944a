"""A service under load, by Locust: 500 students submit in two minutes, 50 watch live pages.

Said and checked: no request fails, pages take 300 ms at most (the 95th percentile), everything is
graded, nobody waits more than twice as long as somebody with as many before, and memory stays. One
machine does all of it: the service, its workers and those who ask. Needs the extra ``load``.

    python -m tests.benchmarks.bench_service --students 20 --seconds 10 --watchers 5
    python -m tests.benchmarks.bench_service --database postgresql://me@localhost/empty
    python -m tests.benchmarks.bench_service --soak 20000
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
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx

from harness.service import service_log
from harness.service.courses import making, roster
from harness.service.people import entering
from harness.service.people.secrets import form_token
from harness.service.records import CHECK, DONE, STUDENT, Assigned
from harness.service.settings import Settings
from harness.service.storage import courses, queue
from harness.service.web.service import Service
from tests.harness import small_class

ROOT = Path(__file__).parents[2]
STUDENTS, SECONDS, WATCHERS = 500, 120.0, 50
MOST_MS = 300  # for a page, of 95 of 100
MOST_RATIO = 2.0
LEAST_AHEAD = 20  # with fewer before, a wait is one attempt more or less
LONGEST = 3600.0  # seconds until all is graded
GROWTH = 1.25  # of the memory of the process that answers, from the middle on


class Report(NamedTuple):
    """Something that is to hold, and whether it does."""

    holds: bool
    said: str


# --- the service -------------------------------------------------------------------------------


def start(settings: Settings) -> tuple[subprocess.Popen, str]:
    """Return a service as a process, and its address."""
    words = ["--data", settings.data, "--port", "0"]
    words += ["--database", settings.database] if settings.database else []
    process = subprocess.Popen(
        [sys.executable, "-m", "harness.cli", "serve", *map(str, words)],
        stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    for line in process.stdout:
        if found := re.match(r"Pages: (\S+)", line):
            return process, found[1]
    raise SystemExit("the service did not start")


def course(service: Service, room: Path, students: int) -> tuple[str, list[dict]]:
    """Make a course of so many; return the path of its assignment, and who they are."""
    with service.database.acting() as act:
        by = act._replace(by=entering.add_person(act, "Tess").id)
        made = making.course(by, "Load").id
        wanted = Assigned("", made, "", str(room / "counting"), "", "2999-01-01T12:00",
                          "2999-01-01T12:00", "", 0, 0.0)  # fmt: skip
        assigned = making.assign(by, wanted)
        names = "\n".join(f"s{number:04}" for number in range(students))
        roster.take(by, made, roster.read(f"student\n{names}\n".encode()))
        sessions = [
            entering.enter(act, entering.link(act, one.person, 600.0, once=True).text)[1].text
            for one in courses.MEMBERS.all(act.db, "key", course=made, role=STUDENT)
        ]
    found = [{"session": one, "form_token": form_token(one)} for one in sessions]
    return f"/courses/{made}/assignments/{assigned.id}", found


def answering(process: subprocess.Popen) -> int:
    """Return the process of a service that answers: the first it started."""
    task = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return int(task.read_text().split()[0])


def memory(pid: int) -> float:
    """Return the resident megabytes of a process."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024


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
    found = []
    for one in sorted(figures, key=lambda one: one["name"]):
        slowest = quantile(one["response_times"], 0.95)
        found.append(
            Report(
                one["num_failures"] == 0 and slowest <= MOST_MS,
                f"{one['name']:16} {one['num_requests']:6} requests, {one['num_failures']} failed,"
                f" median {quantile(one['response_times'], 0.5):.0f} ms, 95 %: {slowest:.0f} ms",
            )
        )
    return found


# --- what became of it -------------------------------------------------------------------------


class Wait(NamedTuple):
    """How long a check waited, and how many waited before it when it came."""

    seconds: float
    ahead: int


def wait_until_settled(service: Service) -> float:
    """Wait until nothing is left to do; return how many seconds that took."""
    begun = time.monotonic()
    while time.monotonic() - begun < LONGEST:
        with service.database.reading() as db:
            if not queue.is_due(db):
                break
        time.sleep(1)
    return time.monotonic() - begun


def waits(service: Service) -> list[Wait]:
    """Return the waits of the first uploads, in the order in which they came."""
    with service.database.reading() as db:
        jobs = {one.id: one for one in queue.JOBS.all(db, "made", kind=CHECK)}
    begun = {
        str(one["job"]): _seconds(str(one["at"])) - float(one["seconds"])
        for one in service_log.read_log(service.settings)
        if one["what"] == "job" and one["ended"] == "done"
    }
    first = [
        (one.made, begun[one.id]) for one in jobs.values() if not one.turn and one.id in begun
    ]
    return [
        Wait(start - made, sum(other < made < then for other, then in first))
        for made, start in first
    ]


def _seconds(moment: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(moment).timestamp()


def fairness(found: list[Wait]) -> Report:
    """Compare waits of those who had as many before them, give or take a twentieth."""
    worst, pair = 1.0, None
    for one in found:
        for other in found:
            alike = abs(one.ahead - other.ahead) <= max(one.ahead, other.ahead) / 20
            if alike and min(one.ahead, other.ahead) >= LEAST_AHEAD:
                ratio = one.seconds / max(other.seconds, 0.001)
                if ratio > worst:
                    worst, pair = ratio, (one, other)
    longest = max((one.seconds for one in found), default=0.0)
    said = f"waits: {longest:.0f} s at most; with as many before, {worst:.2f} times at most"
    return Report(worst <= MOST_RATIO, f"{said} {pair or ''}")


def make_report(service: Service) -> Report:
    with service.database.reading() as db:
        states = queue.counts(db)
        faults = {one.fault for one in queue.JOBS.all(db) if one.state != DONE}
    return Report(set(states) == {DONE}, f"jobs: {states} {' '.join(sorted(faults))}".rstrip())


# --- memory ------------------------------------------------------------------------------------


@contextlib.contextmanager
def watching(pid: int, seconds: float) -> Iterator[list[float]]:
    """Note the memory of a process ten times in so many seconds, while others ask it."""
    seen, ended = [memory(pid)], threading.Event()

    def watch() -> None:
        while not ended.wait(seconds / 10):
            seen.append(memory(pid))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()
        seen.append(memory(pid))


def flat(seen: list[float]) -> Report:
    """Compare the memory in the middle with that at the end: first requests load what all use."""
    told = " ".join(f"{one:.0f}" for one in seen)
    return Report(seen[-1] <= GROWTH * seen[len(seen) // 2], f"memory, MB: {told}")


def soak(base: str, plan: dict, pid: int, count: int) -> Report:
    """Ask pages so often; compare the memory after a half with that after all."""
    seen = []
    with httpx.Client(base_url=base, timeout=60) as client:
        for number in range(count):
            student = plan["students"][number % len(plan["students"])]
            cookie = {"cookie": f"gtp_harness_session={student['session']}"}
            path = ("/", plan["assignment"], "/sign-in")[number % 3]
            assert client.get(path, headers=cookie).status_code == 200
            if number % max(count // 10, 1) == 0:
                seen.append(memory(pid))
    return flat([*seen, memory(pid)])


# --- all of it ---------------------------------------------------------------------------------


def measure(given: argparse.Namespace, room: Path) -> list[Report]:
    """Run a service under load; return what holds."""
    small_class.make(room)
    settings = Settings(room / "data", given.database)
    service = Service.open(settings)
    path, students = course(service, room, given.students)
    process, base = start(settings)
    try:
        plan = {"base": base, "assignment": path, "students": students,
                "seconds": given.seconds, "watchers": given.watchers}  # fmt: skip
        pid = answering(process)
        if given.soak:
            return [soak(base, plan, pid, given.soak)]
        assert httpx.get(f"{base}/sign-in", timeout=60).status_code == 200
        with watching(pid, given.seconds) as seen:
            found = requests(locust(room, plan))
            after = wait_until_settled(service)
        found += [make_report(service), fairness(waits(service)), flat(seen)]
        return [*found, Report(True, f"graded {after:.0f} s after the last request")]
    finally:
        process.terminate()
        process.wait()
        service.close()


def main(words: list[str] | None = None) -> int:
    """Print what holds; return 1 if something does not."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--students", type=int, default=STUDENTS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--watchers", type=int, default=WATCHERS)
    parser.add_argument("--database", default="", help="an empty one on a PostgreSQL server")
    parser.add_argument("--soak", type=int, default=0, help="so many requests for memory alone")
    given = parser.parse_args(words or [])
    if importlib.util.find_spec("locust") is None:
        print("needs locust: pip install 'gtp-harness[load,service]'")
        return 2
    with tempfile.TemporaryDirectory(prefix="load-") as room:
        found = measure(given, Path(room))
    for one in found:
        print(f"{'' if one.holds else 'NOT '}{one.said}")
    return int(not all(one.holds for one in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
