"""``python -m harness.service.work``: a worker, with the settings as JSON on standard input."""

from __future__ import annotations

import os
import sys

from harness import signals
from harness.service import alive
from harness.service.settings import received
from harness.service.storage.database import Database
from harness.service.work.worker import Worker
from harness.work.parent import die_with_parent


def main() -> int:
    """Do jobs until a signal comes; what is under way then goes back to the queue."""
    signals.leave_sigint_to_the_parent()
    signals.end_on_sigterm()
    settings = received(sys.stdin.read())
    die_with_parent(os.getppid())
    database = Database(settings)
    try:
        with alive.shown(settings.workers_folder):
            Worker(settings, database).run()
    except KeyboardInterrupt:
        return 0
    finally:
        database.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
