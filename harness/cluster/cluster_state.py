"""The state of a cluster at a moment, made from what its scheduler reports. Pure.

Half of it comes from workers, which may send nonsense: values of the wrong kind are left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from harness.cluster import rules
from harness.cluster.records import (
    ClusterState,
    DepartedWorker,
    Load,
    NamedUnit,
    WorkerStatus,
)
from harness.escaping import escape_controls
from harness.work.plain_values import is_number

OWN = "gtp-harness"  # what our own figures are called among those of a worker
_LONGEST = 300  # characters of a trouble
_LONGEST_NAME = 100  # characters of an assignment, or of a submission
_MOST = 1 << 53  # of a figure
_KIND = "unit"  # by what a name begins with, Dask learns how long its kind takes


def own_figures(done: int, troubles: int, trouble: str) -> dict[str, object]:
    """Return what a worker tells of itself, as it is sent."""
    return {"done": done, "troubles": troubles, "trouble": trouble[:_LONGEST]}


def task_name(load: Load) -> str:
    """Return what Dask calls a unit: so a scheduler knows whose it is, and can tell people."""
    names = [load.assignment[:_LONGEST_NAME], load.submission[:_LONGEST_NAME]]
    return f"{_KIND}-{load.id} {json.dumps(names)}"


def read_task_name(name: object) -> NamedUnit:
    """Return the unit that Dask calls so."""
    own, _, rest = str(name).removeprefix(f"{_KIND}-").partition(" ")
    try:
        assignment, submission = map(str, json.loads(rest))
    except (ValueError, TypeError, RecursionError):  # another version of us has sent it
        assignment = submission = ""
    return NamedUnit(*map(escape_controls, (own, assignment, submission)))


def read_departed(left: Sequence[Any]) -> tuple[DepartedWorker, ...]:
    """Return the workers that have gone.

    ``left``: for each its address and name, when it went, and the tasks that it had.
    """
    return tuple(
        DepartedWorker(
            escape_controls(str(address)),
            float(at),
            escape_controls(str(name).rpartition(":")[0]),
            tuple(map(read_task_name, had)),
        )
        for address, name, at, had in left
    )


def summarize(
    identity: Mapping[str, Any],
    loads: Mapping[str, Sequence[Any]],
    left: Sequence[Any],
    now: float,
) -> ClusterState:
    """Return the visible state of a cluster.

    ``identity``: of the scheduler; ``loads``: the tasks that each worker has; ``left``: see
    :func:`read_departed`.
    """
    found = (
        _worker_status(address, one, loads.get(address, ()), now)
        for address, one in sorted(identity["workers"].items())
    )
    return ClusterState(tuple(one for one in found if one), read_departed(left))


def _worker_status(
    address: str, one: Mapping[str, Any], loads: Sequence[Any], now: float
) -> WorkerStatus | None:
    facts = rules.facts_of(address, str(one["name"]), one["resources"])
    if facts is None:
        return None
    figures = one.get("metrics")
    figures = figures if isinstance(figures, dict) else {}
    own = figures.get(OWN)
    own = own if isinstance(own, dict) else {}
    return WorkerStatus(
        facts,
        str(one["name"]),
        load=_number(figures.get("cpu")),
        memory=int(_number(figures.get("memory"))),
        silent=round(max(now - _number(one.get("last_seen")), 0.0), 1),
        loads=tuple(map(read_task_name, loads)),
        done=int(_number(own.get("done"))),
        troubles=int(_number(own.get("troubles"))),
        trouble=escape_controls(str(own.get("trouble", ""))[:_LONGEST]),
    )


def _number(found: Any) -> float:
    return float(found) if is_number(found) and found < _MOST else 0.0
