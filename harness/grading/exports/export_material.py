"""A graded class as every export gets it, and the form of written texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.escaping import escape_controls
from harness.grading.exports.showing import Feedback
from harness.grading.records import Attempt, ClassResult, Student
from harness.report.file_view import FileView

Shown = Mapping[str, Feedback]  # what students may see of each submission, by its key
Files = Iterator[tuple[str, bytes]]  # their names in the folder of all, and their contents


class CaseSummary(NamedTuple):
    """The result of a case file, for the teacher."""

    attempt: Attempt
    view: FileView


class Material(NamedTuple):
    """The data that exports are made from."""

    result: ClassResult
    shown: Shown
    pages: Sequence[tuple[Student, bytes]]  # of the students
    notes: Sequence[str]  # what the teacher must know of sheets, sentences
    seen: Mapping[str, Sequence[CaseSummary]]  # the result of the case files, by submission


def as_file(parts: Iterable[str]) -> bytes:
    """Return a text given in parts as the content of a file, fit to be shown."""
    return escape_controls("".join(parts)).encode()
