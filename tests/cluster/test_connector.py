"""What a connector does with loads, with a client of Dask that a test plays."""

import asyncio
from types import SimpleNamespace

import distributed
import pytest
from distributed.core import Status

from harness.cluster import dask_messages, state
from harness.cluster.connector import Connector
from harness.cluster.dask_messages import BROUGHT, GuardedScheduler
from harness.cluster.records import (
    DepartedWorker,
    Facts,
    Load,
    LostUnit,
    NamedUnit,
    Needs,
    PresentWorkers,
    list_announced_resources,
)
from harness.cluster.transfer import Tokens
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
        self.futures, self.reports = [], {}

    def send_task(self, _key, **_told):
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


def run_connector(act):
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
    said, (is_released,) = run_connector(lambda connector: connector.send(load(TWO.address)))
    assert said == [
        PresentWorkers((ONE,)),
        LostUnit("id", "its worker is gone", begun=False),
    ]
    assert is_released


@pytest.fixture
def scheduler(monkeypatch):
    """A scheduler that one worker has a task of; what it tells who waits for it, and Dask."""
    made = object.__new__(GuardedScheduler)
    made.told, made.after = [], []
    monkeypatch.setattr(
        distributed.Scheduler, "handle_task_finished", lambda *_, **said: made.after.append(said)
    )
    task = SimpleNamespace(processing_on=SimpleNamespace(address="tcp://one"), run_id=7)
    task.who_wants = [SimpleNamespace(client_key="client")]
    made.tasks = {"key": task}
    made.client_comms = {"client": SimpleNamespace(send=made.told.append)}
    return made


def test_a_report_that_a_worker_sends_along_is_passed_on(scheduler):
    said = {"metadata": {BROUGHT: "a report", "more": 1}, "run_id": 7}
    scheduler.handle_task_finished("key", "tcp://one", "why", **said)
    told = {"op": BROUGHT, "key": "key", "address": "tcp://one", "report": "a report"}
    assert scheduler.told == [told]
    assert scheduler.after == [{"metadata": {"more": 1}, "run_id": 7}]  # Dask keeps no report


@pytest.mark.parametrize(
    ("key", "worker", "run", "report"),
    [
        ("key", "tcp://two", 7, "of another worker"),
        ("key", "tcp://one", 6, "of another try"),
        ("nothing", "tcp://one", 7, "of no task"),
        ("key", "tcp://one", 7, ["no text"]),
    ],
)
def test_one_of_who_does_not_have_the_task_is_not(scheduler, key, worker, run, report):
    scheduler.handle_task_finished(key, worker, "why", metadata={BROUGHT: report}, run_id=run)
    assert scheduler.told == []
    assert len(scheduler.after) == 1


@pytest.mark.parametrize("is_list", [True, False])
def test_no_worker_speaks_as_another(is_list):
    """Else it could bring a false report in the name of one that is honest."""
    message = {"op": "task-finished", "worker": "tcp://two"}

    async def read(deserializers):
        return [dict(message), "OK"] if is_list else dict(message)

    comm = dask_messages.speaking_as(SimpleNamespace(read=read), "tcp://one")
    found = asyncio.run(comm.read())
    assert (found[0] if is_list else found) == {"op": "task-finished", "worker": "tcp://one"}


@pytest.mark.parametrize(("length", "is_sent_along"), [(1 << 18, True), ((1 << 18) + 1, False)])
def test_a_long_report_is_the_result_of_its_task(length, is_sent_along):
    task, report = SimpleNamespace(metadata={}), "x" * length
    assert dask_messages.hand_in(report, task) == ("" if is_sent_along else report)
    assert task.metadata == ({BROUGHT: report} if is_sent_along else {})


