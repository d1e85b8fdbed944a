"""A class through the service and through ``grade``: the same marks, sheets and pages."""

import csv
import datetime
import re
import shutil
from contextlib import closing

import pytest

from harness.assignments import assignment as assignments
from harness.cli import main
from harness.grading import LEDGER, ORIGINALS, grade
from harness.grading.grade import GradeOptions
from harness.grading.ledger.ledger import Ledger
from harness.service.storage import uploads
from harness.service.work.folders import folder_of
from tests.harness import small_class
from tests.harness.small_class import CLASS
from tests.service.serving import KINDS, Browser, counting, made, opened, settings_of, work
from tests.service.test_story import hand_in

__all__ = ["counting"]
pytestmark = [pytest.mark.processes, pytest.mark.long(60)]

# Two who are right, one of them with a second try; wrong, dead, hanging and silent ones; an
# archive that is refused, and somebody who hands in nothing.
STUDENTS = {one.name.split()[0].lower(): one for one in (CLASS[0], *CLASS[2:4], *CLASS[6:])}
_BEGUN = re.compile(rb"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}Z| UTC)")


@pytest.fixture(params=KINDS)
def service(request, tmp_path):
    with opened(settings_of(request.param, request, tmp_path / "data")) as found:
        yield found


def test_marks_sheets_and_pages_are_those_of_grade(service, counting, tmp_path):
    grading = graded_by_service(service)
    settings = service.settings
    place = settings.ledger(grading.assignment)
    pages = files(folder_of(settings.made(grading.assignment), grading.id))
    assert {"class.html", "marks.csv", "class.json", "feedback/ada.html"} <= set(pages)
    sheet = class_csv(service, grading.assignment, tmp_path)

    # All anew, by one call of grade: the same marks, to the byte.
    wanted = GradeOptions(assignments.find("counting"), sheet, tmp_path / "anew", regrade=True)
    grade.grade(wanted)
    ours, theirs = marks(place), marks(tmp_path / "anew" / LEDGER)
    assert ours == theirs
    assert len(ours) == len(STUDENTS) + 2

    # With the service's own ledger grade has nothing to run, and writes the same files.
    copy = tmp_path / "copy"
    shutil.copytree(settings.originals, copy / ORIGINALS)
    if not settings.database:
        shutil.copy(place.path, copy / LEDGER)
        shutil.copy(place.key(""), copy / f"{LEDGER}.key")
    words = [str(sheet), "--assignment", "counting", "--output", str(copy)]
    words += [] if not settings.database else ["--ledger", place.address, "--key", place.key("")]
    assert main(["grade", *map(str, words), "--no-color"]) in (0, 4)
    assert {name: masked(data) for name, data in files(copy).items()} == {
        name: masked(data) for name, data in pages.items()
    }


def graded_by_service(service):
    """Let a class hand in, its public tests run, and grade it with private ones."""
    roster = "student\n" + "\n".join([*STUDENTS, "refused", "nobody"])
    course = made(service, roster)
    for name, student in STUDENTS.items():
        browser = Browser(service).enter(course.links[name])
        if name == "ada":
            hand_in(browser, course, small_class.submission("return 7"), "first.tgz")
        hand_in(browser, course, small_class.submission(student.body), f"{name}.tgz")
    nobody_can_read = b"no archive at all"
    refused = Browser(service).enter(course.links["refused"])
    hand_in(refused, course, nobody_can_read, "refused.tgz")
    work(service)
    path = course.teacher.post(f"{course.assignment}/gradings").url.path
    work(service)
    with service.database.reading() as db:
        found = uploads.GRADINGS.find(db, id=path.rpartition("/")[2])
    assert found.concluded
    return found


def class_csv(service, assignment, folder):
    """Write what the service has as a source for grade; return its path."""
    path = folder / "class.csv"
    with service.database.reading() as db:
        handed = uploads.UPLOADS.all(db, "at", assignment=assignment)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["student", "file", "time"])
        rows.writerow(["nobody", "", ""])
        for one in handed:
            shutil.copy(service.store.path(one.sha256), folder / one.name)
            time = datetime.datetime.fromtimestamp(int(one.at))
            rows.writerow([one.key, one.name, time.isoformat()])
    return path


def marks(place):
    """Return the marks in force as the ledger has them, by key."""
    with closing(Ledger(place)) as ledger:
        return {key: one.marks for key, one in ledger.in_force().items()}


def files(folder):
    """Return what a grading wrote, by name."""
    left_out = (ORIGINALS, LEDGER)
    paths = [path for path in folder.rglob("*") if path.is_file()]
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    return {
        name: path.read_bytes() for name, path in names.items() if not name.startswith(left_out)
    }


def masked(data):
    """Return a file without the time at which the grading was begun."""
    return _BEGUN.sub(b"-- begun --", data)
