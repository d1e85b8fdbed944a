"""Renews the lease of a job while it is done."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, suppress

from harness.errors import HarnessError
from harness.service.periodic import meanwhile
from harness.service.records import Job
from harness.service.storage import queue
from harness.service.storage.database import Database

_BEAT = queue.LEASE / 4  # seconds
_LONGEST = 4 * 3600.0  # seconds of one job: whatever takes longer has hung


def beating(database: Database, job: Job) -> AbstractContextManager[None]:
    """Keep a job leased meanwhile."""
    ends = time.monotonic() + _LONGEST

    def renew() -> None:
        if time.monotonic() < ends:
            with suppress(HarnessError), database.changing() as db:  # the next beat tries again
                queue.renew(db, job)

    return meanwhile(renew, _BEAT)
