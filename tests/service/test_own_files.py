"""An assignment of a teacher's own, and the folder that submissions get beside them."""

import io
import re
import zipfile

import pytest

from harness.grading import grade
from harness.service.courses import own_files
from harness.service.storage import courses
from harness.service.work.grounds import ground
from tests.harness import small_class
from tests.service.serving import Browser, made, marks, opened, settings_of, work
from tests.service.test_story import hand_in

pytestmark = pytest.mark.processes

FILES = {
    "assignment.toml": small_class.ASSIGNMENT.replace("Counting", "Doubling"),
    **small_class.CASES,
    **{f"private/{name}": text for name, text in small_class.PRIVATE.items()},
}
GAME = '[reference]\ncommand = "python3 nogo.py"\n[[command]]\nname = "genmove"\n'


@pytest.fixture
def service(request, tmp_path):
    with opened(settings_of("sqlite", request, tmp_path / "data")) as found:
        yield found


def zipped(files):
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    return written.getvalue()


def as_archive(files):
    return {"file": ("doubling.zip", zipped(files))}


def as_folder(files):
    return [("files", (f"doubling/{name}", text.encode())) for name, text in files.items()]


def send(course, files, **fields):
    return course.teacher.post(f"{course.course}/assignments/own", course.course, files, **fields)


@pytest.mark.parametrize("sent", [as_archive, as_folder])
def test_an_assignment_of_ones_own_is_graded(service, sent):
    course = made(service, "student\nada\n", source="go-scoring")
    answer = send(course, sent(FILES), deadline="2999-01-01T00:00")
    assert answer.status_code == 200 and "Doubling" in answer.text
    course = course._replace(assignment=answer.url.path)
    ada = Browser(service).enter(course.links["ada"])
    page = hand_in(ada, course, small_class.submission("return 2 * n"))
    work(service)
    text = ada.get(page.url.path).text
    assert "4 passed" in text and str(service.settings.data) not in text
    grading = course.teacher.post(f"{course.assignment}/gradings").url.path
    work(service)
    assert marks(course.teacher.get(grading).text) == {"ada": "7 of 7"}
    course.teacher.post(f"{grading}/release")
    feedback = ada.get(f"{course.assignment}/mark/feedback").text
    assert str(service.settings.data) not in feedback and "twice 7" not in feedback


REFUSED = [
    ({**FILES, "assignment.toml": "title = 1\n"}, "assignment.toml: title: found 1"),
    ({"one.gtp": ""}, "assignment.toml"),
    ({**FILES, "specification.py": ""}, "would run outside a sandbox"),
    (
        {**FILES, "assignment.toml": FILES["assignment.toml"].replace(
            'engine.py"\n', 'engine.py"\npackages = ["numpy"]\n', 1)},
        "packages would be installed outside a sandbox",
    ),
    (
        {"assignment.toml": GAME.replace('py"\n', 'py"\nsandbox = "off"\n', 1), "nogo.py": ""},
        "its reference would run outside a sandbox",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("files", "said"), REFUSED)
def test_an_assignment_that_is_refused(service, files, said):
    course = made(service, "student\nada\n", source="go-scoring")
    answer = send(course, as_archive(files))
    assert answer.status_code == 422
    why = re.search(r'id="why".*?</section>', answer.text, re.DOTALL)[0]
    assert said.lower() in why.lower() and str(service.settings.data) not in why
    with service.database.reading() as db:
        assert len(courses.ASSIGNMENTS.all(db)) == 1
    assert list(service.settings.data.glob(".source-*")) == []


@pytest.mark.parametrize("data", [b"no archive", b""])
def test_what_is_no_archive(service, data):
    course = made(service, "student\nada\n", source="go-scoring")
    answer = send(course, {"file": ("a.zip", data)})
    assert answer.status_code == 422


def test_the_courses_own_folder_is_taken_and_exchanged(service):
    course = made(service, "student\nada\n", source="go-scoring")
    page = course.assignment
    assert "You have sent none" in course.teacher.get(page).text
    for text in ("x = 1\n", "x = 2\n"):
        files = [("files", ("util/pattern.py", text.encode()))]
        answer = course.teacher.post(f"{page}/overlay", page, files)
        assert answer.status_code == 200 and "another one takes its place" in answer.text
        with service.database.reading() as db:
            (assigned,) = courses.ASSIGNMENTS.all(db)
        with ground(service.settings, service.database, assigned) as found:
            assert (grade.overlay(found.wanted) / "pattern.py").read_text() == text


def test_an_assignment_without_such_a_folder_takes_none(service):
    course = made(service, "student\nada\n", source="gosensei")
    page = course.assignment
    assert "own folder" not in course.teacher.get(page).text
    files = as_archive({"util/a.py": ""})
    answer = course.teacher.post(f"{page}/overlay", page, files)
    assert answer.status_code == 422 and "no folder beside" in answer.text
    assert own_files.OWN not in course.teacher.get(course.course).text
