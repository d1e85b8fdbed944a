"""Zips of feedback files for Moodle, in two layouts.

Source: ``mod/assign/feedback/file`` of Moodle. A feedback file finds its student by the second
word between underscores of its folder's name or its own, so that the full name before it must have
no underscore; what begins with ``.`` or ``~`` is ignored.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from io import BytesIO

from harness.escaping import escape_controls
from harness.grading.exports.export_material import Files, Material
from harness.grading.exports.moodle import KIND
from harness.grading.records import Student

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
    """Return a zip of the pages of those students who have a number.

    ``layout``: one of the values of :data:`LAYOUTS`.
    """
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for student, page in pages:
            if number(student):
                name = layout.format(name=_full_name(student), number=number(student))
                info = zipfile.ZipInfo(name, _EPOCH)
                archive.writestr(info, page, zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)
    return buffer.getvalue()


def _full_name(student: Student) -> str:
    name = " ".join(_UNFIT.sub(" ", escape_controls(student.name)).split()).lstrip(".~ ")
    return name[:_LONGEST].strip() or "Participant"
