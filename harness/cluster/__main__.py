"""``python -m harness.cluster KIND``: a process of a cluster, with its settings on standard input.

Exit status: 0 if it was asked to end, 2 if a setting or certificate is wrong, 3 if the harness
failed, 4 if the scheduler cannot be reached.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

from harness.cluster import cluster_processes
from harness.cluster.connector import NoSchedulerError
from harness.cluster.connector_link import LOST, SCHEDULER
from harness.cluster.records import ConnectorSettings, SchedulerSettings, WorkerSettings
from harness.errors import ExitCode, HarnessError, SandboxError
from harness.work import canonical_json
from harness.work.machine import die_with_parent

KINDS: dict[str, tuple[type[Any], Callable[[Any], None]]] = {
    "scheduler": (SchedulerSettings, lambda settings: cluster_processes.schedule(settings, _tell)),
    "worker": (WorkerSettings, lambda settings: cluster_processes.work(settings, _tell)),
    "connector": (ConnectorSettings, cluster_processes.carry),
    "look": (ConnectorSettings, lambda settings: cluster_processes.look(settings, _tell)),
}


def main(arguments: list[str]) -> int:
    """Be a process of this kind until its end."""
    die_with_parent(os.getppid())
    kind, be = KINDS[arguments[0]]
    try:
        with open(0, "rb", buffering=0, closefd=False) as source:  # what follows is read by others
            settings = canonical_json.read(kind, source.readline(), "the settings")
        be(settings)
    except NoSchedulerError as error:
        return _complain(f"{SCHEDULER}{error}", LOST)
    except SandboxError as error:
        return _complain(str(error), ExitCode.FAULT)
    except (HarnessError, OSError) as error:
        return _complain(str(error), ExitCode.BROKEN)
    return ExitCode.OK


def _tell(text: str) -> None:
    print(text, flush=True)


def _complain(message: str, status: int) -> int:
    print(f"gtp-harness: {message}", file=sys.stderr, flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