def test_a_census_is_another_one_when_a_worker_or_its_status_is():
    def census(*workers):
        found = [SimpleNamespace(server_id=name, status=status) for name, status in workers]
        return GuardedScheduler.census(SimpleNamespace(workers=dict(enumerate(found))))

    one, paused, other = ("a", Status.running), ("a", Status.paused), ("b", Status.running)
    assert census(one, other) == census(one, other)
    assert len({census(), census(one), census(paused), census(other), census(one, other)}) == 5


# --- which worker it was ---


class LosingScheduler:
    """Has lost a worker with what it had."""

    def __init__(self, *names):
        self.left = [(TWO.address, "two:1-ab", 1.0, names)]

    async def gtp_harness_left(self):
        return self.left


def test_who_had_what_is_lost_is_said(monkeypatch):
    """By the end of its future, or by the workers that are there: whichever comes first."""
    said, client = [], Client()
    client.status, own = "running", load(TWO.address)
    client.scheduler = LosingScheduler(state.task_name(own))

    async def end_in_error(future):
        future.status = "error"

    async def run():
        connector = Connector(client, Served(), said.append)
        connector._note_workers((ONE, TWO))
        connector.send(own)
        await connector._look_who_left()
        connector._note_workers((ONE,))
        connector._note_workers((ONE, TWO))
        monkeypatch.setattr("harness.cluster.connector.wait", end_in_error)
        connector.send(own)
        while not isinstance(said[-1], LostUnit):
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(run(), 10))
    who = "the worker tcp://two on two"
    assert [one.why for one in said if isinstance(one, LostUnit)] == [
        f"{who} is gone",
        f"{who} died",
    ]


def test_a_unit_is_known_by_its_assignment_and_whose_it_is():
    whose = 'Ada "L" \x1b[2J'
    own = load(ONE.address)._replace(assignment="counting", submission=whose)
    name = state.task_name(own)
    assert name.startswith("unit-id ")
    found = state.read_task_name(name)
    assert (found.id, found.assignment) == ("id", "counting")
    assert found.submission.startswith('Ada "L" ') and "\x1b" not in found.submission


# --- the state of workers ----------------------------------------------------------------------


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
        state.OWN: state.own_figures(7, 1, "no disk"),
    }
    found = state.summarize(
        identity(figures),
        {ONE.address: ['unit-a ["counting", "Ada"]']},
        [("tcp://x", "lab9:7-ab", 1.0, ['unit-b ["counting", "Bob"]'])],
        100.0,
    )
    (worker,) = found.workers
    assert worker.facts == ONE
    assert (worker.load, worker.memory, worker.silent) == (99.5, 5, 10.0)
    assert worker.loads == (NamedUnit("a", "counting", "Ada"),)
    assert (worker.done, worker.troubles, worker.trouble) == (7, 1, "no disk")
    lost = (NamedUnit("b", "counting", "Bob"),)
    assert found.left == (DepartedWorker("tcp://x", 1.0, "lab9", lost),)


@pytest.mark.parametrize(
    "metrics",
    [
        None,
        [],
        {"cpu": "much", "memory": -1},
        {"cpu": float("nan"), state.OWN: []},
        {state.OWN: {"done": True, "troubles": float("inf"), "trouble": 7}},
        {"memory": 1e300, state.OWN: {"done": 1e300, "troubles": 1 << 63}},
    ],
)
def test_nonsense_of_a_worker_is_left_out(metrics):
    (worker,) = state.summarize(identity(metrics), {}, [], 100.0).workers
    assert (worker.load, worker.memory, worker.done, worker.troubles) == (0.0, 0, 0, 0)


def test_what_is_none_of_ours_is_not_shown_and_escapes_are():
    assert state.summarize(identity({}, resources={}), {}, [], 1.0).workers == ()
    told = {state.OWN: state.own_figures(0, 1, "\x1b[2J" + "x" * 1000)}
    (worker,) = state.summarize(identity(told), {}, [], 1.0).workers
    assert "\x1b" not in worker.trouble and len(worker.trouble) < 400
