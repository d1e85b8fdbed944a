"""What a connector does with loads, with a client of Dask that a test plays."""

import asyncio

import pytest

from harness.cluster import cluster_state
from harness.cluster.bytes_server import Tokens
from harness.cluster.connector import Connector
from harness.cluster.records import Drop, Load, LostUnit, PresentWorkers
from harness.cluster.rules import Facts, Needs, list_announced_resources
from harness.work import canonical_json
from tests.cluster.test_report_checks import UNIT

ONE, TWO = (Facts(f"tcp://{name}", name, "1", ("3",), (), ()) for name in ("one", "two"))


class Future:
    """Never done."""

    key, status = "key", "pending"

    def __init__(self):
        self.is_released = False

    def release(self):
        self.is_released = True


class Client:
    """Takes whatever it is given."""

    def __init__(self):
        self.futures = []

    def submit(self, *_arguments, **_options):
        self.futures.append(Future())
        return self.futures[-1]


class Served:
    """Has tokens."""

    address = "http://127.0.0.1:1"

    def __init__(self):
        self.tokens = Tokens()


def load(*only):
    return Load("id", 1, canonical_json.dumps(UNIT), (), Needs("1", "3"), only)


@pytest.fixture(autouse=True)
def nothing_ends(monkeypatch):
    """Nothing that was sent comes to an end."""

    async def wait(_future):
        await asyncio.sleep(3600)

    monkeypatch.setattr("harness.cluster.connector.wait", wait)


def done(act):
    """Let a connector with one worker do something; return what it said, and what it released."""
    said, client = [], Client()

    async def run():
        connector = Connector(client, Served(), said.append)
        connector._note_workers((ONE,))
        act(connector)
        await asyncio.sleep(0)
        # What happens at the end of the loop does not count.
        return list(said), [one.is_released for one in client.futures]

    return asyncio.run(run())


def test_a_load_for_workers_that_left_before_it_came_is_lost_at_once():
    said, (is_released,) = done(lambda connector: connector.send(load(TWO.address)))
    assert said == [
        PresentWorkers((ONE,)),
        LostUnit("id", "its worker is not there any more", begun=False),
    ]
    assert is_released


def test_one_for_workers_that_are_there_is_not():
    said, (is_released,) = done(lambda connector: connector.send(load(TWO.address, ONE.address)))
    assert said == [PresentWorkers((ONE,))]
    assert not is_released


def test_what_nobody_waits_for_is_dropped_without_a_word():
    def act(connector):
        connector.send(load(ONE.address))
        connector.drop(Drop("id"))
        connector.drop(Drop("id"))
        connector.drop(Drop("another"))

    said, (is_released,) = done(act)
    assert said == [PresentWorkers((ONE,))]
    assert is_released


# --- what is seen of workers -------------------------------------------------------------------


def identity(metrics, **more):
    own = {
        "name": "one:1-ab",
        "resources": list_announced_resources(ONE),
        "metrics": metrics,
        "last_seen": 90.0,
    }
    return {"workers": {ONE.address: own | more}}


def test_what_a_worker_does_is_read():
    figures = {
        "cpu": 99.5,
        "memory": 5,
        cluster_state.OWN: cluster_state.own_figures(7, 1, "no disk"),
    }
    found = cluster_state.summarize(
        identity(figures), {ONE.address: ["a"]}, [("tcp://x", 1.0)], 100.0
    )
    (worker,) = found.workers
    assert worker.facts == ONE
    assert (worker.load, worker.memory, worker.silent, worker.loads) == (99.5, 5, 10.0, ("a",))
    assert (worker.done, worker.troubles, worker.trouble) == (7, 1, "no disk")
    assert [one.address for one in found.left] == ["tcp://x"]


@pytest.mark.parametrize(
    "metrics",
    [
        None,
        [],
        {"cpu": "much", "memory": -1},
        {"cpu": float("nan"), cluster_state.OWN: []},
        {cluster_state.OWN: {"done": True, "troubles": float("inf"), "trouble": 7}},
    ],
)
def test_nonsense_of_a_worker_is_left_out(metrics):
    (worker,) = cluster_state.summarize(identity(metrics), {}, [], 100.0).workers
    assert (worker.load, worker.memory, worker.done, worker.troubles) == (0.0, 0, 0, 0)


def test_what_is_none_of_ours_is_not_shown_and_escapes_are():
    assert cluster_state.summarize(identity({}, resources={}), {}, [], 1.0).workers == ()
    told = {cluster_state.OWN: cluster_state.own_figures(0, 1, "\x1b[2J" + "x" * 1000)}
    (worker,) = cluster_state.summarize(identity(told), {}, [], 1.0).workers
    assert "\x1b" not in worker.trouble and len(worker.trouble) < 400
