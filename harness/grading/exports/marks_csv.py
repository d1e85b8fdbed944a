"""``marks.csv``: a row for each student, for people and their spreadsheet programs.

Columns: ``student``, ``key``, a column for each kind of number that somebody has, ``submission``
(its key), a column for each part of the marks, ``late`` (what that costs), ``total``, ``of`` and
``note``. ``total`` is the mark that counts; where a person gave somebody another one than was
computed, a column ``computed`` before it has all computed ones. Points have a point and at most
two decimals; they are blank where a mark is withheld.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.grading.exports.sheet import table
from harness.grading.exports.showing import Files, Material
from harness.grading.records import ClassResult, Marks, Student, counting_mark, decimal


def files(material: Material) -> Files:
    """Yield the table."""
    yield "marks.csv", marks_table(material.result).encode()


def marks_table(result: ClassResult) -> str:
    """Return the marks of a class as comma-separated values."""
    kinds = sorted(
        {kind for one in result.graded for s in one.submission.students for kind, _ in s.ids}
    )
    parts = [part.name for part in result.assignment.marks]
    computed = ["computed"] if result.given else []
    end = ["late", *computed, "total", "of", "note"]
    header = ["student", "key", *kinds, "submission", *parts, *end]
    return table([header, *_rows(result, kinds, parts)])


def _rows(result: ClassResult, kinds: list[str], parts: list[str]) -> Iterator[list[str]]:
    for graded in result.graded:
        for student in graded.submission.students:
            points = _points(graded.marks, result, student, parts)
            yield [*_student(student, kinds), graded.submission.key, *points]


def _student(student: Student, kinds: list[str]) -> list[str]:
    ids = dict(student.ids)
    return [student.name, student.key, *(ids.get(kind, "") for kind in kinds)]


def _points(computed: Marks, result: ClassResult, student: Student, parts: list[str]) -> list[str]:
    marks = counting_mark(computed, result.get_given_mark(student))
    held = computed.withheld
    reached = {} if held else {part.name: decimal(part.points) for part in computed.parts}
    return [
        *(reached.get(name, "") for name in parts),
        "" if held else decimal(computed.deduction),
        *([_total(computed)] if result.given else []),
        _total(marks),
        decimal(marks.of),
        f"withheld: {marks.note}" if marks.withheld else marks.note or marks.deduction_reason,
    ]


def _total(marks: Marks) -> str:
    return "" if marks.withheld else decimal(marks.total)
