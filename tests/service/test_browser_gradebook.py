"""A third teacher's story: a wrong private case, a gradebook that is filled in, evidence.

As in :mod:`tests.service.test_browser`, which says how pictures are kept.
"""

from __future__ import annotations

import pytest

from tests.harness import small_class
from tests.service.serving import work
from tests.service.stories import AT_LENGTH
from tests.service.test_browser import hand_in, links_of, make_assignment, new_teacher, world

__all__ = ["world"]
pytestmark = [pytest.mark.long(60), pytest.mark.processes]

CANVAS = "Student,ID,SIS Login ID,Section,Counting (9)\r\nAda,1001,ada,A,\r\nBen,1002,ben,A,EX\r\n"
WRONG_CASE = "boardsize 3\nclear_board\n1 score\n#? [B\\+9]\n"


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    """What people have on their disks."""
    room = tmp_path_factory.mktemp("disk")
    (room / "gradebook.csv").write_bytes(CANVAS.encode())
    (room / "wrong.gtp").write_text(WRONG_CASE)
    (room / "right.tgz").write_bytes(small_class.submission("return 2 * n"))
    (room / "junk.tgz").write_bytes(b"no archive")
    return room


@pytest.mark.parametrize("way", AT_LENGTH, ids=str)
def test_a_wrong_case_a_refused_upload_and_a_gradebook(world, disk, way):
    with world.person(new_teacher(world), way) as tess:
        tess.write("Title", "Games")
        tess.press("Make the course")
        course = tess.page.url
        tess.choose("CSV with the columns", disk / "gradebook.csv")
        tess.press("Upload the roster")
        tess.follow("Back to the course")
        links = links_of(tess)
        assignment = make_assignment(tess, course)
        with world.person(links["ada"], way) as ada:
            submit_twice(world, ada, disk, assignment)
        grade_all_the_same(world, tess, assignment, disk)
        fill_in(world, tess)
        tess.follow("ada")
        tess.look("student-evidence")
        tess.follow("one.gtp")
        assert "one.gtp" in tess.page.inner_text("body")


def submit_twice(world, ada, disk, assignment):
    """Hand in an archive, then something else: the first one counts."""
    ada.go(assignment)
    hand_in(world, ada, disk / "right.tgz")
    ada.go(assignment)
    ada.choose("Your archive", disk / "junk.tgz")
    ada.press("Submit")
    assert "Until then the submission right.tgz" in ada.text()
    ada.look("upload-waiting-after-another")
    work(world.service)
    ada.page.get_by_text("This one does not count.").wait_for()
    ada.look("upload-refused")
    ada.go(assignment)
    ada.look("assignment-student-refused")


def grade_all_the_same(world, tess, assignment, disk):
    tess.go(assignment)
    tess.follow("Private case files")
    tess.choose("A private case file", disk / "wrong.gtp")
    tess.press("Add it")
    work(world.service)
    tess.go(assignment)
    tess.look("assignment-doubts")
    tess.tick("Grade all the same")
    tess.press("Grade all submissions")
    work(world.service)
    tess.page.get_by_text("Private tests that may be wrong").wait_for()
    tess.page.reload()
    tess.look("grading-doubts")


def fill_in(world, tess):
    tess.press("Fill it in")
    work(world.service)
    tess.page.reload()
    tess.look("grading-gradebook")
    saved = tess.save("Canvas gradebook, filled in", "link").decode()
    assert "Ada,1001,ada,A,5\r\nBen,1002,ben,A,EX\r\n" in saved
