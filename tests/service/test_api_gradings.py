"""A course by the API alone: made, graded, released; each mark as pages and sheets have it."""

import csv
import io

import pytest

from harness.grading.records import Marks, PartMark
from harness.service.api import submissions
from harness.service.local_times import add_offset
from harness.service.people import accounts
from harness.service.records import Override
from harness.service.storage import courses
from tests.harness import small_class
from tests.service.serving import add_person, client_of, work

ROSTER = "student,name,group\nada,Ada,\nben,Ben,pair\ncyd,Cyd,pair\n"
RIGHT = small_class.submission("return 2 * n")
WRONG = small_class.submission("return 2 * n if n != 2 else 5")
FUTURE = "2999-01-01T00:00"


class Asker:
    """Somebody with a token of the API."""

    def __init__(self, service, person, base=""):
        with service.database.acting() as act:
            token = accounts.make_token(act._replace(by=person), "ci", "all")[1].text
        self._client = client_of(service)
        self._client.headers["authorization"] = f"Bearer {token}"
        self.base = base

    def ask(self, method, path, status=200, **rest):
        answer = self._client.request(method, f"/api/v1{self.base}{path}", **rest)
        assert answer.status_code == status, answer.text
        is_json = "json" in answer.headers.get("content-type", "")
        return answer.json() if is_json else answer.content

    def get(self, path, status=200, **query):
        return self.ask("GET", path, status, params=query)

    def post(self, path, told=None, status=201, **rest):
        return self.ask("POST", path, status, json=told or {}, **rest)


@pytest.fixture
def tess(service):
    person = add_person(service, "Tess", is_admin=True)
    return Asker(service, person.id)


@pytest.fixture
def course(service, tess, counting):
    """Make a course with an assignment and a roster; return its members by keys."""
    made = tess.post("/courses", {"title": "Games"})["id"]
    taken = tess.ask("POST", f"/courses/{made}/roster", content=ROSTER.encode())
    assert (taken["students"], taken["added"]) == (3, ["ada", "ben", "cyd"])
    wanted = {"source": "counting", "deadline": FUTURE}
    assigned = tess.post(f"/courses/{made}/assignments", wanted)
    tess.base = f"/courses/{made}/assignments/{assigned['id']}"
    with service.database.reading() as db:
        members = {key: courses.MEMBERS.find(db, key=key).person for key in ("ada", "ben", "cyd")}
    return {key: Asker(service, person, tess.base) for key, person in members.items()}


def submit(asker, data):
    asker.ask("POST", "/submissions", 201, params={"name": "a1.tgz"}, content=data)


def grade_public(service, tess):
    work(service)
    grading = tess.post("/gradings", {"public_only": True})["id"]
    assert tess.get(f"/gradings/{grading}")["state"] == "running"
    work(service)
    return grading


@pytest.mark.processes
def test_from_a_course_to_released_marks(service, tess, course):
    submit(course["ada"], RIGHT)
    submit(course["ben"], WRONG)
    grading = grade_public(service, tess)
    found = tess.get(f"/gradings/{grading}")
    assert (found["state"], found["left"], found["faults"]) == ("concluded", 0, [])
    told = tess.get(f"/gradings/{grading}/marks")["items"]
    assert [(one["student"], one["group"]) for one in told] == [
        ("ada", ""),
        ("ben", "pair"),
        ("cyd", "pair"),
    ]
    ada, ben, cyd = told
    assert ada["points"] == ada["computed"] and float(ada["points"]) > float(ben["points"])
    assert ben["points"] == cyd["points"] and not ben["is_given"]
    assert sum(float(one["points"]) for one in ada["parts"]) == float(ada["points"])
    assert sheet(tess, grading)["ada"] == ada["points"]
    course["ada"].get("/mark", 404)
    assert tess.post(f"/gradings/{grading}/release?early=true", status=200)["state"] == "released"
    assert course["ada"].get("/mark")["points"] == ada["points"]
    assert course["cyd"].get("/mark")["student"] == "cyd"
    assert [one["id"] for one in tess.get("/gradings")["items"]] == [grading]


def sheet(tess, grading):
    """Return the marks of the sheet that the grading wrote, by student."""
    names = tess.get(f"/gradings/{grading}/files")["names"]
    assert "class.html" in names
    tess.get(f"/gradings/{grading}/files/../../ledger.sqlite", 404)
    tess.get(f"/gradings/{grading}/files/none.csv", 404)
    tess.get(f"/gradings/{grading}/files/{'n' * 300}.csv", 404)
    data = tess.get(f"/gradings/{grading}/files/marks.csv").decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(data)))
    return {row["key"]: row["total"] for row in rows}


