"""``python -m harness.service.work``: a worker, with the settings as JSON on standard input."""

from __future__ import annotations

import sys

from harness.service import alive
from harness.service.background import background_process
from harness.service.work.worker import Worker


def main() -> int:
    """Do jobs until a signal comes; what is under way then goes back to the queue."""
    with background_process() as (settings, database), alive.shown(settings.workers_folder):
        Worker(settings, database).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
