"""Nothing that came from a worker is unpickled by the server or the scheduler."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import msgpack
import pytest
from distributed.comm import connect
from distributed.comm.core import CommClosedError
from distributed.protocol import pickle as of_dask
from distributed.protocol.serialize import ToPickle
from distributed.versions import get_versions

from harness.cluster import connector_link, dask_messages, records, tls
from harness.cluster.connector_link import ConnectorProcess
from harness.cluster.dask_messages import (
    CENSUS,
    NOW,
    GuardedScheduler,
    GuardedWorker,
    forbidden_operation,
)
from harness.cluster.records import (
    ConnectorSettings,
    FinishedUnit,
    Load,
    LostUnit,
    Needs,
    PresentWorkers,
)
from harness.cluster.tls import TlsCredentials
from harness.work import canonical_json
from oracle import __version__
from tests.cluster import clusters
from tests.cluster.clusters import ROOT, cluster
from tests.cluster.test_report_checks import UNIT as CASES

UNIT = CASES._replace(cases=())

pytestmark = pytest.mark.processes

# Without the restriction a pickle does something, so that this can fail; with it none is read.
RESTRICTED = """
import os, pickle, sys
from io import BytesIO
import cloudpickle, distributed
from distributed.protocol import pickle as of_dask
class Evil:
    def __reduce__(self):
        return os.mkdir, (sys.argv[1],)
evil = pickle.dumps(Evil())
of_dask.loads(evil)
os.rmdir(sys.argv[1])
from harness.cluster import dask_messages
dask_messages.refuse()
print(type(of_dask.loads(evil)), type(cloudpickle.loads(evil)), type(pickle.load(BytesIO(evil))))
print(type(pickle.Unpickler(BytesIO(evil)).load()), type(of_dask.loads(b"no pickle")))
"""


def wait_for(connector, kind, seconds=60):
    """Return the first news of a kind that was not returned before."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        HEARD.setdefault(connector, []).extend(connector.receive(0.5))
        for news in HEARD[connector]:
            if isinstance(news, kind):
                HEARD[connector].remove(news)
                return news
        assert connector.status is None, "the connector ended"
    raise AssertionError(f"no news of {kind}")


HEARD = {}  # by connector: what nobody has waited for
WAYS = ["result", "scheduler", "exception", "message"]


@contextlib.contextmanager
def run_attack(folder):
    """Let workers send pickles; give a cluster, a connector, the workers, and which were read.

    A worker for each way is a machine of that name, and may itself read what it has written.
    """
    marks = folder / "marks"
    marks.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with cluster(folder) as found:
        hostile = set()
        for way in WAYS:
            script = ROOT / "tests" / "cluster" / "hostile_worker.py"
            words = [sys.executable, str(script), found.address, str(marks), way]
            part = subprocess.Popen(words, stdout=subprocess.PIPE, cwd=ROOT, env=environment)
            found.parts.append(part)
            hostile.add(f"{way}-{part.pid}")
        assert [part.stdout.readline() for part in found.parts[1:]] == [b"ready\n"] * len(WAYS)
        settings = ConnectorSettings(found.address, "", "127.0.0.1", 0)
        with contextlib.closing(ConnectorProcess(settings)) as connector:
            workers = ()
            while len(workers) < len(WAYS):
                workers = wait_for(connector, PresentWorkers).workers
            yield found, connector, workers, lambda: set(os.listdir(marks)) - hostile


def order(connector, worker, name):
    """Let the worker do a unit."""
    unit = canonical_json.dumps(UNIT)
    connector.send(Load(name, 1, unit, (), Needs(__version__, "3"), (worker.address,)))


@pytest.mark.long(12)
def test_a_pickle_of_a_worker_does_nothing(tmp_path):
    with run_attack(tmp_path) as (found, connector, workers, made):
        for again in ("", " again"):  # all still work
            for worker in workers:
                order(connector, worker, worker.machine + again)
            news = [wait_for(connector, FinishedUnit | LostUnit) for _ in workers]
            # A message that is not text is dropped; the content of text is not checked here.
            read = {one.id.split()[0] for one in news if isinstance(one, FinishedUnit)}
            assert (len({one.id for one in news}), read) == (len(WAYS), {"message"})
        assert found.scheduler.poll() is None
        assert not made()


@pytest.mark.slow
@pytest.mark.long(12)
def test_without_the_restriction_each_of_them_does_something(tmp_path, monkeypatch):
    """So that the test above can fail, in each way."""
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); sys.argv.pop(0)"
    run = "import runpy; runpy.run_module('tests.cluster.careless', run_name='__main__')"
    careless = [sys.executable, "-c", f"{script}; sys.argv.insert(0, ''); {run}"]
    monkeypatch.setattr(clusters, "SCHEDULER", ("tests.cluster.careless", "scheduler"))
    monkeypatch.setattr(connector_link, "command", lambda kind: [*careless, kind])
    with run_attack(tmp_path) as (_, connector, workers, made):
        for worker in workers:
            order(connector, worker, worker.machine)
        ends = time.monotonic() + 60
        while {name.partition("-")[0] for name in made()} != set(WAYS):
            assert time.monotonic() < ends, made()
            connector.receive(0.2)


