"""A worker that does not measure how fast its machine is: it takes it for the reference.

To measure takes a second of a whole core. ``python -m tests.cluster.quick_worker`` is otherwise as
``python -m harness.cluster worker``, with which ``test_several_hosts`` grades.
"""

import sys

from harness.cluster import cluster_processes
from harness.cluster.__main__ import main


def announce_pace(pace: float = 1.0) -> None:
    """Let no worker of this process measure; each announces this pace."""
    cluster_processes.pace = lambda: pace


if __name__ == "__main__":
    announce_pace()
    sys.exit(main(["worker"]))
