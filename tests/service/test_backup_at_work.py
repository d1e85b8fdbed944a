"""A backup while workers grade: what is made of it comes to the same end, on both databases."""

import time
from contextlib import closing

import pytest

from harness.service.operating import backing_up
from harness.service.records import DONE
from harness.service.settings import Settings
from harness.service.storage import queue, uploads
from tests.harness import small_class
from tests.postgresql import USER
from tests.service.serving import KINDS, opened, settings_of, work
from tests.service.test_chaos import STUDENTS, Running, begin, check, hand_in, settle, until

pytestmark = [pytest.mark.processes, pytest.mark.long(90)]
MOMENTS = ("submissions are checked", "a class is graded", "sheets are written")


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def settings(kind, request, tmp_path):
    small_class.make(tmp_path)
    return settings_of(kind, request, tmp_path / "data")


@pytest.fixture
def elsewhere(kind, request, tmp_path):
    """Return settings of a new place for each moment."""
    if kind == "sqlite":
        yield [Settings(tmp_path / f"restored{number}") for number in range(len(MOMENTS))]
        return
    server, names = request.getfixturevalue("postgresql"), []
    first = request.getfixturevalue("database").rpartition("/")[2]
    for number in range(len(MOMENTS)):
        names.append(f"{first}_{number}")
        server.execute(f"CREATE DATABASE {names[-1]} OWNER {USER}")
    yield [
        Settings(tmp_path / f"restored{number}", server.address(name))
        for number, name in enumerate(names)
    ]
    for name in names:
        server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def test_a_backup_of_a_service_at_work_comes_to_the_same_end(settings, elsewhere, tmp_path):
    with closing(Running(settings)), opened(settings) as service:
        assignment = hand_in(service, tmp_path, STUDENTS)
        until(lambda: done(service) >= 1)
        left = [back_up(service, tmp_path / "0")]
        grading = begin(service, assignment)
        until(lambda: planned(service, grading) and done(service) >= len(STUDENTS) + 2)
        left.append(back_up(service, tmp_path / "1"))
        begin(service, assignment)
        left.append(back_up(service, tmp_path / "2"))
        settle(service)
        check(service, assignment, grading)
    assert left[0] and left[1]  # something was under way
    for number, place in enumerate(elsewhere):
        backing_up.restore(tmp_path / str(number), place)
        with opened(place) as service:
            finish(service)
            check(service, assignment, grading if number else begun(service, assignment))


def done(service):
    with service.database.reading() as db:
        return len(queue.JOBS.all(db, state=DONE))


def planned(service, grading):
    with service.database.reading() as db:
        return uploads.GRADINGS.find(db, id=grading).run


def back_up(service, target):
    """Copy the service; return how many jobs were left before and after it."""
    backing_up.back_up(service.settings, target)
    with service.database.reading() as db:
        return len(queue.JOBS.all(db)) - len(queue.JOBS.all(db, state=DONE))


def finish(service):
    """Do what is left; what was leased by a process that goes on elsewhere is free later."""
    ends = time.monotonic() + 120
    with service.database.changing() as db:
        queue.JOBS.change(db, {"until": 0.0}, state="leased")
    while work(service) and time.monotonic() < ends:
        pass


def begun(service, assignment):
    """Grade what was handed in before the backup; return the grading."""
    grading = begin(service, assignment)
    work(service)
    return grading
