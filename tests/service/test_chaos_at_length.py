"""A class is graded while something gets SIGKILL every few seconds: the worst that can happen.

What is killed is drawn: the parent of all, the process that answers, the one that keeps house, a
worker or, on a server, all that serves the database's connections. Each is killed, and more than
once if it is at length. Afterwards each attempt has its result and each submission its one mark,
and both are those of ``grade``, which nobody disturbed. Somebody uploads by HTTP all the time, and
sends again what was not answered: each upload is there once.
"""

import contextlib
import csv
import functools
import random
import time
from collections import Counter
from contextlib import closing
from typing import NamedTuple

import psycopg
import pytest

from harness.assignments import assignment as assignments
from harness.core.errors import ServerError
from harness.grading import LEDGER, grade
from harness.grading.attempts.attempt_plan import GradeOptions
from harness.grading.ledger.ledger import Ledger
from harness.grading.records import Marks
from harness.service import monitoring
from harness.service.courses import gradings
from harness.service.jobs.result_files import folder_of
from harness.service.records import DONE
from harness.service.settings import Settings
from harness.service.storage import queue, uploads
from harness.work import canonical_json
from harness.work.records import Measurements
from tests.harness import small_class
from tests.harness.small_class import Student
from tests.service.running import (
    KEEPER,
    PARENT,
    WEB,
    WORKER,
    Running,
    begin,
    begin_anew,
    hand_in,
    settle,
    until,
)
from tests.service.serving import KINDS_AT_LENGTH, open_service
from tests.service.uploading import Uploader

pytestmark = pytest.mark.processes

BACKENDS = "database backends"
# A shell starts in a tenth of Python's time, and there are thousands.
ENGINE = """\
while read -r number name n; do
    [ "$number" = quit ] && { printf '=\\n\\n'; exit; }
    {body}
    printf '=%s %s\\n\\n' "$number" "$answer"
done
"""
# With the mark of each, of 7. Private tests ask from 7 on.
BODIES = {
    "answer=$((2 * n))": 7,
    "answer=$((2 * n + (n == 2)))": 6,
    "answer=$((2 * n)); [ $n = 10 ] && exit 3": 4,
    "answer=$((2 * n)); echo $n twice >&2": 7,
    "exit": 0,
}
QUESTIONS = 3  # in a private case file


class Size(NamedTuple):
    """How much of it."""

    students: int
    files: int  # private ones; there are two public ones
    pause: tuple[float, float]  # seconds between two kills, at least and at most
    done: int  # attempts and jobs between two kills, at least
    least: int  # kills of each kind
    upload: float  # seconds between two uploads, and between the halves of one
    broken: int  # uploads that were sent again, at least


SHORT = Size(students=5, files=2, pause=(0.5, 3), done=2, least=1, upload=0.3, broken=0)
LONG = Size(40, files=48, pause=(1, 4), done=25, least=10, upload=2, broken=3)  # 2,000 attempts


def make(room, size):
    """Write the assignment into a folder; return its own."""
    own = room / "counting"
    (own / "private").mkdir(parents=True)
    document = small_class.ASSIGNMENT.replace("2026-", "2999-")  # how late, a mark would tell
    document = document.replace("python3", "sh").replace("engine.py", "engine.sh")
    (own / "assignment.toml").write_text(document)
    for name, text in small_class.CASES.items():
        (own / name).write_text(text)
    for file in range(size.files):
        first = 7 + file * QUESTIONS
        asked = (f"{n} twice {n}\n#? [{2 * n}]\n" for n in range(first, first + QUESTIONS))
        (own / "private" / f"case{file}.gtp").write_text("".join(asked))
    return own


def submission(body):
    """Return what a student hands in."""
    program = ENGINE.replace("{body}", body)
    return small_class.archive({"engine.sh": program, "readme.txt": "Me.\n"})


