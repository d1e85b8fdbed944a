"""Gradebooks of Canvas and Moodle, filled in to the byte."""

import csv
import html
import re

import pytest

from harness.service.courses import gradebooks
from harness.service.people import accounts
from harness.service.settings import Settings
from harness.service.storage import courses
from tests.harness import small_class
from tests.service.serving import (
    FUTURE,
    KINDS_AT_LENGTH,
    Browser,
    client_of,
    grade,
    hand_in,
    make_course,
    work,
)

pytestmark = [pytest.mark.processes, pytest.mark.long(3)]

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Other (7),Counting (99)\r\n"
    "    Points Possible,,,,,3,7\r\n"
    '"=Lovelace, Ada",1001,u1,ada,"A1, A2",3,\r\n'
    '"Turing, Alan",1002,u2,alan,A1,2,EX\r\n'
    '"Noether, Emmy",1003,u3,emmy,A1,,\r\n'
)
MOODLE = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Feedback comments\n"
    'Participant 501,"=Ada, L",ada@example.org,,"4,0","7,00",\n'
    "Participant 502,Alan Turing,alan@example.org,,,,\n"
)
WORDS = {  # the download, its columns, what the file is called
    "canvas": (CANVAS, "Counting (99)", "canvas.csv"),
    "moodle": (MOODLE, "Identifier,Grade,Feedback comments", "moodle.csv"),
}
SAID = (
    "<p>{} of 5</p><ul><li>files 1 of 1: All files are there.</li>"
    "<li>public {} of 4: {} of 4 tests passed.</li><li>private 0 of 0</li></ul>"
)
FILLED = {  # the same afterwards
    "canvas": CANVAS.replace("3,\r\n", "3,5\r\n").replace("A1,,\r\n", "A1,,0\r\n"),
    "moodle": MOODLE.replace('"4,0","7,00",', f'5,"7,00",{SAID.format(5, 4, 4)}').replace(
        "org,,,,\n", f"org,,4,,{SAID.format(4, 3, 3)}\n"
    ),
}
RIGHT, WRONG = "return 2 * n", "return 2 * n if n != 2 else 5"


def graded(service, roster):
    """Return a course in which two hand in and all is graded, and the path of the grading."""
    course = make_course(service, roster, deadline=FUTURE)
    sent = {"file": ("roster.csv", roster.encode())}  # the page keeps it, as a gradebook
    assert course.teacher.post(f"{course.course}/roster", files=sent).is_success
    for link, body in zip(course.links.values(), (RIGHT, WRONG), strict=False):
        hand_in(Browser(service).enter(link), course, small_class.submission(body))
    return course, grade(service, course)


def fill_in(course, grading, platform, data=None, columns="", expected=200):
    """Send a download by the page; no data: the roster's."""
    files = {"file": ("My own.csv", data.encode())} if data is not None else None
    told = {"platform": platform, "columns": columns}
    answer = course.teacher.post(f"{grading}/gradebooks", grading, files, **told)
    assert answer.status_code == expected, answer.text
    return answer


@pytest.mark.parametrize("platform", WORDS)
@pytest.mark.parametrize("settings", KINDS_AT_LENGTH, indirect=True)
def test_the_roster_comes_back_filled_in_to_the_byte(service, counting, platform):
    text, columns, name = WORDS[platform]
    course, grading = graded(service, text)
    assert f"{name}" not in course.teacher.get(grading).text
    fill_in(course, grading, platform, columns=columns)
    assert "is not filled in yet" in course.teacher.get(grading).text
    work(service)
    page = course.teacher.get(grading).text
    assert f'href="{grading}/gradebooks/{platform}"' in page
    answer = course.teacher.get(f"{grading}/gradebooks/{platform}")
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert answer.content.decode() == FILLED[platform]
    assert name in course.teacher.get(f"{grading}/files/class.html").text or "canvas" in platform
    api = api_of(service, "Tess Teacher")
    path = f"/api/v1{grading}/gradebooks"
    (told,) = api("GET", path).json()["gradebooks"]
    assert told["is_filled"] and told["notes"]
    assert all(one in html.unescape(page) for one in told["notes"])  # what the page says, too
    assert api("GET", f"{path}/{platform}").content == answer.content


def api_of(service, name):
    """Return what asks the API as a teacher or, by a key, a student."""
    with service.database.acting() as act:
        member = next(one for one in courses.MEMBERS.all(act.db) if name in (one.key, one.name))
    with service.database.acting() as act:
        token = accounts.make_token(act._replace(by=member.person), "ci", "all")[1].text
    client = client_of(service)
    return lambda method, path, **rest: client.request(
        method, path, headers={"authorization": f"Bearer {token}"}, **rest
    )


