"""What the staff do for one student or group: on the pages, and what comes of it in the mark."""

import datetime
import re

import pytest

from harness.errors import UsageError
from harness.service.courses import extending
from harness.service.records import Assigned
from harness.service.storage import courses
from tests.harness import small_class
from tests.service.serving import Browser, counting, made, opened, settings_of, work

__all__ = ["counting"]
pytestmark = pytest.mark.processes

ROSTER = "student,name,group\nada,Ada Right,\nben,Ben Wrong,\ncyd,Cyd,duo\ndan,Dan,duo\n"
MARK = re.compile(r"<tr><td>(\w+)</td><td>([^<]*)</td>")


@pytest.fixture
def service(request, tmp_path):
    with opened(settings_of("sqlite", request, tmp_path / "data")) as found:
        yield found


def at(hours):
    now = datetime.datetime.now().replace(second=0, microsecond=0)
    return (now + datetime.timedelta(hours=hours)).isoformat()


def hand_in(student, course, expected=200):
    files = {"file": ("a1.tgz", small_class.submission("return 2 * n"))}
    found = student.post(f"{course.assignment}/uploads", course.assignment, files)
    assert found.status_code == expected, found.text
    return found


def graded(service, course):
    """Grade public case files; return the path of the grading and the marks on its page."""
    grading = course.teacher.post(f"{course.assignment}/gradings", public_only="yes").url.path
    work(service)
    return grading, dict(MARK.findall(course.teacher.get(grading).text))


def test_an_extension_counts_for_who_has_it_alone(service, counting):
    """Handed in late by all; half of the points is the price."""
    course = made(service, ROSTER, deadline=at(-2), deduction="50")
    who = {name: Browser(service).enter(course.links[name]) for name in ("ada", "ben", "cyd")}
    for student in who.values():
        hand_in(student, course)
    for key in ("ada", "duo"):
        page = f"{course.assignment}/students/{key}"
        answer = course.teacher.post(f"{page}/extension", page, deadline=at(3))
        assert answer.status_code == 200 and at(3)[:16].replace("T", " ") in answer.text
    _, marks = graded(service, course)
    assert marks == {"ada": "5 of 5", "ben": "2.5 of 5", "duo": "5 of 5"}
    assert "Your deadline" in who["cyd"].get(course.assignment).text
    assert "Your deadline" not in who["ben"].get(course.assignment).text

    page = f"{course.assignment}/students/ada"
    assert course.teacher.post(f"{page}/extension", page, deadline="").status_code == 200
    grading, marks = graded(service, course)
    assert marks["ada"] == "5 of 5"  # which is in force, until somebody says that it changes
    course.teacher.post(f"{grading}/accept", grading)
    work(service)
    assert dict(MARK.findall(course.teacher.get(grading).text))["ada"] == "2.5 of 5"
    with service.database.reading() as db:
        told = [(one.what, one.details) for one in service.database.log.entries(db)]
    assert any("deadline extended" in what and '"duo"' in how for what, how in told)


def test_an_extension_opens_what_is_closed(service, counting):
    course = made(service, ROSTER, deadline=at(-3), closes=at(-2))
    ada = Browser(service).enter(course.links["ada"])
    hand_in(ada, course, 422)
    page = f"{course.assignment}/students/ada"
    course.teacher.post(f"{page}/extension", page, deadline=at(1))
    hand_in(ada, course)


WRONG = [
    ({"deadline": "2026-01-02T00:00"}, "2026-01-01T12:00", "expected a time after that of all"),
    ({"deadline": "2026-01-02T00:00"}, "2026-01-02T00:00", "expected a time after that of all"),
    ({"deadline": "2026-01-02T00:00"}, "soon", "expected a local time"),
    ({}, "2026-01-29T23:55", "expected a time after that of all"),  # the assignment's own
]


@pytest.mark.parametrize(("dates", "own", "said"), WRONG)
def test_a_deadline_that_is_none_is_not_taken(service, counting, dates, own, said):
    course = made(service, ROSTER, **dates)
    page = f"{course.assignment}/students/ada"
    answer = course.teacher.post(f"{page}/extension", page, deadline=own)
    assert answer.status_code == 422 and said in answer.text
    with service.database.reading() as db:
        assert courses.extensions(db, course.assignment.split("/")[-1]) == {}


def test_there_may_be_nothing_to_extend(service):
    """An assignment without dates; one that only closes may be extended after that."""
    with service.database.acting() as act:
        assigned = Assigned("a", "", "", "", "", "", "", "", 0, 0.0)
        with pytest.raises(UsageError, match="has none that could be extended"):
            extending.extend(act, assigned, "ada", "2026-01-02T00:00")
        closing = assigned._replace(closes="2026-01-02T00:00")
        with pytest.raises(UsageError, match="after that of all, 2026-01-02 00:00"):
            extending.extend(act, closing, "ada", "2026-01-01T00:00")
