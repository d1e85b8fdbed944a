"""``python -m harness.cluster KIND``: a process of a cluster, with its settings on standard input.

Exit status: 0 when it was asked to end, 2 where something is not as it must be, 3 where the
harness failed, 4 when the scheduler cannot be reached.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from harness.cluster import processes
from harness.cluster.porter import LOST, NoSchedulerError
from harness.cluster.records import PorterSettings, SchedulerSettings, WorkerSettings
from harness.errors import HarnessError, SandboxError
from harness.exits import ExitCode
from harness.work import plain_values
from harness.work.parent import die_with_parent

KINDS: dict[str, tuple[type[Any], Callable[[Any], None]]] = {
    "scheduler": (SchedulerSettings, lambda settings: processes.schedule(settings, _tell)),
    "worker": (WorkerSettings, lambda settings: processes.work(settings, _tell)),
    "porter": (PorterSettings, processes.carry),
}


def main(arguments: list[str]) -> int:
    """Be a process of this kind until its end."""
    die_with_parent(os.getppid())
    kind, be = KINDS[arguments[0]]
    try:
        with open(0, "rb", buffering=0, closefd=False) as source:  # what follows is read by others
            settings = plain_values.read(kind, source.readline(), "the settings")
        be(settings)
    except NoSchedulerError as error:
        return _complain(str(error), LOST)
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
