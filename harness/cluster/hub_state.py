"""The state of a hub, in a file of its folder: a reader need not talk to the hub."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from harness import whole_files
from harness.cluster.records import ClusterState
from harness.errors import UsageError
from harness.work import canonical_json, plain_values

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
    seen: ClusterState
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
    whole_files.write(folder / _FILE, canonical_json.dumps(state))


def read(folder: Path) -> HubState | None:
    """Return the state written last, or None if it is missing or unreadable."""
    try:
        text = (folder / _FILE).read_text(encoding="ascii")
        return plain_values.read(HubState, text, "the state of the cluster")
    except (OSError, UsageError):
        return None
