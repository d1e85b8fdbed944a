"""``python -m harness.cluster KIND``: a process of a cluster, settings on standard input."""

import sys

from harness.cluster.cluster_processes import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
