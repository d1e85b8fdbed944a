"""For Moodle: its offline grading worksheet, filled in, and zips of the pages for students.

Source: ``mod/assign/feedback/offline`` of Moodle. The worksheet tells students by
``Participant 123`` under *Identifier*, and takes comments as HTML. It may have any encoding that
has ASCII in it, so that the other characters of comments are written as numbers.
"""

import re
import zipfile
from collections.abc import Iterable, Sequence
from io import BytesIO

from harness.core.text import escape_controls
from harness.grading.exports.exporters import Files, Material, Shown
from harness.grading.exports.sheet import ColumnError, Ids, Mark, Sheet, SheetForm
from harness.grading.exports.showing import Feedback
from harness.grading.records import Student, counting_mark, decimal
from harness.report.junit import escape

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
    names, header = columns or WORKSHEET, sheet.header
    for name in names[:2]:
        if name not in header:
            found = ", ".join(map(repr, header))
            raise ColumnError(
                f"{sheet.name} is not a grading worksheet from Moodle: found the columns {found};"
                f" expected {name!r}"
            )
    identifier, grade = (header.index(name) for name in names[:2])
    others = (names[2], _MAXIMUM, _CHANGEABLE, _MAIL, _NAME)
    feedback, maximum, changeable, mail, who = (
        header.index(name) if name in header else None for name in others
    )

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


# --- comments -----------------------------------------------------------------------------------


def comment(feedback: Feedback) -> str:
    """Return the mark with its reasons, and what was wrong with the submission."""
    marks = feedback.marks
    lines = [marks.note]
    for part in marks.parts:
        reason = f": {part.reason}" if part.reason else ""
        lines.append(f"{part.name} {decimal(part.points)} of {decimal(part.of)}{reason}")
    if marks.deduction:
        late = f"late: \N{MINUS SIGN}{decimal(marks.deduction)}: {marks.deduction_reason}"
        lines.append(late)
    lines += feedback.faults
    lines += [line for one in feedback.diagnoses for line in one.lines]
    lines += ["Run without a sandbox."] if feedback.is_unsafe else []
    items = "".join(f"<li>{escape(line)}</li>" for line in lines if line)
    markup = f"<p>{escape(str(marks))}</p><ul>{items}</ul>"
    return escape_controls(markup).replace("\n", " ").encode("ascii", "xmlcharrefreplace").decode()


# --- Zips of feedback files for Moodle, in two layouts -------------------------------------------
# Source: ``mod/assign/feedback/file`` of Moodle. A feedback file finds its student by the second
# word between underscores of its folder's name or its own, so that the full name before it must
# have no underscore; what begins with ``.`` or ``~`` is ignored.


LAYOUTS = {  # by the names of the two zips
    "moodle-feedback-folders.zip": "{name}_{number}_assignsubmission_file_/feedback.html",
    "moodle-feedback-flat.zip": "{name}_{number}_assignfeedback_file_feedback.html",
}
_UNFIT = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|_]+')  # what Moodle takes out of names, and _
_LONGEST = 80  # characters of a name
_LEVEL = 4  # of compression: a third faster than 6, and an eighth larger
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first that zip knows: equal feedback gives equal bytes


def files(material: Material) -> Files:
    """Yield a zip in each layout, if a student has a number on the platform."""
    if any(number(student) for student, _ in material.pages):
        for name, layout in LAYOUTS.items():
            yield name, zip_pages(layout, material.pages)


def number(student: Student) -> str:
    """Return a student's number as a participant, or ""."""
    return next((value for kind, value in student.ids if kind == KIND and value.isdecimal()), "")


def zip_pages(layout: str, pages: Iterable[tuple[Student, bytes]]) -> bytes:
    """Return a zip of the pages of students who have a number, in one of the :data:`LAYOUTS`."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, page in pages:
            if number(student):
                words = _UNFIT.sub(" ", escape_controls(student.name)).split()
                name = " ".join(words).lstrip(".~ ")[:_LONGEST].strip() or "Participant"
                path = layout.format(name=name, number=number(student))
                info = zipfile.ZipInfo(path, _EPOCH)
                archive.writestr(info, page, zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)
    return buffer.getvalue()
