"""``python -m harness.service.keeper``: the process that sends mails, beside those that judge.

The settings come as JSON on standard input. A server that is slow or away keeps no worker from its
work so.
"""

from __future__ import annotations

import contextlib
import sys
import time
import traceback
from contextlib import closing

from harness import signals
from harness.errors import HarnessError
from harness.service import telling
from harness.service.mailing import posting
from harness.service.settings import Settings, received
from harness.service.storage.database import Database
from harness.work.parent import die_with_parent

_PAUSE = 1.0  # seconds between two looks
_PATIENCE = 30.0  # seconds after a fault


def main() -> int:
    """Send what waits until a signal comes; a mail under way is sent first."""
    signals.leave_sigint_to_the_parent()
    signals.end_on_sigterm()
    settings, parent = received(sys.stdin.read())
    die_with_parent(parent)  # it may have been killed by now
    with (
        contextlib.suppress(KeyboardInterrupt),
        closing(Database.patiently(settings)) as database,
    ):
        while True:
            time.sleep(_turn(settings, database))
    return 0


def _turn(settings: Settings, database: Database) -> float:
    """Send a mail; return after how many seconds to look again."""
    try:
        with signals.held_back():
            return 0.0 if posting.deliver(settings, database) else _PAUSE
    except HarnessError as error:
        telling.warn(settings, f"no mail can be sent now: {error}")
    except Exception:  # noqa: BLE001 - whatever it is, an operator is to see it, and it goes on
        telling.warn(settings, traceback.format_exc())
    return _PATIENCE


if __name__ == "__main__":
    sys.exit(main())
