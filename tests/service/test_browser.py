"""The student's and the teacher's story in a real browser, by keyboard.

With script and without; each page is looked at on a phone and on a desk. With
GTP_HARNESS_SHOTS=FOLDER pictures of all pages are left there, to be looked at.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from harness.reading import shipped
from harness.service.people.accounts import digest_of
from harness.service.storage import people
from harness.service.web.access import COOKIE
from tests.harness import small_class
from tests.service.serving import (
    FUTURE,
    KINDS_AT_LENGTH,
    Browser,
    add_person,
    link_for,
    open_service,
    settings_of,
    work,
)
from tests.service.serving import grade as grade_at_once
from tests.service.serving import hand_in as upload
from tests.service.serving import make_course as make_course_at_once
from tests.service.stories import AT_LENGTH, WAYS, World, listening
from tests.service.test_roster_files import GROUPS

pytestmark = [pytest.mark.long(60), pytest.mark.processes]

ROSTER = "student,name,group\nada,Ada Right,\nben,Ben Wrong,\n"


@pytest.fixture(scope="module", params=KINDS_AT_LENGTH)
def world(browser, tmp_path_factory, request):
    """A service with the small class's assignment, and a browser; once for all stories."""
    room = small_class.make(tmp_path_factory.mktemp("shipped"))
    shutil.rmtree(room / "submissions")
    settings = settings_of(request.param, request, tmp_path_factory.mktemp("served") / "data")
    shots = os.environ.get("GTP_HARNESS_SHOTS")
    with pytest.MonkeyPatch.context() as patched, open_service(settings) as service:
        patched.setattr(shipped, "folder", lambda: room)
        with listening(service) as address:
            yield World(service, address, browser, Path(shots) if shots else None)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """What people have on their disks."""
    room = tmp_path_factory.mktemp("disk")
    (room / "roster.csv").write_text(ROSTER)
    (room / "mine.gtp").write_text("1 twice 21\n#? [42]\n")
    (room / "game.sgf").write_text("(;GM[1]SZ[5];B[bb];W[cb];B[bc];W[cc];B[bd];W[cd])")
    for name, body in (("right", "return 2 * n"), ("wrong", "return 2 * n if n != 2 else 5")):
        (room / f"{name}.tgz").write_bytes(small_class.submission(body))
    folder = room / "mine" / ".git"
    folder.mkdir(parents=True)
    (folder / "HEAD").write_text("ref")
    (room / "mine" / "engine.py").write_text(small_class.ENGINE.format(body="return 2 * n"))
    (room / "mine" / "readme.txt").write_text("Me.")
    return room


def new_teacher(world):
    person = add_person(world.service, "Tess Teacher", is_admin=True)
    return link_for(world.service, person)


@pytest.mark.parametrize("way", AT_LENGTH, ids=str)
def test_from_an_empty_service_to_released_marks(world, files, way):
    with world.person(new_teacher(world), way) as tess:
        course, links = make_course(tess, files)
        assignment = make_assignment(tess, course)
        with world.person(links["ada"], way) as ada, world.person(links["ben"], way) as ben:
            submit(world, ada, files / "right.tgz")
            submit(world, ben, files / "wrong.tgz")
            assert "2 twice 2" in ben.text()
            withdraw(world, ben)
            submit_folder(world, ben, files / "mine", way)
            grade(world, tess, assignment, files, way)
            for student, mark in ((ada, "7 of 7"), (ben, "7 of 7")):
                student.go(assignment)
                student.look("assignment-student-released")
                student.follow("Your mark and feedback")
                student.look("mark")
                assert mark in student.text()
                student.follow("Feedback, test by test")
                assert mark in student.page.inner_text("body")


def make_course(tess, files):
    tess.look("courses")
    course = create_course(tess)
    tess.look("course-empty")
    import_roster(tess, files / "roster.csv")
    tess.look("roster")
    tess.follow("Go to the students")
    tess.look("students")
    links = links_of(tess)
    for page in ("Send links by mail", "Settings", "Staff", "Add teacher or assistant"):
        tess.follow(page)
        tess.look(page)
    return course, links


def create_course(tess):
    """Return the address of a new course, whose page is shown."""
    tess.follow("New course")
    tess.look("course-new")
    tess.write("Title", "Games")
    tess.press("Create course")
    return tess.page.url


def import_roster(tess, path):
    """Send a roster from a page of the course."""
    tess.follow("Students")
    tess.look("students-empty")
    tess.follow("Import roster")
    tess.look("roster-import")
    tess.choose("Roster file", path)
    tess.press("Import")


def links_of(tess):
    """Return the links of the students: a CSV that is saved."""
    rows = tess.save("Download sign-in links").decode().splitlines()[1:]
    return {row.split(",")[0]: row.split(",")[-1] for row in rows}


def make_assignment(tess, course):
    tess.go(course)
    tess.follow("New assignment")
    tess.look("new-which")
    tess.follow("Counting")
    tess.set("Deadline", FUTURE)
    tess.look("new-dates")
    tess.press("Next: who sees what")
    tess.look("new-visibility")
    tess.press("Create assignment")
    tess.look("assignment-staff-empty")
    return tess.page.url


def submit(world, student, archive):
    student.follow("Games")
    student.look("course-student")
    student.follow("Counting")
    student.look("assignment-student")
    hand_in(world, student, archive)


def hand_in(world, student, archive):
    student.choose("Your archive", archive)
    student.press("Submit")
    assert "waiting to be checked" in student.text()
    student.look("upload-waiting")
    work(world.service)
    wait_for_result(student)
    student.look("upload-checked")


def wait_for_result(student):
    """Wait for the first line about a submission that was checked."""
    student.page.locator(".status b", has_text="Passed").wait_for()


