"""A worker: leases a job, does it, says how it ended, and takes the next.

``python -m harness.service.jobs.worker``, with the settings as JSON on standard input.
"""

import contextlib
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence

from sqlalchemy import Connection

from harness.core import signals
from harness.core.errors import BusyError, HarnessError, NoClusterError, ServerError
from harness.declared import reference
from harness.grading.attempts.orders import Concurrency
from harness.grading.ledger import places
from harness.grading.ledger.ledger import Ledger
from harness.grading.ledger.records import Lease
from harness.service import machines, monitoring, processes
from harness.service.courses import own_files
from harness.service.jobs import job_handlers
from harness.service.jobs.assignment_context import open_assignment
from harness.service.records import CHECK, DRAFT, MEASURE, PLAN, Job
from harness.service.settings import Settings
from harness.service.storage import courses, queue, uploads
from harness.service.storage.database import Database
from harness.work.machine import Machine

_PAUSE = 0.3  # seconds between two looks at an empty queue
_HELD_PAUSE = 20.0  # seconds between two looks whether something that was missing is there
_PATIENCE = 5.0  # seconds before a database that cannot be used is tried again


class Worker:
    """Does jobs; one process."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings = settings
        self._database = database
        self._concurrency = OtherWorkers() if settings.scheduler else SharedMachine(settings.locks)

    def run(self, is_over: Callable[[], bool] = lambda: False) -> None:
        """Do jobs until it is over, or a signal ends what is under way: that goes back."""
        held_are_due = 0.0
        while not is_over():
            try:
                if time.monotonic() > held_are_due:
                    self.release_held()
                    held_are_due = time.monotonic() + _HELD_PAUSE
                if not self.step():
                    time.sleep(_PAUSE)
            except HarnessError as error:  # of the database itself: what is leased is found again
                monitoring.warn(self._settings, f"the queue cannot be used: {error}")
                time.sleep(_PATIENCE)

    def step(self) -> bool:
        """Do one job; False if there is none.

        SIGTERM ends what is done in the job, and waits for what is written about it.
        """
        with signals.hold_back():
            with self._database.reading() as db:
                if not queue.is_due(db):
                    return False
            with self._database.changing() as db:
                queue.take_back(db)
                queue.follow_up(db)
                job = queue.lease(db)
            if job is None:
                return False
            with beating(self._database, job), self._settle(job), signals.let_through():
                with self._database.reading() as db:
                    assigned = job_handlers.find_assigned(db, job)
                own = self._settings, self._database, assigned, self._concurrency
                try:
                    with open_assignment(*own) as found:
                        job_handlers.KINDS[job.kind](found, job)
                finally:
                    reference.end_processes()
        return True

    def release_held(self) -> None:
        """Queue checks that waited for something which is there now, such as a program."""
        with self._database.reading() as db:
            held = courses.ASSIGNMENTS.all(db, id=[*queue.list_held(db)])
        for one in held:
            # An assignment that cannot be read keeps waiting.
            with contextlib.suppress(HarnessError):
                own_files.require_set_up(self._settings, one)
                with self._database.changing() as db:
                    queue.release(db, one.id)

    @contextlib.contextmanager
    def _settle(self, job: Job) -> Iterator[None]:
        try:
            with self._log(job):
                yield
        except (job_handlers.UnfinishedError, BusyError):  # others are at it
            self._end(job, queue.put_off, "put off")
        except NoClusterError as error:  # other jobs have their turn
            machines.remark(self._settings, str(error), once=True)
            self._end(job, queue.put_off, "put off")
        except ServerError:  # which says nothing about the job
            self._end(job, queue.give_back, "given back")
            raise
        except HarnessError as error:
            # A check waits for what is not set up, which is not the submission's failure.
            if job.kind == CHECK and isinstance(error, own_files.NotSetUpError):
                self._end(job, queue.hold, "held")
            else:
                self._fail(job, str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, a person is to see it
            monitoring.warn(self._settings, traceback.format_exc())
            self._fail(job, f"the harness itself failed: {type(error).__name__}: {error}")
        except BaseException:  # a signal: another worker continues
            with contextlib.suppress(HarnessError):  # the lease ends with this process anyway
                self._end(job, queue.give_back, "given back")
            raise
        else:
            self._end(job, queue.finish, "done")

    @contextlib.contextmanager
    def _log(self, job: Job) -> Iterator[None]:
        begun, ended = time.monotonic(), "done"
        try:
            yield
        except BaseException as error:
            ended = type(error).__name__
            raise
        finally:
            monitoring.tell(
                self._settings,
                "job",
                job=job.id,
                kind=job.kind,
                about=job.about,
                ended=ended,
                seconds=round(time.monotonic() - begun, 3),
            )

    def _end(self, job: Job, how: Callable[..., object], outcome: str) -> None:
        with self._database.changing() as db:
            how(db, job)
            _count(db, job, outcome)

    def _fail(self, job: Job, reason: str) -> None:
        if job.kind in (DRAFT, MEASURE) and _OF_THE_SERVER.search(reason):
            monitoring.warn(self._settings, reason, job=job.id)
            reason = _TOLD
        with self._database.changing() as db:
            queue.record_error(db, job, reason)
            if job.kind == PLAN:
                uploads.GRADINGS.change(db, {"trouble": reason}, id=job.about)
            _count(db, job, "fault")


def _count(db: Connection, job: Job, outcome: str) -> None:
    """Count a job that was had, and how long it waited if that was the last time."""
    leased, now = job.until - queue.LEASE, places.now(db)
    queue.add_figure(db, monitoring.JOBS, max(now - leased, 0.0), kind=job.kind, ended=outcome)
    if outcome in ("done", "fault"):
        queue.add_figure(db, monitoring.WAITS, max(leased - job.made, 0.0), kind=job.kind)


_BEAT = queue.LEASE / 4  # seconds
_LONGEST = 4 * 3600.0  # seconds of one job: whatever takes longer has hung


def beating(database: Database, job: Job) -> contextlib.AbstractContextManager[None]:
    """Keep a job leased meanwhile."""
    ends = time.monotonic() + _LONGEST

    def renew() -> None:
        if time.monotonic() < ends:
            # The next beat tries again.
            with contextlib.suppress(HarnessError), database.changing() as db:
                queue.renew(db, job)

    return monitoring.meanwhile(renew, _BEAT)


# --- How workers share ledgers and the machine: each takes the attempts that nobody has ----------


class OtherWorkers(Concurrency):
    """Sharing of ledgers; for engines on other machines, which share themselves."""

    def take(self, ledger: Ledger, bases: Sequence[str]) -> Lease:
        """Lease what nobody has."""
        return ledger.lease_free(bases, len(bases))


class SharedMachine(Machine, OtherWorkers):
    """Sharing of ledgers and this machine; ``folder``: one on it, alike for all workers."""


# --- Why a job failed, in words that help a teacher; the operator has the details in the log -----


# An absolute path, or what only somebody on the server can do.
_OF_THE_SERVER = re.compile(r"(?<![\w./])/\w[^\s/]*/|\bchmod\b")
_TOLD = (
    "a program of the assignment, such as the reference, could not be run on the server. Try its"
    " command on your own computer. If it works there, ask the operator of the service: the log"
    " says why"
)


def main() -> int:
    """Do jobs until a signal comes; what is under way then goes back to the queue."""
    return processes.run(_work)


def _work(settings: Settings, database: Database) -> None:
    with monitoring.announce_worker(settings.workers_folder):
        Worker(settings, database).run()


if __name__ == "__main__":
    sys.exit(main())
