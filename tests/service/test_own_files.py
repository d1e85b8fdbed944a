"""An assignment of a teacher's own, and the folder that submissions get beside them."""

import html
import json
import re

import pytest

from harness.core.errors import UsageError
from harness.service.courses import changes, own_files
from harness.service.jobs import private_cases
from harness.service.jobs.assignment_context import open_assignment
from harness.service.jobs.worker import Worker
from harness.service.pages import assignment
from harness.service.storage import courses
from tests.harness import archives, small_class
from tests.service.serving import KINDS_AT_LENGTH, Browser, hand_in, make_course, marks, work

pytestmark = pytest.mark.processes

FILES = {
    "assignment.toml": small_class.ASSIGNMENT.replace("Counting", "Doubling"),
    **small_class.CASES,
    **{f"private/{name}": text for name, text in small_class.PRIVATE.items()},
}
WITH_FOLDER = FILES["assignment.toml"].replace('engine.py"\n', 'engine.py"\noverlay = "util"\n', 1)
GAME = '[reference]\ncommand = "python3 nogo.py"\n[[command]]\nname = "genmove"\n'


def zip_files(files):
    return archives.make_zip(files.items())


def as_archive(files):
    return {"file": ("doubling.zip", zip_files(files))}


def as_folder(files):
    return [("files", (f"doubling/{name}", text.encode())) for name, text in files.items()]


def make_own(service, files=None):
    """Make a course; with files its assignment is made of them."""
    course = make_course(service, "student\nada\n", source="go-scoring")
    if files is None:
        return course
    answer = send(course, as_archive(files), deadline="2999-01-01T00:00")
    assert answer.status_code == 200, answer.text
    return course._replace(assignment=answer.url.path)


def send(course, files, **fields):
    return course.teacher.post(f"{course.course}/assignments/own", course.course, files, **fields)


@pytest.mark.parametrize("settings", KINDS_AT_LENGTH, indirect=True)
def test_an_assignment_of_ones_own_is_graded(service):
    course = make_own(service)
    answer = send(course, as_folder(FILES), deadline="2999-01-01T00:00")
    assert answer.status_code == 200 and "Doubling" in answer.text
    course = course._replace(assignment=answer.url.path)
    ada = Browser(service).enter(course.links["ada"])
    page = hand_in(ada, course)
    work(service)
    text = ada.get(page.url.path).text
    assert "4 passed" in text and str(service.settings.data) not in text
    grading = course.teacher.post(f"{course.assignment}/gradings").url.path
    work(service)
    assert marks(course.teacher.get(grading).text) == {"ada": "7 of 7"}
    course.teacher.post(f"{grading}/release", early="yes")
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
    # No submission could be checked, and nobody but the operator was told why.
    ({**FILES, "one.gtp": "1 twice 1\n#? [(]\n"}, "one.gtp:2: '(' is not a regular"),
    ({**FILES, "private/x.gtp": "1 twice 1\n#? [\n"}, "private/x.gtp:2: expected"),
]  # fmt: skip


def test_an_assignment_that_is_refused(service):
    course = make_own(service)
    for files, said in (*REFUSED, ({"engine.py": ""}, "no assignment.toml at the top of what")):
        answer = send(course, as_archive(files))
        assert answer.status_code == 422
        why = html.unescape(re.search(r'id="why".*?</p>', answer.text, re.DOTALL)[0])
        assert said.lower() in why.lower() and str(service.settings.data) not in why
    for data in (b"no archive", b""):
        assert send(course, {"file": ("a.zip", data)}).status_code == 422
    with service.database.reading() as db:
        assert len(courses.ASSIGNMENTS.all(db)) == 1
    assert list(service.settings.data.glob(".source-*")) == []


# The answer of the reference is 0: the board is empty.
WRONG = {**FILES, "private/wrong.gtp": "boardsize 2\nclear_board\n1 score\n#? [B\\+9]\n"}
SAID = "wrong.gtp, test 1, line 3 (score): the file expects 'B+9', but the reference"


def text_of(answer):
    return html.unescape(answer.text)