def test_no_pickle_is_read(tmp_path):
    words = [sys.executable, "-c", RESTRICTED, str(tmp_path / "made")]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout.count("Nothing") == 5, done
    assert not (tmp_path / "made").exists()


async def send_pickle(found, evil):
    """Send a scheduler a pickle in a message that a worker may send."""
    own = TlsCredentials(Path(found.tls), tls.WORKER).security()
    comm = await connect(found.address, **own.get_connection_args("client"))
    with mock.patch.object(of_dask, "dumps", lambda *_, **__: evil):
        await comm.write({"op": "heartbeat_worker", "x": ToPickle(1), "reply": True})
    with contextlib.suppress(CommClosedError, TimeoutError):
        await asyncio.wait_for(comm.read(), 5)
    comm.abort()


@pytest.mark.long(12)
def test_no_pickle_of_a_worker_keeps_the_scheduler_from_its_work(tmp_path):
    evil = b"cdask._expr\nLLGExpr\n(N(dV__dask_graph__\nI1\nstb."
    papers = str(tmp_path / "papers")
    tls.make(Path(papers), 1)
    with cluster(tmp_path / "cluster", tls=papers) as found:
        asyncio.run(send_pickle(found, evil))
        found.work("m0")
        with contextlib.closing(
            ConnectorProcess(ConnectorSettings(found.address, papers, "127.0.0.1", 0))
        ) as connector:
            (worker,) = wait_for(connector, PresentWorkers).workers
            order(connector, worker, "one")
            assert isinstance(wait_for(connector, FinishedUnit | LostUnit, 20), FinishedUnit)


@pytest.mark.long(5)
def test_a_task_goes_to_its_workers_in_the_order_of_numbers(tmp_path):
    """One that needs what no worker has goes nowhere."""
    done = []

    def do(text, _is_wanted):
        done.append(text)
        return text

    async def run():
        async with start_guarded(tmp_path / "papers") as (scheduler, worker, _):
            scheduler.client_desires_keys([], "client")
            for text, number, workers, resources in (
                ("first", 3, [worker.address], {}),
                ("of another", 2, ["tls://127.0.0.1:1"], {}),
                ("of none", 2, [worker.address], {"a tool": 1.0}),
                ("last", 7, [worker.address], {}),
                ("next", 5, [worker.address], {}),
            ):
                scheduler.add_task("client", f"unit-{text}", text, workers, resources, number)
            while len(done) < 3:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)

    with mock.patch.object(dask_messages, "TASK_RUNNER", [do]):
        asyncio.run(asyncio.wait_for(run(), 20))
    assert done == ["first", "next", "last"]


def test_a_worker_is_told_of_a_task_in_plain_data(tmp_path):
    """Dask would send a pickle of it."""
    told = []

    async def run():
        async with start_guarded(tmp_path / "papers") as (scheduler, worker, _):
            send = scheduler._task_to_msg
            scheduler._task_to_msg = lambda task: (told.append(send(task)), told[-1])[1]
            scheduler.client_desires_keys([], "client")
            scheduler.add_task("client", "unit-one", "text", [worker.address], {}, 1)
            while scheduler.tasks["unit-one"].state != "memory":
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(run(), 20))
    assert [one["run_spec"] for one in told] == ["text"]
    assert msgpack.unpackb(msgpack.packb(told))[0]["key"] == "unit-one"


def test_a_task_that_fails_is_told_to_the_scheduler(tmp_path):
    """Else its unit would wait for ever."""

    def fail(text, _is_wanted):
        raise ValueError(text)

    async def run():
        async with start_guarded(tmp_path / "papers") as (scheduler, worker, _):
            scheduler.client_desires_keys([], "client")
            scheduler.add_task("client", "unit-one", "why", [worker.address], {}, 1)
            while scheduler.tasks["unit-one"].state != "erred":
                await asyncio.sleep(0.01)

    with mock.patch.object(dask_messages, "TASK_RUNNER", [fail]):
        asyncio.run(asyncio.wait_for(run(), 20))


# --- who may ask for what ---


@contextlib.asynccontextmanager
async def start_guarded(folder):
    """Give a scheduler and a worker that are reached by TLS, in this process."""
    tls.make(folder, 1)
    own = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    papers = {role: TlsCredentials(folder, role).security() for role in tls.ROLES}
    async with (
        GuardedScheduler(protocol="tls", port=0, security=papers[tls.SCHEDULER], **own) as one,
        GuardedWorker(one.address, nthreads=1, security=papers[tls.WORKER], **own) as two,
    ):
        yield one, two, papers


async def ask(address, security, message):
    """Return what a peer answers, or None if it ends the connection."""
    comm = await connect(address, **security.get_connection_args("client"))
    try:
        await comm.write(message)
        return await asyncio.wait_for(comm.read(), 20)
    except CommClosedError:
        return None
    finally:
        comm.abort()


