"""A process of the service beside the one that answers: its settings, its database, its end."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from contextlib import closing

from harness import signals
from harness.service.settings import Settings, received
from harness.service.storage.database import Database
from harness.work.parent import die_with_parent


@contextlib.contextmanager
def background_process() -> Iterator[tuple[Settings, Database]]:
    """Read the settings from standard input, as JSON; SIGTERM ends the block, without a word."""
    signals.leave_sigint_to_the_parent()
    signals.end_on_sigterm()
    settings, parent = received(sys.stdin.read())
    die_with_parent(parent)  # it may have been killed by now
    with (
        contextlib.suppress(KeyboardInterrupt),
        closing(Database.patiently(settings)) as database,
    ):
        yield settings, database
