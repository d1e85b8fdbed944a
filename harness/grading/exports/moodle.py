"""Moodle's offline grading worksheet, filled in: marks, and a comment on each submission.

Source: ``mod/assign/feedback/offline`` of Moodle. The worksheet tells students by
``Participant 123`` under *Identifier*, and takes comments as HTML. It may have any encoding that
has ASCII in it, so that the other characters of comments are written as numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harness.escaping import escape_controls
from harness.grading.exports.export_material import Shown
from harness.grading.exports.sheet import ColumnError, Sheet
from harness.grading.exports.sheet_filling import Ids, Mark, SheetForm
from harness.grading.exports.showing import Feedback
from harness.grading.records import counting_mark, decimal
from harness.report.markup import escape

KIND = "moodle"  # of a student's number: the participant's
WORKSHEET = ("Identifier", "Grade", "Feedback comments")  # columns, as in English
_MAXIMUM, _CHANGEABLE = "Maximum Grade", "Grade can be changed"
_MAIL, _NAME = "Email address", "Full name"
_NUMBER = re.compile(r"(\d+)\s*$")


def form(sheet: Sheet, columns: Sequence[str], _: str, shown: Shown) -> SheetForm:
    """Return how a worksheet is filled in.

    ``columns``: their names, if they are not :data:`WORKSHEET`; that of the comments may be
    missing. ``shown``: what comments are made of.

    Raises:
        ColumnError: it is not a grading worksheet, or its columns have other names.
    """
    names = columns or WORKSHEET
    identifier, grade = (_require_column(sheet, name) for name in names[:2])
    others = (names[2], _MAXIMUM, _CHANGEABLE, _MAIL, _NAME)
    feedback, maximum, changeable, mail, who = (_place(sheet, name) for name in others)

    def ids(row: int) -> Ids:
        number = _NUMBER.search(sheet.cell(row, identifier))
        return [(KIND, number[1])] if number else []

    def write_comment(row: int, mark: Mark) -> None:
        if feedback is not None:
            about = shown[mark.graded.submission.key]
            counts = counting_mark(about.marks, mark.given)
            sheet.write(row, feedback, comment(about._replace(marks=counts)))

    rows = range(1, len(sheet))
    missing = f"{sheet.name} has no column {names[2]!r}: comments are left out."
    return SheetForm(
        sheet=sheet,
        grade=grade,
        ids=ids,
        locked=lambda row: changeable is not None and sheet.cell(row, changeable) == "No",
        locked_because="the grade cannot be changed",
        points=() if maximum is None else tuple(sheet.cell(row, maximum) for row in rows),
        comment=write_comment,
        notes=(missing,) if feedback is None else (),
        mail=lambda row: "" if mail is None else sheet.cell(row, mail),
        who=lambda row: sheet.cell(row, identifier if who is None else who),
    )


def _require_column(sheet: Sheet, name: str) -> int:
    place = _place(sheet, name)
    if place is None:
        found = ", ".join(map(repr, sheet.header))
        raise ColumnError(
            f"{sheet.name} is not a grading worksheet from Moodle: found the columns {found}; "
            f"expected {name!r}"
        )
    return place


def _place(sheet: Sheet, name: str) -> int | None:
    return sheet.header.index(name) if name in sheet.header else None


# --- comments -----------------------------------------------------------------------------------


def comment(shown: Feedback) -> str:
    """Return the mark with its reasons, and what was wrong with the submission."""
    lines = "".join(f"<li>{escape(line)}</li>" for line in _lines(shown) if line)
    markup = f"<p>{escape(str(shown.marks))}</p><ul>{lines}</ul>"
    return escape_controls(markup).replace("\n", " ").encode("ascii", "xmlcharrefreplace").decode()


def _lines(shown: Feedback) -> Iterator[str]:
    marks = shown.marks
    yield marks.note
    for part in marks.parts:
        reason = f": {part.reason}" if part.reason else ""
        yield f"{part.name} {decimal(part.points)} of {decimal(part.of)}{reason}"
    if marks.deduction:
        yield f"late: \N{MINUS SIGN}{decimal(marks.deduction)}: {marks.deduction_reason}"
    yield from shown.faults
    for one in shown.diagnoses:
        yield from one.lines
    if shown.is_unsafe:
        yield "Run without a sandbox."