@pytest.mark.long(5)
def test_by_tls_each_gets_what_its_certificate_allows_and_no_more(tmp_path):
    identity = {"op": "identity", "reply": True}

    async def run():
        async with start_guarded(tmp_path / "papers") as (scheduler, worker, papers):
            return {
                (type(asked).__name__, role): await ask(asked.address, papers[role], identity)
                for asked in (scheduler, worker)
                for role in tls.ROLES
            }

    answered = {who for who, answer in asyncio.run(run()).items() if answer}
    assert answered == {("GuardedScheduler", "server"), ("GuardedWorker", "scheduler")}


async def register(worker, **more: object):
    """Return what a worker says when it comes, with lies in it."""
    words = ("register-worker", "tls://127.0.0.1:9", "evil:1", "running")
    said: dict[str, object] = dict(zip(("op", "address", "name", "status"), words, strict=True))
    said |= dict.fromkeys(("server_id", "stimulus_id", "local_directory"), "evil")
    said |= {"metrics": await worker.get_metrics(), "versions": get_versions(), "now": 0.0}
    said |= {"nthreads": 1, "memory_limit": 0, "nanny": None, "reply": False}
    return said | {"resources": {}, "services": {}, "extra": {}} | more


@pytest.mark.long(5)
@pytest.mark.parametrize(
    ("more", "is_taken"),
    [
        ({}, True),
        ({"extra": {"resources": None, "last_seen": []}}, True),
        ({"extra": "text"}, True),
        ({"server_id": {}}, False),
        ({"resources": [["gtp-harness", 1.0]]}, False),
        ({"name": {}}, False),
        ({"nthreads": "one"}, False),
    ],
)
def test_whatever_a_worker_says_of_itself_the_scheduler_can_tell_which_there_are(
    tmp_path, more, is_taken
):
    """Else one worker would keep all gradings from their workers."""

    async def run():
        async with start_guarded(tmp_path / "papers") as (scheduler, honest, papers):
            own = papers[tls.WORKER].get_connection_args("client")
            comm = await connect(scheduler.address, **own)
            await comm.write(await register(honest, **more))
            with contextlib.suppress(CommClosedError):
                await asyncio.wait_for(comm.read(), 20)
            server = papers[tls.SERVER]
            asked = {"reply": True, "serializers": ["msgpack"]}
            census = await ask(scheduler.address, server, {"op": CENSUS, **asked})
            found = await ask(scheduler.address, server, {"op": "identity", **asked})
            comm.abort()
            return census, found, honest.address

    census, found, honest = asyncio.run(run())
    assert isinstance(census, int)
    assert abs(found[NOW] - time.time()) < 60
    assert honest in found["workers"]
    others = [one for address, one in found["workers"].items() if address != honest]
    assert [one["resources"] for one in others] == [{}] * is_taken


@pytest.mark.long(5)
@pytest.mark.parametrize(("operation", "stays"), [("keep-alive", True), ("log-event", False)])
def test_a_worker_that_asks_for_more_in_the_midst_of_its_work_is_put_out(
    tmp_path, operation, stays
):
    async def run():
        async with start_guarded(tmp_path / "papers") as (scheduler, worker, _):
            assert worker.address in scheduler.workers
            worker.batched_send({"op": operation, **({} if stays else {"topic": "t", "msg": 1})})
            ends = time.monotonic() + (1 if stays else 20)
            while worker.address in scheduler.workers and time.monotonic() < ends:
                await asyncio.sleep(0.05)
            return worker.address in scheduler.workers, scheduler.get_events("t")

    assert asyncio.run(run()) == (stays, ())


@pytest.mark.quick
def test_a_worker_may_ask_a_scheduler_for_little_and_other_workers_for_nothing():
    little = tls.at_scheduler(tls.WORKER)
    for operation in ("update-graph", "run_function", "broadcast", "register-client", "gather"):
        assert operation not in little
        assert forbidden_operation({"op": operation}, little)
        assert forbidden_operation(({"op": "task-finished"}, {"op": operation}), little)
    assert not forbidden_operation([{"op": "task-finished"}, {"op": "heartbeat_worker"}], little)
    assert tls.at_worker(tls.WORKER) == frozenset()
    assert tls.at_worker(tls.SCHEDULER) is None
    assert tls.at_scheduler(tls.SERVER) is None
    assert tls.at_scheduler("") == tls.at_worker("") == frozenset()


@pytest.mark.quick
@pytest.mark.parametrize(
    ("subject", "role"),
    [
        ((("organizationalUnitName", "gtp-harness"),), ""),
        ((("organizationalUnitName", "gtp-harness"), ("commonName", "worker")), "worker"),
        ((("commonName", "server"),), ""),
        ((("organizationalUnitName", "gtp-harness"), ("commonName", "root")), ""),
    ],
)
def test_a_role_is_what_a_certificate_of_ours_says(subject, role):
    assert tls.role({"subject": tuple((pair,) for pair in subject)}) == role
    assert tls.role(None) == ""


@pytest.mark.quick
def test_news_are_the_same_after_a_journey():
    for news in (
        PresentWorkers(()),
        FinishedUnit("1", "tcp://a", json.dumps("x\n")),
        LostUnit("1", "why", True),
    ):
        assert records.read_news(records.to_line(news)) == news
