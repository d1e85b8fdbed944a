"""What a teacher has not set up yet is never a student's failure: checks wait, and run then."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from harness.assignments import needs
from harness.service.courses.own_files import PREPARING
from harness.service.jobs.worker import Worker
from harness.service.records import CHECK, HELD
from harness.service.storage import queue
from tests.service.serving import Browser, hand_in, make_course, path_of
from tests.service.serving import work as do_all
from tests.service.test_gradebooks import api_of
from tests.service.test_own_files import FILES, as_archive, send

ENGINE = 'engine.py"\n'


class Lack(NamedTuple):
    """Something that an assignment lacks."""

    line: str  # of its [engine]
    said: str  # to the staff


LACKS = {
    "folder": Lack('overlay = "util"', "the course folder util is missing"),
    "program": Lack('needs = ["thingummy"]', "the server lacks thingummy"),
}


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A folder in which programs are looked for, too."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setattr(needs, "SEARCH_PATH", f"{folder}:{needs.SEARCH_PATH}")
    return folder


def make(service, lack):
    """Make a course with an assignment that lacks something."""
    document = FILES["assignment.toml"].replace(ENGINE, f"{ENGINE}{lack.line}\n", 1)
    made = {**FILES, "assignment.toml": document}
    course = make_course(service, "student\nada\n", source="gosensei")
    page = path_of(send(course, as_archive(made), deadline="2999-01-01T00:00"))
    return course._replace(assignment=page)


def mend(course, name, programs):
    """Set up what is missing."""
    if name == "program":
        (programs / "thingummy").write_text("#!/bin/sh\n")
        (programs / "thingummy").chmod(0o755)
    else:
        files = [("files", ("util/pattern.py", b"x = 1\n"))]
        assert course.teacher.post(f"{course.assignment}/overlay", course.assignment, files)


def text_of(browser, path):
    """Return what a page has, without the name of the product at its end."""
    return browser.get(path).text.partition('<main id="main"')[2].partition("<footer")[0]


@pytest.mark.parametrize("name", LACKS)
def test_a_check_waits_for_what_is_not_set_up_and_then_runs(service, programs, name):
    lack = LACKS[name]
    course = make(service, lack)
    ada, ask = Browser(service).enter(course.links["ada"]), api_of(service, "ada")
    assert "still preparing this assignment" in text_of(ada, course.assignment)
    upload = hand_in(ada, course).url.path
    place = upload.replace("/uploads/", "/submissions/")
    for how_often in range(2):  # before a worker has looked at it, and after
        told = text_of(ada, upload)
        assert PREPARING in told and "harness" not in told.lower()
        shown = ask("GET", f"/api/v1{place}").json()
        assert shown["state"] == "waiting" and shown["place"].startswith(PREPARING)
        if how_often == 0:
            do_all(service)
    assert "kept, not checked yet" in text_of(ada, course.assignment)
    mend(course, name, programs)
    Worker(service.settings, service.database).release_held()
    do_all(service)
    told = text_of(ada, upload)
    assert PREPARING not in told and "This one counts." in told
    assert ask("GET", f"/api/v1{place}").json()["state"] == "checked"


@pytest.mark.parametrize("name", LACKS)
def test_the_staff_sees_what_is_missing_first_and_cannot_grade_before(service, programs, name):
    lack = LACKS[name]
    course = make(service, lack)
    tess, ask = course.teacher, api_of(service, "Tess Teacher")
    assert "Needs set-up" in text_of(tess, course.course)
    told = text_of(tess, course.assignment)
    assert told.index("Set up this assignment first") < told.index("Students and groups")
    found = ask("GET", f"/api/v1{course.assignment}/checklist").json()
    assert found["is_blocked"] and not found["is_ready"]
    (missing,) = (one for one in found["items"] if one["state"] == "missing")
    assert missing["blocks"] and missing["text"] in told
    gradings = f"{course.assignment}/gradings"
    refused = tess.post(gradings, course.assignment, public_only="yes")
    answer = ask("POST", f"/api/v1{gradings}", json={"public_only": True})
    assert refused.status_code == answer.status_code == 422
    assert lack.said in refused.text.lower() and lack.said in answer.json()["detail"]
    mend(course, name, programs)
    assert "Needs set-up" not in text_of(tess, course.course)
    assert "Set up this assignment first" not in text_of(tess, course.assignment)
    assert ask("GET", f"/api/v1{course.assignment}/checklist").json()["is_ready"]
    assert "/gradings/" in tess.post(gradings, course.assignment, public_only="yes").url.path


def test_engines_on_a_cluster_wait_for_the_folder_alike(service):
    course = make(service, LACKS["folder"])
    ada = Browser(service).enter(course.links["ada"])
    upload = hand_in(ada, course).url.path
    away = service.settings._replace(scheduler="tcp://127.0.0.1:9")  # where nobody answers
    assert Worker(away, service.database).step()
    with service.database.reading() as db:
        (job,) = queue.of(db, upload.rpartition("/")[2])
    assert (job.kind, job.state) == (CHECK, HELD)


def test_a_submission_that_waits_can_be_withdrawn(service):
    course = make(service, LACKS["folder"])
    ada = Browser(service).enter(course.links["ada"])
    upload = hand_in(ada, course).url.path
    do_all(service)
    assert "withdrawn" in ada.post(f"{upload}/withdraw", upload, sure="yes").text
    mend(course, "folder", None)
    assert do_all(service) == 0
