"""The types of the public interface of ``harness``."""

from harness.assignments.assignment import Assignment as Assignment
from harness.assignments.assignment import find as find_assignment
from harness.client import Client as Client
from harness.client import suite_of as suite_of
from harness.errors import ArchiveError as ArchiveError
from harness.errors import AssignmentError as AssignmentError
from harness.errors import CaseError as CaseError
from harness.errors import ClassWideError as ClassWideError
from harness.errors import HarnessError as HarnessError
from harness.errors import LedgerError as LedgerError
from harness.errors import ReportError as ReportError
from harness.errors import SandboxError as SandboxError
from harness.errors import UsageError as UsageError
from harness.grading.attempts.attempt_plan import GradeOptions as GradeOptions
from harness.grading.grade import grade as grade
from harness.grading.records import ClassResult as ClassResult
from harness.grading.records import Graded as Graded
from harness.grading.records import Marks as Marks
from harness.grading.records import PartMark as PartMark
from harness.grading.records import Submission as Submission
from harness.options import BoxLimits as BoxLimits
from harness.options import Limits as Limits
from harness.options import Options as Options
from harness.reading.casefile import read as read_case_file
from harness.records import CaseFile as CaseFile
from harness.records import Failure as Failure
from harness.records import FailureKind as FailureKind
from harness.records import FileResult as FileResult
from harness.records import Outcome as Outcome
from harness.records import Pattern as Pattern
from harness.records import Progress as Progress
from harness.records import Reply as Reply
from harness.records import RunResult as RunResult
from harness.records import Step as Step
from harness.records import Verdict as Verdict
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