def students(count):
    """Return so many students, each with one of the bodies."""
    bodies = [*BODIES.items()]
    return [Student(f"S{number:03}", *bodies[number % len(bodies)]) for number in range(count)]


# --- what came of it ----------------------------------------------------------------------------


class Came(NamedTuple):
    """What came of a class."""

    marks: dict[str, str]  # by key: as they are in force
    results: dict[tuple[str, str], str]  # by key and case file: the one that counts
    runs: dict[tuple[str, str], tuple[bool, ...]]  # whether each was run alone
    given: dict[str, int]  # marks, ever


def came(ledger, run):
    """Return what a grading left in its ledger; check that all is whole and done."""
    ledger.check()
    planned = ledger.list_planned(run)
    states = ledger.states([one.basis for one in planned])
    assert {one.state for one in states.values()} == {"done"}
    found = {(one.key, one.name): ledger.results(one.basis) for one in planned}
    in_force = ledger.in_force()
    return Came(
        {key: one.marks for key, one in in_force.items()},
        {where: runs[-1][0] for where, runs in found.items()},
        {where: tuple(map(is_alone, runs)) for where, runs in found.items()},
        {key: len(ledger.history(key)) for key in in_force},
    )


def is_alone(run):
    _, measured = run
    return canonical_json.loads(Measurements, measured).alone


