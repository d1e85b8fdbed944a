"""The staff's first view of an assignment: all submissions and their progress."""

import re

import pytest

from harness.service.local_times import describe_date
from harness.service.records import FAULT
from harness.service.storage import queue
from tests.service.serving import Browser, hand_in, make_course, work

pytestmark = pytest.mark.processes

ROSTER = "student,name,group\nada,Ada Right,\nben,Ben Wrong,\ncyd,Cyd,duo\ndan,Dan,duo\neve,,\n"
_ROW = re.compile(r'<tr><td class="pick">.*?</td>(.*?)</tr>')
_MOMENT = re.compile(r"\d+ \w{3} \d{4}, \d\d:\d\d:\d\d \w+")
LATER = "2999-02-03T04:05"


def table(text):
    """The cells of each row of the table, without tags; moments are written as T."""
    rows = (re.findall(r"<td[^>]*>(.*?)</td>", row) for row in _ROW.findall(text))
    return [
        tuple(_MOMENT.sub("T", re.sub(r"<[^>]+>", "", cell)).strip() for cell in row)
        for row in rows
    ]


def keys(text):
    """The keys of the students and groups in the table."""
    return [row[0] for row in table(text)]


def test_the_staff_see_who_has_submitted_and_who_has_not(service, counting):
    course = make_course(service, ROSTER, deadline="2999-01-01T00:00")
    ada, ben, dan = (Browser(service).enter(course.links[one]) for one in ("ada", "ben", "dan"))
    hand_in(ada, course, name="first.tgz")
    hand_in(ada, course, name="second.tgz")
    work(service)
    hand_in(ben, course, name="ben.tgz")
    hand_in(dan, course, name="duo.tgz")
    with service.database.changing() as db:
        queue.JOBS.change(db, {"state": FAULT, "fault": "died"}, key="ben")
    own = {"deadline": LATER}
    assert course.teacher.post(f"{course.assignment}/students/duo/extension", **own).is_success

    page = course.teacher.get(course.assignment).text
    assert table(page) == [
        ("ada", "Ada Right", "Checked", "T", "", ""),
        ("ben", "Ben Wrong", "Not checked", "T", "", ""),
        ("duo", "Cyd, Dan", "Waiting to be checked", "T", "", "Extension"),
        ("eve", "eve", "Nothing submitted", "", "", ""),
    ]
    (tabs,) = re.findall(r'<nav class="tabs"[^>]*>(.*?)</nav>', page)
    assert re.findall(r">([^<]+)<", tabs) == [
        *("All 4", "Need you 1", "Submitted 3", "Nothing submitted 1", "Not graded 3"),
        "Extension 1",
    ]
    assert "3 of 4 submitted" in page and "1 needs you" in page and "Grade 3 submissions" in page
    assert "Nothing submitted" not in ada.get(course.assignment).text


def test_the_history_of_a_student_has_what_was_done_for_the_own_group_alone(service, counting):
    course = make_course(service, ROSTER, deadline="2999-01-01T00:00")
    tess, place = course.teacher, f"{course.assignment}/students"
    dan = Browser(service).enter(course.links["dan"])
    hand_in(dan, course, name="duo.tgz")
    tess.post(f"{place}/duo/extension", f"{place}/duo", deadline=LATER)
    tess.post(f"{place}/ada/comment", f"{place}/ada", text="Well done.")
    page = tess.get(f"{place}/duo").text
    (table,) = re.findall("<h2>History</h2>(.*?)</table>", page, re.DOTALL)
    rows = [re.sub("<[^>]+>", "", row) for row in re.findall('data-l="Who">(.*?)</tr>', table)]
    assert rows == [
        f"Tess Teacherdeadline extended deadline: {describe_date(LATER)}",
        "Danhanded in name: duo.tgz",
    ]
    assert "comment" in tess.get(f"{place}/ada").text.partition("<h2>History</h2>")[2]
    assert "History" not in tess.get(f"{place}/eve").text
