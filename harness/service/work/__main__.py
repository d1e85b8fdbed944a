"""``python -m harness.service.work``: a worker, with the settings as JSON on standard input."""

from __future__ import annotations

import contextlib
import sys
from contextlib import closing

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
    settings, parent = received(sys.stdin.read())
    die_with_parent(parent)  # it may have been killed by now
    with (
        contextlib.suppress(KeyboardInterrupt),
        closing(Database.patiently(settings)) as database,
        alive.shown(settings.workers_folder),
    ):
        Worker(settings, database).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
