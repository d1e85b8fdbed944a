"""Nothing that came from a worker is unpickled by the server or the scheduler."""

import json
import os
import subprocess
import sys
import time

import pytest

from harness.cluster import json_lines, roles
from harness.cluster.connector_link import ConnectorProcess
from harness.cluster.message_filter import forbidden_operation
from harness.cluster.records import ConnectorSettings, FinishedUnit, Load, LostUnit, PresentWorkers
from harness.cluster.rules import Needs
from harness.options import BoxLimits, Limits
from harness.work import canonical_json
from harness.work.records import Environment, Folder, UnitSubmission, WorkUnit
from oracle import __version__
from tests.cluster.clusters import ROOT, cluster

pytestmark = pytest.mark.processes

UNIT = WorkUnit(
    1,
    UnitSubmission("ada", "0" * 64, "", ()),
    "build",
    (),
    Folder("counting", ()),
    None,
    Environment("3"),
    Limits(),
    BoxLimits(),
    False,
    1.0,
)
RESTRICTED = """
import os, pickle, sys
import cloudpickle, distributed
class Evil:
    def __reduce__(self):
        return os.mkdir, (sys.argv[1],)
evil = pickle.dumps(Evil())
if sys.argv[2] == "restricted":
    from harness.cluster import unpickling
    unpickling.restrict([("collections", "OrderedDict")])
from io import BytesIO
from distributed.protocol import pickle as of_dask
print(type(of_dask.loads(evil)), type(cloudpickle.loads(evil)), type(pickle.load(BytesIO(evil))))
print(of_dask.loads(b"no pickle"), pickle.loads(pickle.dumps({"a": [1.5, "b", b"c"]})))
import collections
print(pickle.loads(pickle.dumps(collections.OrderedDict(a=1))))
"""


def wait_for(connector, kind, seconds=60):
    """Return the first news of a kind."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        for news in connector.receive(0.5):
            if isinstance(news, kind):
                return news
        assert connector.status is None, "the connector ended"
    raise AssertionError(f"no news of {kind}")


@pytest.mark.long(12)
@pytest.mark.parametrize("way", ["result", "scheduler", "exception", "message"])
def test_a_pickle_of_a_worker_does_nothing(way, tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()
    with cluster(tmp_path) as found:
        script = ROOT / "tests" / "cluster" / "hostile_worker.py"
        words = [sys.executable, str(script), found.address, str(marks), way]
        hostile = subprocess.Popen(
            words, stdout=subprocess.PIPE, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        found.parts.append(hostile)
        assert hostile.stdout.readline() == b"ready\n"
        connector = ConnectorProcess(ConnectorSettings(found.address, "", "127.0.0.1", 0))
        try:
            (worker,) = wait_for(connector, PresentWorkers).workers
            needs, unit = Needs(__version__, "3"), canonical_json.dumps(UNIT)
            connector.send(Load("one", 1, unit, (), needs, (worker.address,)))
            news = wait_for(connector, FinishedUnit | LostUnit)
            # What is no text is lost; of a text nobody has looked at what is in it.
            assert isinstance(news, FinishedUnit) is (way == "message")
            connector.send(Load("two", 2, unit, (), needs, (worker.address,)))
            assert (
                wait_for(connector, FinishedUnit | LostUnit).id == "two"
            )  # both are still at work
        finally:
            connector.close()
        assert found.scheduler.poll() is None
    assert not [path for path in marks.iterdir() if path.name != str(hostile.pid)]


def test_without_the_restriction_the_same_pickle_does_something(tmp_path):
    """So that the tests here can fail."""
    assert _tried(tmp_path / "made", "free")
    assert (tmp_path / "made").is_dir()


def test_with_it_a_pickle_names_nothing_but_what_is_allowed(tmp_path):
    said = _tried(tmp_path / "made", "restricted").splitlines()
    assert said[0].count("Nothing") == 3
    assert "Nothing" in said[1]
    assert "{'a': [1.5, 'b', b'c']}" in said[1]
    assert said[2].startswith("OrderedDict")
    assert not (tmp_path / "made").exists()


def _tried(place, how):
    words = [sys.executable, "-c", RESTRICTED, str(place), how]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    return done.stdout or done.stderr


# --- who may ask for what ---


@pytest.mark.quick
def test_a_worker_may_ask_a_scheduler_for_little_and_other_workers_for_nothing():
    little = roles.at_scheduler(roles.WORKER)
    for operation in ("update-graph", "run_function", "broadcast", "register-client", "gather"):
        assert operation not in little
        assert forbidden_operation({"op": operation}, little)
        assert forbidden_operation(({"op": "task-finished"}, {"op": operation}), little)
    assert not forbidden_operation([{"op": "task-finished"}, {"op": "heartbeat_worker"}], little)
    assert roles.at_worker(roles.WORKER) == frozenset()
    assert roles.at_worker(roles.SCHEDULER) is None
    assert roles.at_scheduler(roles.SERVER) is None
    assert roles.at_scheduler("") == roles.at_worker("") == frozenset()


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
    assert roles.role({"subject": tuple((pair,) for pair in subject)}) == role
    assert roles.role(None) == ""


@pytest.mark.quick
def test_news_are_the_same_after_a_journey():
    for news in (
        PresentWorkers(()),
        FinishedUnit("1", "tcp://a", json.dumps("x\n")),
        LostUnit("1", "why", True),
    ):
        assert json_lines.read_news(json_lines.to_line(news)) == news
