"""How much one person may ask for, watch and submit, whatever tokens and pages that takes."""

import contextlib
from pathlib import Path

import pytest

from harness.service.api import requests
from harness.service.storage import courses, queue, uploads
from tests.service.serving import (
    KINDS,
    Browser,
    client_of,
    hand_in,
    make_course,
    open_service,
    settings_of,
)
from tests.service.test_api_submissions import place, token_of
from tests.service.test_engine_runs import ann, post, suite

__all__ = ["ann", "suite"]
ROSTER = "student\nada\nben\n"


@pytest.fixture(params=KINDS)
def serve(request, tmp_path, counting):
    """Return what opens a service with other settings."""
    with contextlib.ExitStack() as stack:
        settings = settings_of(request.param, request, tmp_path / "data")
        yield lambda **limits: stack.enter_context(open_service(settings._replace(**limits)))


@pytest.fixture
def service(serve):
    return serve()


def test_all_tokens_of_a_person_together_may_ask_so_often(serve):
    service = serve(rate=4)
    course, client = make_course(service, ROSTER), client_of(service)
    path = f"/api/v1{place(course).path}"

    def ask(token):
        answer = client.get(path, headers={"authorization": f"Bearer {token}"})
        assert answer.status_code == 200 or 1 <= int(answer.headers["retry-after"]) <= 20
        return answer.status_code

    first, second = token_of(service, "ada"), token_of(service, "ada")
    assert [ask(token) for token in (first, first, second, second)] == [200] * 4
    assert (ask(first), ask(second)) == (429, 429)
    assert ask(token_of(service, "ben")) == 200


def test_a_person_may_ask_for_so_many_pages(serve):
    service = serve(page_rate=30)
    course = make_course(service, ROSTER)
    ada, ben = (Browser(service).enter(course.links[key]) for key in ("ada", "ben"))
    answers = [ada.get(course.assignment) for _ in range(60)]
    assert {one.status_code for one in answers} == {200, 429}
    assert "oo many requests" in answers[-1].text
    assert ben.get(course.assignment).status_code == 200


def test_a_person_may_watch_so_many_pages_at_a_time(serve):
    service = serve(streams=2)
    course = make_course(service, ROSTER)
    ada, ben = (Browser(service).enter(course.links[key]) for key in ("ada", "ben"))
    page = hand_in(ada, course, b"x").url.path
    of_ben = hand_in(ben, course, b"x").url.path
    with service.database.changing() as db:
        for upload in uploads.UPLOADS.all(db):
            queue.withdraw(db, upload.id)  # so that what is told ends at once
        person = courses.MEMBERS.find(db, key="ada").person
    assert [ada.get(f"{page}/events").status_code for _ in range(4)] == [200] * 4
    assert service.watching.begin(person) and service.watching.begin(person)
    refused = ada.get(f"{page}/events")
    assert refused.status_code == 429 and "watch 2 pages already" in refused.text
    assert ben.get(f"{of_ben}/events").status_code == 200
    service.watching.end(person)
    assert ada.get(f"{page}/events").status_code == 200


def test_a_student_may_submit_so_often_to_an_assignment(serve):
    service = serve(most_uploads=2, most_uploaded=100)
    course = make_course(service, ROSTER)
    ada, ben = (Browser(service).enter(course.links[key]) for key in ("ada", "ben"))
    for _ in range(2):
        hand_in(ada, course, b"x")
    page = course.assignment
    third = ada.post(f"{page}/uploads", page, {"file": ("a1.tgz", b"x")})
    assert third.status_code == 422 and "have submitted 2 times" in third.text
    headers = {"authorization": f"Bearer {token_of(service, 'ada')}"}
    path = f"/api/v1{place(course).path}"
    answer = client_of(service).post(path, params={"name": "a"}, content=b"x", headers=headers)
    assert answer.status_code == 422 and "times, the limit" in answer.json()["detail"]
    hand_in(ben, course, bytes(90))
    large = ben.post(f"{page}/uploads", page, {"file": ("a1.tgz", bytes(11))})
    assert large.status_code == 422 and "the limit is 100" in large.text
    hand_in(ben, course, bytes(10))


def test_large_files_are_never_held_in_memory(service, monkeypatch):
    course = make_course(service, ROSTER)
    ada = Browser(service).enter(course.links["ada"])
    page = hand_in(ada, course, b"some bytes").url.path
    headers = {"authorization": f"Bearer {token_of(service, 'ada')}"}
    read_bytes = Path.read_bytes

    def read(path):
        assert service.settings.originals not in path.parents
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", read)
    assert ada.get(f"{page}/file").content == b"some bytes"
    path = f"/api/v1{place(course).path}/{page.rpartition('/')[2]}/file"
    answer = client_of(service).get(path, headers=headers)
    assert answer.content == b"some bytes"
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment; ")


def test_an_engine_that_is_posted_is_never_held_in_memory(service, ann, suite, monkeypatch):
    monkeypatch.setattr(requests, "bytearray", None, raising=False)  # which collects bodies
    assert post(ann, suite, b"an archive")["state"] == "waiting"
