"""Files of a teacher's by the API: own assignments, course folders, drafts of private cases."""

import re

import pytest

from harness.service.courses import changes
from harness.service.storage import courses
from harness.service.web.request_context import RequestContext
from tests.service.test_api_gradings import ROSTER, tess
from tests.service.test_fuzzed_uploads import WITH_FOLDER
from tests.service.test_own_files import FILES, NEWER, zip_files

__all__ = ["tess"]


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
    made = send(tess, f"{course}/assignments/own", {**FILES, "assignment.toml": WITH_FOLDER})["id"]
    tess.base = f"{course}/assignments/{made}"
    if key:
        send(tess, path, NEWER, 201 if path == "/source" else 200, method, key=key)

    def remove_and_act(context):
        with service.database.acting() as act:
            one = courses.ASSIGNMENTS.find(act.db, id=made)
            changes.remove_assignment(act, one)
        changes.clear(service.settings, one)
        return service.database.acting(context.by)

    monkeypatch.setattr(RequestContext, "acting", remove_and_act)
    refused = send(tess, path, NEWER, 404 if key or path == "/overlay" else 422, method, key=key)
    assert re.search("no such assignment|was removed", refused["detail"])
    assert not service.settings.assignment_folder(made).exists()


def test_what_is_refused_is_told_without_a_path_of_the_server(service, tess, course):
    path = f"{course}/assignments/own"
    why = send(tess, path, {**FILES, "specification.py": ""}, 422)["detail"]
    assert "would run outside a sandbox" in why and str(service.settings.data) not in why
    assert "archive" in send(tess, path, b"no archive", 422)["detail"]
    assert "deadline: found 'soon'" in send(tess, path, FILES, 422, deadline="soon")["detail"]
    send(tess, path, FILES, 422, title="a\0b")
    assert assignments(service) == []
