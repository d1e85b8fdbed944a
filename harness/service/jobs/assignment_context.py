"""Context of all jobs of an assignment."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from harness.assignments.needs import with_python
from harness.core.errors import HarnessError, LedgerError, ReadingFailedError
from harness.grading import SET_ASIDE
from harness.grading.attempts import attempt_plan
from harness.grading.attempts.orders import Concurrency
from harness.grading.ingest.sources import receive
from harness.grading.ledger.ledger import Ledger
from harness.grading.ledger.places import LedgerFile, Store
from harness.grading.records import StudentSubmissions
from harness.service.courses import making, own_files
from harness.service.records import CourseAssignment, Grading, Job
from harness.service.settings import Settings
from harness.service.storage import courses, uploads
from harness.service.storage.database import Database


class TargetDeletedError(HarnessError):
    """The object of a job no longer exists."""


class AssignmentContext(NamedTuple):
    """An assignment of a course, its ledger open."""

    settings: Settings
    database: Database
    assigned: CourseAssignment
    options: attempt_plan.GradeOptions  # as for a check: public case files alone
    ledger: Ledger
    store: Store
    concurrency: Concurrency  # with the other workers

    @property
    def folder(self) -> Path:
        """Return the folder of the assignment."""
        return self.settings.assignment_folder(self.assigned.id)

    def find_grading(self, job: Job) -> Grading:
        """Return the grading that a job is about; raises TargetDeletedError if it is gone."""
        with self.database.reading() as db:
            found = uploads.GRADINGS.find(db, id=job.about)
        if found is None:
            raise TargetDeletedError("the grading no longer exists")
        return found

    @property
    def overlay(self) -> Path | None:
        """Return the course folder, if the assignment wants one.

        Raises:
            NotSetUpError: nobody has uploaded it, or the assignment lacks something else.
        """
        own_files.require_set_up(self.settings, self.assigned)
        return self.options.course_folder()

    def plan_public_tests(self, entry: StudentSubmissions) -> attempt_plan.GradingPlan:
        """Take in what one person submitted, and plan its runs of the public case files.

        Raises:
            ReadingFailedError: the harness failed in reading it.
        """
        assignment = self.options.assignment
        submission = receive(entry, assignment, self.store, self.overlay)
        if submission.unread:
            raise ReadingFailedError(submission.unread)
        cases = attempt_plan.read_cases(assignment)
        return attempt_plan.plan_attempts(self.options, self.ledger, [submission], cases)

    def options_of(self, grading: Grading) -> attempt_plan.GradeOptions:
        """Return the options of a grading."""
        private = self.settings.private_folder(self.assigned.id)
        return self.options._replace(
            private=(str(private),) if any(path.is_file() for path in private.glob("*")) else (),
            public_only=grading.public_only,
            images=True,
            accept=grading.accept,
        )


@contextmanager
def open_assignment(
    settings: Settings, database: Database, assignment: CourseAssignment, concurrency: Concurrency
) -> Iterator[AssignmentContext]:
    """Give what the jobs of an assignment are done with.

    Raises:
        HarnessError: its ledger was lost, or this or its Python cannot be used.
    """
    place = settings.ledger(assignment.id)
    if isinstance(place, LedgerFile) and place.is_lost:
        # A new one would know no mark in force, and change all of them unasked.
        raise LedgerError(f"the ledger of {assignment.title} was lost: restore it from a backup")
    made = settings.assignment_folder(assignment.id)
    made.mkdir(mode=0o700, parents=True, exist_ok=True)
    database.make_ledger_schema(assignment.id)
    with database.reading() as db:
        extensions = courses.extensions(db, assignment.id)
    own = own_files.assignment_of(settings, assignment)
    weighed = making.apply_course_settings(own, assignment, extensions)
    with (
        with_python(weighed, build=lambda _: None) as found,
        closing(Ledger(place)) as ledger,
        ledger.naming_errors(),
    ):
        overlay = made / "overlay"
        options = attempt_plan.GradeOptions(
            assignment=found,
            source=None,
            output=made,
            overlay=overlay if overlay.is_dir() else None,
            public_only=True,
            images=False,
            sandbox=settings.sandbox,
            budget=settings.budget,
            regrade=True,
            go_on=True,
            set_aside=settings.cluster / SET_ASIDE,
        )
        store = Store(settings.originals)
        yield AssignmentContext(
            settings, database, assignment, options, ledger, store, concurrency
        )
