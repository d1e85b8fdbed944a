"""``gtp-harness cluster status``: what a cluster does now, for people and programs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.escaping import escape_controls
from harness.exits import ExitCode
from harness.text import number_of

if TYPE_CHECKING:
    from harness.cluster.records import ClusterState, ConnectorSettings, WorkerStatus


def main(settings: ConnectorSettings, *, as_json: bool) -> int:
    """Say what the cluster does; return the exit status."""
    from harness.cluster import state
    from harness.work import canonical_json

    found = state.look(settings)
    if as_json:
        print(json.dumps(json.loads(canonical_json.dumps(found)), indent=2, sort_keys=True))
    else:
        for line in text(settings.scheduler, found):
            print(escape_controls(line))
    return ExitCode.OK if found.workers else ExitCode.FAILED


def text(scheduler: str, found: ClusterState) -> Iterator[str]:
    """Yield the lines of a status."""
    yield f"{scheduler}: {number_of(len(found.workers), 'worker')}"
    for worker in found.workers:
        yield ""
        yield from _worker(worker)
    if found.left:
        yield "\nGone since the scheduler was started:"
    for one in found.left:
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(one.at))
        had = ", ".join(unit.described for unit in one.lost)
        yield f"  {one.machine} ({one.address}), {at}{f'; it had {had}' if had else ''}"


def _worker(one: WorkerStatus) -> Iterator[str]:
    from harness.cluster import records

    facts = one.facts
    yield f"{facts.machine} ({one.name}, {facts.address}), heard {one.silent:g} s ago"
    if unfit := records.find_unfitness(facts):
        yield f"  gets no work: {unfit}"
    levels, tools = ", ".join(facts.levels) or "none", ", ".join(facts.tools) or "none"
    yield f"  gtp-harness {facts.version}; sandbox levels {levels}; pace {facts.pace:g}"
    yield f"  programs {tools}; Pythons {', '.join(one[:8] for one in facts.pythons) or 'none'}"
    yield f"  takes environments for {', '.join(facts.bases) or 'no Python'}"
    done, given_back = number_of(one.done, "submission"), number_of(one.troubles, "submission")
    yield f"  load {one.load:.0f} %, {one.memory / 1e6:.0f} MB; did {done}, gave back {given_back}"
    if one.trouble:
        yield f"  the last one given back: {one.trouble}"
    yield f"  has {', '.join(unit.described for unit in one.loads) or 'nothing to do'}"
