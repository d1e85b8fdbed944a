"""From an empty folder to a released mark, as a teacher and two students see it."""

import hashlib
import re
import socket
import threading
import time

import pytest

from harness.grading.marks.marker import Marker
from harness.service.jobs import job_handlers
from harness.service.jobs.worker import Worker
from harness.service.records import CHECK, LEASED
from harness.service.storage import queue
from tests.harness import small_class
from tests.service.serving import (
    FUTURE,
    Browser,
    Made,
    hand_in,
    make_course,
    marks,
    path_of,
    teacher,
    work,
)

pytestmark = pytest.mark.processes

ROSTER = "student,name\nada,Ada Right\nben,Ben Wrong\ncyd,Cyd Absent\n"
WRONG = "return 2 * n if n != 2 else 5"
PRIVATE = "1 twice 21\n#? [42]\n"


def make_course_on_pages(service, roster, **assigned):
    """Make a course with the small class's assignment and a roster, as people do."""
    tess = teacher(service)
    course = path_of(tess.post("/courses", title="Games"))
    files = {"file": ("roster.csv", roster.encode())}
    assert tess.post(f"{course}/roster", files=files).status_code == 200
    rows = tess.post(f"{course}/links").text.splitlines()[1:]
    wanted = {"source": "counting", **assigned}
    assignment = path_of(tess.post(f"{course}/assignments", **wanted))
    return Made(tess, course, assignment, {row.split(",")[0]: row.split(",")[-1] for row in rows})


def test_a_course_from_its_roster_to_released_marks(service, counting):
    course = make_course_on_pages(service, ROSTER, deadline=FUTURE)
    ada, ben, cyd = (
        Browser(service).enter_on_pages(course.links[name]) for name in ("ada", "ben", "cyd")
    )
    right, wrong = small_class.submission("return 2 * n"), small_class.submission(WRONG)
    received = hand_in(ada, course, right), hand_in(ben, course, wrong)
    assert all("waiting to be checked" in page.text for page in received)
    assert hashlib.sha256(right).hexdigest() in received[0].text  # the receipt

    assert work(service) == 2
    adas, bens = (
        one.get(page.url.path).text for one, page in zip((ada, ben), received, strict=True)
    )
    assert "checked" in adas and "4 passed" in adas and "FAILED" not in adas
    assert "1 FAILED" in bens and "2 twice 2" in bens  # the very test
    assert bens.count("three.gtp") == 0  # the private one
    events = ben.get(f"{received[1].url.path}/events").text
    assert "one.gtp: has failures." in events and "two.gtp: passed." in events

    tess = course.teacher
    files = {"file": ("mine.gtp", PRIVATE.encode())}
    assert tess.post(f"{course.assignment}/private", files=files).status_code == 200
    grading = tess.post(f"{course.assignment}/gradings", all_the_same="yes").url.path
    assert work(service) == 5  # what the case file catches, the plan, two submissions, the marks
    page = tess.get(grading).text
    assert marks(page) == {"ada": "7 of 7", "ben": "6 of 7", "cyd": "0 of 7"}
    assert tess.get(f"{grading}/files/class.html").status_code == 200

    assert ada.get(f"{course.assignment}/mark").status_code == 404
    assert tess.post(f"{grading}/release", early="yes").status_code == 200
    assert "Ada Right" in ada.get(f"{course.assignment}/mark").text
    assert "Nothing was submitted" in cyd.get(f"{course.assignment}/mark").text
    assert "Ada Right" in ada.get(f"{course.assignment}/mark/feedback").text
    assert "Your mark" in ben.get(course.assignment).text


