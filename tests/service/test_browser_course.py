"""A second teacher's story, by keyboard: what is done for single students and after a grading.

An assistant, a later deadline, a comment, another mark, changed marks that are accepted, the class
page, evidence, and what is saved. As in :mod:`tests.service.test_browser`, which says how pictures
are kept.
"""

from __future__ import annotations

import csv
import io

import pytest

from harness.service.local_times import describe_date
from harness.service.records import TEACHER
from harness.service.storage import courses, people
from tests.harness import small_class
from tests.service.serving import Browser, hand_in, link_for, make_course, work
from tests.service.stories import AT_LENGTH
from tests.service.test_browser import FUTURE, world
from tests.service.test_roster_files import GROUPS

__all__ = ["world"]
pytestmark = [pytest.mark.long(60), pytest.mark.processes]

LATER = "2999-02-03T04:05"


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    """What people have on their disks."""
    room = tmp_path_factory.mktemp("disk")
    (room / "mine.gtp").write_text("1 twice 2\n#? [4]\n")
    return room


@pytest.mark.parametrize("way", AT_LENGTH, ids=str)
def test_a_course_with_groups_assistants_and_marks_that_change(world, disk, way):
    course = make_course(world.service, GROUPS, deadline=FUTURE)
    assignment, links = f"{world.address}{course.assignment}", course.links
    submit(world, links["alan"], course, "return 2 * n if n != 2 else 5")
    submit(world, links["emmy"], course, "return 2 * n")
    with world.service.database.reading() as db:
        teacher = courses.MEMBERS.find(db, course=course.course.rpartition("/")[2], role=TEACHER)
        link = link_for(world.service, people.PEOPLE.find(db, id=teacher.person))
    with world.person(link, way) as tess:
        assistant = add_assistant(tess, course.course)
        with world.person(assistant, way) as ann:
            extend(ann, assignment)
        change_marks(world, tess, assignment, disk)
        decide(world, tess, assignment)
        look_at_results(world, tess, assignment)
        with world.person(links["ada"], way) as ada:
            see_the_mark(ada, assignment)


def add_assistant(tess, course):
    """Let somebody help; return the link."""
    tess.go(course)
    tess.follow("Staff")
    tess.follow("Add teacher or assistant")
    tess.write("Name", "Ann Assistant")
    for right in ("extend deadlines", "comment"):
        tess.page.get_by_label(right, exact=True).focus()
        tess.page.keyboard.press("Space")
    tess.press("Add to the course")
    tess.look("assistant")
    link = tess.page.locator("code").inner_text()
    tess.follow("Back to the staff")
    assert "Ann Assistant" in tess.text()
    tess.look("staff-assistants")
    return link


def submit(world, link, course, body):
    """Submit something, as the first story does it with a browser."""
    student = Browser(world.service).enter(link)
    hand_in(student, course, small_class.submission(body))
    work(world.service)


def extend(ann, assignment):
    """An assistant extends a deadline and comments, and may give no mark."""
    ann.go(assignment)
    ann.follow("Duo")
    ann.unfold("Extend the deadline")
    ann.set("Own deadline", LATER)
    ann.press("Set the deadline")
    assert describe_date(LATER) in ann.text()
    ann.write("The student or group sees it", "See test 2.")
    ann.press("Add the comment")
    assert "Ann Assistant" in ann.text() and "deadline extended" in ann.text()
    assert ann.page.get_by_role("button", name="Give this mark").count() == 0
    ann.look("student-assistant")
    remove_comment(ann)


def remove_comment(ann):
    """A comment for the wrong group is taken back; another one stays."""
    ann.write("The student or group sees it", "For another group.")
    ann.press("Add the comment")
    ann.press("Remove the comment: For another group.")
    assert "Remove this comment for Duo?" in ann.text() and "For another group." in ann.text()
    ann.look("question")
    ann.press("Yes, remove it")
    assert ann.page.locator(".said").all_inner_texts()[0].count("See test 2.") == 1
    assert ann.page.locator(".said").count() == 1 and "comment removed" in ann.text()


def grade(world, tess, assignment):
    """Grade; return the address of the grading."""
    tess.go(assignment)
    if tess.page.locator("summary", has_text="Grade again").count():
        tess.unfold("Grade again")
        tess.press("Grade all submissions")
    else:
        tess.press(tess.page.get_by_role("button", name="Grade").inner_text())
    grading = tess.page.url
    work(world.service)
    tess.go(grading)
    tess.page.get_by_role("button", name="Release the marks").wait_for()
    return grading


def change_marks(world, tess, assignment, disk):
    """A private case file that one group fails: its mark would change, and is changed."""
    first = grade(world, tess, assignment)
    assert "6 of 7" in tess.text()
    tess.go(assignment)
    tess.follow("Private case files")
    tess.choose("A private case file", disk / "mine.gtp")
    tess.press("Add case file")
    work(world.service)
    assert grade(world, tess, assignment) != first
    assert "Marks that would change" in tess.text()
    tess.look("grading-changes")
    tess.press("Change these marks")
    work(world.service)
    tess.go(tess.page.url)
    assert "Marks that changed" in tess.text() and "4 of 7" in tess.text()
    tess.look("grading-changed")


def decide(world, tess, assignment):
    """Give another mark, which is released."""
    grading = tess.page.url
    tess.go(assignment)
    tess.follow("Duo")
    tess.write("Points, 0 to 7", "5.5")
    tess.write("Reason", "The case file came late.")
    tess.press("Give this mark")
    assert "5.5 of 7" in tess.text() and "mark overridden" in tess.text()
    tess.look("student-overridden")
    work(world.service)
    tess.go(grading)
    tess.tick("Release the marks early")
    tess.press("Release the marks")
    tess.look("grading-overridden")


def look_at_results(world, tess, assignment):
    """The class page, evidence, and the marks that count, as they are saved."""
    grading = tess.page.url
    saved = tess.save("Download marks (CSV)", "link").decode("utf-8-sig")
    assert any("The case file came late." in row for row in csv.reader(io.StringIO(saved)))
    tess.unfold("All pages")
    tess.follow("class.html")
    assert "Ada Lovelace" in tess.page.inner_text("body")
    tess.look("class-page")
    tess.go(grading)
    tess.unfold("All pages")
    tess.follow("evidence/Duo.html")
    assert "mine.gtp" in tess.page.inner_text("body")
    tess.look("evidence")
    tess.go(grading)
    tess.unfold("All pages")
    assert b"Duo" in tess.save("marks.csv", "link")


def see_the_mark(ada, assignment):
    """Somebody else of the group sees what holds for all of it."""
    ada.go(assignment)
    told = ada.text()
    assert "You submit as a group" in told and describe_date(LATER) in told
    ada.look("assignment-group-released")
    ada.follow("Your mark and feedback")
    told = ada.text()
    assert "5.5 of 7" in told and "The case file came late." in told and "See test 2." in told
    ada.look("mark-overridden")
