"""Private tests that may be wrong: told before a grading, and where marks change."""

import html
import re

import pytest

from harness.core.errors import SandboxError
from harness.service.courses import cases
from harness.service.jobs import job_handlers, private_cases
from harness.service.records import PLAN
from harness.service.storage import queue
from tests.harness import small_class
from tests.service.serving import make_course, read_log, work
from tests.service.test_gradebooks import api_of
from tests.service.test_own_files import FILES, as_archive, send

pytestmark = pytest.mark.processes

CASE = b"boardsize 3\nclear_board\nplay B B2\n1 score\n#? [B\\+9]\n2 score\n#? [B\\+%d]\n"
WRONG, RIGHT = CASE % 8, CASE % 9
SAID = "one.gtp, test 2, line 6 (score): the file expects 'B+8', but the reference answers 'B+9'."


@pytest.fixture
def course(service):
    over = {"deadline": "2020-01-01T00:00", "closes": "2020-01-02T00:00"}  # it can be graded
    made = make_course(service, "student\nada\n", source="go-scoring", **over)
    folder = {"file": ("util.tgz", small_class.archive({"a.py": ""}, "util"))}
    page = f"{made.assignment}/course-folder"
    assert made.teacher.post(f"{made.assignment}/overlay", page, folder).is_success
    return made


def add(course, data, name="one.gtp"):
    page = f"{course.assignment}/private"
    return course.teacher.post(page, page, {"file": (name, data)})


def text_of(answer):
    return html.unescape(answer.text)


def test_a_grading_with_a_wrong_test_needs_a_tick(service, course, monkeypatch):
    """On pages and by the API, each of which reads once what the tests catch."""
    tess, place, count = course.teacher, f"{course.assignment}/gradings", []
    api, private = api_of(service, "Tess Teacher"), f"/api/v1{course.assignment}/private"
    add(course, WRONG)
    work(service)
    load = private_cases.load_result
    monkeypatch.setattr(private_cases, "load_result", lambda *of: count.append(of) or load(*of))
    for page in (course.assignment, f"{course.assignment}/private"):
        assert SAID in text_of(tess.get(page))
    assert api("GET", private).json()["doubts"] == [SAID]
    assert len(count) == 3
    refused, answer = tess.post(place, course.assignment), api("POST", f"/api/v1{place}", json={})
    assert refused.status_code == answer.status_code == 409
    assert SAID in text_of(refused) and "tick Grade anyway" in refused.text
    said = answer.json()["detail"]
    assert SAID in said and "send all_the_same" in said
    grading = tess.post(place, course.assignment, all_the_same="yes")
    assert grading.status_code == 200 and SAID in text_of(grading)
    work(service)
    assert SAID in text_of(tess.get(grading.url.path))
    (listed,) = api("GET", f"/api/v1{place}").json()["items"]
    assert listed["doubts"] == [SAID]
    public = api("POST", f"/api/v1{place}", json={"public_only": True})
    assert public.status_code == 201 and public.json()["doubts"] == []


def test_a_grading_that_needs_private_case_files_is_not_begun_without_one(service, course):
    said = "'private tests' needs private case files, and there are none: add some on the page"
    refused = course.teacher.post(f"{course.assignment}/gradings", course.assignment)
    assert refused.status_code == 422 and said in text_of(refused)
    assert "tick Only public case files" in refused.text
    api = api_of(service, "Tess Teacher")
    answer = api("POST", f"/api/v1{course.assignment}/gradings", json={})
    assert answer.status_code == 422 and said in answer.json()["detail"]
    with service.database.reading() as db:
        assert not queue.JOBS.all(db, kind=PLAN)


