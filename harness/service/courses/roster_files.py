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
Participants of Moodle with another role than *Student* are told as remarks.

A student has one line. A second one that is the same is told as a remark; one that differs is
refused, because nobody can say which of them is right.
"""

import contextlib
import re
import tempfile
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import NamedTuple

from harness.core.errors import ArchiveError, UsageError
from harness.core.text import one_line
from harness.grading.ingest import csv_source, sources, students
from harness.grading.records import SourcePiece, Student
from harness.service.people import accounts

FILE = "roster.csv"  # what one without a name is called in errors
_LONGEST = 80  # characters of a file's name
_NUMBER = re.compile(r"(\d+)\s*$")
_NO_GROUP = "No groups"  # Moodle's word for it
_STUDENT = "student"  # in a column of roles
_LONGEST_TEXT = 200  # characters of a name, an id or a group's name
_WORKBOOK = {"[Content_Types].xml", "META-INF/manifest.xml"}  # of Excel and of OpenDocument
_NOBODY = ("Student, Test", "Test Student")  # Canvas's own


class ListedStudent(NamedTuple):
    """A student of a roster."""

    student: Student  # its key is unique in the file alone
    roster_id: str  # as the file writes it
    team: str | None  # the key of the group; empty: alone; None: the file tells of no groups
    is_named: bool = True  # False: there is no name in the file, and its key stands for it
    group: str = ""  # the group as the file writes it; empty: alone, or the file tells of none


class RosterFile(NamedTuple):
    """Content of a roster or download."""

    students: tuple[ListedStudent, ...]  # by key
    remarks: tuple[str, ...] = ()  # a sentence each, with file and line


class Layout(NamedTuple):
    """Columns of a download, in small letters."""

    key_columns: tuple[str, ...]
    name: tuple[str, ...]  # joined by blanks
    id: str  # the column of the platform's number, without which a row is nobody's
    key: tuple[str, ...] = ()  # the first of these that is there; none: name and number
    group: str = ""
    role: str = ""  # the column that says who teaches
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
        ids={"canvas_user_id": "canvas", "user_id": "sis", "login_id": "login"},
    ),
    Layout(
        ("identifier", "full name"),
        ("full name",),
        "identifier",
        ("id number",),
        "group",
        ids={"identifier": "moodle", "id number": "idnumber", "email address": "email"},
    ),
    Layout(
        ("first name", "email address"),
        ("first name", "last name", "surname"),  # "Surname" up to Moodle 4.1
        "email address",
        ("id number", "email address"),
        "groups",
        "roles",
        {"id number": "idnumber", "email address": "email"},
    ),
)


def read(path: Path, name: str = "") -> RosterFile:
    """Return what a roster or a download says.

    ``name``: what the file is called in errors, as its owner calls it.

    Raises:
        UsageError: says the line and the column that is wrong.
    """
    shown = show_name(name)
    try:
        found = _of_zip(path) if sources.is_zip(path) else _of_table(path)
    except (UsageError, ArchiveError) as error:
        raise UsageError(str(error).replace(str(path), shown)) from None
    if not found.students:
        raise UsageError(f"{shown}: there are no students in it")
    return found._replace(remarks=tuple(one.replace(str(path), shown) for one in found.remarks))


def show_name(name: str) -> str:
    """Return the name of a file as errors have it: on one line, without its folders."""
    return one_line(re.split(r"[/\\]", name)[-1].strip(), _LONGEST) or FILE


def _of_zip(path: Path) -> RosterFile:
    no_zip = contextlib.suppress(zipfile.BadZipFile, ValueError, NotImplementedError)
    with no_zip, zipfile.ZipFile(path) as file:  # what is wrong with it is told when it is read
        # The folders of a workbook would be taken for students.
        if not _WORKBOOK.isdisjoint(file.namelist()):
            raise UsageError(f"{path} is a workbook of a spreadsheet: save it as CSV UTF-8")
    with tempfile.TemporaryDirectory() as room:
        found = list(map(_clean, sources.read_pieces(path, room=Path(room))))
    # There may be an id only: Canvas writes ``Lovelace, Ada`` as ``lovelaceada``.
    own = [one.student for one in found]
    nameless = {one.key for one in own if one.name == one.key or "canvas" in dict(one.ids)}
    return RosterFile(tuple(_list(found, nameless)))


def _clean(piece: SourcePiece) -> SourcePiece:
    """Return a piece with its id and its group as the database can keep them, in one spelling."""
    key, group = (
        one_line(unicodedata.normalize("NFC", one)) for one in (piece.student.key, piece.group)
    )
    return piece._replace(student=piece.student._replace(key=key), group=group)


def _list(
    pieces: Sequence[SourcePiece], nameless: Set[str], *, tells_groups: bool = False
) -> list[ListedStudent]:
    """Return the students of a file. ``nameless``: ids of those whose name is not in it."""
    ids = {key: text for text, key in students.student_keys(pieces).items()}
    groups = {one.student.key: one.group for one in pieces}
    listed = [
        ListedStudent(
            student,
            ids[student.key],
            (one.key if one.key != student.key else "") if tells_groups else None,
            ids[student.key] not in nameless,
            groups[ids[student.key]] if tells_groups else "",
        )
        for one in students.entries(pieces)
        for student in one.students
    ]
    return sorted(listed, key=lambda one: one.student.key)


_Line = tuple[csv_source.CsvRow, SourcePiece]


def _of_table(path: Path) -> RosterFile:
    rows = csv_source.read(path, ())
    columns = set(rows[0].cells) if rows else set()
    layout = next((one for one in _LAYOUTS if columns >= set(one.key_columns)), None)
    remarks: list[str] = []
    if layout is None:  # a CSV of one's own
        own = csv_source.read(path, ["student"])
        lines = [_check(row, SourcePiece(row.student(), group=row.get("group"))) for row in own]
        nameless = {piece.student.key for row, piece in lines if not row.get("name")}
    else:
        people = [row for row in rows if row.get(layout.id) and _name(row, layout) not in _NOBODY]
        lines = []
        for row in people:
            roles = row.get(layout.role) if layout.role else ""
            if not roles or _STUDENT in [one.strip().casefold() for one in roles.split(",")]:
                lines.append(_check(row, _piece(row, layout)))
                continue
            who = one_line(_name(row, layout), _LONGEST)
            remarks.append(
                f"{row.file}:{row.line}: {who} is not added: found {roles!r} in the column"
                f" {layout.role}, expected Student."
            )
        nameless = {piece.student.key for row, piece in lines if not _name(row, layout)}
    remarks += _find_repeated(lines)
    if not lines and remarks:
        raise UsageError(f"{remarks[0]} There are no students in this file")
    group = layout.group if layout else "group"
    listed = _list([one for _, one in lines], nameless, tells_groups=group in columns)
    return RosterFile(tuple(listed), tuple(remarks))


def _check(row: csv_source.CsvRow, piece: SourcePiece) -> _Line:
    """Return a line that can be kept, and to whose address mail can go; raises UsageError."""
    own = piece.student
    for what, text in (("student", own.key), ("name", own.name), ("group", piece.group)):
        if len(text) > _LONGEST_TEXT:
            found = f"found {len(text):,} characters, expected {_LONGEST_TEXT} at most"
            raise UsageError(f"{row.file}:{row.line}: {what}: {found}")
    if address := dict(own.ids).get("email"):
        try:
            accounts.check_address(address)
        except UsageError:
            column = "email" if "email" in row.cells else "email address"
            row.refuse(column, "a mail address, such as ada@example.org")
    return row, _clean(piece)


def _find_repeated(lines: Iterable[_Line]) -> Iterator[str]:
    """Yield a remark for each line that says the same as another; UsageError if they differ."""
    first: dict[str, _Line] = {}
    for row, piece in lines:
        key = piece.student.key
        row_before, before = first.setdefault(key, (row, piece))
        if row_before is row:
            continue
        if piece != before:
            facts, facts_before = _facts(piece), _facts(before)
            what = next(
                one for one in {**facts, **facts_before} if facts.get(one) != facts_before.get(one)
            )
            found, expected = facts.get(what, ""), facts_before.get(what, "")
            raise UsageError(
                f"{row.file}:{row.line}: {what}: found {found!r} for {key}, expected"
                f" {expected!r} as in line {row_before.line}; keep one line for each student"
            )
        yield f"{row.file}:{row.line}: {key} is also in line {row_before.line}; both say the same."


def _facts(piece: SourcePiece) -> dict[str, str]:
    return {"name": piece.student.name, "group": piece.group, **dict(piece.student.ids)}


def _name(row: csv_source.CsvRow, layout: Layout) -> str:
    return " ".join(filter(None, map(row.get, layout.name)))


def _piece(row: csv_source.CsvRow, layout: Layout) -> SourcePiece:
    """Return what a line says of a student; raises UsageError if that is in several groups."""
    ids = []
    for column, kind in layout.ids.items():
        found = _NUMBER.search(row.get(column)) if kind == "moodle" else None
        if value := found[1] if found else row.get(column):
            ids.append((kind, value))
    name, key = _name(row, layout), next(filter(None, map(row.get, layout.key)), "")
    student = Student(key or f"{name}_{ids[0][1]}", name or key, tuple(ids))
    group = row.get(layout.group) if layout.group else ""
    if layout.role and "," in group:  # the participants of Moodle
        row.refuse(layout.group, "one group, or none: a student submits with one group")
    return SourcePiece(student, group="" if group == _NO_GROUP else group)
