"""A ledger that others keep locked for long: what needs it is tried again, no mark is lost."""

import contextlib
import sqlite3
import time

import pytest

from harness.core.errors import ServerError
from harness.grading.ledger import ledger_server, sqlite_file
from harness.grading.ledger.ledger import Ledger
from harness.grading.ledger.places import ServerPlace
from harness.service.jobs import worker
from harness.service.records import CHECK, DONE, Job
from harness.service.storage import database, queue
from tests.service.serving import (
    KINDS,
    Browser,
    hand_in,
    make_course,
    marks,
    open_service,
    settings_of,
    work,
)

pytestmark = [pytest.mark.processes, pytest.mark.long(60), pytest.mark.stored]

SOON = 0.2  # seconds: others wait 30


@pytest.fixture(params=KINDS)
def service(request, tmp_path, monkeypatch):
    """Return a service that waits for locks for a moment alone, and tries again at once."""
    for module in (sqlite_file, database):
        monkeypatch.setattr(module, "_PATIENCE", SOON)
    impatient = [one.replace("30s", "200ms") for one in ledger_server._SETTINGS]
    monkeypatch.setattr(ledger_server, "_SETTINGS", impatient)
    monkeypatch.setattr(queue, "_LITTLE", 0.0)
    monkeypatch.setattr(worker, "_PATIENCE", 0.0)
    with open_service(settings_of(request.param, request, tmp_path / "data")) as found:
        yield found


@contextlib.contextmanager
def hold_lock(place):
    """Keep a ledger locked, as a copy of it or an administrator would."""
    if isinstance(place, ServerPlace):
        import psycopg

        with psycopg.connect(place.address) as db:
            db.execute("LOCK TABLE attempt, mark, result, run IN ACCESS EXCLUSIVE MODE")
            yield
            db.rollback()
        return
    with contextlib.closing(sqlite3.connect(place.path, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        yield
        db.execute("ROLLBACK")


MOMENTS = ("begin", "lease_free", "finish_all", "give", "check")


@pytest.mark.parametrize("moment", MOMENTS)
def test_what_finds_the_ledger_locked_is_tried_again(service, counting, monkeypatch, moment):
    """From one call on the ledger is locked until the worker gives up for now."""
    course = make_course(service, "student\nada\n")
    place = service.settings.ledger(course.assignment.rpartition("/")[2])
    ada = Browser(service).enter(course.links["ada"])
    hand_in(ada, course)
    work(service)
    grading = course.teacher.post(f"{course.assignment}/gradings").url.path
    held = contextlib.ExitStack()
    own, calls = getattr(Ledger, moment), []

    def meanwhile(self, *arguments, **named):
        if not calls:
            calls.append(moment)
            held.enter_context(hold_lock(place))
        return own(self, *arguments, **named)

    monkeypatch.setattr(Ledger, moment, meanwhile)
    one = worker.Worker(service.settings, service.database)
    ends = time.monotonic() + 60
    with held:
        while not calls and time.monotonic() < ends:
            step(one)
    while step(one):
        assert time.monotonic() < ends
    with service.database.reading() as db:
        assert {job.state for job in queue.JOBS.all(db)} == {DONE}
    assert calls
    assert marks(course.teacher.get(grading).text)["ada"] == "5.6 of 7"


def step(one):
    """Do one job as a worker does, which goes on after troubles of the database."""
    try:
        return one.step()
    except worker.HarnessError:
        return True


def test_a_signal_is_not_lost_where_the_database_is_away(service, monkeypatch):
    """Else the worker would go on, for nobody tells it twice to end."""

    def away(*_):
        raise ServerError("the database is away")

    monkeypatch.setattr(queue, "give_back", away)
    own = worker.Worker(service.settings, service.database)
    with pytest.raises(KeyboardInterrupt), own._settle(Job("j", CHECK, "a", "u")):
        raise KeyboardInterrupt
