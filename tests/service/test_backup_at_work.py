"""A backup while workers grade: restored, it comes to the same end, on both databases."""

import time
from contextlib import closing
from fractions import Fraction

import pytest

from harness.grading.ledger.ledger import Ledger
from harness.grading.records import Marks
from harness.service.operations import data
from harness.service.records import DONE
from harness.service.storage import queue, uploads
from harness.work import canonical_json
from tests.harness import small_class
from tests.harness.small_class import CLASS
from tests.service.running import Running, begin, hand_in, settle, until
from tests.service.serving import KINDS_AT_LENGTH, open_service, settings_of, work

pytestmark = [pytest.mark.processes, pytest.mark.long(90)]
STUDENTS = (CLASS[0], CLASS[2], CLASS[5])
MOMENTS = ("submissions are checked", "a class is graded")


@pytest.fixture(params=KINDS_AT_LENGTH)
def kind(request):
    return request.param


@pytest.fixture
def settings(kind, request, tmp_path):
    small_class.make(tmp_path)
    return settings_of(kind, request, tmp_path / "data")


@pytest.fixture
def elsewhere(kind, request, tmp_path):
    """Return settings of a new place for each moment."""
    folders = [tmp_path / f"restored{number}" for number in range(len(MOMENTS))]
    return [settings_of(kind, request, folder, has_tables=False) for folder in folders]


def test_a_backup_of_a_service_at_work_comes_to_the_same_end(settings, elsewhere, tmp_path):
    with closing(Running(settings)), open_service(settings) as service:
        assignment = hand_in(service, tmp_path, STUDENTS)
        until(lambda: count_done_jobs(service) >= 1)
        left = [back_up(service, tmp_path / "0")]
        grading = begin(service, assignment)
        until(lambda: count_done_jobs(service) >= len(STUDENTS) + 2)  # it is planned
        left.append(back_up(service, tmp_path / "1"))
        settle(service)
        check(service, assignment, grading)
    assert all(left)  # something was under way
    for number, place in enumerate(elsewhere):
        data.restore(tmp_path / str(number), place)
        with open_service(place) as service:
            finish(service)
            check(service, assignment, grading if number else begin_grading(service, assignment))


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
        planned = ledger.list_planned(ledger.find_run()[0])
        assert {ledger.states([one.basis])[one.basis].state for one in planned} == {"done"}


def count_done_jobs(service):
    with service.database.reading() as db:
        return len(queue.JOBS.all(db, state=DONE))


def back_up(service, target):
    """Copy the service; return how many jobs were left before and after it."""
    data.back_up(service.settings, target)
    with service.database.reading() as db:
        return len(queue.JOBS.all(db)) - len(queue.JOBS.all(db, state=DONE))


def finish(service):
    """Do what is left; what was leased by a process that goes on elsewhere is free later."""
    ends = time.monotonic() + 120
    with service.database.changing() as db:
        queue.JOBS.change(db, {"until": 0.0}, state="leased")
    while work(service) and time.monotonic() < ends:
        pass


def begin_grading(service, assignment):
    """Grade what was handed in before the backup; return the grading."""
    grading = begin(service, assignment)
    work(service)
    return grading
