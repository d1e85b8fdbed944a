"""Gradings of one assignment, one after the other: whose marks count is never chance."""

import contextlib
import re
import time
from pathlib import Path

import pytest

from harness.archives import reading
from harness.core.errors import ReadingFailedError
from harness.grading import SET_ASIDE
from harness.grading.attempts.orders import SetAside
from harness.service import machines
from harness.service.jobs import job_handlers
from harness.service.jobs.assignment_context import open_assignment
from harness.service.jobs.worker import SharedMachine, Worker
from harness.service.records import CONCLUDE, DONE, FAULT, GRADE, LEASED, PLAN, WAITING
from harness.service.storage import courses, queue, uploads
from tests.cluster.test_set_aside import FAILED, PASSED, Away
from tests.harness import small_class
from tests.service.serving import Browser, hand_in, make_course, marks, rows, work
from tests.service.test_changing import asker

pytestmark = pytest.mark.processes

RUNNING = "A grading is running"
BUTTON = '<form class="grade"'


@pytest.fixture
def course(service, counting):
    return make_course(service, "student\nada\nben\n")


def begin(course):
    """Begin a grading on the page; return the answer."""
    return course.teacher.post(f"{course.assignment}/gradings")


def submit(service, course, body="return 2 * n"):
    ada = Browser(service).enter(course.links["ada"])
    hand_in(ada, course, small_class.submission(body))
    work(service)


def change(service, values, **of):
    with service.database.changing() as db:
        queue.JOBS.change(db, values, **of)


def one(service, path):
    """Return a grading by its path."""
    with service.database.reading() as db:
        return uploads.GRADINGS.find(db, id=path.rpartition("/")[2])


def test_a_grading_is_refused_as_long_as_another_one_runs(service, course):
    submit(service, course)
    page = course.teacher.get(course.assignment).text
    assert BUTTON in page and RUNNING not in page
    first, worker, steps = begin(course).url.path, Worker(service.settings, service.database), 0
    while not one(service, first).concluded:
        refused = begin(course)
        assert refused.status_code == 409 and "wait until it has marks" in refused.text
        page = course.teacher.get(course.assignment).text
        assert BUTTON not in page and RUNNING in page
        assert worker.step()
        steps += 1
    assert steps == 3  # it was planned, Ada's submission run, marks made
    assert begin(course).status_code == 200


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
@pytest.mark.parametrize("lose", [Path.unlink, lambda path: path.write_bytes(b"")])
def test_no_mark_is_made_beside_a_ledger_that_was_lost(service, course, lose):
    """A new ledger knows no mark in force, and so would change all of them unasked."""
    submit(service, course)
    begin(course)
    work(service)
    place = service.settings.ledger(course.assignment.rpartition("/")[2])
    kept = place.path.read_bytes()
    lose(place.path)
    late = {"deadline": "2000-01-01T00:00", "closes": "2999-01-01T00:00", "deduction": "50"}
    asker(service, course, course.assignment).ask("PATCH", "", json=late)
    second = begin(course)
    work(service)
    failed = course.teacher.get(second.url.path).text
    assert "was lost: restore it from a backup" in failed
    assert str(service.settings.data) not in failed
    place.path.write_bytes(kept)
    assert course.teacher.post(f"{second.url.path}/again", second.url.path).status_code == 200
    work(service)
    assert "1 mark would change" in course.teacher.get(course.assignment).text


class _Machines(Away):
    """Machines of a cluster that grade; see :class:`tests.cluster.test_set_aside.Away`."""

    def as_settings_say(self, _settings):
        return contextlib.nullcontext(self)


def on_machines(monkeypatch, *turns, after=lambda: None):
    own = _Machines(*turns, after=after)
    monkeypatch.setattr(machines, "cluster_machines", own.as_settings_say)
    return own


@pytest.mark.stored
@pytest.mark.long(4)
def test_what_a_machine_did_that_is_set_aside_meanwhile_is_run_again_before_marks_are_made(
    service, course, monkeypatch
):
    for student in ("ada", "ben"):
        hand_in(
            Browser(service).enter(course.links[student]),
            course,
            small_class.submission(f"return 2 * n  # {student}"),
        )
    work(service)
    book = SetAside(service.settings.cluster / SET_ASIDE)
    turns = [("liar", FAILED), ("honest", PASSED), ("honest", PASSED)]
    own = on_machines(
        monkeypatch,
        *turns,
        after=lambda: None if book.machines() or own.turns[1:] else book.add("liar", "it lies"),
    )
    path = begin(course).url.path
    while not one(service, path).concluded:  # making marks is put off for a moment
        work(service)
    assert own.turns == []
    found = marks(course.teacher.get(path).text)
    assert {found["ada"], found["ben"]} == {"5.6 of 7"}  # what a right engine gets


