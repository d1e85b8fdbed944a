"""The state of a service that runs: can it do its work, and how far is it behind."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator
from typing import NamedTuple

from harness.errors import HarnessError
from harness.service import living_workers, machines
from harness.service.counters import Found
from harness.service.records import FAULT
from harness.service.settings import Settings
from harness.service.storage import people, queue
from harness.service.web.service import Service

LEAST_FREE = 1 << 30  # bytes of the disk with the data
LONGEST_WAIT = 1800.0  # seconds that a job may wait before somebody should look


class State(NamedTuple):
    """The state of a service at a moment."""

    trouble: str  # why the database cannot be used; else empty
    jobs: dict[tuple[str, str], int]  # by kind and state
    oldest: float  # seconds that the job which waits longest has waited; 0: none waits
    letters: dict[str, int]  # mails, by state
    workers: int
    free: int  # bytes
    cluster: str = ""  # why no engine can run on the cluster; empty if they can, or without one

    @property
    def faults(self) -> int:
        """Return how many jobs a person should look at."""
        return sum(count for (_, state), count in self.jobs.items() if state == FAULT)


def state(service: Service) -> State:
    """Return the state of a service."""
    jobs: dict[tuple[str, str], int] = {}
    mails: dict[str, int] = {}
    trouble, oldest = "", 0.0
    try:
        with service.database.reading() as db:
            jobs = queue.census(db)
            since, mails = queue.waiting_since(db), people.count_letters(db)
        oldest = max(time.time() - since, 0.0) if since else 0.0
    except HarnessError as error:
        trouble = str(error)
    workers, free = _workers(service.settings), _free(service.settings)
    cluster = machines.complaint(service.settings)
    return State(trouble, jobs, oldest, mails, workers, free, cluster)


def get_figures(service: Service) -> Found:
    """Return what this process counted and, if the database can be used, what workers did."""
    found = dict(service.requests.list_counts())
    with contextlib.suppress(HarnessError), service.database.reading() as db:
        found.update(queue.load_figures(db))
    return found


def _workers(settings: Settings) -> int:
    return living_workers.count(settings.workers_folder)


def _free(settings: Settings) -> int:
    return shutil.disk_usage(settings.data).free


def complaints(found: State) -> Iterator[str]:
    """Yield a sentence for each reason why a service is not ready. Jobs at fault are none."""
    if found.trouble:
        yield "the database cannot be used"  # the log tells why: anybody may ask for this
    if not found.workers:
        yield "no worker lives"
    if found.cluster:
        yield found.cluster
    if found.oldest > LONGEST_WAIT:
        yield f"a job has waited for {found.oldest / 60:.0f} minutes"
    if found.free < LEAST_FREE:
        yield f"the disk is almost full: {found.free / 1e6:.0f} MB are left"
