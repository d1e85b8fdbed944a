"""How the processes of a cluster end: in a sentence."""

import asyncio
import subprocess
from types import SimpleNamespace

import pytest

from harness.cli import cluster, main
from harness.cluster import connector, connector_link
from harness.cluster.connector import NoSchedulerError
from harness.cluster.records import ConnectorSettings
from harness.work import canonical_json

FAULT = 3


def ask_silent_scheduler(status):
    """Ask a scheduler that says nothing; return why that ends."""

    async def silent(**_options):
        await asyncio.sleep(10)

    client = SimpleNamespace(status=status, scheduler=SimpleNamespace(identity=silent))
    with pytest.raises(NoSchedulerError) as error:
        asyncio.run(connector.identity(client))
    return str(error.value)


def test_a_connection_that_is_lost_is_told_and_nothing_else():
    """Python would warn of what was asked and never sent."""
    assert ask_silent_scheduler("closed") == "the connection to it is lost"


def test_a_scheduler_that_is_silent_is_told(monkeypatch):
    monkeypatch.setattr(connector, "_PATIENCE", 0.01)
    assert ask_silent_scheduler("running") == "it does not answer: TimeoutError"


def test_a_scheduler_that_is_killed_is_the_harnesss_fault(monkeypatch, capsys):
    monkeypatch.setattr(cluster, "be", lambda *_: -9)
    assert main(["cluster", "scheduler"]) == FAULT
    assert capsys.readouterr().err == "gtp-harness: the scheduler was ended by signal 9\n"


@pytest.mark.processes
def test_who_is_lost_is_said():
    settings = ConnectorSettings("tcp://127.0.0.1:1", "", "127.0.0.1", 0)
    told = canonical_json.dumps(settings).encode() + b"\n"
    done = subprocess.run(
        connector_link.command("connector"), input=told, capture_output=True, check=False
    )
    assert done.returncode == connector_link.LOST
    assert done.stderr.startswith(b"gtp-harness: the scheduler: it cannot be reached: ")
