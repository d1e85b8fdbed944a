"""Files of a teacher's by the API: own assignments, course folders, drafts of private cases."""

import re

import pytest

from harness.service.api import courses as api_files
from harness.service.courses import changes, own_files
from harness.service.local_times import add_offset
from harness.service.storage import courses
from tests.harness import small_class
from tests.service.serving import KINDS, open_service, settings_of, work
from tests.service.test_api_gradings import ROSTER, Asker, grade_public, submit
from tests.service.test_api_teaching import tess
from tests.service.test_fuzzed_uploads import WITH_FOLDER
from tests.service.test_own_files import CHANGES, FILES, NEWER, REFUSED, zip_files

__all__ = ["tess"]

FUTURE = "2999-01-01T00:00"
GAME = b"(;GM[1]FF[4]SZ[5];B[bb];W[cb];B[bc];W[cc];B[bd];W[cd];B[be];W[ce];B[ba];W[ca])"


@pytest.fixture(params=KINDS)
def service(request, tmp_path):
    with open_service(settings_of(request.param, request, tmp_path / "data")) as found:
        yield found


@pytest.fixture
def course(tess):
    """Make a course with a roster; return its path."""
    made = f"/courses/{tess.post('/courses', {'title': 'Games'})['id']}"
    tess.ask("POST", f"{made}/roster", content=ROSTER.encode())
    return made


def send(asker, path, files, status=201, method="POST", **query):
    """Send an archive; ``key``: of a request that may be sent again."""
    headers = {"idempotency-key": query.pop("key", "")}
    params = {"name": "doubling.zip", **query}
    data = files if isinstance(files, bytes) else zip_files(files)
    return asker.ask(method, path, status, params=params, content=data, headers=headers)


def assignments(service):
    with service.database.reading() as db:
        return courses.ASSIGNMENTS.all(db)


def test_an_upload_that_is_sent_again_makes_no_removed_assignment_anew(tess, course):
    made = send(tess, f"{course}/assignments/own", FILES, key="a-1")["id"]
    tess.base = f"{course}/assignments/{made}"
    send(tess, "/source", NEWER, key="s-1")
    tess.ask("DELETE", "", 204)
    send(tess, "/source", NEWER, 404, key="s-1")
    send(tess, "/overlay", NEWER, 404, "PUT", key="o-1")
    tess.base = ""
    again = send(tess, f"{course}/assignments/own", FILES, 409, key="a-1")
    assert "the assignment that it made was removed" in again["detail"]
    send(tess, f"{course}/assignments/own", FILES, key="a-2")


@pytest.mark.parametrize("key", ["", "s-1"])
@pytest.mark.parametrize(("path", "method"), [("/source", "POST"), ("/overlay", "PUT")])
def test_an_upload_for_an_assignment_that_is_removed_meanwhile_is_refused(
    service, tess, course, monkeypatch, path, method, key
):
    """It was a fault of the service, or left a folder of an assignment that is gone."""
    made = send(tess, f"{course}/assignments/own", {**FILES, "assignment.toml": WITH_FOLDER})["id"]
    tess.base = f"{course}/assignments/{made}"
    if key:
        send(tess, path, NEWER, 201 if path == "/source" else 200, method, key=key)
    called = "_replace" if path == "/source" else "_take_overlay"
    take = getattr(api_files, called)

    def remove_and_take(*arguments):
        with service.database.acting() as act:
            one = courses.ASSIGNMENTS.find(act.db, id=made)
            changes.remove_assignment(act, one)
        changes.clear(service.settings, one)
        return take(*arguments)

    monkeypatch.setattr(api_files, called, remove_and_take)
    refused = send(tess, path, NEWER, 404 if key or path == "/overlay" else 422, method, key=key)
    assert re.search("no such assignment|was removed", refused["detail"])
    assert not service.settings.assignment_folder(made).exists()


@pytest.mark.processes
def test_an_assignment_of_ones_own_is_made_graded_and_replaced(service, tess, course):
    made = send(tess, f"{course}/assignments/own", FILES, deadline=FUTURE, key="a-1")
    again = send(tess, f"{course}/assignments/own", FILES, deadline=FUTURE, key="a-1")
    assert made == again and len(assignments(service)) == 1
    assert (made["title"], made["deadline"]) == ("Doubling", add_offset(FUTURE))
    tess.base = f"{course}/assignments/{made['id']}"
    with service.database.reading() as db:
        ada = Asker(service, courses.MEMBERS.find(db, key="ada").person, tess.base)
    submit(ada, small_class.submission("return 2 * n"))
    first = grade_public(service, tess)
    assert tess.get("/source") == {"upload": 1, "changes": [], "still_left_out": []}
    for _ in range(2):
        newer = send(tess, "/source", NEWER, key="s-1")
        assert (newer["upload"], newer["changes"]) == (2, [CHANGES])
    assert "nothing in it" in send(tess, "/source", NEWER, 422)["detail"].lower()
    assert "another request" in send(tess, "/source", FILES, 409, key="s-1")["detail"]
    second = grade_public(service, tess)
    changes = tess.get(f"/gradings/{second}")["changes"]
    assert first != second and len(changes) > 0
    for path in ("/source", "/overlay", "/drafts"):
        ada.get(path, 403)
    send(ada, "/source", FILES, 403)
    assert [path.name for path in service.settings.data.glob(".source-*")] == []