@pytest.mark.processes
def test_a_release_before_there_are_marks_is_refused(service, tess, course):
    submit(course["ada"], RIGHT)
    grading = tess.post("/gradings", {"public_only": True})["id"]
    assert "no marks yet" in tess.post(f"/gradings/{grading}/release", status=409)["detail"]
    assert (
        "nothing to be changed" in tess.post(f"/gradings/{grading}/accept", status=409)["detail"]
    )
    tess.post(f"/gradings/{grading}/again", status=200)


@pytest.mark.stored
def test_a_grading_asked_for_twice_under_a_key_is_one(tess, course):
    headers = {"idempotency-key": "g-1"}
    sent = [tess.post("/gradings", {}, headers=headers)["id"] for _ in range(2)]
    assert len(set(sent)) == 1
    tess.post("/gradings", {"public_only": True}, 409, headers=headers)
    assert len(tess.get("/gradings")["items"]) == 1


def test_deadlines_are_extended_and_taken_back(tess, course):
    def extend_deadline(key, deadline, status=200):
        told = {"deadline": deadline}
        return tess.ask("PUT", f"/students/{key}/extension", status, json=told)

    later = add_offset("2999-02-01T00:00:00")
    assert extend_deadline("pair", later) == {"student": "pair", "deadline": later}
    listed = tess.get("/extensions")["items"]
    assert [(one["student"], one["deadline"]) for one in listed] == [
        ("ada", None),
        ("ben", later),
        ("cyd", later),
    ]
    assert "expected a time after" in extend_deadline("ada", "2026-01-01T00:00", 422)["detail"]
    assert extend_deadline("pair", "")["deadline"] is None
    extend_deadline("nobody", later, 404)


@pytest.mark.parametrize(
    ("path", "told", "said"),
    [
        ("/courses", {"title": " "}, "title: found 0 characters"),
        ("/courses", {"title": "a\0b"}, "U+0000"),
        ("{}/assignments", {"source": "/etc"}, "there is no assignment '/etc'"),
        ("{}/assignments", {"source": "counting", "deadline": "soon"}, "deadline: found 'soon'"),
    ],
)
def test_what_cannot_be_made_is_refused(tess, course, path, told, said):
    place, tess.base = tess.base.rpartition("/assignments")[0], ""
    assert said in tess.post(path.format(place), told, 422)["detail"]


@pytest.mark.stored
def test_a_roster_that_is_none_is_refused(tess, course):
    place, tess.base = tess.base.rpartition("/assignments")[0], ""
    for data, said in ((b"", "roster.csv"), (b"name\nada\n", "student")):
        assert said in tess.ask("POST", f"{place}/roster", 422, content=data)["detail"]
    listed = tess.get(f"{place}/students", limit=2)
    assert [one["student"] for one in listed["items"]] == ["ada", "ben"]
    rest = tess.get(f"{place}/students", after=listed["next"])
    assert [one["student"] for one in rest["items"]] == ["cyd"]


# --- which mark counts -------------------------------------------------------------------------

PARTS = (PartMark("Tests", 3, 5, "3 of 5 tests passed"),)
COMPUTED = Marks(PARTS, 1, "late", 2, 5, "computed")
WITHHELD = Marks((), 0, "", 0, 5, "the harness failed", withheld=True)
GIVEN = Override("a", "ada", "9/2", "2 of 5", "a good talk", "p", 1.0)


@pytest.mark.parametrize(
    ("computed", "own", "points", "was", "reason"),
    [
        (COMPUTED, None, "2", "2", "computed"),
        (COMPUTED, GIVEN, "4.5", "2", "a good talk"),
        (WITHHELD, None, None, None, "the harness failed"),
        (WITHHELD, GIVEN, "4.5", None, "a good talk"),
    ],
)
def test_a_mark_that_a_person_gave_counts_and_the_computed_one_stays(
    computed, own, points, was, reason
):
    found = submissions.describe_mark("ada", "pair", computed, own)
    assert (found.points, found.computed, found.reason) == (points, was, reason)
    assert (found.is_given, found.group, found.of) == (own is not None, "pair", "5")