def test_who_watches_sees_the_test_that_runs_now(service, counting):
    course = make_course(service, ROSTER, deadline=FUTURE)
    ada = Browser(service).enter(course.links["ada"])
    slow = small_class.submission("time.sleep(0.8)\n    return 2 * n")
    page, seen = hand_in(ada, course, slow).url.path, ""
    worker = threading.Thread(target=work, args=[service])
    worker.start()
    try:
        while worker.is_alive() and "runs now" not in seen:
            seen = ada.get(page).text
        told = ada.get(f"{page}/events").text  # up to the end
    finally:
        worker.join()
    assert re.search(r'<p id="now">\w+\.gtp: test 1 of 2 runs now: 1 twice \d+</p>', seen)
    assert re.search(r"event: now\ndata: \w+\.gtp: test \d of 2 runs now: \d twice \d+\n", told)
    assert "runs now" not in ada.get(page).text + ada.get(f"{page}/events").text


def test_a_fault_is_seen_by_the_staff_and_tried_again(service, counting, monkeypatch):
    course = make_course(service, ROSTER, deadline=FUTURE)
    ada = Browser(service).enter(course.links["ada"])
    page = hand_in(ada, course).url.path
    with monkeypatch.context() as broken:
        broken.setitem(job_handlers.KINDS, CHECK, break_down)
        assert work(service) == 1
    assert "could not be checked" in ada.get(page).text
    assert "no such luck" not in ada.get(page).text
    assert (
        "the harness itself failed: ZeroDivisionError: no such luck"
        in course.teacher.get(page).text
    )
    course.teacher.post(f"{page}/again", page)
    assert work(service) == 1
    assert "4 passed" in ada.get(page).text


class NothingRun(Marker):
    """Sees that the harness failed in each case file."""

    def mark_submission(self, *rest):
        found = super().mark_submission(*rest)
        failed = tuple(one._replace(fault="no room on the disk") for one in found.attempts)
        return found._replace(attempts=failed)


def test_public_tests_that_could_not_be_run_are_told(service, counting, monkeypatch):
    """Else a student sees a page without any test, and thinks that nothing is wrong."""
    course = make_course(service, ROSTER, deadline=FUTURE)
    ada = Browser(service).enter(course.links["ada"])
    page = hand_in(ada, course).url.path
    with monkeypatch.context() as broken:
        broken.setattr(job_handlers, "Marker", NothingRun)
        assert work(service) == 1
    assert "could not be checked" in ada.get(page).text
    assert "no room" not in ada.get(page).text
    assert "one.gtp: no room on the disk" in course.teacher.get(page).text
    course.teacher.post(f"{page}/again", page)
    assert work(service) == 1
    assert "4 passed" in ada.get(page).text


@pytest.mark.stored
def test_what_three_workers_died_under_is_seen_and_tried_again(service, counting):
    course = make_course(service, ROSTER, deadline=FUTURE)
    ada = Browser(service).enter(course.links["ada"])
    page = hand_in(ada, course).url.path
    with service.database.changing() as db:  # two died, and the third one just now
        died = {"state": LEASED, "deaths": 2, "owner": f"{socket.gethostname()} 999999999 1@x"}
        assert queue.JOBS.change(db, {**died, "token": "t", "until": time.time() + 60}) == 1
    assert work(service) == 0
    assert "could not be checked" in ada.get(page).text and "died" not in ada.get(page).text
    assert "its worker died 3 times" in course.teacher.get(page).text
    course.teacher.post(f"{page}/again", page)
    assert work(service) == 1
    assert "4 passed" in ada.get(page).text


def test_a_grading_is_not_run_with_what_it_was_not_planned_with(service, counting):
    course = make_course(service, ROSTER, deadline=FUTURE)
    ada = Browser(service).enter(course.links["ada"])
    hand_in(ada, course)
    work(service)
    grading = course.teacher.post(f"{course.assignment}/gradings").url.path
    worker = Worker(service.settings, service.database)
    assert worker.step()  # the plan
    document = counting / "assignment.toml"
    document.write_text(document.read_text().replace("cpu = 1", "cpu = 3"))
    assert work(service) == 2
    page = course.teacher.get(grading).text
    assert "has changed since this grading was begun" in page
    assert "7 of 7" not in page
    again = course.teacher.post(f"{course.assignment}/gradings").url.path
    work(service)
    assert marks(course.teacher.get(again).text)["ada"] == "7 of 7"


def break_down(context, job):
    raise ZeroDivisionError("no such luck")
