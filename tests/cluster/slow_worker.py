"""A worker of a machine that is half as fast: a stand-in, for all here run on the same one.

It has one processor, by which engines of the test know that they compute twice as long on it, and
says of itself that it takes twice as long as a machine whose pace is in the environment: measured
again, that one would be another whenever the machine is busy.
``python -m tests.cluster.slow_worker`` is otherwise as ``python -m harness.cluster worker``.
"""

import os
import sys

from harness.cluster import calibration
from harness.cluster.__main__ import main

SLOWER = 2
OF = "GTP_HARNESS_TEST_PACE"  # of the other machine

if __name__ == "__main__":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    calibration.pace = lambda: SLOWER * float(os.environ[OF])
    sys.exit(main(["worker"]))
