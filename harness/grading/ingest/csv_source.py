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
from harness.grading.records import SourcePiece, Student, SubmittedFile

_SEPARATORS = ",;\t"  # that learning platforms write
# A first line by which Excel is told the separator: ``sep=;``.
_HINT = re.compile(r'\A"?sep=.?"?(?=[\r\n])', re.IGNORECASE)


def find_separator(text: str) -> str:
    """Return what the first line has most of, outside quotes: a title may have commas, too."""
    first_line = re.split("[\r\n]", re.sub('"[^"]*"', "", text).lstrip("\r\n"), maxsplit=1)[0]
    return max(_SEPARATORS, key=first_line.count)


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


# --- Groups of students who are graded together, beside a download -------------------------------


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
