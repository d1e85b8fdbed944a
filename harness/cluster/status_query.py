"""Ask for the state of a cluster once, from a process without Dask."""

from __future__ import annotations

import subprocess

from harness.cluster import connector_link
from harness.cluster.records import ClusterState, ConnectorSettings
from harness.errors import NoClusterError, UsageError
from harness.exits import ExitCode
from harness.work import canonical_json, plain_values


def look(settings: ConnectorSettings) -> ClusterState:
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
        return plain_values.read(ClusterState, process.stdout, "what the scheduler says")
    said = process.stderr.decode(errors="replace").strip().splitlines()
    why = connector_link.explain(said[-1]) if said else f"status {process.returncode}"
    kind = NoClusterError if process.returncode == connector_link.LOST else UsageError
    raise kind(f"the scheduler {settings.scheduler}: {why}")
