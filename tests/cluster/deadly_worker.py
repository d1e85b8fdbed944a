"""A worker that dies over one submission, as if its machine had lost its power.

``python -m tests.cluster.deadly_worker`` is otherwise as ``python -m harness.cluster worker``.
"""

import os
import signal
import sys

from harness.cluster.__main__ import main
from harness.cluster.unit_executor import UnitExecutor
from tests.cluster.quick_worker import announce_pace

DEADLY = "deadlydora"  # whose submission it is
_run_unit = UnitExecutor._run_unit


def die(self, unit, is_wanted):
    """Yield what another worker says, of all but one submission."""
    if unit.submission.key.startswith(DEADLY):
        os.kill(os.getpid(), signal.SIGKILL)
    yield from _run_unit(self, unit, is_wanted)


if __name__ == "__main__":
    UnitExecutor._run_unit = die
    announce_pace()
    sys.exit(main(["worker"]))
