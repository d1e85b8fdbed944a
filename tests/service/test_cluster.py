"""A service whose engines run on the machines of a cluster: marks as on one machine."""

import contextlib
import re
import subprocess
import sys
import time

import pytest

from harness.cli import main
from harness.cluster import state
from harness.service import machines
from harness.service.settings import dump_settings
from tests.cluster.clusters import ROOT, cluster
from tests.harness import small_class
from tests.harness.test_sandbox_boxes import needs
from tests.service.serving import (
    FUTURE,
    KINDS_AT_LENGTH,
    Browser,
    hand_in,
    make_course,
    marks,
    open_service,
    rows,
    settings_of,
    teacher,
    work,
)
from tests.service.test_story import PRIVATE, ROSTER, WRONG

pytestmark = [pytest.mark.processes, pytest.mark.long(40)]


@contextlib.contextmanager
def hub(settings):
    """Give the process that speaks to the cluster."""
    process = subprocess.Popen(
        [sys.executable, "-m", "harness.service.machines"],
        stdin=subprocess.PIPE,
        cwd=ROOT,
        process_group=0,
    )
    try:
        process.stdin.write(dump_settings(settings).encode())
        process.stdin.close()
        yield process
    finally:
        process.terminate()
        process.wait(20)


def wait_for(found, seconds=60.0):
    """Wait until something is so."""
    ends = time.monotonic() + seconds
    while not (is_so := found()):
        assert time.monotonic() < ends
        time.sleep(0.2)
    return is_so


def is_well(settings):
    return machines.complaint(settings) == ""


def on_cluster(settings, address):
    return settings._replace(scheduler=address, bytes_host="127.0.0.1")


def grade_two(service):
    """Let two students hand in and a teacher grade; return the pages and marks they get."""
    course = make_course(service, ROSTER, deadline=FUTURE)
    ada, ben = (Browser(service).enter(course.links[name]) for name in ("ada", "ben"))
    sent_in = (ada, small_class.submission("return 2 * n")), (ben, small_class.submission(WRONG))
    paths = [hand_in(who, course, what).url.path for who, what in sent_in]
    assert work(service) == 2
    pages = [who.get(path).text for (who, _), path in zip(sent_in, paths, strict=True)]
    files = {"file": ("mine.gtp", PRIVATE.encode())}
    assert course.teacher.post(f"{course.assignment}/private", files=files).status_code == 200
    grading = course.teacher.post(f"{course.assignment}/gradings", all_the_same="yes").url.path
    assert work(service) == 5
    given = marks(course.teacher.get(grading).text)
    feedback = course.teacher.get(f"{grading}/files/class.html").text
    return [report(page) for page in pages], given, strip_varying(feedback)


def report(page):
    """What a page says of the public tests, without ids and times."""
    return strip_varying(page[page.index("<h1") :])


def strip_varying(text):
    """A page without what differs from run to run: times, ids, tokens."""
    text = re.sub(r"\b[0-9a-f]{16,}\b|/(courses|assignments|uploads)/[\w-]+", "ID", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?", "TIME", text)
    text = re.sub(r"\d+ \w{3} \d{4}, \d\d:\d\d(:\d\d)?", "TIME", text)
    return re.sub(r"\d+(\.\d+)? (ms|s)\b", "SECONDS", text)


@pytest.mark.parametrize("kind", KINDS_AT_LENGTH)
def test_checks_and_gradings_come_out_as_on_one_machine(
    kind, request, tmp_path, counting, monkeypatch
):
    needs(3)
    settings = settings_of(kind, request, tmp_path / "here")
    with open_service(settings) as service:
        here = grade_two(service)
    with cluster(tmp_path / "c", "one") as found:
        settings = on_cluster(settings_of(kind, request, tmp_path / "there"), found.address)
        with hub(settings), open_service(settings) as service:
            wait_for(lambda: is_well(settings))
            there = grade_two(service)
            look_at_it(found.address, service)
            monkeypatch.setattr(machines, "_PATIENCE", 0.5)
            lose_scheduler(found, service)
    assert there[1] == here[1] == {"ada": "7 of 7", "ben": "6 of 7", "cyd": "0 of 7"}
    assert there == here


def look_at_it(address, service):
    """Look at the cluster that did it all, by the command and on the page."""
    assert main(["cluster", "status", address]) == 0
    assert main(["cluster", "status", address, "--json"]) == 0
    seen = state.look(machines.connector_settings(service.settings)).workers
    assert [one.facts.machine for one in seen] == ["one"]
    assert sum(one.done for one in seen) >= 4  # two checks, two gradings
    assert all("3" in one.facts.levels and not one.troubles for one in seen)
    page = teacher(service).get("/cluster").text
    assert [row[0].split()[0] for row in rows(page) if len(row) == 9] == ["one"]
    assert address in page and "Nothing runs now" not in page


def lose_scheduler(found, service):
    """Without a scheduler jobs wait; they go on when there is one again."""
    settings = service.settings
    course = make_course(service, ROSTER, deadline=FUTURE)
    ada = Browser(service).enter(course.links["ada"])
    page = hand_in(ada, course).url.path
    found.scheduler.kill()
    found.scheduler.wait()
    wait_for(lambda: not is_well(settings))
    assert work(service) == 1  # put off, and had again later
    assert "the cluster cannot be reached" in ready(service)
    assert "Nothing runs now: the cluster cannot be reached." in ada.get(page).text
    assert [one.text for one in machines.remarks(settings)]
    found.schedule()
    found.work("three", wait=False)
    wait_for(lambda: is_well(settings))
    wait_for(lambda: work(service))
    assert "4 passed" in ada.get(page).text
    assert "Nothing runs now" not in ada.get(page).text


def ready(service):
    return Browser(service).get("/ready").json()["reasons"]
