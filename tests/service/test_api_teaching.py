"""What a teacher does by the API beside grading: comments, overrides, assistants, case files."""

import json

import pytest

from harness.service.people import accounts
from harness.service.records import RIGHTS
from harness.service.storage import courses, uploads
from tests.service.serving import BASE, KINDS, Browser, counting, open_service, settings_of, work
from tests.service.test_api_gradings import RIGHT, ROSTER, WRONG, Asker, grade_public, submit

__all__ = ["counting"]


@pytest.fixture(params=KINDS)
def service(request, tmp_path):
    with open_service(settings_of(request.param, request, tmp_path / "data")) as found:
        yield found


@pytest.fixture
def tess(service):
    with service.database.acting() as act:
        person = accounts.add_person(act, "Tess", is_admin=True)
    return Asker(service, person.id)


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


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"points": "6", "reason": "x"}, "expected 0 to 5"),
        ({"points": "-1", "reason": "x"}, "expected 0 to 5"),
        ({"points": "4", "reason": " "}, "reason: found 0 characters"),
        ({"points": "4"}, "reason: Field required"),
    ],
)
@pytest.mark.processes
def test_a_mark_that_cannot_be_given_is_refused(service, tess, students, told, said):
    submit(students["ada"], RIGHT)
    grade_public(service, tess)
    assert said in tess.ask("PUT", "/students/ada/override", 422, json=told)["detail"]
    assert tess.get("/overrides")["items"] == []


@pytest.mark.stored
def test_comments_come_in_pages_and_once_for_a_key(tess, course):
    headers = {"idempotency-key": "c-1"}
    for _ in range(2):
        tess.post("/students/ada/comments", {"text": "one"}, headers=headers)
    tess.post("/students/ada/comments", {"text": "two"}, 409, headers=headers)
    tess.post("/students/ada/comments", {"text": "two"})
    first = tess.get("/students/ada/comments", limit=1)
    assert texts(first) == ["one"]
    assert texts(tess.get("/students/ada/comments", after=first["next"])) == ["two"]
    assert texts(tess.get("/students/pair/comments")) == []
    assert "Field required" in tess.post("/students/ada/comments", {}, 422)["detail"]


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


def test_a_comment_is_removed_by_its_author_and_by_teachers(service, tess, course):
    base, tess.base = tess.base, course
    people = [tess.post("/assistants", {"name": name, "may": ["comment"]})["id"] for name in "AB"]
    ann, ben = (Asker(service, one, base) for one in people)
    tess.base = base
    first, second = (ann.post("/students/ada/comments", {"text": text})["id"] for text in "12")
    refused = ben.ask("DELETE", f"/students/ada/comments/{first}", 403)
    assert "this is for the author of the comment" in refused["detail"]
    ann.ask("DELETE", f"/students/ada/comments/{first}", 204)
    tess.base = course
    tess.ask("PUT", f"/assistants/{people[0]}/rights", json={"may": []})
    tess.base = base
    ann.ask("DELETE", f"/students/ada/comments/{second}", 403)
    tess.ask("DELETE", f"/students/ada/comments/{second}", 204)
    assert texts(tess.get("/students/ada/comments")) == []


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
def test_an_assistant_is_added_given_rights_and_removed(service, tess, course):
    base, tess.base = tess.base, course
    made = tess.post("/assistants", {"name": "Ann", "may": ["override", "extend"]})
    assert made["may"] == ["extend", "override"] and made["link"].startswith(f"{BASE}/enter/")
    path = base.removeprefix("/api/v1")
    assert Browser(service).enter(made["link"]).get(f"{path}/students/ada").status_code == 200
    ann, helper = Asker(service, made["id"], base), f"/assistants/{made['id']}"
    ann.ask("PUT", "/students/ada/extension", 200, json={"deadline": "2999-02-01T00:00"})
    ann.post("/students/ada/comments", {"text": "x"}, 403)
    asked = {"may": ["comment"]}
    assert tess.ask("PUT", f"{helper}/rights", json=asked)["may"] == ["comment"]
    ann.post("/students/ada/comments", {"text": "x"})
    listed = tess.get("/assistants")["items"]
    assert listed == [{"id": made["id"], "name": "Ann", "may": ["comment"]}]
    assert (
        "found 'all'" in tess.ask("PUT", f"{helper}/rights", 422, json={"may": ["all"]})["detail"]
    )
    assert "found 'all'" in tess.post("/assistants", {"name": "B", "may": ["all"]}, 422)["detail"]
    tess.ask("DELETE", helper, 204)
    tess.ask("DELETE", helper, 404)
    assert tess.get("/assistants")["items"] == []
    ann.get("/gradings", 404)


@pytest.mark.stored
def test_a_teacher_is_no_assistant_that_could_be_removed(service, tess, course):
    with service.database.reading() as db:
        (teacher,) = courses.MEMBERS.all(db, role="teacher")
    tess.base = course
    tess.ask("DELETE", f"/assistants/{teacher.person}", 404)
    tess.ask("PUT", f"/assistants/{teacher.person}/rights", 404, json={"may": [*RIGHTS]})