def grade_undisturbed(assignment, folder):
    """Grade a submission of each kind by one call of ``grade``; return what came of it."""
    folder.mkdir()
    everybody = students(len(BODIES))
    with (folder / "class.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["student", "file"])
        for one in everybody:
            (folder / f"{one.name}.tgz").write_bytes(submission(one.body))
            rows.writerow([one.name.lower(), f"{one.name}.tgz"])
    wanted = GradeOptions(assignments.find(str(assignment)), folder / "class.csv", folder)
    grade.grade(wanted)
    with closing(Ledger(folder / LEDGER)) as ledger:
        return came(ledger, ledger.find_run()[0])


# --- the chaos ----------------------------------------------------------------------------------


class Watched:
    """A grading under the eyes of somebody who restarts attempts that died three times."""

    def __init__(self, service, grading):
        self.service, self.grading = service, grading
        self.is_concluded = False
        self.faults = []  # the kinds of jobs

    def is_further(self, least):
        """Return how much was done if that is so much, or all is done; else 0."""
        with contextlib.suppress(ServerError):
            self.faults += begin_anew(self.service)
            with self.service.database.reading() as db:
                self.is_concluded = bool(uploads.GRADINGS.find(db, id=self.grading).concluded)
                done = _attempts(db) + len(queue.JOBS.all(db, state=DONE))
            return done if done >= least or self.is_concluded else 0
        return 0


def _attempts(db):
    counted = queue.load_figures(db).items()
    return sum(sum(one.counts) for (name, _), one in counted if name == monitoring.ATTEMPTS.name)


class Kills(NamedTuple):
    """How often what was killed, those alone that found something to kill."""

    counts: Counter[str]
    before: int  # of them, before all had their marks


def kill_on(watched, running, server, size):
    """Kill something every few seconds until all is done, and each kind was killed so often.

    Some of it is done between two kills: on a very busy machine nothing would ever be otherwise.
    """
    draw, done = random.Random(17), 0
    kinds = [PARENT, WEB, KEEPER, WORKER, WORKER, *([BACKENDS] * 2 if server else [])]
    killed = Kills(Counter(dict.fromkeys(kinds, 0)), 0)
    for what in rounds(kinds, draw):
        time.sleep(draw.uniform(*size.pause))
        done = until(functools.partial(watched.is_further, done + size.done))
        if watched.is_concluded and min(killed.counts.values()) >= size.least:
            break
        count = kill_backends(server) if what == BACKENDS else running.kill(what)
        killed.counts[what] += bool(count)
        if not watched.is_concluded:
            killed = killed._replace(before=killed.counts.total())
    return killed


def kill_backends(server):
    """Kill what serves connections; return how many: none if it is not up since the last time."""
    with contextlib.suppress(psycopg.OperationalError):
        return server.kill_backends()
    return 0


def rounds(kinds, draw):
    """Yield each kind as often as the others, in any order."""
    while True:
        yield from draw.sample(kinds, len(kinds))


@pytest.fixture(params=KINDS_AT_LENGTH)
def place(request, tmp_path):
    """Return settings of a service, and the server that may be killed, if there is one."""
    if request.param == "sqlite":
        return Settings(tmp_path / "data"), None
    server = request.getfixturevalue("own_postgresql")
    server.execute("CREATE DATABASE tests OWNER grader")
    return Settings(tmp_path / "data", server.address("tests")), server


SIZES = [
    pytest.param(SHORT, id="short", marks=[pytest.mark.slow, pytest.mark.long(60)]),
    pytest.param(LONG, id="long", marks=[pytest.mark.slow, pytest.mark.long(900)]),
]


@pytest.mark.parametrize("size", SIZES)
def test_whatever_is_killed_all_is_as_if_nothing_was(place, size, tmp_path, record_property):
    settings, server = place
    calm = grade_undisturbed(make(tmp_path, size), tmp_path / "calm")
    started = time.monotonic()
    with closing(Running(settings)) as running, open_service(settings) as service:
        assignment = hand_in(service, tmp_path, students(size.students), submission)
        watched = Watched(service, begin(service, assignment))
        somebody = Uploader(service, running, assignment, submission("answer=$((2 * n))"))
        with somebody.uploading(size.upload):
            killed = kill_on(watched, running, server, size)
        settle(service)
        found = until(lambda: find_left(watched, assignment))
        assert until(somebody.uploads) == somebody.receipts
    seconds = round(time.monotonic() - started)
    uploads_ = f"{len(somebody.receipts)} uploads, {somebody.broken} of them sent again"
    told = f"{len(found.results)} attempts, {dict(killed.counts)}, {killed.before} of these before"
    told += f" the last mark, faults {watched.faults}, {uploads_}, {seconds} s"
    record_property("chaos", told)
    print(told)
    assert min(killed.counts.values()) >= size.least
    assert somebody.broken >= size.broken
    assert len(found.results) == size.students * (size.files + 2)
    compare(found, calm, students(size.students))


def find_left(watched, assignment):
    """Return what a grading left, all of whose jobs are done; None: the database is away."""
    service, grading = watched.service, watched.grading
    try:
        with service.database.reading() as db:
            assert {one.state for one in queue.JOBS.all(db)} == {DONE}
            assert service.database.log.tampering(db) == []
            run = uploads.GRADINGS.find(db, id=grading).run
            marked = {one.key: one.marks for one in uploads.MARKS.all(db, grading=grading)}
        with closing(Ledger(service.settings.ledger(assignment))) as ledger:
            found = came(ledger, run)
    except ServerError:
        return None
    assert marked == found.marks
    pages = gradings.names(folder_of(service.settings.assignment_folder(assignment), grading))
    assert {f"feedback/{key}.html" for key in marked} <= set(pages)
    return found


def compare(found, calm, everybody):
    """See that each student has the marks of the undisturbed one with the same program."""
    keys = [one.name.lower() for one in everybody]
    alike = {key: keys[place % len(BODIES)] for place, key in enumerate(keys)}
    assert found.marks == {key: calm.marks[alike[key]] for key in keys}
    totals = {key: canonical_json.loads(Marks, text).total for key, text in found.marks.items()}
    assert totals == {key: one.mark for key, one in zip(keys, everybody, strict=True)}
    assert found.results == {
        (key, name): calm.results[alike[key], name] for key, name in found.results
    }
    # Once, or a second time alone if it was in doubt: as it is without chaos.
    assert set(found.runs.values()) <= {(False,), (False, True)}
    assert set(found.given.values()) == {1}
