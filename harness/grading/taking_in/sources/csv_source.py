"""CSV files: one that names submissions, and one that names the members of groups.

The first line that is not empty names the columns, in any order; capitals do not matter. One that
tells Excel the separator, ``sep=;``, is skipped. Fields are separated by commas, semicolons or
tabs; the text is UTF-8.

=========== ==========================================================================
column      meaning
=========== ==========================================================================
``student`` the student: any text, the same in all rows of one student. Needed
``file``    an archive or a folder, relative to the CSV's own; empty if nothing was submitted
``name``    as shown; by default what ``student`` says
``group``   whose members are graded together
``time``    when it was submitted: ``2026-01-29 23:55``, local unless it says otherwise
``late``    ``yes``: the platform says that it is late; ``no`` or empty
any other   an id of the student, by the column's name: ``canvas``, ``moodle``, ``login``
=========== ==========================================================================

A student with several rows has submitted several files. The one with the latest time is the last;
without times, the one in the last row. A file of groups needs ``group`` and ``student``, and may
have ``name`` and ids.
"""

from __future__ import annotations

import csv
import datetime
import io
import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple, NoReturn

from harness import clock_changes
from harness.errors import UsageError
from harness.grading.csv_separator import blank_hint, find_separator
from harness.grading.records import Student, SubmittedFile
from harness.grading.taking_in.sources.pieces import SourcePiece

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


def read(path: Path, needed: Iterable[str]) -> list[CsvRow]:
    """Return the rows of a CSV file that are not empty.

    Raises:
        UsageError: it cannot be read, has no such columns, or a row has too many fields.
    """
    text = blank_hint(_text(path))
    separator = find_separator(text)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        columns = [_trim(name).casefold() for name in next(filter(any, rows), [])]
        _check_columns(path, rows.line_num or 1, columns, needed)
        return [_row(path, rows.line_num, columns, cells) for cells in rows if any(cells)]
    except csv.Error as error:
        raise UsageError(
            f"{path}:{rows.line_num}: found a line that is not CSV ({error}), expected a closing"
            " quotation mark for each opening one: save the file as CSV UTF-8"
        ) from None


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST + 1)
        if len(data) > _MOST:
            raise UsageError(f"{path} has more than {_MOST:,} bytes: the wrong file?")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text: save it as CSV UTF-8") from None


def _check_columns(path: Path, line: int, columns: list[str], needed: Iterable[str]) -> None:
    for name in needed:
        if name not in columns:
            found = ", ".join(filter(None, columns)) or "nothing"
            raise UsageError(f"{path}:{line}: found {found}, expected a column {name!r}")
    for name in filter(None, columns):
        if columns.count(name) > 1:
            raise UsageError(f"{path}:{line}: there are two columns {name!r}")


def _row(path: Path, line: int, columns: list[str], cells: list[str]) -> CsvRow:
    if any(cells[len(columns) :]):
        expected = f"{len(columns)} fields, as in the first line"
        raise UsageError(f"{path}:{line}: found {len(cells)} fields, expected {expected}")
    named = zip_longest(
        columns, cells[: len(columns)], fillvalue=""
    )  # a short line has the rest empty
    return CsvRow(path, line, {name: _trim(cell) for name, cell in named if name})


def _trim(cell: str) -> str:
    """Return a cell without what nobody sees before and after it: web pages copy it along."""
    return _UNSEEN.sub("", cell)


# --- submissions -------------------------------------------------------------------------------


def pieces(path: Path) -> Iterator[SourcePiece]:
    """Yield what a CSV file names.

    Raises:
        UsageError: says the line and the column that is wrong.
    """
    for row in read(path, ["student", "file"]):
        time, late = _time(row), _late(row)
        handed = (
            SubmittedFile(_file(row), row.get("file"), time, late) if row.get("file") else None
        )
        order = (clock_changes.to_seconds(time or datetime.datetime.min), row.line)
        yield SourcePiece(row.student(), handed, order, row.get("group"))


def _file(row: CsvRow) -> Path:
    place = row.file.parent / row.get("file")
    if not place.exists():
        row.refuse("file", "a file or folder that is there")
    return place


def _late(row: CsvRow) -> bool:
    word = row.get("late").casefold()
    if word not in (*_YES, *_NO):
        row.refuse("late", "yes or no")
    return word in _YES


def _time(row: CsvRow) -> datetime.datetime | None:
    """Return a local time; one with a zone becomes that of this machine."""
    text = row.get("time")
    if not text:
        return None
    try:
        return clock_changes.read_moment(text)
    except ValueError:
        row.refuse("time", "a date and time such as 2026-01-29 23:55")
