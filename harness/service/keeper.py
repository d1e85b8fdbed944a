"""``python -m harness.service.keeper``: the process that sends mails and marks, and prunes.

It also reads who is in the courses of platforms. The settings come as JSON on standard input. A
mail server or a platform that is slow or away keeps no worker from its work so.
"""

import sys
import time
import traceback
from collections.abc import Callable

from harness.core import signals
from harness.core.errors import HarnessError
from harness.service import monitoring, processes
from harness.service.lti import linked_courses
from harness.service.operations import data
from harness.service.people import mails
from harness.service.settings import Settings
from harness.service.storage.database import Database

_PAUSE = 1.0  # seconds between two looks
_SOON, _DAY = 60.0, 86400.0  # seconds before it is pruned first, and again
_PATIENCE = 30.0  # seconds after a fault


def main() -> int:
    """Send what waits until a signal comes; a mail under way is sent first."""
    return processes.run(_keep)


def _keep(settings: Settings, database: Database) -> None:
    pruning_is_due = time.monotonic() + _SOON
    while True:
        if time.monotonic() > pruning_is_due:
            _try(settings, lambda: _prune(settings, database))
            pruning_is_due = time.monotonic() + _DAY
        time.sleep(_try(settings, lambda: _send(settings, database)))


def _send(settings: Settings, database: Database) -> float:
    """Send a mail and a mark, read a course; return after how many seconds to look again."""
    ways = (mails.deliver, linked_courses.deliver_next_score, linked_courses.synchronize_next)
    done = [way(settings, database) for way in ways]
    return 0.0 if any(done) else _PAUSE


def _prune(settings: Settings, database: Database) -> float:
    gone = [one for one in data.prune(settings, database) if one.number]
    for one in gone:
        monitoring.tell(settings, "pruned", kind=one.kind, count=one.number, bytes=one.size)
    return 0.0


def _try(settings: Settings, do: Callable[[], float]) -> float:
    """Do something as a whole; return what it returns, or how long to wait after a fault."""
    try:
        with signals.hold_back():
            return do()
    except HarnessError as error:
        monitoring.warn(settings, f"no mail can be sent, nothing pruned now: {error}")
    except Exception:  # noqa: BLE001 - whatever it is, an operator is to see it, and the process continues
        monitoring.warn(settings, traceback.format_exc())
    return _PATIENCE


if __name__ == "__main__":
    sys.exit(main())