def test_private_case_files_of_an_upload_are_listed_and_checked(service):
    course = make_own(service, WRONG)
    tess, page = course.teacher, f"{course.assignment}/private"
    early = tess.post(f"{course.assignment}/gradings", course.assignment)
    assert early.status_code == 409 and "still being checked" in early.text
    work(service)
    text = text_of(tess.get(page))
    assert SAID in text
    assert "three.gtp" in text
    assert "No private case files yet" not in text
    assert tess.get(f"{page}/files/wrong.gtp").text == WRONG["private/wrong.gtp"]
    refused = tess.post(f"{course.assignment}/gradings", course.assignment)
    assert refused.status_code == 409 and SAID in text_of(refused)
    replace(course, FILES)
    work(service)
    text = text_of(tess.get(page))
    assert "three.gtp" in text and "wrong.gtp" not in text
    assert tess.post(f"{course.assignment}/gradings", course.assignment).status_code == 200


def test_the_private_case_files_of_an_upload_and_the_added_ones_differ_in_name(service):
    course = make_own(service, FILES)
    tess, page = course.teacher, f"{course.assignment}/private"

    def add(name):
        return tess.post(page, page, {"file": (name, b"1 twice 2\n#? [4]\n")})

    assert (refused := add("three.gtp")).status_code == 422
    assert "three.gtp is in the upload of the assignment" in refused.text
    assert tess.post(f"{page}/remove", page, name="three.gtp").status_code == 422
    assert add("added.gtp").status_code == 200
    said = replace(course, {**FILES, "private/added.gtp": "1 twice 1\n#? [2]\n"}, 422)
    assert "added.gtp was added to the private case files: remove it there" in said
    newer, name = "1 twice 1\n#? [2]\n", course.assignment.rpartition("/")[2]
    with service.database.reading() as db:
        before = courses.ASSIGNMENTS.find(db, id=name)
    replace(course, {**FILES, "private/newer.gtp": newer})
    refusal = pytest.raises(UsageError, match=r"newer.gtp is in the upload")
    with refusal, service.database.acting() as act:  # for a request that had come before
        private_cases.add(act, before, private_cases.NewCase("newer.gtp", newer.encode()))


def test_the_courses_own_folder_is_taken_and_exchanged(service):
    course = make_own(service)
    page = course.assignment
    form = f"{page}/course-folder"
    assert "You have not uploaded one yet" in course.teacher.get(form).text
    for text in ("x = 1\n", "x = 2\n"):
        files = [("files", ("util/pattern.py", text.encode()))]
        assert course.teacher.post(f"{page}/overlay", form, files).status_code == 200
        assert "a new one replaces it" in course.teacher.get(form).text
        with service.database.reading() as db:
            (assigned,) = courses.ASSIGNMENTS.all(db)
        with open_assignment(service.settings, service.database, assigned, None) as found:
            assert (found.options.course_folder() / "pattern.py").read_text() == text


def test_an_assignment_without_such_a_folder_takes_none(service):
    course = make_course(service, "student\nada\n", source="gosensei")
    page = course.assignment
    assert "own folder" not in course.teacher.get(page).text
    files = as_archive({"util/a.py": ""})
    answer = course.teacher.post(f"{page}/overlay", page, files)
    assert answer.status_code == 422 and "no folder beside" in answer.text
    assert own_files.OWN not in course.teacher.get(course.course).text


# A private test that was wrong is put right, a public file goes, another comes.
NEWER = {
    **{name: text for name, text in FILES.items() if name != "two.gtp"},
    "assignment.toml": FILES["assignment.toml"].replace("points = 4", "points = 5"),
    "one.gtp": "1 twice 1\n#? [2]\n",
    "four.gtp": "1 twice 4\n#? [8]\n",
}
CHANGES = [
    "'public' gives 5 instead of 4",
    "assignment.toml has changed",
    "four.gtp is new",
    "one.gtp has changed",
    "two.gtp is gone",
]


def replace(course, files, status=200):
    page = course.assignment
    answer = course.teacher.post(f"{page}/source", page, as_archive(files))
    assert answer.status_code == status, answer.text
    return answer.text