def test_a_grading_tells_of_a_machine_that_was_set_aside_since(service, course, monkeypatch):
    submit(service, course)
    on_machines(monkeypatch, ("liar", PASSED))
    path = begin(course).url.path
    work(service)
    said = "a machine was found that gives wrong results"
    assert said not in course.teacher.get(path).text
    SetAside(service.settings.cluster / SET_ASIDE).add("liar", "it lies")
    assert f"{said}: liar." in course.teacher.get(path).text
    own = on_machines(monkeypatch, ("honest", FAILED))
    again = begin(course).url.path
    work(service)
    assert own.turns == []
    assert said not in course.teacher.get(again).text


@pytest.mark.parametrize("kind", [PLAN, CONCLUDE])
def test_a_grading_that_failed_locks_nobody_out(service, course, kind):
    first = begin(course).url.path
    worker = Worker(service.settings, service.database)
    if kind == CONCLUDE:
        assert worker.step()
        with service.database.changing() as db:
            queue.follow_up(db)
    change(service, {"state": FAULT, "fault": "its worker died 3 times"}, kind=kind)
    assert '<span class="chip bad">Stopped</span>' in course.teacher.get(course.assignment).text
    page = course.teacher.get(first).text
    assert "its worker died 3 times" in page and "every 2s" not in page
    second = begin(course)
    assert second.status_code == 200
    # The first one cannot overtake the second, neither while that runs nor later.
    for _ in range(2):
        assert course.teacher.post(f"{first}/again", first).status_code == 409
        work(service)
    assert one(service, second.url.path).concluded


def test_a_grading_that_failed_is_tried_again(service, course):
    first = begin(course).url.path
    change(service, {"state": FAULT, "fault": "its worker died 3 times"}, kind=PLAN)
    assert course.teacher.post(f"{first}/again", first).status_code == 200
    assert begin(course).status_code == 409
    work(service)
    assert one(service, first).concluded


def test_marks_of_before_are_not_changed_while_later_ones_are_made(service, course):
    first = begin(course).url.path
    work(service)
    second = begin(course).url.path
    for asked in ("accept", "again"):
        assert course.teacher.post(f"{first}/{asked}", first).status_code == 409
    work(service)
    assert one(service, second).concluded > one(service, first).concluded


def test_only_changes_that_were_seen_are_made(service, counting):
    """Ben gets an extension after the list was shown that Tess confirms: it does not name him."""
    course = make_course(
        service, "student\nada\nben\n", deadline="2026-01-01T00:00", deduction="20"
    )
    tess = course.teacher
    submit(service, course, "return 2 * n if n != 2 else 5")
    ben = Browser(service).enter(course.links["ben"])
    hand_in(ben, course)
    work(service)
    begin(course)
    work(service)
    before = {"ada": "4.8 of 7", "ben": "5.6 of 7"}
    submit(service, course)
    second = begin(course).url.path
    work(service)
    assert "ben: 5.6" not in tess.get(second).text
    page = f"{course.assignment}/students/ben"
    assert tess.post(f"{page}/extension", page, deadline="2999-01-01T00:00").status_code == 200

    tess.post(f"{second}/accept", second)
    work(service)
    text = tess.get(second).text
    assert marks(text) == before
    assert "No mark was changed" in text and "ben: 5.6 of 7 becomes 7 of 7" in text
    tess.post(f"{second}/accept", second)
    work(service)
    text = tess.get(second).text
    assert marks(text) == {"ada": "5.6 of 7", "ben": "7 of 7"}
    assert "No mark was changed" not in text

    assert tess.post(f"{page}/extension", page, deadline="").status_code == 200
    tess.post(f"{second}/again", second)  # what was accepted is not asked again, the rest is
    work(service)
    text = tess.get(second).text
    assert marks(text)["ben"] == "7 of 7" and "ben: 7 of 7 becomes 5.6 of 7" in text


@pytest.mark.stored
def test_marks_wait_for_a_submission_that_is_begun_anew(service, course):
    """Another worker has it, and this one has nothing else to do than to make the marks."""
    submit(service, course)
    first = begin(course).url.path
    worker = Worker(service.settings, service.database)
    assert worker.step()
    change(service, {"state": FAULT, "fault": "its worker died 3 times"}, kind=GRADE)
    work(service)
    assert marks(course.teacher.get(first).text)["ada"] == ""
    assert course.teacher.post(f"{first}/again", first).status_code == 200
    with service.database.changing() as db:
        elsewhere = queue.lease(db)
        assert elsewhere.kind == GRADE
        queue.JOBS.change(db, {"owner": "elsewhere 1 1"}, id=elsewhere.id)
    work(service)
    assert not one(service, first).concluded
    change(service, {"state": WAITING, "until": 0.0, "token": ""}, kind=GRADE)
    change(service, {"until": 0.0}, kind=CONCLUDE)  # it was put off
    work(service)
    assert marks(course.teacher.get(first).text)["ada"] == "5.6 of 7"


