"""Cut machines off that never come back; print as JSON how many seconds nobody notices.

``python -m tests.cluster.half_open``, within what :func:`tests.cluster.lab.inside` makes.
``lock``: until another machine gets a lock of the ledger that the first one had. ``worker``: until
a grading is told that a worker is gone.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import IO

from harness.grading.ledger import places
from harness.grading.ledger.ledger import Ledger
from tests.cluster.lab import ROOT, SERVER, WORK, WORKERS, Host, Lab
from tests.cluster.parts import Cluster, Database, until

_PATIENCE = 120.0  # seconds for a scheduler to be there
# A grading that is about to take attempts when its power fails.
_HOLD = """
import sys, time
from pathlib import Path
from harness.grading.ledger import places
from harness.grading.ledger.ledger import Ledger
ledger = Ledger(places.of(sys.argv[1], Path(sys.argv[2])))
with ledger.changing():
    ledger.database.lock("leasing")
    print("locked", flush=True)
    time.sleep(10_000)
"""
# A grading that is told how many workers there are.
_WATCH = """
import sys
from harness.cluster.connector_link import ConnectorProcess
from harness.cluster.records import ConnectorSettings
connector = ConnectorProcess(ConnectorSettings(*sys.argv[1:], 0))
while connector.status is None:
    for news in connector.receive(1):
        print(len(news.workers), flush=True)
"""


def main() -> None:
    """Make it so, and wait."""
    lab = Lab()
    print(json.dumps({"worker": _without_worker(lab), "lock": _until_unlocked(lab)}))


def _until_unlocked(lab: Lab) -> float:
    database = Database(lab)
    database.prepare()
    host = lab.hosts[SERVER]
    place = (database.address("ledger"), host.home / "key")
    holding, said = _start_python(host, _HOLD, *place)
    _hear(said, "locked")
    with host.cut_off():
        holding.kill()
        begun = time.monotonic()
        ledger = Ledger(places.of(*place))
        ledger.db.exec_driver_sql("SET lock_timeout = 0")
        with ledger.changing():
            ledger.database.lock("leasing")
        return time.monotonic() - begun


def _without_worker(lab: Lab) -> float:
    cluster = Cluster(lab)
    server, worker = lab.hosts[SERVER], lab.hosts[WORKERS[0]]
    cluster.scheduler().start()
    until(lambda: server.reaches(*cluster.place), _PATIENCE)
    cluster.worker(worker.name).start()
    own = (cluster.address, cluster.papers, server.address(WORK))
    _, said = _start_python(server, _WATCH, *own)
    _hear(said, "1")
    with worker.cut_off():
        begun = time.monotonic()
        _hear(said, "0")
        return time.monotonic() - begun


def _start_python(host: Host, code: str, *words: object) -> tuple[subprocess.Popen[str], IO[str]]:
    """Start Python on a host; return the process, and what it says."""
    command = host.command(sys.executable, "-c", code, *words)
    environment = host.environment
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    )
    assert process.stdout
    return process, process.stdout


def _hear(said: IO[str], wanted: str) -> None:
    """Wait until a line is said."""
    while (line := said.readline().strip()) != wanted:
        assert line, "it has ended"


if __name__ == "__main__":
    main()
