"""A download from Moodle: a folder for each student, or as it was before Moodle 3.1, none.

Source: Moodle, ``mod/assign/classes/downloader.php``: the prefix is ``str_replace('_', ' ',
$fullname)``, ``_`` and the participant's id, put through ``clean_filename``. "Create a folder for
each user for each assignment plugin": ``$prefix . '_' . $subtype . '_' . $type`` and below it the
file's path; or "a single folder for all users": ``$prefix . '_' . $subtype . '_' . $type . '_' .
$zipfilename``. The folders of versions before 4 end in ``_``. For files the subtype and type are
``assignsubmission`` and ``file``. With blind marking the name is ``Participant``. Of a team, the
prefix is the group's name and its id, or ``Default group`` alone; before version 4, the group's
name, ``-`` and each member's own prefix.

The id is the one of the grading worksheet's ``Identifier``. A team's name looks like a student's:
only a file of groups tells them apart. Neither lateness nor times are in the download.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from harness.grading.records import Student, SubmittedFile
from harness.grading.taking_in.sources.listing import own_files
from harness.grading.taking_in.sources.pieces import SourcePiece, version

_ID = "moodle"
NAME = re.compile(
    r"(?P<name>[^_]*)(?:_(?P<id>\d+))?_assignsubmission_(?P<plugin>[a-z]+)(?:_(?P<file>.*))?",
    re.DOTALL,
)


def pieces(path: Path, found: re.Match[str]) -> Iterator[SourcePiece]:
    """Yield a student's files: of a text typed in there is the student alone.

    ``found``: the name of a file or folder, as :data:`NAME` matches it.
    """
    student = _student(found)
    yield SourcePiece(student)
    if found["plugin"] != "file":
        return
    for file in own_files(path, below=True) if path.is_dir() else [path]:
        name = file.relative_to(path).as_posix() if path.is_dir() else found["file"] or path.name
        yield SourcePiece(student, SubmittedFile(file, name), version(name))


def _student(found: re.Match[str]) -> Student:
    name, number = found["name"].strip(), found["id"] or ""
    ids = ((_ID, number),) if number else ()
    return Student(f"{name}_{number}" if number else name, name or f"participant {number}", ids)