@pytest.mark.stored
def test_an_upload_that_the_harness_cannot_read_costs_no_mark_and_stops_nobody(
    service, course, monkeypatch
):
    """What reads archives broke over one of them, whatever is in it."""
    submit(service, course)
    killer = small_class.submission("return 2 * n  # and more")

    def read(file, meter):
        if file.read() == killer:
            raise ReadingFailedError("the reader of an archive died")
        file.seek(0)
        return reading.read_here(file, meter)

    monkeypatch.setattr(reading, "_chosen", read)
    ben = Browser(service).enter(course.links["ben"])
    page = hand_in(ben, course, killer).url.path
    work(service)
    with service.database.reading() as db:
        assert [one.fault for one in queue.JOBS.all(db, state=FAULT)] == [
            "the reader of an archive died"
        ]
    assert "could not be checked" in ben.get(page).text
    path = begin(course).url.path
    work(service)
    shown = course.teacher.get(path).text
    assert marks(shown) == {"ada": "5.6 of 7", "ben": ""}
    monkeypatch.setattr(reading, "_chosen", None)
    again = begin(course).url.path
    work(service)
    assert marks(course.teacher.get(again).text) == {"ada": "5.6 of 7", "ben": "5.6 of 7"}


def open_alone(service, assigned):
    """Give an assignment to a worker as if there were no other."""
    alone = SharedMachine(service.settings.locks)
    return open_assignment(service.settings, service.database, assigned, alone)


def test_a_worker_that_lost_a_conclusion_makes_no_marks(service, course):
    """A teacher accepts changes while it writes; its own marks know nothing of that."""
    submit(service, course)
    begin(course)
    work(service)
    submit(service, course, "return 2 * n if n != 2 else 5")
    second = begin(course).url.path
    work(service)
    assert len(rows(course.teacher.get(second).text)) == 2
    with service.database.changing() as db:
        queue.again(db, CONCLUDE, second.rpartition("/")[2])
        lost = queue.lease(db)
        assert (lost.kind, lost.state) == (CONCLUDE, LEASED)
        assigned = courses.ASSIGNMENTS.find(db, id=lost.assignment)
    assert course.teacher.post(f"{second}/accept", second).status_code == 200
    with (
        open_alone(service, assigned) as found,
        pytest.raises(job_handlers.UnfinishedError),
    ):
        job_handlers.conclude(found, lost)
    assert not one(service, second).concluded
    work(service)
    assert marks(course.teacher.get(second).text)["ada"] == "4.8 of 7"


@pytest.mark.stored
def test_a_worker_that_dies_after_it_made_marks_has_made_them(service, course):
    """Killed before it says that the job is done: nobody does it again, or notes it again."""
    submit(service, course)
    grading = begin(course).url.path.rpartition("/")[2]
    worker = Worker(service.settings, service.database)
    assert worker.step() and worker.step()
    with service.database.changing() as db:
        queue.follow_up(db)
        job = queue.lease(db)
        assert job.kind == CONCLUDE
        assigned = courses.ASSIGNMENTS.find(db, id=job.assignment)
    with open_alone(service, assigned) as found:
        job_handlers.conclude(found, job)
    change(service, {"until": 0.0, "owner": "elsewhere 1 1"}, kind=CONCLUDE)  # it is dead
    work(service)
    with service.database.reading() as db:
        noted = service.database.log.entries(db, [grading])
        (job,) = queue.JOBS.all(db, kind=CONCLUDE)
    assert [one.what for one in noted].count("graded") == 1
    assert (job.state, job.deaths) == (DONE, 0)


def test_a_clock_that_is_set_back_changes_neither_what_counts_nor_which_marks_hold(
    service, course, monkeypatch
):
    """It went an hour fast when Ada submitted first, and was graded."""
    now = time.time
    ada = Browser(service).enter(course.links["ada"])
    with monkeypatch.context() as fast:
        fast.setattr(time, "time", lambda: now() + 3600)
        hand_in(ada, course, small_class.submission("return 2 * n if n != 2 else 5"))
        work(service)
        first = begin(course).url.path
        work(service)
        course.teacher.post(f"{first}/release", first, early="yes")
    assert "4.8 of 7" in ada.get(f"{course.assignment}/mark").text

    page = hand_in(ada, course).url.path
    work(service)
    assert "This one counts." in ada.get(page).text
    second = begin(course).url.path
    work(service)
    for asked, ticks in (("accept", {}), ("release", {"early": "yes"})):
        assert course.teacher.post(f"{second}/{asked}", second, **ticks).status_code == 200
        work(service)
    assert "5.6 of 7" in ada.get(f"{course.assignment}/mark").text
    page = course.teacher.get(course.assignment).text.partition("<h2>Gradings</h2>")[2]
    listed = [*dict.fromkeys(re.findall(r"gradings/([0-9a-f]+)\"", page))]
    assert listed == [second.rpartition("/")[2], first.rpartition("/")[2]]  # the last one first
