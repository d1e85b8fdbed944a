"""``python -m harness.service.jobs``: a worker, with the settings as JSON on standard input."""

from __future__ import annotations

import sys

from harness.service import monitoring, processes
from harness.service.jobs.worker import Worker
from harness.service.settings import Settings
from harness.service.storage.database import Database


def main() -> int:
    """Do jobs until a signal comes; what is under way then goes back to the queue."""
    return processes.run(_work)


def _work(settings: Settings, database: Database) -> None:
    with monitoring.announce_worker(settings.workers_folder):
        Worker(settings, database).run()


if __name__ == "__main__":
    sys.exit(main())
