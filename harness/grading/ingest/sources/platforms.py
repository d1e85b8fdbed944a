"""Downloads from Canvas and Moodle, and folders with an archive or a folder for each student."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from harness.archives import archive_streams
from harness.grading.ingest.sources.listing import SourcePiece, children, head, own_files, version
from harness.grading.records import Student, SubmittedFile

_CANVAS_ID = "canvas"  # the kind of the users' ids, as in the gradebook's column ID
_ANONYMOUS_ID = "canvas-anonymous"
_WHO = r"(?:(?P<name>.*?)(?P<late>_LATE)?_(?P<user>\d+)|(?P<late2>LATE_)?anon_(?P<anon>[^\W_]+))"
_WHAT = r"(?:(?P<attachment>\d+)_(?P<file>.+)|(?P<page>(?:text|link)\.html))"
CANVAS_NAME = re.compile(f"{_WHO}_{_WHAT}", re.DOTALL)


def canvas_pieces(path: Path, found: re.Match[str]) -> Iterator[SourcePiece]:
    """Yield the submission with a file; ``found``: its name, as :data:`CANVAS_NAME` matches it."""
    file = found["file"] or found["page"]
    handed = SubmittedFile(path, file, late=bool(found["late"] or found["late2"]))
    yield SourcePiece(
        _canvas_student(found), handed, (int(found["attachment"] or 0), version(file))
    )


def _canvas_student(found: re.Match[str]) -> Student:
    if found["anon"]:
        number = found["anon"]
        return Student(f"anon_{number}", f"anonymous {number}", ((_ANONYMOUS_ID, number),))
    name, user = found["name"], found["user"]
    return Student(f"{name}_{user}", name or f"user {user}", ((_CANVAS_ID, user),))


# --- A download from Moodle: a folder for each student, or as it was before Moodle 3.1, none -----
# Source: Moodle, ``mod/assign/classes/downloader.php``: the prefix is ``str_replace('_', ' ',
# $fullname)``, ``_`` and the participant's id, put through ``clean_filename``. "Create a folder
# for each user for each assignment plugin": ``$prefix . '_' . $subtype . '_' . $type`` and below
# it the file's path; or "a single folder for all users": ``$prefix . '_' . $subtype . '_' . $type
# . '_' . $zipfilename``. The folders of versions before 4 end in ``_``. For files the subtype and
# type are ``assignsubmission`` and ``file``. With blind marking the name is ``Participant``. Of a
# team, the prefix is the group's name and its id, or ``Default group`` alone; before version 4,
# the group's name, ``-`` and each member's own prefix.
#
# The id is the one of the grading worksheet's ``Identifier``. A team's name looks like a
# student's: only a file of groups tells them apart. Neither lateness nor times are in the
# download.


_MOODLE_ID = "moodle"
MOODLE_NAME = re.compile(
    r"(?P<name>[^_]*)(?:_(?P<id>\d+))?_assignsubmission_(?P<plugin>[a-z]+)(?:_(?P<file>.*))?",
    re.DOTALL,
)


def moodle_pieces(path: Path, found: re.Match[str]) -> Iterator[SourcePiece]:
    """Yield a student's files: of a text typed in there is the student alone.

    ``found``: the name of a file or folder, as :data:`MOODLE_NAME` matches it.
    """
    student = _moodle_student(found)
    yield SourcePiece(student)
    if found["plugin"] != "file":
        return
    for file in own_files(path, below=True) if path.is_dir() else [path]:
        name = file.relative_to(path).as_posix() if path.is_dir() else found["file"] or path.name
        yield SourcePiece(student, SubmittedFile(file, name), version(name))


def _moodle_student(found: re.Match[str]) -> Student:
    name, number = found["name"].strip(), found["id"] or ""
    ids = ((_MOODLE_ID, number),) if number else ()
    return Student(f"{name}_{number}" if number else name, name or f"participant {number}", ids)


# --- A folder with an archive or a folder for each student, named after the student --------------
# A student's folder has archives, or the unpacked submission itself; it comes before the
# archives, in case none of them can be read. Of several archives the one last changed
# counts as the last. File times are not used otherwise: copying files, or fetching them from a
# repository, often changes them, so they are not evidence of lateness.


_SUFFIXES = (
    *(".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst", ".tgz", ".txz", ".tar"),
    *(".zip", ".gz", ".rar", ".7z"),
)
_DOCUMENTS = (
    *(".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".pages", ".numbers", ".key", ".epub"),
    *(".jar", ".whl", ".npz"),
)
_SHEETS = (".csv",)  # beside the submissions these are the teacher's


def folder_pieces(paths: list[Path]) -> Iterator[SourcePiece]:
    """Yield the submissions."""
    for path in paths:
        if path.is_dir():
            yield from _of_folder(path)
        elif path.suffix.lower() not in _SHEETS:
            student = Student(_stem(path.name), _stem(path.name))
            yield SourcePiece(student, SubmittedFile(path, path.name), _order(path))


def _of_folder(folder: Path) -> Iterator[SourcePiece]:
    student = Student(folder.name, folder.name)
    yield SourcePiece(student)
    archives = [path for path in own_files(folder) if _is_archive(path)]
    if len(children(folder)) > len(archives):
        yield SourcePiece(student, SubmittedFile(folder, folder.name), (0,))
    for path in archives:
        yield SourcePiece(student, SubmittedFile(path, path.name), _order(path))


def _is_archive(path: Path) -> bool:
    """Whether a file is an archive, or was meant to be one. Documents of many kinds are zips."""
    named = path.name.lower().endswith(_SUFFIXES)
    return named or (
        path.suffix.lower() not in _DOCUMENTS and bool(archive_streams.kind(head(path)))
    )


def _order(path: Path) -> tuple[object, ...]:
    return (path.lstat().st_mtime_ns, version(path.name))


def _stem(name: str) -> str:
    suffix = next((end for end in _SUFFIXES if name.lower().endswith(end)), Path(name).suffix)
    return name[: len(name) - len(suffix)] or name
