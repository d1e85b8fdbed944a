"""A student is removed from a course and added again: nothing is lost, nothing is seen between."""

import json

import pytest

from harness.service.courses import making, staff
from harness.service.people import accounts
from harness.service.storage import courses, uploads
from tests.service.serving import Browser, grade_public, hand_in, make_course, marks, rows, work

pytestmark = pytest.mark.processes
ROSTER = "student,name,group,email\nada,Ada,,ada@x.org\nben,Ben,duo,ben@x.org\ncyd,Cyd,duo,\n"


@pytest.fixture
def course(service, counting):
    return make_course(service, ROSTER, deadline="2999-01-01T00:00")


def change(course, what, student):
    path = f"{course.course}/students/{what}"
    return course.teacher.post(path, course.course, student=student, sure="yes")


def test_who_is_removed_sees_and_counts_no_more_and_has_all_again_later(service, course):
    ada, tess = Browser(service).enter(course.links["ada"]), course.teacher
    upload = hand_in(ada, course).url.path
    work(service)
    first, found = grade_public(service, course)
    assert found == {"ada": "5 of 5", "duo": "0 of 5"}
    tess.post(f"{first}/release", early="yes")
    student = f"{course.assignment}/students/ada"
    tess.post(f"{student}/comment", student, text="Well done.")
    tess.post(f"{student}/extension", student, deadline="2999-02-01T00:00")

    page = change(course, "remove", "ada").text
    assert "Removed students" in page and "Add again" in page
    assert "Games" not in ada.get("/").text
    for path in (course.course, course.assignment, upload, f"{course.assignment}/mark"):
        assert ada.get(path).status_code == 404
    assert "ada" not in {row[0] for row in rows(tess.get(course.assignment).text)}
    assert tess.get(upload).status_code == 200  # the staff reads on
    assert marks(tess.get(first).text)["ada"] == "5 of 5"  # a mark that was given stays
    second, found = grade_public(service, course)
    assert found == {"duo": "0 of 5"}
    assert "Marks that would change" not in tess.get(second).text

    page = change(course, "restore", "ada").text
    assert "Removed students" not in page
    assert "this one counts" in ada.get(course.assignment).text
    assert "Your mark is 5 of 5." in ada.get(f"{course.assignment}/mark").text
    page = tess.get(student).text
    assert "Well done." in page and "2999-02-01" in page
    assert grade_public(service, course)[1] == {"ada": "5 of 5", "duo": "0 of 5"}


def test_an_upload_of_who_is_removed_before_the_check_is_checked(service, course):
    upload = hand_in(Browser(service).enter(course.links["ada"]), course).url.path
    change(course, "remove", "ada")
    work(service)
    change(course, "restore", "ada")
    page = Browser(service).enter(course.links["ada"]).get(upload).text
    assert "4 tests passed" in page
    with service.database.reading() as db:
        found = uploads.UPLOADS.find(db, id=upload.rpartition("/")[2])
    assert [one["key"] for one in json.loads(found.record)["students"]] == ["ada"]


def test_a_group_goes_on_without_who_is_removed(service, course):
    upload = hand_in(Browser(service).enter(course.links["ben"]), course).url.path
    change(course, "remove", "ben")
    cyd = Browser(service).enter(course.links["cyd"])
    assert cyd.get(upload).status_code == 200
    work(service)
    assert grade_public(service, course)[1]["duo"] == "5 of 5"
    change(course, "restore", "ben")
    assert Browser(service).enter(course.links["ben"]).get(upload).status_code == 200


def test_who_is_removed_gets_no_link_and_no_mail(service, course):
    course.teacher.post(f"{course.course}/links/send", page=course.course, sure="yes")
    change(course, "remove", "ada")
    links = course.teacher.post(f"{course.course}/links", sure="yes").text
    assert "ben" in links and "ada" not in links


def test_a_roster_adds_who_was_removed_again(service, course):
    change(course, "remove", "ada")
    files = {"file": ("a.csv", b"student,name\nada,Ada L\n")}
    page = course.teacher.post(f"{course.course}/roster", course.course, files).text
    assert "1 added again" in page
    ada = Browser(service).enter(course.links["ada"])  # the same person, by the same link
    assert "Games" in ada.get("/").text
    with service.database.reading() as db:
        (found,) = courses.MEMBERS.all(db, key="ada")
    assert found.name == "Ada L"


def test_a_group_is_not_called_as_who_was_removed(service, course):
    """The student could not be added again: two would submit under one name."""
    change(course, "remove", "ada")
    files = {"file": ("a.csv", b"student,group\nben,ada\n")}
    answer = course.teacher.post(f"{course.course}/roster", course.course, files)
    assert answer.status_code == 422 and "is called so, too" in answer.text


def test_nobody_who_is_not_there_is_removed_or_added(course):
    for what, student in (("remove", "zoe"), ("remove", "duo"), ("restore", "ada")):
        answer = change(course, what, student)
        assert answer.status_code == 422 and "There is no such student" in answer.text


def test_who_was_removed_becomes_no_teacher_of_the_course(service, course):
    change(course, "remove", "ada")
    with service.database.acting() as act:
        (member,) = courses.MEMBERS.all(act.db, key="ada")
        person = accounts.add_person(act, "Ada")._replace(id=member.person)
        with pytest.raises(making.UsageError, match="is a student of this course"):
            staff.make_teacher(act, member.course, person)
