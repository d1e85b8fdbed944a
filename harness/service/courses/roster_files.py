"""The members of a course, read from a CSV or from a download of Canvas or Moodle.

============================ ============================================ =====================
download                     known by its columns                         in
============================ ============================================ =====================
CSV of one's own             ``student``
Canvas, gradebook            ``Student``, ``ID``, ``Section``             *Grades*, Export
Canvas, groups               ``name``, ``canvas_user_id``, ``group_name`` *People*, a group set
Moodle, grading worksheet    ``Identifier``, ``Full name``                an assignment
Moodle, participants         ``First name``, ``Email address``            *Participants*
submissions of either        a zip                                        an assignment
============================ ============================================ =====================

Source of the layouts: ``lib/gradebook_exporter.rb`` and *Export groups in and users in category*
of Canvas's API; ``mod/assign/feedback/offline`` and the table of participants of Moodle, in
English. A row without an id (``Points Possible``) is nobody's; so is Canvas's test student.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.errors import ArchiveError, UsageError
from harness.grading.records import Student, StudentSubmissions
from harness.grading.taking_in import sources
from harness.grading.taking_in.sources import csv_source
from harness.grading.taking_in.sources.listing import is_zip
from harness.grading.taking_in.sources.pieces import SourcePiece, entries

FILE = "roster.csv"  # what it is called in errors
_NUMBER = re.compile(r"(\d+)\s*$")
_NOBODY = ("Student, Test", "Test Student")  # Canvas's own


class Listed(NamedTuple):
    """A student of a roster."""

    student: Student
    team: str  # the key of the group; empty: alone


class Layout(NamedTuple):
    """Where a download has what; columns in small letters."""

    known_by: tuple[str, ...]
    name: tuple[str, ...]  # joined by blanks
    id: str  # the column of the platform's number, without which a row is nobody's
    key: tuple[str, ...] = ()  # the first of these that is there; none: name and number
    group: str = ""
    ids: Mapping[str, str] = {}  # what the others are called


_LAYOUTS = (
    Layout(
        ("student", "id", "section"),
        ("student",),
        "id",
        ("sis login id",),
        ids={"id": "canvas", "sis user id": "sis", "sis login id": "login"},
    ),
    Layout(
        ("name", "canvas_user_id", "group_name"),
        ("name",),
        "canvas_user_id",
        ("login_id",),
        "group_name",
        {"canvas_user_id": "canvas", "user_id": "sis", "login_id": "login"},
    ),
    Layout(
        ("identifier", "full name"),
        ("full name",),
        "identifier",
        ("id number",),
        "group",
        {"identifier": "moodle", "id number": "idnumber", "email address": "email"},
    ),
    Layout(
        ("first name", "email address"),
        ("first name", "last name"),
        "email address",
        ("id number", "email address"),
        "groups",
        {"id number": "idnumber", "email address": "email"},
    ),
)


def read(path: Path) -> list[Listed]:
    """Return the students of a roster or a download, sorted by key.

    Raises:
        UsageError: says the line and the column that is wrong.
    """
    try:
        found = _of_zip(path) if is_zip(path) else entries(_pieces(path))
    except (UsageError, ArchiveError) as error:
        raise UsageError(str(error).replace(str(path), FILE)) from None
    if not found:
        raise UsageError(f"{FILE}: there are no students in it")
    return sorted(
        Listed(student, one.key if one.key != student.key else "")
        for one in found
        for student in one.students
    )


def _of_zip(path: Path) -> Sequence[StudentSubmissions]:
    with tempfile.TemporaryDirectory() as room:
        return sources.read(path, room=Path(room))


def _pieces(path: Path) -> Iterator[SourcePiece]:
    rows = csv_source.read(path, ())
    columns = set(rows[0].cells) if rows else set()
    layout = next((one for one in _LAYOUTS if columns >= set(one.known_by)), None)
    if layout is None:
        rows = csv_source.read(path, ["student"])
        yield from (SourcePiece(row.student(), group=row.get("group")) for row in rows)
        return
    yield from (_piece(row, layout) for row in rows if _is_somebody(row, layout))


def _is_somebody(row: csv_source.CsvRow, layout: Layout) -> bool:
    return bool(row.get(layout.id)) and _name(row, layout) not in _NOBODY


def _name(row: csv_source.CsvRow, layout: Layout) -> str:
    return " ".join(filter(None, map(row.get, layout.name)))


def _piece(row: csv_source.CsvRow, layout: Layout) -> SourcePiece:
    name, ids = _name(row, layout), tuple(_ids(row, layout))
    key = next((row.get(one) for one in layout.key if row.get(one)), "")
    student = Student(key or f"{name}_{ids[0][1]}", name or key, ids)
    return SourcePiece(student, group=row.get(layout.group) if layout.group else "")


def _ids(row: csv_source.CsvRow, layout: Layout) -> Iterator[tuple[str, str]]:
    for column, kind in layout.ids.items():
        found = _NUMBER.search(row.get(column)) if kind == "moodle" else None
        if value := found[1] if found else row.get(column):
            yield kind, value
