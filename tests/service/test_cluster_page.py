"""The page of a cluster in a real browser, on a phone and on a desk, with script and without."""

import os
import time
from pathlib import Path

import pytest

from harness.cluster import state as cluster_state
from harness.cluster.records import ClusterState, DepartedWorker, Facts, NamedUnit, WorkerStatus
from harness.cluster.state import Flight, HubState
from harness.grading.attempts.orders import SetAside
from harness.service import machines
from oracle import __version__
from tests.harness.browsing import DESK
from tests.service.serving import (
    KINDS,
    Browser,
    add_person,
    link_for,
    open_service,
    settings_of,
    teacher,
)
from tests.service.stories import Way, World, listening

SCHEDULER = "tls://10.0.0.1:8786"
FACTS = Facts(
    "tls://10.0.0.2:40", "lab1", __version__, ("3", "1"), ("cmake", "javac"), ("ab" * 32,), 1.25
)
HAD = NamedUnit("u-1", "go-scoring", "Ada Lovelace")
WORKER = WorkerStatus(
    FACTS, "lab1:77-ab", 98.6, 90_000_000, 0.4, (HAD,), 12, 1, "the disk is full"
)
OLD = FACTS._replace(machine="lab2", version="0.0.9")
IDLE = WorkerStatus(OLD, "lab2:78-cd", 0.0, 80_000_000, 0.1, ())
UNFIT = f"gets no work: its gtp-harness is 0.0.9, and ours is {__version__}"
GONE = DepartedWorker("tls://10.0.0.9:41", 1.7e9, "lab9", (NamedUnit("u-0", "gomoku", "Bob"),))
SEEN = ClusterState((WORKER, IDLE), (GONE,))
FLIGHTS = (
    Flight("u-1", "go-scoring", "Ada Lovelace", 7, False, 1.7e9),
    Flight("u-2", "go-rules", "Grace Hopper", 1, True, 1.7e9),
)


@pytest.fixture(params=KINDS)
def settings(request, tmp_path):
    """Settings of a service with a cluster in an unknown state."""
    found = settings_of(request.param, request, tmp_path / "data")._replace(scheduler=SCHEDULER)
    machines.folder(found).mkdir(parents=True)
    return found


def write_state(settings, at=None, trouble="", seen=SEEN):
    state = HubState(at or time.time(), SCHEDULER, trouble, seen, FLIGHTS, 3)
    cluster_state.write(machines.folder(settings), state)


def test_the_page_tells_what_is_known(settings):
    with open_service(settings) as service:
        tess = teacher(service)
        assert "nothing is known of the cluster yet" in tess.get("/cluster").text
        write_state(settings)
        machines.remark(settings, "the worker <x> is set aside")
        SetAside(settings.cluster / machines.SET_ASIDE).add("lab9", "it lies")
        page = tess.get("/cluster").text
        assert "data folder: lab9." in page
        for text in ("lab1", "3, 1", "1.25", "cmake, javac", "abababab", "99 %, 90 MB", "12"):
            assert text in page
        assert "1: the disk is full" in page
        assert page.count(UNFIT) == 1
        assert "tls://10.0.0.9:41" in page and "&lt;x&gt; is set aside" in page
        assert "in doubt, alone" in page
        rows = page[page.index("Under way</h2>") :]
        for whose, where in (("Ada Lovelace", "lab1"), ("Grace Hopper", "on its way")):
            row = next(row for row in rows.split("<tr>") if whose in row)
            assert f'data-l="Where">{where}<' in row
        assert "lab9 " in page and "it had gomoku: Bob (u-0)" in page
        assert "Nothing runs now" not in page


STATES = [
    ({"trouble": "it does not answer"}, "the cluster cannot be reached"),
    ({"seen": ClusterState(())}, "no worker of the cluster is there"),
    ({"at": time.time() - 60}, "the process that speaks to the cluster says nothing"),
]


@pytest.mark.parametrize(("state", "why"), STATES)
def test_why_nothing_runs_is_told_to_anybody_and_the_details_to_administrators(
    settings, state, why
):
    write_state(settings, **state)
    with open_service(settings) as service:
        ready = Browser(service).get("/ready").text
        assert why in ready and "does not answer" not in ready and SCHEDULER not in ready
        assert state.get("trouble", why) in teacher(service).get("/cluster").text


@pytest.mark.processes
@pytest.mark.long(20)
def test_an_administrator_looks_at_it(browser, settings):
    write_state(settings)
    shots = os.environ.get("GTP_HARNESS_SHOTS")
    with open_service(settings) as service, listening(service) as address:
        world = World(service, address, browser, Path(shots) if shots else None)
        admin = add_person(service, "Ada Admin", is_admin=True)
        with world.person(link_for(service, admin), Way(DESK)) as ada:
            ada.unfold("Account of")
            ada.follow("Cluster")
            ada.look("cluster")
            write_state(settings, trouble="it does not answer")
            ada.page.get_by_text("Nothing runs now").wait_for(timeout=20_000)
            ada.look("cluster-lost")