def test_what_is_corrected_or_counts_nothing_is_not_told(service, course):
    add(course, WRONG)
    work(service)
    api, place = api_of(service, "Tess Teacher"), f"/api/v1{course.assignment}"
    parts = api("GET", f"{place}/points").json()["parts"]
    own = [one["name"] for one in parts if "one.gtp:2" in [test["name"] for test in one["tests"]]]
    weights = {name: {"one.gtp:2": "0"} for name in own}
    asked = api("POST", f"{place}/points", json={"points": {}, "weights": weights})
    assert asked.status_code == 201, asked.text
    work(service)
    assert api("POST", f"{place}/points/{asked.json()['id']}/set").status_code == 201
    work(service)
    assert SAID not in text_of(course.teacher.get(course.assignment))
    add(course, RIGHT)
    work(service)
    assert "may be wrong" not in course.teacher.get(course.assignment).text
    assert api("POST", f"{place}/gradings", json={}).status_code == 201


def preview(service, course, **weights):
    """Ask for other points of an assignment with a wrong test; return the page of the preview."""
    page = f"{course.assignment}/points"
    fields = dict(re.findall(r'name="((?:part|weight) [^"]*)" value="([^"]*)"', page_of(course)))
    named = {name: weights["one"] for name in fields if name.endswith(" one.gtp%3A2")}
    assert named
    part = next(name for name in fields if name.startswith("part "))
    asked = course.teacher.post(page, page, **fields | named | {part: "3"})
    work(service)
    return asked.url.path


def page_of(course):
    return course.teacher.get(f"{course.assignment}/points").text


def test_setting_points_with_a_wrong_test_needs_a_tick(service, course):
    tess, api = course.teacher, api_of(service, "Tess Teacher")
    add(course, WRONG)
    work(service)
    seen = preview(service, course, one="1")
    text = text_of(tess.get(seen))
    assert SAID in text and 'name="all_the_same"' in text
    refused = tess.post(f"{seen}/set", seen)
    assert refused.status_code == 409
    assert SAID in text_of(refused) and "tick Grade anyway" in refused.text
    answer = api("POST", f"/api/v1{seen}/set")
    assert answer.status_code == 409 and "send all_the_same" in answer.json()["detail"]
    grading = tess.post(f"{seen}/set", seen, all_the_same="yes")
    assert "/gradings/" in grading.url.path and SAID in text_of(grading)
    assert tess.post(f"{seen}/set", seen).url.path == grading.url.path  # once more, it is set
    work(service)
    seen = preview(service, course, one="2")
    assert api("POST", f"/api/v1{seen}/set?all_the_same=true").status_code == 201


def test_setting_points_after_a_grading_with_public_tests_needs_no_tick(service, course):
    add(course, WRONG)
    util = as_archive({"util/board.py": ""})
    assert course.teacher.post(f"{course.assignment}/overlay", course.assignment, util)
    place = f"{course.assignment}/gradings"
    course.teacher.post(place, course.assignment, public_only="yes")
    work(service)
    seen = preview(service, course, one="1")
    assert "may be wrong" not in course.teacher.get(seen).text
    assert "/gradings/" in course.teacher.post(f"{seen}/set", seen).url.path


def refuse_grading(service, course, said):
    """See that page and API refuse a grading, and say why."""
    place = f"{course.assignment}/gradings"
    refused = course.teacher.post(place, course.assignment)
    assert refused.status_code == 409 and "tick Grade anyway" in refused.text
    assert said in text_of(refused) and 'name="all_the_same"' in refused.text
    answer = api_of(service, "Tess Teacher")("POST", f"/api/v1{place}", json={})
    assert answer.status_code == 409 and said in answer.json()["detail"]
    private = api_of(service, "Tess Teacher")("GET", f"/api/v1{course.assignment}/private")
    assert said in private.json()["unchecked"]


def test_a_grading_waits_for_the_files_to_be_measured_or_needs_a_tick(service, course):
    add(course, WRONG)
    refuse_grading(service, course, "he private tests are still being checked: try again")
    place = f"{course.assignment}/gradings"
    answer = course.teacher.post(place, course.assignment, all_the_same="yes")
    assert answer.status_code == 200 and SAID not in text_of(answer)
    work(service)
    assert SAID in text_of(course.teacher.get(answer.url.path))  # before marks are changed


