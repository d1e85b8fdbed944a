"""``marks.csv``: a row for each student, for people and their spreadsheet programs.

Columns: ``student``, ``key``, a column for each kind of number that somebody has, ``submission``
(its key), a column for each part of the marks, ``late`` (what that costs), ``total``, ``of`` and
``note``. Points have a point and at most two decimals; they are blank where a mark is withheld.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.grading.exports.material import Files, Material
from harness.grading.exports.sheet import table
from harness.grading.records import ClassResult, Graded, Student, decimal


def files(material: Material) -> Files:
    """Yield the table."""
    yield "marks.csv", marks_table(material.result).encode()


def marks_table(result: ClassResult) -> str:
    """Return the marks of a class as comma-separated values."""
    kinds = sorted(
        {kind for one in result.graded for s in one.submission.students for kind, _ in s.ids}
    )
    parts = [part.name for part in result.assignment.marks]
    header = ["student", "key", *kinds, "submission", *parts, "late", "total", "of", "note"]
    return table([header, *_rows(result, kinds, parts)])


def _rows(result: ClassResult, kinds: list[str], parts: list[str]) -> Iterator[list[str]]:
    for graded in result.graded:
        points = _points(graded, parts)
        for student in graded.submission.students:
            yield [*_student(student, kinds), graded.submission.key, *points]


def _student(student: Student, kinds: list[str]) -> list[str]:
    ids = dict(student.ids)
    return [student.name, student.key, *(ids.get(kind, "") for kind in kinds)]


def _points(graded: Graded, parts: list[str]) -> list[str]:
    marks = graded.marks
    if marks.withheld:
        return ["", *("" for _ in parts), "", decimal(marks.of), f"withheld: {marks.note}"]
    reached = {part.name: decimal(part.points) for part in marks.parts}
    return [
        *(reached.get(name, "") for name in parts),
        decimal(marks.deduction),
        decimal(marks.total),
        decimal(marks.of),
        marks.note or marks.deduction_reason,
    ]
