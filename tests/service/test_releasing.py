"""Marks released while students can still submit, and gradings that wait for a decision."""

import datetime

import pytest

from harness.service.courses.deadlines import list_open_dates
from harness.service.local_times import describe_date
from harness.service.records import DONE, FAULT, GRADE, Course, CourseAssignment
from harness.service.storage import courses, queue, uploads
from tests.harness import small_class
from tests.service.serving import Browser, grade, hand_in, make_course, work
from tests.service.test_changing import asker
from tests.service.test_gradebooks import api_of
from tests.service.test_late_terms import at

pytestmark = pytest.mark.processes
ROSTER = "student\nada\nben\n"
OPEN = "Students can still submit"
NOW = datetime.datetime(2026, 3, 1, 12, 0)


def submit(service, course, body="return 2 * n", student="ada"):
    ada = Browser(service).enter(course.links[student])
    hand_in(ada, course, small_class.submission(body))
    work(service)


def later(minutes):
    return (NOW + datetime.timedelta(minutes=minutes)).isoformat() if minutes else ""


DATES = [  # minutes from now of the deadline, the end, ada's extension; of grace; what is told
    (None, None, None, 0, []),
    (-9, None, None, 0, []),
    (-9, -5, -7, 0, []),
    (-9, None, None, 10, ["the deadline is"]),
    (9, 20, None, 0, ["the deadline is", "late submissions are accepted until"]),
    (-9, 20, None, 0, ["late submissions are accepted until"]),
    (-9, -5, 3, 0, ["the last extension ends"]),
]


@pytest.mark.parametrize(("deadline", "closes", "own", "grace", "said"), DATES)
def test_until_when_students_can_submit(service, deadline, closes, own, grace, said):
    one = CourseAssignment("a", "", "", "", "", later(deadline), later(closes), "", grace, 0.0)
    with service.database.acting() as act:
        courses.COURSES.add(act.db, Course("c", "Games", 0.0))
        courses.ASSIGNMENTS.add(act.db, one._replace(course="c"))
        courses.extend(act.db, "a", ["ada"], later(own))
        found = list_open_dates(act.db, one, NOW)
    assert [words.rsplit(" ", 5)[0] for words in found] == said


def test_marks_are_released_early_only_if_somebody_wants_that(service, counting):
    course = make_course(service, ROSTER, deadline=at(-5))
    submit(service, course)
    page = f"{course.assignment}/students/ben"
    course.teacher.post(f"{page}/extension", page, deadline=at(3))
    grading = grade(service, course)
    text = course.teacher.get(grading).text
    assert OPEN in text and f"the last extension ends {describe_date(at(3))}" in text
    refused = course.teacher.post(f"{grading}/release", grading)
    assert refused.status_code == 409 and "students can still submit" in refused.text.lower()
    ada = Browser(service).enter(course.links["ada"])
    assert ada.get(f"{course.assignment}/mark").status_code == 404
    tess = asker(service, course, course.assignment)
    place = f"/gradings/{grading.rpartition('/')[2]}/release"
    assert "Confirm an early release" in tess.post(place, status=409)["detail"]
    assert course.teacher.post(f"{grading}/release", grading, early="yes").status_code == 200
    assert ada.get(f"{course.assignment}/mark").status_code == 200
    with service.database.reading() as db:
        log = service.database.log.entries(db)
    (entry,) = (one for one in log if one.what == "marks released")
    assert "the last extension ends" in entry.details


def test_after_the_last_date_nothing_is_asked(service, counting):
    course = make_course(service, ROSTER, deadline=at(-5), closes=at(-4))
    grading = grade(service, course)
    assert OPEN not in course.teacher.get(grading).text
    text = course.teacher.post(f"{grading}/release", grading, sure="yes").text
    assert "Released" in text and "Release the marks" not in text


def test_a_grading_that_waits_for_a_decision_says_so(service, counting):
    course = make_course(service, ROSTER, deadline=at(5))
    submit(service, course)
    first = grade(service, course)
    listed = course.teacher.get(course.assignment).text
    assert ">Done<" in listed and "Needs your decision" not in listed
    submit(service, course, "return 7")
    second = grade(service, course)
    listed = course.teacher.get(course.assignment).text
    said = f'<a href="{second}#decide">Needs your decision: 1 mark would change</a>'
    assert said in listed and f"{first}#decide" not in listed and "Review 1 mark<" in listed
    tess = asker(service, course, course.assignment)
    items = tess.get("/gradings")["items"]
    assert [one["decisions"] for one in items] == [[], ["1 mark would change"]]
    course.teacher.post(f"{second}/accept", second)
    work(service)
    assert "Needs your decision" not in course.teacher.get(course.assignment).text

    with service.database.changing() as db:
        grading = uploads.GRADINGS.find(db, id=second.rpartition("/")[2])
        values = {"state": FAULT, "fault": "it broke"}
        assert queue.JOBS.change(db, values, about=grading.id, kind=GRADE, state=DONE)
    listed = course.teacher.get(course.assignment).text
    assert "Needs your decision: the harness failed in" in listed


def test_marks_that_would_change_are_released_unchanged_only_if_that_is_confirmed(
    service, counting
):
    course = make_course(service, ROSTER)
    tess, api = course.teacher, api_of(service, "Tess Teacher")
    grade(service, course)
    submit(service, course)  # a mark in force changes only when that is accepted
    path = grade(service, course)
    page = tess.get(path).text
    assert "Change these marks" in page and 'name="unchanged"' in page
    refused = tess.post(f"{path}/release", path)
    assert refused.status_code == 409 and "1 mark would change: change them first" in refused.text
    assert api("POST", f"/api/v1{path}/release").status_code == 409
    released = tess.post(f"{path}/release", path, unchanged="yes").text
    assert "Marks that were not changed" in released and "To change them, grade again" in released
    assert "Change these marks" not in released

    path = grade(service, course)
    tess.post(f"{path}/accept", path)
    work(service)
    assert 'name="unchanged"' not in tess.get(path).text
    assert "Release the marks" not in tess.post(f"{path}/release", path, sure="yes").text


def test_the_api_releases_unchanged_marks_if_asked(service, counting):
    course = make_course(service, ROSTER)
    grade(service, course)
    submit(service, course)
    path = grade(service, course)
    answer = api_of(service, "Tess Teacher")("POST", f"/api/v1{path}/release?unchanged=true")
    assert answer.status_code == 200 and answer.json()["state"] == "released"