@pytest.mark.parametrize(("files", "said"), REFUSED)
def test_an_assignment_that_is_refused(service, tess, course, files, said):
    why = send(tess, f"{course}/assignments/own", files, 422)["detail"]
    assert said.lower() in why.lower() and str(service.settings.data) not in why
    assert assignments(service) == []


def test_what_is_no_archive_or_no_date_is_refused(service, tess, course):
    path = f"{course}/assignments/own"
    assert "archive" in send(tess, path, b"no archive", 422)["detail"]
    assert "deadline: found 'soon'" in send(tess, path, FILES, 422, deadline="soon")["detail"]
    send(tess, path, FILES, 422, title="a\0b")
    send(tess, path, FILES, 422, name="")
    assert assignments(service) == []


def test_a_course_folder_is_taken_and_exchanged(service, tess, course):
    made = tess.post(f"{course}/assignments", {"source": "go-scoring"})["id"]
    tess.base = f"{course}/assignments/{made}"
    folder = tess.get("/overlay")["folder"]
    assert folder and not tess.get("/overlay")["is_uploaded"]
    for text in ("x = 1\n", "x = 2\n"):
        sent = {f"{folder}/pattern.py": text}
        assert send(tess, "/overlay", sent, 200, "PUT")["is_uploaded"]
        (kept,) = service.settings.assignment_folder(made).glob("overlay/pattern.py")
        assert kept.read_text() == text
    assert "was not uploaded" in send(tess, "/source", FILES, 422)["detail"]
    assert tess.get("/source")["upload"] == 0
    with service.database.reading() as db:
        told = [one.what for one in service.database.log.entries(db)]
    assert told.count("course's own folder taken") == 2


def test_an_assignment_without_such_a_folder_takes_none(tess, course):
    made = tess.post(f"{course}/assignments", {"source": "gosensei"})["id"]
    tess.base = f"{course}/assignments/{made}"
    assert tess.get("/overlay") == {"folder": "", "is_uploaded": False}
    assert "no folder" in send(tess, "/overlay", {"a.py": ""}, 422, "PUT")["detail"]


@pytest.mark.processes
def test_positions_are_found_dropped_exchanged_and_become_a_case_file(service, tess, course):
    made = tess.post(f"{course}/assignments", {"source": "go-scoring"})["id"]
    tess.base = f"{course}/assignments/{made}"
    asked = {"params": {"tests": 12}, "content": GAME, "headers": {"idempotency-key": "d-1"}}
    draft, again = (tess.ask("POST", "/drafts", 201, **asked) for _ in range(2))
    assert draft["id"] == again["id"] and draft["state"] == "running"
    path = f"/drafts/{draft['id']}"
    tess.post(f"{path}/write", {"name": "mine"}, 409)
    assert work(service) == 1
    found = tess.get(path)
    places = [one["position"] for one in found["positions"]]
    assert found["state"] == "done" and len(places) > 3
    assert all(one["board"]["rows"] and one["tests"] for one in found["positions"])
    left = tess.post(f"{path}/drop", {"position": places[0]}, 200)
    assert [one["position"] for one in left["positions"]] == places[1:]
    assert left["caught"] <= found["caught"] <= found["of"]
    assert "no longer among" in tess.post(f"{path}/drop", {"position": places[0]}, 422)["detail"]
    left = tess.post(f"{path}/exchange", {"position": places[1]}, 200)
    assert places[1] not in [one["position"] for one in left["positions"]]
    assert left["left_out"] == places[:2]
    taken = tess.post(f"{path}/take-back", {"position": places[0]}, 200)
    assert taken["positions"][-1]["position"] == places[0] and taken["left_out"] == [places[1]]
    assert tess.post(f"{path}/drop", {"position": places[0]}, 200)["caught"] == left["caught"]
    cases = tess.post(f"{path}/write", {"name": "mine"}, 200)
    assert [one["name"] for one in cases["files"]] == ["mine.gtp"]
    work(service)
    assert tess.get("/private")["caught"] == left["caught"]
    (line,) = tess.get("/drafts")["items"]
    assert (line["id"], line["state"]) == (draft["id"], "done")


def test_positions_that_nobody_can_find_are_refused(tess, course):
    text = FILES["assignment.toml"].replace('specification = "go-scoring"\n', "")
    made = send(tess, f"{course}/assignments/own", {**FILES, "assignment.toml": text})["id"]
    tess.base = f"{course}/assignments/{made}"
    tess.ask("POST", "/drafts", 422, params={"tests": 0})
    found = tess.ask("POST", "/drafts", 422, params={"tests": 4})
    assert "neither a specification nor a reference" in found["detail"]


@pytest.mark.processes  # it looks at the system's Python, unless another test has
def test_what_holds_is_told_after_a_file_of_it_was_corrected(service, tess, course):
    """A test of an own assignment is left out; the newer upload mends it, and says so."""
    made = send(tess, f"{course}/assignments/own", FILES, deadline=FUTURE)["id"]
    tess.base = f"{course}/assignments/{made}"
    asked = tess.post("/points", {"weights": {"public": {"one.gtp:1": "0"}}})["id"]
    work(service)
    tess.post(f"/points/{asked}/set")
    assert tess.get("/source")["still_left_out"] == []
    assert send(tess, "/source", NEWER)["still_left_out"] == ["one.gtp:1"]
    assert assignments(service)[0].source == own_files.OWN
