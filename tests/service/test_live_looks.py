"""Pages that watch submissions: one look for all of them, and nothing older than a moment."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from sqlalchemy import event

from harness.service.courses import roster
from harness.service.pages import submission
from harness.service.people import accounts
from harness.service.records import WAITING
from harness.service.storage import courses, people, queue, uploads
from harness.service.web import access
from harness.service.web.service import LiveLooks, Look
from tests.harness import small_class
from tests.service.serving import FUTURE, Browser, hand_in, make_course, work

pytestmark = pytest.mark.processes

ROSTER = "student\nada\nben\n"
RUNNING = '{"word":"running","case":"one.gtp","test":1,"of":2,"command":"twice 1"}'


class Clock:
    """Time that stands until a test lets it go on."""

    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def course(service, counting):
    return make_course(service, ROSTER, deadline=FUTURE)


def submit(service, course, name):
    """Submit something for a student; return the ID."""
    student = Browser(service).enter(course.links[name])
    page = hand_in(student, course, small_class.submission(f"return 2 * n  # {name}"))
    return page.url.path.rpartition("/")[2]


@contextmanager
def count_statements(service):
    """Give the list of the statements that the database is sent meanwhile."""
    found = []

    def count(_db, _cursor, statement, *_):
        found.append(statement)

    event.listen(service.database.engine, "before_cursor_execute", count)
    try:
        yield found
    finally:
        event.remove(service.database.engine, "before_cursor_execute", count)


def test_fifty_pages_are_one_look(service, course):
    ids = [submit(service, course, name) for name in ("ada", "ben")]
    looks = LiveLooks(service.database, Clock())
    for _ in range(25):
        for upload in ids:
            looks.begin(upload)
    with count_statements(service) as alone:
        first = looks.look(ids[0])
    with count_statements(service) as more:
        found = [looks.find_fresh(upload) for upload in ids * 25]
    assert first == Look(is_running=True) and found == [first] * 50
    assert more == [] and len(alone) <= 5


@pytest.mark.stored
def test_who_begins_to_watch_does_not_wait_for_the_next_look(service, course):
    ada, ben = (submit(service, course, name) for name in ("ada", "ben"))
    looks = LiveLooks(service.database, Clock())
    looks.begin(ada)
    looks.look(ada)
    looks.begin(ben)
    assert looks.find_fresh(ben) is None and looks.find_fresh(ada)
    assert looks.look(ben) == Look(is_running=True)


def test_a_page_that_waits_long_is_shown_to_be_alive(service, course, monkeypatch):
    """A proxy cuts what says nothing for a minute: a check may wait longer."""
    upload = submit(service, course, "ada")
    monkeypatch.setattr(submission, "_SIGN_OF_LIFE", 0.0)
    monkeypatch.setattr(submission, "_PAUSE", 0.01)
    monkeypatch.setattr(submission, "_LONGEST", 0.3)
    ada = Browser(service).enter(course.links["ada"])
    told = ada.get(f"{course.assignment}/uploads/{upload}/events").text
    assert {*told.split("\n\n")} == {":", ""}
    assert service.live.find_fresh(upload) is None  # it was ended
    assert not service.live._watched
    with service.database.reading() as db:
        assert queue.checks(db, about=upload)[upload].state == WAITING


@pytest.mark.stored
def test_who_watches_a_check_that_begins_anew_misses_nothing(service, course):
    """A browser that has heard of three words connects again, after the worker has died."""
    upload = submit(service, course, "ada")
    events = f"{course.assignment}/uploads/{upload}/events"
    ada = Browser(service).enter(course.links["ada"])
    with service.database.changing() as db:
        for _ in range(3):
            uploads.say(db, upload, '{"word":"done","case":"one.gtp","failed":true,"again":false}')
    work(service)
    told = ada.get(events, headers={"last-event-id": "3"}).text
    assert (
        told.index("event: anew") < told.index("one.gtp: passed") < told.index("two.gtp: passed")
    )
    assert "one.gtp: has failures" not in ada.get(events).text
    assert ada.get(events, headers={"last-event-id": "9" * 5000}).text.endswith("data: \n\n")


def test_no_page_of_a_student_reads_the_whole_course(service, course, monkeypatch):
    """A class of five hundred made each page ten times as dear as one of ten."""
    ada = Browser(service).enter(course.links["ada"])

    def refuse(*_):
        raise AssertionError("the whole course is read for one student")

    with monkeypatch.context() as patched:
        patched.setattr(courses, "students", refuse)
        page = hand_in(ada, course).url.path
        asked = [ada.get(path) for path in (course.assignment, page)]
        patched.undo()
        work(service)
        patched.setattr(courses, "students", refuse)
        asked += [ada.get(path) for path in ("/", course.course, page, f"{page}/events")]
    assert {one.status_code for one in asked} == {200}
    assert roster.students(_list_students(service, course))  # and it is there to be read


def _list_students(service, course):
    with service.database.reading() as db:
        return courses.students(db, course.course.rpartition("/")[2])


def remove_student(service, course, _ada):
    with service.database.acting() as act:
        roster.remove(act, course.assignment.split("/")[2], "ada")


def end_session(service, _course, ada):
    with service.database.changing() as db:
        people.SESSIONS.remove(db, digest=accounts.digest_of(ada.cookies[access.COOKIE]))


@pytest.mark.stored
@pytest.mark.parametrize("leave", [remove_student, end_session])
def test_who_may_no_longer_watch_is_told_nothing_more(service, course, monkeypatch, leave):
    upload = submit(service, course, "ada")
    ada = Browser(service).enter(course.links["ada"])
    monkeypatch.setattr(submission, "_PAUSE", 0.01)
    monkeypatch.setattr(submission, "_LONGEST", 2.0)
    monkeypatch.setattr(submission, "_RECHECK", 0.0, raising=False)
    look = service.live.look

    def look_and_leave(name):
        found = look(name)
        if not found.words:
            leave(service, course, ada)
            with service.database.changing() as db:
                uploads.say(db, upload, RUNNING)
        return found

    monkeypatch.setattr(service.live, "look", look_and_leave)
    told = ada.get(f"{course.assignment}/uploads/{upload}/events").text
    assert told == "event: end\ndata: \n\n"
