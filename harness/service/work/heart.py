"""Renews the lease of a job while it is done."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from harness.errors import HarnessError
from harness.service.records import Job
from harness.service.storage import queue
from harness.service.storage.database import Database

_BEAT = queue.LEASE / 4  # seconds
_LONGEST = 4 * 3600.0  # seconds of one job: whatever takes longer has hung


@contextmanager
def beating(database: Database, job: Job) -> Iterator[None]:
    """Keep a job leased meanwhile."""
    is_over = threading.Event()
    thread = threading.Thread(target=_beat, args=(database, job, is_over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _beat(database: Database, job: Job, is_over: threading.Event) -> None:
    ends = time.monotonic() + _LONGEST
    while not is_over.wait(_BEAT) and time.monotonic() < ends:
        with suppress(HarnessError), database.changing() as db:  # the next beat tries again
            queue.renew(db, job)
