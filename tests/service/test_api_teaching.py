"""What a teacher does by the API beside grading: comments, overrides, assistants, case files."""

import json

import pytest

from harness.service.records import RIGHTS
from harness.service.storage import courses, uploads
from tests.service.serving import work
from tests.service.test_api_gradings import RIGHT, ROSTER, Asker, grade_public, submit, tess

__all__ = ["tess"]


@pytest.fixture
def course(service, tess, counting):
    """Make a course with an assignment and a roster; return its path."""
    made = f"/courses/{tess.post('/courses', {'title': 'Games'})['id']}"
    tess.ask("POST", f"{made}/roster", content=ROSTER.encode())
    wanted = {"source": "counting", "deadline": "2999-01-01T00:00"}
    tess.base = f"{made}/assignments/{tess.post(f'{made}/assignments', wanted)['id']}"
    return made


@pytest.fixture
def students(service, tess, course):
    with service.database.reading() as db:
        members = {key: courses.MEMBERS.find(db, key=key).person for key in ("ada", "ben", "cyd")}
    return {key: Asker(service, person, tess.base) for key, person in members.items()}


def texts(page):
    return [one["text"] for one in page["items"]]


@pytest.mark.stored
@pytest.mark.processes
def test_a_mark_is_given_and_commented_as_on_the_pages(service, tess, students):
    told = {"points": "7/2", "reason": "a trade"}
    assert "grade first" in tess.ask("PUT", "/students/pair/override", 409, json=told)["detail"]
    submit(students["ada"], RIGHT)
    submit(students["ben"], RIGHT)
    grading = grade_public(service, tess)
    said = tess.post("/students/pair/comments", {"text": "<i>seen</i>\n"})
    assert (said["text"], said["by"], said["student"]) == ("<i>seen</i>", "Tess", "pair")
    given = tess.ask("PUT", "/students/pair/override", json=told)["items"]
    assert [(one["student"], one["points"], one["computed"]) for one in given] == [
        ("ben", "3.5", "5 of 5"), ("cyd", "3.5", "5 of 5"),
    ]  # fmt: skip
    assert tess.get("/overrides")["items"] == given
    assert texts(students["cyd"].get("/comments")) == []  # not released
    work(service)
    tess.post(f"/gradings/{grading}/release?early=true", status=200)
    assert students["cyd"].get("/mark")["points"] == "3.5"
    assert texts(students["cyd"].get("/comments")) == ["<i>seen</i>"]
    assert texts(students["ada"].get("/comments")) == []
    for asked, status in (("/overrides", 403), ("/students/pair/comments", 404)):
        students["ada"].get(asked, status)
    tess.ask("DELETE", "/students/pair/override", 204)
    assert students["cyd"].get("/mark")["points"] == "5"
    assert tess.get("/overrides")["items"] == []


def test_a_comment_is_removed_and_what_it_said_is_in_the_audit_log(service, tess, students):
    made = tess.post("/students/pair/comments", {"text": "For ada.\nSorry!"})
    tess.post("/students/pair/comments", {"text": "stays"})
    tess.ask("DELETE", f"/students/pair/comments/{made['id']}", 204)
    assert texts(tess.get("/students/pair/comments")) == ["stays"]
    tess.ask("DELETE", f"/students/pair/comments/{made['id']}", 404)
    with service.database.reading() as db:
        assert made["id"] not in uploads.owners_of(db, [made["id"]])
        (entry,) = (
            one for one in service.database.log.entries(db) if one.what == "comment removed"
        )
    told = json.loads(entry.details)
    author = told.pop("author")
    assert author == entry.person
    assert told == {
        "comment": made["id"], "key": "pair", "students": ["ben", "cyd"],
        "text": "For ada.\nSorry!",
    }  # fmt: skip


def test_a_comment_is_of_one_assignment_and_student(service, tess, course):
    """So nobody removes by the page of a student what is another one's."""
    made = tess.post("/students/ada/comments", {"text": "one"})["id"]
    tess.ask("DELETE", f"/students/pair/comments/{made}", 404)
    first = tess.base
    tess.base = course
    other = tess.post("/assignments", {"source": "counting", "title": "Set 2"})["id"]
    tess.base = f"{course}/assignments/{other}"
    tess.ask("DELETE", f"/students/ada/comments/{made}", 404)
    tess.base = first
    assert texts(tess.get("/students/ada/comments")) == ["one"]


@pytest.mark.stored
def test_a_request_that_is_repeated_does_not_bring_a_removed_comment_back(tess, course):
    asked, headers = {"text": "one"}, {"idempotency-key": "c-1"}
    made = tess.post("/students/ada/comments", asked, headers=headers)["id"]
    tess.ask("DELETE", f"/students/ada/comments/{made}", 204)
    again = tess.post("/students/ada/comments", asked, 409, headers=headers)
    assert "the comment that it made was removed; take a new key" in again["detail"]
    assert texts(tess.get("/students/ada/comments")) == []
    tess.post("/students/ada/comments", asked, headers={"idempotency-key": "c-2"})


@pytest.mark.stored
def test_a_teacher_is_no_assistant_that_could_be_removed(service, tess, course):
    with service.database.reading() as db:
        (teacher,) = courses.MEMBERS.all(db, role="teacher")
    tess.base = course
    tess.ask("DELETE", f"/assistants/{teacher.person}", 404)
    tess.ask("PUT", f"/assistants/{teacher.person}/rights", 404, json={"may": [*RIGHTS]})


CASE = b"1 twice 21\n#? [42]\n2 twice 4\n#? [8]\n"


def test_a_private_case_file_that_is_none_is_refused(tess, course):
    for name, data, said in (
        ("a%20b.gtp", CASE, "expected one such as"),
        ("mine.gtp", b"1 twice\n#? [\n", "mine.gtp:2"),
        ("..%2fmine.gtp", CASE, ""),
    ):
        status = 422 if said else 404
        assert said in tess.ask("PUT", f"/private/{name}", status, content=data)["detail"]
    assert tess.get("/private")["files"] == []


def test_what_is_done_is_in_the_audit_log(service, tess, course):
    tess.post("/students/ada/comments", {"text": "one"})
    tess.ask("PUT", "/private/mine.gtp", content=CASE)
    tess.ask("DELETE", "/private/mine.gtp", 204)
    tess.base = course
    tess.post("/assistants", {"name": "Ann"})
    tess.post("/links", status=200)
    with service.database.reading() as db:
        told = {one.what for one in service.database.log.entries(db) if one.person}
    assert {"comment", "private case file added", "private case file removed"} <= told
    assert {"assistant added", "link made"} <= told
