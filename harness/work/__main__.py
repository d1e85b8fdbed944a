"""``python -m harness.work [FILE]``: does a unit of work, and says what comes as lines of JSON."""

import sys

from harness.work.unit_worker import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