def test_files_that_were_there_before_are_measured_again_if_that_is_not_known(service, course):
    """A job about them may have ended while others were in their place."""
    add(course, WRONG)
    add(course, RIGHT)
    work(service)
    add(course, WRONG)
    assert work(service) == 1
    refused = course.teacher.post(f"{course.assignment}/gradings", course.assignment)
    assert SAID in text_of(refused)


SHUT = "engines of root may not read {data}/own/ref.py (chmod -R o+rX would allow it)"
TOLD = "such as the reference, could not be run on the server"


def test_what_a_teacher_is_told_where_the_reference_cannot_run(service, course, monkeypatch):
    """Not a path of the server, which the operator finds in the log."""
    why = SHUT.format(data=service.settings.data)

    def breaks(*_):
        raise SandboxError(why)

    for kind in ("measure", "draft"):
        monkeypatch.setitem(job_handlers.KINDS, kind, breaks)
    add(course, RIGHT)
    page = f"{course.assignment}/private"
    draft = course.teacher.post(f"{page}/drafts", page, tests="1").url.path
    work(service)
    refuse_grading(service, course, TOLD)
    for path in (page, draft, course.assignment):
        text = text_of(course.teacher.get(path))
        assert TOLD in text and "chmod" not in text and str(service.settings.data) not in text
    troubles = [one["text"] for one in read_log(service.settings) if "text" in one]
    assert troubles == [why, why]
    monkeypatch.undo()
    add(course, RIGHT)
    work(service)
    made = course.teacher.post(f"{course.assignment}/gradings", course.assignment)
    assert made.status_code == 200


OWN_GAME = {  # nobody knows its answers but its case files
    **FILES,
    "assignment.toml": FILES["assignment.toml"].replace('specification = "go-scoring"\n', ""),
}


def test_where_nobody_knows_the_answers_nothing_is_told(service, course):
    answer = send(course, as_archive(OWN_GAME))
    assert answer.status_code == 200, answer.text
    course = course._replace(assignment=answer.url.path)
    add(course, b"1 twice 2\n#? [5]\n")
    work(service)
    assert "may be wrong" not in course.teacher.get(course.assignment).text


def test_of_a_command_that_the_reference_does_not_know_nothing_is_told(service, course):
    add(course, RIGHT + b"3 twice 2\n#? [5]\n")
    work(service)
    assert "may be wrong" not in course.teacher.get(course.assignment).text


NO_TESTS = [
    (b"boardsize 3\nscore\n", "found 2 commands and no test"),
    (b"# nothing but a comment\n", "found no command"),
    (b"\n", "found no command"),
    (b"", "found an empty file"),
]


def test_a_case_file_without_a_test_is_refused(service, course):
    api = api_of(service, "Tess Teacher")
    for data, found in NO_TESTS:
        said = f"one.gtp: {found}, expected a command with a number before it, such as 1 score, or"
        answer = add(course, data)
        assert answer.status_code == 422 and said in answer.text.replace("One", "one")
        put = api("PUT", f"/api/v1{course.assignment}/private/one.gtp", content=data)
        assert put.status_code == 422 and put.json()["detail"].startswith(said)
    assert "No private case files yet" in course.teacher.get(f"{course.assignment}/private").text


def test_a_case_file_that_is_not_there_or_too_large_is_told(service, course, monkeypatch):
    page = f"{course.assignment}/private"
    answer = course.teacher.post(page, page)
    assert answer.status_code == 422 and "Choose a case file first." in answer.text
    monkeypatch.setattr(cases, "LARGEST", 5)
    answer = add(course, RIGHT)
    said = f"one.gtp: found {len(RIGHT)} bytes, expected at most 5."
    assert answer.status_code == 422 and said in answer.text.replace("One", "one")
