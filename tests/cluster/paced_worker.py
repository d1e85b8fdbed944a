"""A worker of a machine that computes faster or slower: a stand-in, for all run on the same one.

``python -m tests.cluster.paced_worker fast`` is otherwise as ``python -m harness.cluster worker``.
It says of itself the pace of that machine. Nothing is measured: that would be another pace on each
machine, and on one that is busy. The slow one has one processor, by which engines know it.
"""

import os
import sys

from harness.cluster.__main__ import main
from tests.cluster.quick_worker import announce_pace

PACES = {"fast": 0.7, "slow": 1.4}

if __name__ == "__main__":
    machine = sys.argv[1]
    if machine == "slow":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    announce_pace(PACES[machine])
    sys.exit(main(["worker"]))