def test_a_file_by_page_or_api_is_filled_in_again_after_each_change(service, counting):
    course, grading = graded(service, "student,canvas\nada,1001\nalan,1002\n")
    fill_in(course, grading, "canvas", CANVAS)
    work(service)
    first = course.teacher.get(f"{grading}/gradebooks/canvas").text
    assert '"=Lovelace, Ada",1001,u1,ada,"A1, A2",3,5\r\n' in first and ",A1,2,EX\r\n" in first
    page = f"{course.assignment}/students/ada"
    course.teacher.post(f"{page}/override", page, points="4", reason="A talk.")
    work(service)
    assert '"A1, A2",3,4\r\n' in course.teacher.get(f"{grading}/gradebooks/canvas").text
    api = api_of(service, "Tess Teacher")
    path = f"/api/v1{grading}/gradebooks/canvas"
    answer = api("PUT", path, params={"columns": "7"}, content=CANVAS.encode())
    (told,) = answer.json()["gradebooks"]
    assert (told["platform"], told["columns"], told["is_filled"]) == ("canvas", ["7"], True)
    work(service)
    assert '"A1, A2",4,\r\n' in api("GET", path).text
    assert len(list(service.settings.data.glob("assignments/*/gradebook-*"))) == 2
    later = grade(service, course)
    assert '"A1, A2",4,\r\n' in course.teacher.get(f"{later}/gradebooks/canvas").text
    fill_in(course, grading, "canvas", CANVAS, expected=409)  # a later grading has marks


PARTICIPANTS = (
    "First name,Last name,Email address\nAda,L,ADA@example.org\nAlan,Turing,alan@example.org\n"
)
STRANGER = "Participant 503,Eve Else,eve@example.org,,,,\n"


@pytest.mark.parametrize("roster", [PARTICIPANTS, MOODLE.replace("t 50", "t 90")])
@pytest.mark.parametrize("settings", KINDS_AT_LENGTH, indirect=True)
def test_a_worksheet_of_participants_is_filled_in_by_mail_address(service, counting, roster):
    course, grading = graded(service, roster)
    fill_in(course, grading, "moodle", MOODLE + STRANGER)
    work(service)
    text = course.teacher.get(f"{grading}/gradebooks/moodle").text
    grades = [row[4] for row in csv.reader(text.splitlines())]
    assert grades == ["Grade", "5", "4", ""]
    page = course.teacher.get(grading).text
    assert "2 of 3 rows of moodle.csv filled in." in page
    assert "Rows that were not filled in: Eve Else." in page


@pytest.mark.parametrize("settings", KINDS_AT_LENGTH, indirect=True)
def test_a_worksheet_of_others_is_told_to_be_so(service, counting):
    course, grading = graded(service, "student\nada\nalan\n")
    fill_in(course, grading, "moodle", MOODLE)
    work(service)
    page = course.teacher.get(grading).text
    assert "0 of 2 rows of moodle.csv filled in." in page
    assert "Rows that were not filled in: =Ada, L, Alan Turing." in page
    assert "2 students without a row in moodle.csv: ada, alan." in page


WRONG_ONES = [
    ("canvas", None, "", "no roster of this course was a gradebook of Canvas"),
    ("canvas", MOODLE, "", "My own.csv is not a gradebook from Canvas"),
    ("canvas", CANVAS, "Chess", "My own.csv has no column &#39;Chess&#39;"),
    ("moodle", CANVAS, "", "My own.csv is not a grading worksheet from Moodle"),
    ("moodle", MOODLE, "Grade", "expected three names with commas between them"),
    ("other", MOODLE, "", "expected canvas or moodle"),
    ("canvas", "", "", "My own.csv is empty"),
    ("canvas", "a\0b", "", "My own.csv is not comma-separated text"),
]


def test_what_cannot_be_filled_in_is_told_and_leaves_nothing(service, counting):
    course, grading = graded(service, "student\nada\nalan\n")
    for platform, data, columns, said in WRONG_ONES:
        answer = fill_in(course, grading, platform, data, columns, 422)
        assert (
            said.lower() in answer.text.lower() and str(service.settings.data) not in answer.text
        )
    assert list(service.settings.data.glob("assignments/*/gradebook*")) == []
    assert course.teacher.get(f"{grading}/gradebooks/canvas").status_code == 404


@pytest.mark.parametrize("settings", KINDS_AT_LENGTH, indirect=True)
def test_only_teachers_get_a_gradebook(service, counting):
    course, grading = graded(service, CANVAS)
    fill_in(course, grading, "canvas")
    work(service)
    added = course.teacher.post(
        f"{course.course}/staff", course.course, name="Tom", role="assistant", email=""
    )
    tom = Browser(service).enter(re.search(r"http://\S+/enter/[\w-]+", added.text)[0])
    assert tom.get(f"{grading}/gradebooks/canvas").status_code == 403
    for name in ("canvas.csv", "./canvas.csv", "feedback/../canvas.csv"):
        assert tom.get(f"{grading}/files/{name}").status_code == 404
    assert "canvas" not in tom.get(grading).text
    ada = Browser(service).enter(course.links["ada"])
    assert ada.get(f"{grading}/gradebooks/canvas").status_code == 404
    assert api_of(service, "ada")("GET", f"/api/v1{grading}/gradebooks").status_code == 404


def test_rosters_that_are_no_gradebooks_are_not_kept(tmp_path):
    settings = Settings(tmp_path / "data")
    for data in (b"student\nada\n", b"PK\x03\x04", b"", CANVAS.encode(), MOODLE.encode()):
        gradebooks.keep_roster(settings, "c", data)
    kept = sorted(path.name for path in (settings.data / "rosters" / "c").iterdir())
    assert kept == ["canvas.csv", "moodle.csv"]
    assert gradebooks.kept_rosters(settings, "c") == {"canvas": "Canvas", "moodle": "Moodle"}
