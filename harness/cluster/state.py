"""The state of a cluster: made from its scheduler's reports, stored by a hub, asked for once."""

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.cluster import connector_link, records
from harness.core import file_system
from harness.core.errors import ExitCode, NoClusterError, UsageError
from harness.core.text import escape_controls
from harness.work import canonical_json

OWN = "gtp-harness"  # what our own figures are called among those of a worker
_LONGEST = 300  # characters of a trouble
_LONGEST_NAME = 100  # characters of an assignment, or of a submission
_MOST = 1 << 53  # of a figure
_KIND = "unit"  # by what a name begins with, Dask learns how long its kind takes


def own_figures(number: int, troubles: int, trouble: str) -> dict[str, object]:
    """Return what a worker tells of itself, as it is sent."""
    return {"done": number, "troubles": troubles, "trouble": trouble[:_LONGEST]}


def task_name(load: records.Load) -> str:
    """Return what Dask calls a unit: so a scheduler knows whose it is, and can tell people."""
    names = [load.assignment[:_LONGEST_NAME], load.submission[:_LONGEST_NAME]]
    return f"{_KIND}-{load.id} {json.dumps(names)}"


def read_task_name(name: object) -> records.NamedUnit:
    """Return the unit that Dask calls so."""
    own, _, rest = str(name).removeprefix(f"{_KIND}-").partition(" ")
    try:
        assignment, submission = map(str, json.loads(rest))
    except (ValueError, TypeError, RecursionError):  # another version of us has sent it
        assignment = submission = ""
    return records.NamedUnit(*map(escape_controls, (own, assignment, submission)))


def read_departed(departures: Sequence[Any]) -> tuple[records.DepartedWorker, ...]:
    """Return the workers that have gone.

    ``departures``: for each its address and name, when it went, and the tasks that it had.
    """
    return tuple(
        records.DepartedWorker(
            escape_controls(str(address)),
            float(at),
            escape_controls(str(name).rpartition(":")[0]),
            tuple(map(read_task_name, had)),
        )
        for address, name, at, had in departures
    )


def summarize(
    identity: Mapping[str, Any],
    loads: Mapping[str, Sequence[Any]],
    left: Sequence[Any],
    now: float,
) -> records.ClusterState:
    """Return the visible state of a cluster.

    ``identity``: of the scheduler; ``loads``: the tasks that each worker has; ``left``: see
    :func:`read_departed`.
    """
    found = (
        _worker_status(address, one, loads.get(address, ()), now)
        for address, one in sorted(identity["workers"].items())
    )
    return records.ClusterState(tuple(one for one in found if one), read_departed(left))


def _worker_status(
    address: str, worker: Mapping[str, Any], loads: Sequence[Any], now: float
) -> records.WorkerStatus | None:
    facts = records.facts_of(address, str(worker["name"]), worker["resources"])
    if facts is None:
        return None
    figures = worker.get("metrics")
    figures = figures if isinstance(figures, dict) else {}
    own = figures.get(OWN)
    own = own if isinstance(own, dict) else {}
    return records.WorkerStatus(
        facts,
        str(worker["name"]),
        load=_number(figures.get("cpu")),
        memory=int(_number(figures.get("memory"))),
        silent=round(max(now - _number(worker.get("last_seen")), 0.0), 1),
        loads=tuple(map(read_task_name, loads)),
        done=int(_number(own.get("done"))),
        troubles=int(_number(own.get("troubles"))),
        trouble=escape_controls(str(own.get("trouble", ""))[:_LONGEST]),
    )


def _number(value: Any) -> float:
    return float(value) if canonical_json.is_number(value) and value < _MOST else 0.0


# --- The state of a hub, in a file of its folder: a reader need not talk to the hub --------------


_FILE = "state.json"
_FRESH = 30.0  # seconds after which it says nothing of now


class Flight(NamedTuple):
    """A unit on its way."""

    name: str
    assignment: str
    submission: str  # whose it is
    cases: int
    alone: bool  # in doubt, and rerun with nothing beside it
    since: float  # seconds since 1970


class HubState(NamedTuple):
    """The state of a cluster at a moment, as the hub knows it."""

    at: float  # seconds since 1970
    scheduler: str
    trouble: str  # why nothing can be sent; empty: all is well
    seen: records.ClusterState
    flights: tuple[Flight, ...]
    waiting: int  # units behind those on their way

    @property
    def complaint(self) -> str:
        """Return why the cluster runs nothing, or "" if it can.

        Anybody may read it: ``trouble`` has more.
        """
        if time.time() - self.at > _FRESH:
            return "the process that speaks to the cluster says nothing"
        if self.trouble:
            return "the cluster cannot be reached"
        return "" if self.seen.workers else "no worker of the cluster is there"


def write(folder: Path, state: HubState) -> None:
    """Write what is known."""
    file_system.write_whole(folder / _FILE, canonical_json.dumps(state))


def read(folder: Path) -> HubState | None:
    """Return the state written last, or None if it is missing or unreadable."""
    try:
        text = (folder / _FILE).read_text(encoding="ascii")
        return canonical_json.read(HubState, text, "the state of the cluster")
    except (OSError, UsageError):
        return None


def look(settings: records.ConnectorSettings) -> records.ClusterState:
    """Return what a cluster does now.

    Raises:
        NoClusterError: the scheduler cannot be reached.
        UsageError: it is not one of ours.
    """
    process = subprocess.run(
        connector_link.command("look"),
        input=canonical_json.dumps(settings).encode() + b"\n",
        capture_output=True,
        check=False,
    )
    if process.returncode == ExitCode.OK:
        return canonical_json.read(records.ClusterState, process.stdout, "what the scheduler says")
    said = process.stderr.decode(errors="replace").strip().splitlines()
    why = connector_link.explain(said[-1]) if said else f"status {process.returncode}"
    kind = NoClusterError if process.returncode == connector_link.LOST else UsageError
    raise kind(f"the scheduler {settings.scheduler}: {why}")
