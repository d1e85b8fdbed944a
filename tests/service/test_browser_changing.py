"""A teacher's story, by keyboard: an assignment is changed after somebody has submitted to it.

A form that is not taken, what would change, an early release, and what cannot be removed. As in
:mod:`tests.service.test_browser`, which says how pictures are kept.
"""

from __future__ import annotations

import pytest

from harness.service.local_times import describe_date
from tests.harness import small_class
from tests.service.stories import AT_LENGTH
from tests.service.test_browser import hand_in, links_of, new_teacher, world
from tests.service.test_late_terms import at

__all__ = ["world"]
pytestmark = [pytest.mark.long(60), pytest.mark.processes]
FUTURE = "2999-01-01T00:00"


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    """What people have on their disks."""
    room = tmp_path_factory.mktemp("disk")
    (room / "roster.csv").write_text("student,name\nada,Ada Right\n")
    (room / "a1.tgz").write_bytes(small_class.submission("return 2 * n"))
    return room


@pytest.mark.parametrize("way", AT_LENGTH, ids=str)
def test_an_assignment_is_changed_and_stays(world, disk, way):
    with world.person(new_teacher(world), way) as tess:
        tess.write("Title", "Games")
        tess.press("Make the course")
        course = tess.page.url
        tess.choose("CSV with the columns", disk / "roster.csv")
        tess.press("Upload the roster")
        tess.go(course)
        links = links_of(tess)
        assignment = make_assignment(tess, course)
        with world.person(links["ada"], way) as ada:
            ada.follow("Games")
            ada.follow("Counting")
            hand_in(world, ada, disk / "a1.tgz")
            move_the_deadline(tess, assignment)
            ada.go(assignment)
            assert "late by" in ada.text() and "50 % of the points" in ada.text()
            ada.look("assignment-student-late")
        keep_what_is_there(tess, course, assignment)


def make_assignment(tess, course):
    """Type a wrong number first: the form comes again with what was typed."""
    tess.go(course)
    tess.set("Deadline", FUTURE)
    tess.write("Late penalty in percent", "half")
    tess.press("Make the assignment")
    form = tess.page.locator("form[action$='/assignments']")
    assert "This was not done." in form.inner_text()
    assert "expected a percentage" in form.inner_text()
    assert tess.field("Deadline").input_value()[:16] == FUTURE
    tess.look("course-form-not-taken")
    tess.field("Late penalty in percent").fill("50")
    tess.press("Make the assignment")
    assert "50 % of the points reached are taken off" in tess.text()
    return tess.page.url


def move_the_deadline(tess, assignment):
    """See who would be late before it is so."""
    tess.go(assignment)
    tess.follow("Change or remove it")
    tess.look("assignment-change")
    tess.set("Deadline", at(-2)[:16])
    tess.press("Change it")
    assert "Nothing has been changed yet" in tess.text() and "late by" in tess.text()
    tess.look("assignment-change-seen")
    tess.press("Change it")
    assert describe_date(at(-2)) in tess.text() and "late by" in tess.text()


def keep_what_is_there(tess, course, assignment):
    """What was submitted cannot be removed: the assignment is hidden, the course renamed."""
    tess.go(assignment)
    tess.follow("Change or remove it")
    assert "It cannot be removed: 1 submission" in tess.text()
    tess.tick("Hide it from students")
    tess.press("Change it")
    assert "Hidden from students" in tess.text()
    tess.go(course)
    tess.look("course-hidden-assignment")
    tess.follow("Rename or remove the course")
    assert "cannot be removed" in tess.text()
    tess.look("course-change")
    tess.field("Title").fill("Games 2")
    tess.press("Rename the course")
    assert tess.page.url == course and "Games 2" in tess.text()
