"""CSV files that name submissions or the members of groups, with whatever separator they have."""

import csv
import datetime
import io
import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple, NoReturn

from harness.assignments import clock_changes
from harness.core.errors import UsageError
from harness.grading.ingest.names import fold_name
from harness.grading.records import SourcePiece, Student, SubmittedFile

_SEPARATORS = ",;\t"  # that learning platforms write
# A first line by which Excel is told the separator: ``sep=;``.
_HINT = re.compile(r'\A"?sep=.?"?(?=[\r\n])', re.IGNORECASE)


def find_separator(text: str) -> str:
    """Return what the first line has most of, outside quotes: a title may have commas, too."""
    first_line = re.split("[\r\n]", re.sub('"[^"]*"', "", text).lstrip("\r\n"), maxsplit=1)[0]
    return max(_SEPARATORS, key=first_line.count)


# --- CSV files: one that names submissions, and one that names the members of groups -------------


COLUMNS = ("student", "file", "name", "group", "time", "late")
_YES, _NO = ("yes", "y", "true", "1", "late"), ("", "no", "n", "false", "0")
_MOST = 16 << 20  # bytes
# Blanks, and marks of no width or of direction.
_BLANK = r"[\s\xad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+"
_UNSEEN = re.compile(rf"\A{_BLANK}|{_BLANK}\Z")


class CsvRow(NamedTuple):
    """A line of a table."""

    file: Path
    line: int  # 1-based, its last one where a field has several
    cells: dict[str, str]  # by column; trimmed

    def get(self, column: str) -> str:
        """Return a cell, or "" without one."""
        return self.cells.get(column, "")

    def refuse(self, column: str, expected: str) -> NoReturn:
        """Raise UsageError."""
        found = f"found {self.get(column)!r}, expected {expected}"
        raise UsageError(f"{self.file}:{self.line}: {column}: {found}")

    def student(self) -> Student:
        """Return the student of the row; raises UsageError if the row does not name one."""
        if not self.get("student"):
            self.refuse("student", "a student")
        ids = [(key, value) for key, value in self.cells.items() if key not in COLUMNS and value]
        return Student(self.get("student"), self.get("name") or self.get("student"), tuple(ids))


