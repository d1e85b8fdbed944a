"""A teacher's own assignments and games in a real browser: uploads, tests left out, private cases.

As in :mod:`tests.service.test_browser`, which says how pictures are kept.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.harness import small_class
from tests.service.serving import KINDS_AT_LENGTH, open_service, settings_of, work
from tests.service.stories import AT_LENGTH, World, listening
from tests.service.test_browser import FUTURE, links_of, new_teacher
from tests.service.test_own_files import FILES, NEWER, zip_files
from tests.service.test_private_cases import SIZES, game_files

pytestmark = [pytest.mark.long(60), pytest.mark.processes]


@pytest.fixture(scope="module", params=KINDS_AT_LENGTH)
def world(browser, tmp_path_factory, request):
    settings = settings_of(request.param, request, tmp_path_factory.mktemp("served") / "data")
    shots = os.environ.get("GTP_HARNESS_SHOTS")
    with open_service(settings) as service, listening(service) as address:
        yield World(service, address, browser, Path(shots) if shots else None)


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    """What people have on their disks."""
    room = tmp_path_factory.mktemp("disk")
    (room / "roster.csv").write_text("student,name\nada,Ada Wrong\n")
    wrong = small_class.submission("return 2 * n if n != 2 else 5")
    (room / "wrong.tgz").write_bytes(wrong)
    archives = {
        "doubling": FILES,
        "newer": NEWER,
        "takuzu": game_files("takuzu", lambda text: text.replace(SIZES, "sizes = [[3, 3]]")),
        "nogo": game_files("nogo", lambda text: text.replace("[2, 3, 4, 5]", "[3]")),
    }
    for name, files in archives.items():
        (room / f"{name}.zip").write_bytes(zip_files(files))
    return room


@pytest.mark.parametrize("way", AT_LENGTH, ids=str)
def test_an_assignment_of_ones_own_and_a_newer_upload_of_it(world, disk, way):
    with world.person(new_teacher(world), way) as tess:
        tess.write("Title", "Games")
        tess.press("Make the course")
        course = tess.page.url
        tess.choose("CSV with the columns", disk / "roster.csv")
        tess.press("Upload the roster")
        tess.follow("Back to the course")
        links = links_of(tess)
        assignment = upload(tess, course, disk / "doubling.zip")
        tess.look("own-assignment")
        with world.person(links["ada"], way) as ada:
            fail(world, ada, disk / "wrong.tgz")
        leave_out(world, tess, assignment)
        tess.go(assignment)
        tess.choose("As an archive", disk / "newer.zip")
        tess.press("Use the newer upload")
        assert "one.gtp:1" in tess.page.inner_text("#left-out")
        tess.look("own-assignment-newer")
        tess.follow("Points of the parts")
        tess.look("points-left-out")
        tess.go(assignment)
        tess.follow("Private case files")
        tess.look("private-left-out")
        find(world, tess, upload(tess, course, disk / "takuzu.zip"), "draft-conversations")
        find(world, tess, upload(tess, course, disk / "nogo.zip"), "draft-own-boards")


def upload(tess, course, archive):
    """Make an assignment of an archive; return its address."""
    tess.go(course)
    form = tess.page.locator("form[action$='/assignments/own']")
    form.locator("input[type=file]").first.set_input_files(archive)
    form.get_by_label("Its deadline").fill(FUTURE)
    with tess.page.expect_navigation():
        form.locator("button").press("Enter")
    return tess.page.url


def fail(world, ada, archive):
    """Submit what fails a public test, and see why."""
    ada.follow("Games")
    ada.follow("Doubling")
    ada.choose("Your archive", archive)
    ada.press("Submit")
    work(world.service)
    ada.page.get_by_text("checked", exact=True).wait_for()
    assert "2 twice 2" in ada.text(), ada.text()
    ada.look("upload-failed")
    ada.follow("Doubling")
    ada.look("assignment-student-failed")


def leave_out(world, tess, assignment):
    """Leave a test out that seems to be wrong."""
    tess.go(assignment)
    tess.follow("Points of the parts")
    tess.unfold("Weights of 4 tests")
    tess.set("one.gtp:1", "0")
    tess.press("See what would change")
    work(world.service)
    tess.page.get_by_role("button", name="Set these points and grade").wait_for()
    tess.press("Set these points and grade")
    work(world.service)


def find(world, tess, assignment, name):
    """Find cases for a game of one's own, and make a case file."""
    tess.go(assignment)
    tess.follow("Private case files")
    tess.set("Most tests to choose", "4")
    tess.press("Find positions")
    work(world.service)
    tess.page.get_by_role("button", name="Make the case file").wait_for()
    tess.look(name)
    tess.answer("Exchange position 1")
    tess.press("Make the case file")
    assert "positions.gtp" in tess.text()
