"""Engines of authors, run by the service's workers in the box, and kept as runs of a suite."""

import argparse
import json

import pytest

from harness.cli import client as commands
from harness.client import Client, suite_of
from harness.core.errors import UsageError
from harness.service.courses import engine_suites
from harness.service.jobs import job_handlers
from harness.service.operations import administration
from harness.service.people import accounts
from harness.service.records import RUN
from harness.service.storage import courses, queue, uploads
from tests.harness import small_class
from tests.service.serving import BASE, KINDS, open_service, settings_of, work
from tests.service.test_api_submissions import Through
from tests.service.test_suites import SUITES, Author, P, document

pytestmark = pytest.mark.long(1)

RIGHT = small_class.submission("return 2 * n")
WRONG = small_class.submission("return 2 * n if n != 2 else 5")
BYTES = {"content-type": "application/octet-stream"}


@pytest.fixture(params=KINDS)
def service(request, tmp_path, counting):
    with open_service(settings_of(request.param, request, tmp_path / "data")) as found:
        yield found


@pytest.fixture
def ann(service):
    return Author(service, "Ann")


@pytest.fixture
def suite(ann):
    """Make a suite that runs engines; return its path in the API."""
    made = ann.ask("POST", SUITES, 201, json={"title": "Engines", "source": "counting"})
    assert made["source"] == "counting"
    return f"{SUITES}/{made['id']}"


def post(asker, suite, data, status=201, key=""):
    query, headers = {"name": "engine.tgz", "revision": "r1"}, {**BYTES, "idempotency-key": key}
    return asker.ask("POST", f"{suite}/runs", status, params=query, content=data, headers=headers)


@pytest.mark.processes
def test_an_engine_is_run_and_compared_with_the_one_before(service, ann, suite):
    first = post(ann, suite, RIGHT)
    assert (first["state"], first["comparison"], first["name"]) == ("waiting", None, "engine.tgz")
    work(service)
    found = ann.ask("GET", f"{suite}/runs/{first['id']}")
    assert (found["state"], found["failed"], found["revision"]) == ("done", 0, "r1")
    assert found["passed"] == found["tests"] > 0
    second = post(ann, suite, WRONG)
    work(service)
    told = ann.ask("GET", f"{suite}/runs/{second['id']}")["comparison"]
    assert told["is_worse"] and [one["command"] for one in told["broke"]] == ["2 twice 2"]
    assert told["broke"][0]["path"].endswith("one.gtp")
    made = json.loads(ann.client.get(f"{suite}/runs/{second['id']}/document").content)
    assert made["schema"] == "gtp-harness/run" and made["diagnoses"] == []
    page = suite.removeprefix("/api/v1")
    assert "Broken now (1)" in ann.browser.get(f"{page}/history/index.html").text
    assert "engine.tgz" in ann.browser.get(f"{page}/runs/{second['id']}").text


def test_an_archive_and_a_document_are_known_by_their_content(ann, suite):
    query = {"name": "engine.tgz"}
    for kind in ("application/json", "application/x-www-form-urlencoded"):
        told = {"params": query, "headers": {"content-type": kind}}
        for data, state in ((RIGHT, "waiting"), (document([P]), "done")):
            made = ann.ask("POST", f"{suite}/runs", 201, content=data, **told)
            assert made["state"] == state


@pytest.mark.processes
def test_an_archive_that_cannot_be_run_says_why(service, ann, suite):
    run = post(ann, suite, b"no archive")["id"]
    work(service)
    found = ann.ask("GET", f"{suite}/runs/{run}")
    assert found["state"] == "failed" and "is refused" in found["trouble"]
    page = f"{suite.removeprefix('/api/v1')}/runs/{run}"
    assert "is refused" in ann.browser.get(page).text
    badge = ann.ask("PATCH", suite, json={"has_badge": True})["badge"]
    assert "engine could not be run" in ann.client.get(badge).text
    assert "could not be run" in ann.browser.get("/suites").text
    assert post(ann, suite, RIGHT)["number"] == 2
    work(service)
    assert "4 of 4 passed" in ann.client.get(badge).text
    states = [one["state"] for one in ann.ask("GET", f"{suite}/runs")["items"]]
    assert states == ["failed", "done"]