def test_a_newer_upload_takes_the_place_of_the_one_before(service):
    course = make_own(service, FILES)
    ada, tess = Browser(service).enter(course.links["ada"]), course.teacher
    hand_in(ada, course)
    work(service)
    first = tess.post(f"{course.assignment}/gradings").url.path
    work(service)
    text = replace(course, NEWER)
    listed = map(html.unescape, re.findall(r"<li>([^<]*)</li>", text))
    assert [*listed][-len(CHANGES) :] == CHANGES
    assert "nothing in it has changed" in replace(course, NEWER, 422).lower()
    second = tess.post(f"{course.assignment}/gradings").url.path
    work(service)
    tess.post(f"{second}/accept", second)
    work(service)
    assert marks(tess.get(second).text) == {"ada": "8 of 8"}
    assert [upload_of(tess.get(one).text) for one in (first, second)] == ["1", "2"]
    page = hand_in(ada, course)
    work(service)
    assert "2 passed" in ada.get(page.url.path).text
    with service.database.reading() as db:
        told = [one for one in service.database.log.entries(db) if "replaced" in one.what]
    assert [json.loads(one.details) for one in told] == [{"edition": 1, "changes": CHANGES}]


def upload_of(text):
    """Return which upload of the assignment the page of a grading says that it used."""
    return re.search(r"Upload of the assignment</dt><dd>(\d+)", text)[1]


def test_a_grading_that_was_begun_goes_on_with_the_upload_it_was_begun_with(service):
    course = make_own(service, FILES)
    ada, tess = Browser(service).enter(course.links["ada"]), course.teacher
    hand_in(ada, course)
    work(service)
    grading = tess.post(f"{course.assignment}/gradings").url.path
    assert Worker(service.settings, service.database).step()  # it is planned
    replace(course, NEWER)
    work(service)
    text = tess.get(grading).text
    assert (marks(text), upload_of(text)) == ({"ada": "7 of 7"}, "1")


def test_what_is_no_newer_upload_changes_nothing(service):
    course = make_own(service)
    assert "was not uploaded" in replace(course, FILES, 422)
    course = make_own(service, FILES)
    for files, _ in REFUSED:
        replace(course, files, 422)
    assert "upload 1, which is in use now" in course.teacher.get(course.assignment).text
    assert list(service.settings.data.glob(".source-*")) == []


NESTED = {
    "assignment.toml": FILES["assignment.toml"].replace(
        '["*.gtp"]', '["public/*.gtp", "public/more/*.gtp"]'
    ),
    "public/a.gtp": "1 twice 1\n#? [2]\n",
    "public/more/a.gtp": "1 twice 3\n#? [6]\n2 twice 2\n#? [4]\n",
}


def test_points_of_an_assignment_with_case_files_in_folders(service):
    """As the documents have it: weights know a case file by its name alone."""
    course = make_own(service, NESTED)
    tess, points = course.teacher, f"{course.assignment}/points"
    page = tess.get(points)
    assert page.status_code == 200, page.text
    fields = dict(re.findall(r'name="((?:part|weight) [^"]*)" value="([^"]*)"', page.text))
    assert fields["weight public a.gtp%3A1"] == "1"
    seen = tess.post(points, points, **fields | {"weight public a.gtp%3A2": "0"}).url.path
    work(service)
    assert "Marks that would change: 0 of 0" in tess.get(seen).text
    assert tess.post(f"{seen}/set", seen).status_code == 200
    assert 'name="weight public a.gtp%3A2" value="0"' in tess.get(points).text


@pytest.mark.parametrize("place", ["source", "overlay"])
def test_a_form_for_an_assignment_that_is_removed_meanwhile_is_refused(
    service, monkeypatch, place
):
    course = make_own(service, FILES)
    page = course.assignment
    receive = assignment.forms.receive_files

    def remove_and_receive(here):
        with service.database.acting() as act:
            changes.remove_assignment(act, here.assigned)
        changes.clear(service.settings, here.assigned)
        return receive(here)

    monkeypatch.setattr(assignment.forms, "receive_files", remove_and_receive)
    answer = course.teacher.post(f"{page}/{place}", page, as_archive(NEWER))
    assert answer.status_code in (404, 409, 422) and "was removed" in answer.text
