"""Run engines, judge their answers, write reports, grade classes.

The names in ``__all__`` are the public interface, with their types in ``__init__.pyi``; everything
else may change at any time. ``import harness`` takes almost no time, because each name is loaded
when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The module of each public name, and its name there if it differs.
_HOMES = {
    "run": "running.runs",
    "run_cases": "running.runs",
    "Interrupted": "running.runs",
    "Options": "core.options",
    "Limits": "core.options",
    "BoxLimits": "core.options",
    "read_case_file": "reading.casefile:read",
    "CaseFile": "core.records",
    "Step": "core.records",
    "Pattern": "core.records",
    "RunResult": "core.records",
    "FileResult": "core.records",
    "Outcome": "core.records",
    "Verdict": "core.records",
    "Reply": "core.records",
    "Failure": "core.records",
    "FailureKind": "core.records",
    "Progress": "core.records",
    "find_assignment": "assignments.assignment:find",
    "Assignment": "assignments.assignment",
    "grade": "grading.grade",
    "GradeOptions": "grading.attempts.attempt_plan:GradeOptions",
    "ClassResult": "grading.records",
    "Graded": "grading.records",
    "Marks": "grading.records",
    "PartMark": "grading.records",
    "Submission": "grading.records",
    "Client": "client",
    "suite_of": "client",
    "HarnessError": "core.errors",
    "UsageError": "core.errors",
    "CaseError": "core.errors",
    "AssignmentError": "core.errors",
    "ArchiveError": "core.errors",
    "LedgerError": "core.errors",
    "ClassWideError": "core.errors",
    "SandboxError": "core.errors",
    "ReportError": "core.errors",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module 'harness' has no attribute {name!r}")
    from importlib import import_module

    home, _, own = _HOMES[name].partition(":")
    return getattr(import_module(f"harness.{home}"), own or name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
