"""The types of the public interface of ``harness``."""

from harness.assignments.assignment import Assignment as Assignment
from harness.assignments.assignment import find as find_assignment
from harness.client import Client as Client
from harness.client import suite_of as suite_of
from harness.core.errors import ArchiveError as ArchiveError
from harness.core.errors import AssignmentError as AssignmentError
from harness.core.errors import CaseError as CaseError
from harness.core.errors import ClassWideError as ClassWideError
from harness.core.errors import HarnessError as HarnessError
from harness.core.errors import LedgerError as LedgerError
from harness.core.errors import ReportError as ReportError
from harness.core.errors import SandboxError as SandboxError
from harness.core.errors import UsageError as UsageError
from harness.core.options import BoxLimits as BoxLimits
from harness.core.options import Limits as Limits
from harness.core.options import Options as Options
from harness.core.records import CaseFile as CaseFile
from harness.core.records import Failure as Failure
from harness.core.records import FailureKind as FailureKind
from harness.core.records import FileResult as FileResult
from harness.core.records import Outcome as Outcome
from harness.core.records import Pattern as Pattern
from harness.core.records import Progress as Progress
from harness.core.records import Reply as Reply
from harness.core.records import RunResult as RunResult
from harness.core.records import Step as Step
from harness.core.records import Verdict as Verdict
from harness.grading.attempts.attempt_plan import GradeOptions as GradeOptions
from harness.grading.grade import grade as grade
from harness.grading.records import ClassResult as ClassResult
from harness.grading.records import Graded as Graded
from harness.grading.records import Marks as Marks
from harness.grading.records import PartMark as PartMark
from harness.grading.records import Submission as Submission
from harness.reading.casefile import read as read_case_file
from harness.running.runs import Interrupted as Interrupted
from harness.running.runs import run as run
from harness.running.runs import run_cases as run_cases

__all__ = [
    "ArchiveError",
    "Assignment",
    "AssignmentError",
    "BoxLimits",
    "CaseError",
    "CaseFile",
    "ClassResult",
    "ClassWideError",
    "Client",
    "Failure",
    "FailureKind",
    "FileResult",
    "GradeOptions",
    "Graded",
    "HarnessError",
    "Interrupted",
    "LedgerError",
    "Limits",
    "Marks",
    "Options",
    "Outcome",
    "PartMark",
    "Pattern",
    "Progress",
    "Reply",
    "ReportError",
    "RunResult",
    "SandboxError",
    "Step",
    "Submission",
    "UsageError",
    "Verdict",
    "find_assignment",
    "grade",
    "read_case_file",
    "run",
    "run_cases",
    "suite_of",
]
