"""Moodle: the offline grading worksheet, filled in, and a zip of feedback files in two layouts.

Source: ``mod/assign/feedback/offline`` and ``mod/assign/feedback/file`` of Moodle. The worksheet
tells students by ``Participant 123`` under *Identifier*, and takes comments as HTML. A feedback
file finds its student by the second word between underscores of its folder's name or its own, so
that the full name before it must have no underscore; what begins with ``.`` or ``~`` is ignored.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterable
from io import BytesIO

from harness.errors import UsageError
from harness.grading.exports.roster import Form, Ids, Mark
from harness.grading.exports.sheet import Sheet
from harness.grading.records import Student
from harness.visible import visible

KIND = "moodle"  # of a student's number: the participant's
WORKSHEET = ("Identifier", "Grade", "Feedback comments")  # columns, as in English
LAYOUTS = {  # by the names of the two zips
    "moodle-feedback-folders.zip": "{name}_{number}_assignsubmission_file_/feedback.html",
    "moodle-feedback-flat.zip": "{name}_{number}_assignfeedback_file_feedback.html",
}
_MAXIMUM, _CHANGEABLE = "Maximum Grade", "Grade can be changed"
_NUMBER = re.compile(r"(\d+)\s*$")
_UNFIT = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|_]+')  # what Moodle takes out of names, and _
_LONGEST = 80  # characters of a name
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first that zip knows: equal feedback gives equal bytes


def form(sheet: Sheet, names: tuple[str, str, str], comment: Callable[[Mark], str]) -> Form:
    """Return how a worksheet is filled in.

    ``names``: of the columns, as :data:`WORKSHEET`; that of the comments may be missing.

    Raises:
        UsageError: it is no grading worksheet.
    """
    identifier, grade = (_needed(sheet, name) for name in names[:2])
    feedback, maximum, changeable = (
        _place(sheet, name) for name in (names[2], _MAXIMUM, _CHANGEABLE)
    )

    def ids(row: int) -> Ids:
        number = _NUMBER.search(sheet.cell(row, identifier))
        return [(KIND, number[1])] if number else []

    def write_comment(row: int, mark: Mark) -> None:
        if feedback is not None:
            sheet.write(row, feedback, comment(mark))

    rows = range(1, len(sheet))
    missing = f"{sheet.name} has no column {names[2]!r}: comments are left out."
    return Form(
        sheet=sheet,
        grade=grade,
        ids=ids,
        locked=lambda row: changeable is not None and sheet.cell(row, changeable) == "No",
        locked_because="the grade cannot be changed",
        points=() if maximum is None else tuple(sheet.cell(row, maximum) for row in rows),
        comment=write_comment,
        notes=(missing,) if feedback is None else (),
    )


def _needed(sheet: Sheet, name: str) -> int:
    place = _place(sheet, name)
    if place is None:
        found = ", ".join(map(repr, sheet.header))
        raise UsageError(
            f"{sheet.name} is no grading worksheet of Moodle: found the columns {found}; "
            f"expected {name!r}"
        )
    return place


def _place(sheet: Sheet, name: str) -> int | None:
    return sheet.header.index(name) if name in sheet.header else None


# --- feedback files ----------------------------------------------------------------------------


def number(student: Student) -> str:
    """Return a student's number as a participant, "" if there is none."""
    return next((value for kind, value in student.ids if kind == KIND and value.isdecimal()), "")


def zipped(layout: str, pages: Iterable[tuple[Student, bytes]]) -> bytes:
    """Return a zip of the pages of those students who have a number.

    ``layout``: one of the values of :data:`LAYOUTS`.
    """
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, page in pages:
            if number(student):
                name = layout.format(name=_full_name(student), number=number(student))
                archive.writestr(zipfile.ZipInfo(name, _EPOCH), page, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _full_name(student: Student) -> str:
    name = " ".join(_UNFIT.sub(" ", visible(student.name)).split()).lstrip(".~ ")
    return name[:_LONGEST].strip() or "Participant"