@pytest.mark.processes
def test_from_the_command_line(service, ann, suite, tmp_path, capsys, monkeypatch):
    for name in commands._COMMITS:
        monkeypatch.delenv(name, raising=False)
    place, token = suite_of(f"{BASE}{suite}"), ann.client.headers["authorization"].split()[1]

    def push_engine(data):
        file = tmp_path / "engine.tgz"
        file.write_bytes(data)
        given = argparse.Namespace(words=[str(file)], revision="")
        transport = Through(service)
        with Client(BASE, token, transport=transport, pause=lambda _: work(service)) as client:
            return commands.push(client, place, given), capsys.readouterr().out

    status, out = push_engine(RIGHT)
    assert status == 0 and "0 FAILED" in out
    status, out = push_engine(WRONG)
    assert status == 1 and "broke (1)" in out
    status, out = push_engine(b"x")
    assert status == 1 and "is refused" in out


def test_who_cannot_wait_is_told_that_the_engine_was_received(service, ann, suite, tmp_path):
    """The token may post it, and not look at it: a second post would be a second run."""
    with service.database.acting() as act:
        person = courses.SUITES.find(act.db, id=suite.rpartition("/")[2]).person
        token = accounts.make_token(act, "ci", "submit", owner=person)[1].text
    file = tmp_path / "engine.tgz"
    file.write_bytes(RIGHT)
    given = argparse.Namespace(words=[str(file)], revision="r1")
    said = "the engine was received, but not its results: .* scope is 'submit'"
    with (
        Client(BASE, token, transport=Through(service)) as client,
        pytest.raises(UsageError, match=said),
    ):
        commands.push(client, suite_of(f"{BASE}{suite}"), given)


def test_a_suite_without_an_assignment_takes_no_engines(ann):
    answer = post(ann, ann.suite(), RIGHT, 422)
    assert "takes documents of run --json, not engines" in answer["detail"]


def test_nobody_has_more_than_three_engines_waiting(ann, suite):
    for _ in range(engine_suites.MOST_WAITING):
        post(ann, suite, RIGHT)
    assert "wait already" in post(ann, suite, RIGHT, 422)["detail"]


def test_an_engine_sent_twice_under_a_key_is_run_once(service, ann, suite):
    assert len({post(ann, suite, RIGHT, key="k")["id"] for _ in range(2)}) == 1
    with service.database.reading() as db:
        assert len(queue.JOBS.all(db, kind=RUN)) == 1
    post(ann, suite, WRONG, 409, key="k")


def test_a_run_that_is_removed_is_not_run(service, ann, suite):
    run = post(ann, suite, RIGHT)["id"]
    ann.ask("DELETE", f"{suite}/runs/{run}", 204)
    assert work(service) == 0


def test_the_bytes_of_an_engine_are_known_to_whoever_tidies_up(service, ann, suite):
    run = post(ann, suite, RIGHT)
    with service.database.reading() as db:
        (bench,) = courses.ASSIGNMENTS.all(db)
        assert uploads.originals(db) == {run["sha256"]: {bench.id}}
        assert uploads.last_events(db)[bench.id] > bench.made - 1


@pytest.mark.processes
def test_a_removed_suite_leaves_nothing_of_its_engines(service, ann, suite):
    post(ann, suite, RIGHT)
    work(service)
    with service.database.reading() as db:
        (bench,) = courses.ASSIGNMENTS.all(db)
    post(ann, suite, RIGHT)
    ann.ask("DELETE", suite, 204)
    assert work(service) == 0
    with service.database.reading() as db:
        assert courses.ASSIGNMENTS.all(db) == courses.COURSES.all(db) == []
    assert not service.settings.assignment_folder(bench.id).exists()
    assert not service.settings.keys.joinpath(f"{bench.id}.key").exists()


def test_nobody_reads_the_course_behind_a_suite(service, ann, suite):
    with service.database.reading() as db:
        (bench,) = courses.ASSIGNMENTS.all(db)
    ann.ask("GET", f"/api/v1/courses/{bench.course}", 404)
    assert ann.ask("GET", "/api/v1/courses")["items"] == []


@pytest.mark.processes
def test_a_fault_of_the_harness_is_not_the_engines(service, ann, suite, monkeypatch):
    monkeypatch.setitem(job_handlers.KINDS, RUN, lambda *_: 1 // 0)
    run = post(ann, suite, RIGHT)["id"]
    work(service)
    assert ann.ask("GET", f"{suite}/runs/{run}")["state"] == "fault"
    page = f"{suite.removeprefix('/api/v1')}/runs/{run}"
    assert "The harness failed" in ann.browser.get(page).text


def test_an_operator_sees_no_course_that_engines_are_run_in(service, suite):
    with service.database.reading() as db:
        assert courses.COURSES.all(db) and administration.list_courses(db) == []
