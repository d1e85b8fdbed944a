"""The state of a cluster at a moment, made from what its scheduler reports. Pure.

Half of it comes from workers, which may send nonsense: values of the wrong kind are left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from harness.cluster import rules
from harness.cluster.records import ClusterState, DepartedWorker, WorkerStatus
from harness.escaping import escape_controls

OWN = "gtp-harness"  # what our own figures are called among those of a worker
_LONGEST = 300  # characters of a trouble


def own_figures(done: int, troubles: int, trouble: str) -> dict[str, object]:
    """Return what a worker tells of itself, as it is sent."""
    return {"done": done, "troubles": troubles, "trouble": trouble[:_LONGEST]}


def summarize(
    identity: Mapping[str, Any],
    loads: Mapping[str, Sequence[Any]],
    left: Sequence[Any],
    now: float,
) -> ClusterState:
    """Return what is seen of a cluster.

    ``identity``: of the scheduler; ``loads``: the keys that each worker has; ``left``: addresses
    of workers that have gone, and when.
    """
    found = (
        _worker_status(address, one, loads.get(address, ()), now)
        for address, one in sorted(identity["workers"].items())
    )
    gone = tuple(DepartedWorker(escape_controls(str(address)), float(at)) for address, at in left)
    return ClusterState(tuple(one for one in found if one), gone)


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
        loads=tuple(escape_controls(str(load)) for load in loads),
        done=int(_number(own.get("done"))),
        troubles=int(_number(own.get("troubles"))),
        trouble=escape_controls(str(own.get("trouble", ""))[:_LONGEST]),
    )


def _number(found: Any) -> float:
    is_number = isinstance(found, int | float) and not isinstance(found, bool)
    return float(found) if is_number and found >= 0 and math.isfinite(found) else 0.0