def test_links_are_those_of_the_page(service, tess, course):
    tess.base = course
    first, second = (tess.post("/links", status=200)["items"] for _ in range(2))
    assert [one["student"] for one in first] == ["ada", "ben", "cyd"]
    path = first[0]["link"].removeprefix(BASE)
    assert Browser(service).get(path).status_code == 404  # another one was made since
    assert "Games" in Browser(service).enter(second[0]["link"]).get("/").text


CASE = b"1 twice 21\n#? [42]\n2 twice 4\n#? [8]\n"


@pytest.mark.processes
def test_private_case_files_are_added_read_and_removed(service, tess, students):
    empty = tess.get("/private")
    assert empty["files"] == []
    (found,) = tess.ask("PUT", "/private/mine.gtp", content=CASE)["files"]
    assert (found["name"], found["size"], found["tests"]) == ("mine.gtp", len(CASE), None)
    assert work(service) == 1
    (found,) = tess.get("/private")["files"]
    # Of a test, the line of its command; the class's reference engine knows no ``twice``.
    assert (found["tests"], found["caught"], found["wrong"]) == (2, 0, [1, 3])
    assert tess.ask("GET", "/private/mine.gtp") == CASE
    tess.ask("PUT", "/private/mine.gtp", content=CASE[:20])
    assert tess.ask("GET", "/private/mine.gtp") == CASE[:20]
    for method in ("GET", "PUT", "DELETE"):
        answer = students["ada"].ask(method, "/private/mine.gtp", 403, content=b"")
        assert "this is for teachers" in answer["detail"]
    students["ada"].ask("GET", "/private", 403)
    tess.ask("DELETE", "/private/mine.gtp", 204)
    tess.ask("DELETE", "/private/mine.gtp", 404)
    assert tess.get("/private")["files"] == []


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("mine.txt", CASE, "expected one such as mine.gtp"),
        ("a%20b.gtp", CASE, "expected one such as"),
        ("mine.gtp", b"", "mine.gtp: found an empty file, expected"),
        ("mine.gtp", b"1 twice\n#? [\n", "mine.gtp:2"),
        ("..%2fmine.gtp", CASE, ""),
    ],
)
def test_a_private_case_file_that_is_none_is_refused(tess, course, name, data, said):
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


@pytest.mark.processes
def test_a_wrong_test_is_left_out_of_the_marks(service, tess, students):
    submit(students["ada"], WRONG)
    grade_public(service, tess)
    parts = {one["name"]: one for one in tess.get("/points")["parts"]}
    assert (parts["public"]["points"], parts["files"]["tests"]) == ("4", [])
    assert parts["public"]["tests"][1] == {
        "name": "one.gtp:2", "commands": ["twice 2"], "weight": "1",
    }  # fmt: skip
    wanted = {"points": {"files": "2"}, "weights": {"public": {"one.gtp:2": "0"}}}
    asked = tess.post("/points", wanted)
    assert (asked["state"], asked["changes"]) == ("running", None)
    assert "not known yet" in tess.post(f"/points/{asked['id']}/set", status=409)["detail"]
    assert work(service) == 1
    found = tess.get(f"/points/{asked['id']}")
    assert (found["state"], found["marks"]) == ("done", 2)
    assert found["points"] == {"files": "2", "public": "4", "private": "2"}
    changes = {one["key"]: one["change"] for one in found["changes"]}
    assert changes["ada"].startswith("4 of 5 becomes 6 of 6.")
    assert tess.get("/points")["parts"] == list(parts.values())  # nothing is in force
    grading = tess.post(f"/points/{asked['id']}/set")
    assert grading["public_only"]  # as the one before
    work(service)
    tess.post(f"/gradings/{grading['id']}/accept", status=200)
    work(service)
    assert tess.get(f"/gradings/{grading['id']}/marks")["items"][0]["points"] == "6"
    found = tess.get("/points")
    assert found["parts"][1]["tests"][1]["weight"] == "0" and found["still_left_out"] == []


@pytest.mark.stored
@pytest.mark.processes
def test_who_corrects_a_file_is_told_what_is_still_left_out(service, tess, course):
    tess.ask("PUT", "/private/mine.gtp", content=CASE)
    wanted = {"weights": {"private": {"mine.gtp:1": "0"}}}
    asked = tess.post("/points", wanted)
    work(service)
    tess.post(f"/points/{asked['id']}/set")
    mended = tess.ask("PUT", "/private/mine.gtp", content=CASE.replace(b"42", b"21"))
    told = [mended, tess.get("/points"), tess.post("/points", {})]
    assert [one["still_left_out"] for one in told] == [["mine.gtp:1"]] * 3
    back = tess.post("/points", {"weights": {"private": {"mine.gtp:1": "1"}}})
    assert back["still_left_out"] == []


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"points": {"nothing": "1"}}, "there is no part 'nothing'"),
        ({"points": {"public": "x"}}, "public: found 'x'"),
        ({"weights": {"public": {"one.gtp:7": "0"}}}, "there is no test 'one.gtp:7'"),
        ({"weights": {"public": {"one.gtp:1": 0}}}, "valid string"),
    ],
)
def test_points_that_are_none_are_refused(tess, course, wanted, said):
    assert said in tess.post("/points", wanted, 422)["detail"]