def read(path: Path, required: Iterable[str]) -> list[CsvRow]:
    """Return the rows of a CSV file that are not empty.

    Raises:
        UsageError: it cannot be read, has no such columns, or a row has too many fields.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MOST + 1)
        if len(data) > _MOST:
            raise UsageError(f"{path} has more than {_MOST:,} bytes: the wrong file?")
        text = _HINT.sub("", data.decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text: save it as CSV UTF-8") from None
    separator = find_separator(text)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    found = []
    try:
        columns = [_trim(name).casefold() for name in next(filter(any, rows), [])]
        _check_columns(path, rows.line_num or 1, columns, required)
        for cells in filter(any, rows):
            if any(cells[len(columns) :]):
                raise UsageError(
                    f"{path}:{rows.line_num}: found {len(cells)} fields, expected"
                    f" {len(columns)} fields, as in the first line"
                )
            # A short line has the rest empty.
            named = zip_longest(columns, cells[: len(columns)], fillvalue="")
            trimmed = {name: _trim(cell) for name, cell in named if name}
            found.append(CsvRow(path, rows.line_num, trimmed))
        return found
    except csv.Error as error:
        raise UsageError(
            f"{path}:{rows.line_num}: found a line that is not CSV ({error}), expected a closing"
            " quotation mark for each opening one: save the file as CSV UTF-8"
        ) from None


def _check_columns(path: Path, line: int, columns: list[str], required: Iterable[str]) -> None:
    for name in required:
        if name not in columns:
            found = ", ".join(filter(None, columns)) or "nothing"
            raise UsageError(f"{path}:{line}: found {found}, expected a column {name!r}")
    for name in filter(None, columns):
        if columns.count(name) > 1:
            raise UsageError(f"{path}:{line}: there are two columns {name!r}")


def _trim(cell: str) -> str:
    """Return a cell without what nobody sees before and after it: web pages copy it along."""
    return _UNSEEN.sub("", cell)


# --- submissions -------------------------------------------------------------------------------


def pieces(path: Path) -> Iterator[SourcePiece]:
    """Yield what a CSV file names; a UsageError says the line and the column that is wrong."""
    for row in read(path, ["student", "file"]):
        time, late = _time(row), row.get("late").casefold()
        if late not in (*_YES, *_NO):
            row.refuse("late", "yes or no")
        file = None
        if name := row.get("file"):
            place = row.file.parent / name
            if not place.exists():
                row.refuse("file", "a file or folder that is there")
            file = SubmittedFile(place, name, time, late in _YES)
        order = (clock_changes.to_seconds(time or datetime.datetime.min), row.line)
        yield SourcePiece(row.student(), file, order, row.get("group"))


def _time(row: CsvRow) -> datetime.datetime | None:
    """Return a local time; one with a zone becomes that of this machine."""
    text = row.get("time")
    if not text:
        return None
    try:
        return clock_changes.read_moment(text)
    except ValueError:
        row.refuse("time", "a date and time such as 2026-01-29 23:55")


# --- Groups of students who are graded together, from a CSV file beside a download ---------------


class GroupMember(NamedTuple):
    """A member of a group."""

    group: str
    student: Student
    row: CsvRow


def read_groups(path: Path) -> list[GroupMember]:
    """Return the members of all groups; UsageError: a row is wrong, or somebody is in two."""
    members = []
    groups: dict[str, str] = {}
    for row in read(path, ["group", "student"]):
        member = GroupMember(row.get("group"), row.student(), row)
        if not member.group:
            row.refuse("group", "the name of a group")
        if groups.setdefault(member.student.key, member.group) != member.group:
            row.refuse("group", f"{groups[member.student.key]!r}, as in a row before it")
        members.append(member)
    return members


def group_pieces(
    pieces: Iterable[SourcePiece], members: Iterable[GroupMember]
) -> Iterator[SourcePiece]:
    """Yield the pieces with their groups.

    A student of the download is a member by the key, by an id or, if only one is called so, by
    name, before which there may be the group's. A whole group in the download, as platforms have
    it, is known by its name and replaced by its members; members without a submission
    come without one.
    """
    found, members = list(pieces), list(members)
    members_of = _match_members({piece.student.key: piece.student for piece in found}, members)
    for piece in found:
        own = members_of.get(piece.student.key, [])
        if not own:
            yield piece
        for index, member in enumerate(own):  # what a whole group submitted, it did once
            file = piece.file if index == 0 else None
            yield piece._replace(student=member.student, group=member.group, file=file)
    known = {member.student.key for own in members_of.values() for member in own}
    for member in members:
        if member.student.key not in known:
            yield SourcePiece(member.student, group=member.group)


def _match_members(
    students: dict[str, Student], members: list[GroupMember]
) -> dict[str, list[GroupMember]]:
    """Return by the keys of students of the download who they are: for a group, several."""
    groups: dict[str, list[GroupMember]] = {}
    for member in members:
        groups.setdefault(fold_name(member.group), []).append(member)
    matched: dict[str, list[GroupMember]] = {}
    for member in members:
        # What is named like another group has that group's id, which is not a student's.
        others = groups.keys() - {fold_name(member.group)}
        persons = {key: one for key, one in students.items() if fold_name(one.name) not in others}
        if key := _key_of(member, persons):
            if key in matched:
                member.row.refuse("student", "a student who is not in an earlier row")
            student, own = students[key], member.student
            name = own.name
            if not member.row.get("name") and _is_key(own, student):  # it has a number only
                # Moodle before version 4 puts the group's name before each member's.
                name = student.name.removeprefix(f"{member.group}-")
            own = own._replace(name=name, ids=(*own.ids, *student.ids))
            matched[key] = [member._replace(student=own)]
    for key, student in students.items():
        own_name = fold_name(student.name)
        if key not in matched and own_name in groups:
            # Members as they are known from elsewhere in the download, ids included.
            known = {one[0].student.key: one[0] for one in matched.values()}
            matched[key] = [known.get(one.student.key, one) for one in groups[own_name]]
    return matched


def _is_key(member: Student, student: Student) -> bool:
    """Whether a member's key is one of the download's keys or numbers for a student."""
    return member.key in (student.key, *dict(student.ids).values())


def _key_of(member: GroupMember, students: dict[str, Student]) -> str:
    """Return the key of the student whom a row means, or ""; UsageError: it may be several."""
    own = member.student
    names = {fold_name(one) for one in (own.key, own.name, member.group + own.name)} - {""}
    # With different ids of a kind they are not the same, whatever the name.
    ids = dict(own.ids)
    others = {
        key: one
        for key, one in students.items()
        if all(ids.get(kind, value) == value for kind, value in dict(one.ids).items())
    }
    by_id = [key for key, one in others.items() if {*own.ids} & {*one.ids}]
    by_key = [key for key, one in others.items() if _is_key(own, one)]
    by_name = [key for key, one in others.items() if fold_name(one.name) in names]
    found = by_id or by_key or by_name
    if len(found) > 1:
        place, who = f"{member.row.file}:{member.row.line}", ", ".join(sorted(found))
        raise UsageError(f"{place}: {own.name!r} may be any of {who}: give the id")
    return found[0] if found else ""