def withdraw(world, student):
    student.unfold("⋯")
    student.press("Withdraw")
    assert "no longer counts" in student.text()
    student.look("question")
    student.press("Yes, withdraw it")
    assert "withdrawn" in student.text() and "not submitted anything" in student.text()


def submit_folder(world, student, folder, way):
    """Drop a folder into the page, or choose it where no script runs."""
    if way.has_script:
        student.drop("Submit", folder)
        student.page.get_by_text("2 files are ready").wait_for()
    else:
        student.choose("Or your folder", folder)
    student.press("Submit")
    assert "a1.tgz" in student.text()
    work(world.service)
    wait_for_result(student)


def find_positions(world, tess, files):
    """Positions of a game record: one is dropped, one exchanged, none becomes a case file."""
    tess.choose("Game records", files / "game.sgf")
    tess.press("Find positions")
    tess.look("draft-waiting")
    work(world.service)
    tess.page.get_by_role("button", name="Make the case file").wait_for()
    tess.look("draft")
    for action, change in (("Drop", -1), ("Exchange", 0)):
        before = boards(tess)
        tess.answer(f"{action} position 1")
        after = boards(tess)
        assert len(after) == len(before) + change and before[0] not in after
    tess.follow("Private case files")
    tess.page.get_by_text("mine.gtp").wait_for()
    tess.look("private")


def boards(who):
    """Return the ids of the positions on a page."""
    return [one.get_attribute("id") for one in who.page.locator("article.position").all()]


def grade(world, tess, assignment, files, way):
    tess.go(assignment)
    tess.follow("Private case files")
    tess.choose("A private case file", files / "mine.gtp")
    tess.press("Add case file")
    find_positions(world, tess, files)
    work(world.service)
    tess.go(assignment)
    tess.press("Grade 2 submissions")
    tess.look("grading-running")
    work(world.service)
    tess.page.get_by_role("button", name="Release the marks").wait_for()
    tess.look("grading-done")
    tess.tick("Release the marks early")
    tess.press("Release the marks")
    assert "Released" in tess.text()
    tess.go(assignment)
    tess.look("assignment-staff")
    tess.follow("ada")
    tess.look("student-staff")
    review(tess, way)
    other_points(world, tess, assignment)
    tess.go("/tokens")
    tess.look("tokens")


def review(tess, way):
    """Go from student to student: by keys, which are not heard in a field, or by links."""
    heading = tess.page.locator("h1")
    assert "1 of 2" in tess.text() and "Ada Right" in heading.inner_text()
    if not way.has_script:
        tess.follow("Next")
        assert "Ben Wrong" in heading.inner_text()
        return
    tess.write("Reason", "next")
    for key, name in (("n", "Ben"), ("n", "Ben"), ("p", "Ada"), ("j", "Ben"), ("k", "Ada")):
        heading.click()  # out of the field
        tess.page.keyboard.press(key)
        heading.get_by_text(name).wait_for()
    tess.reach("Keys n, p")
    tess.page.keyboard.press("Enter")
    tess.page.keyboard.press("n")
    assert "Ada Right" in heading.inner_text()


def other_points(world, tess, assignment):
    """Other points, a test left out: each mark that would change is seen, nothing is changed."""
    tess.go(assignment)
    tess.follow("Points")
    tess.unfold("Weights of 4 tests")
    tess.look("points")
    tess.set("Points for public", "8")
    tess.set("one.gtp:2", "0")
    tess.press("See what would change")
    work(world.service)
    tess.page.get_by_role("button", name="Set these points and grade").wait_for()
    tess.look("preview")
    assert "7 of 7 becomes 11 of 11" in tess.text()
    assert "public: one.gtp:2" in tess.text()


def test_pages_of_marks_that_change_are_for_everybody_who_reads(world, files):
    """Of a group with a later deadline, a comment and another mark; as axe says."""
    service, course = world.service, make_course_at_once(world.service, GROUPS, deadline=FUTURE)
    tess, one = course.teacher, course.assignment
    student, private = f"{one}/students/Duo", f"{one}/private"
    for name, file in (("alan", "wrong.tgz"), ("emmy", "right.tgz")):
        upload(Browser(service).enter(course.links[name]), course, (files / file).read_bytes())
    work(service)
    tess.post(f"{student}/extension", student, deadline="2999-02-03T04:05")
    tess.post(f"{student}/comment", student, text="See test 2.")
    grade_at_once(service, course)
    tess.post(private, private, {"file": ("mine.gtp", b"1 twice 2\n#? [4]\n")})
    work(service)
    grading = tess.post(f"{one}/gradings", one, all_the_same="yes").url.path
    work(service)
    with service.database.reading() as db:
        teacher = link_for(service, people.of_session(db, digest_of(tess.cookies[COOKIE])))
    with world.person(teacher, WAYS[0]) as reader:
        look_at(reader, {"grading-changes": grading})
        tess.post(f"{grading}/accept", grading)
        work(service)
        told = {"points": "5.5", "reason": "The case file came late."}
        tess.post(f"{student}/override", student, **told)
        work(service)
        tess.post(f"{grading}/release", early="yes")
        look_at(reader, {"student-overridden": student, "staff": f"{course.course}/staff"})
        pages = ("class.html", "evidence/Duo.html")
        look_at(reader, {"grading-overridden": grading})
        look_at(reader, {page: f"{grading}/files/{page}" for page in pages})
    with world.person(course.links["ada"], WAYS[0]) as ada:
        look_at(ada, {"assignment-group-released": one, "mark-overridden": f"{one}/mark"})
        assert "5.5 of 7" in ada.text() and "See test 2." in ada.text()


def look_at(reader, paths):
    for name, path in paths.items():
        reader.go(path)
        reader.look(name)
