"""Sheets of comma-separated values: some cells are changed, all the rest stays byte for byte.

RFC 4180, with what learning platforms make of it: commas, semicolons or tabs, any line ends, rows
of unequal length, and text of any encoding that has ASCII in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from harness.errors import UsageError
from harness.escaping import one_line
from harness.grading.csv_separator import find_separator

_BOM = "\ufeff"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")

# What spreadsheet programs take for a formula, after blanks and quotes that some of them drop;
# the wide forms are what they make of a typed = + - @ in East Asian settings.
_FORMULA = re.compile("[\\s'\"\u200b\ufeff]*[=+\\-@＝＋－＠]")
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")


class ColumnError(UsageError):
    """A sheet does not have the column that is to be filled in, or has several."""


class Sheet:
    """A sheet as it was read. Rows and columns count from 0; the first row is the header."""

    def __init__(self, path: Path, text: str) -> None:
        self.name = path.name
        self.separator = find_separator(text)
        self._rows = self._split(text)

    @classmethod
    def read(cls, path: Path) -> Sheet:
        """Read a sheet.

        Raises:
            UsageError: it cannot be read, is empty, or is not such a sheet.
        """
        try:
            data = path.read_bytes()
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from None
        if data.startswith(_UTF16) or b"\0" in data:
            raise UsageError(f"{path} is not comma-separated text: save it as CSV (UTF-8)")
        if not data.strip():
            raise UsageError(f"{path} is empty")
        return cls(path, data.decode(errors="surrogateescape"))

    def __len__(self) -> int:
        """Return the number of rows, the header's too."""
        return len(self._rows)

    @property
    def header(self) -> list[str]:
        """The names of the columns."""
        return [plain(cell) for cell, _ in self._rows[0]]

    def cell(self, row: int, column: int) -> str:
        """Return what a cell says, "" where the row is too short."""
        cells = self._rows[row]
        return plain(cells[column][0]) if column < len(cells) else ""

    def write(self, row: int, column: int, text: str) -> None:
        """Change a cell. What it says already is left as it is."""
        if self.cell(row, column) == text:
            return
        cells = self._rows[row]
        while len(cells) <= column:
            value, end = cells[-1]
            cells[-1:] = [(value, self.separator), ("", end)]
        cells[column] = (quote_cell(text, self.separator), cells[column][1])

    def data(self) -> bytes:
        """Return the sheet as it is now."""
        text = "".join(cell + end for row in self._rows for cell, end in row)
        return text.encode(errors="surrogateescape")

    def _split(self, text: str) -> list[list[tuple[str, str]]]:
        """Return rows of cells as they stand, each with the separator or line end after it."""
        pattern, place, line = _cell_pattern(self.separator), 0, 1
        rows: list[list[tuple[str, str]]] = [[]]
        while place < len(text):
            found = pattern.match(text, place)
            if found is None:
                raise UsageError(f"{self.name}:{line}: a quoted cell has no end")
            rows[-1].append((found[1], found[2]))
            line += found[0].count("\n")
            place = found.end()
            if found[2] != self.separator:
                rows.append([])
            elif place == len(text):
                rows[-1].append(("", ""))
        return [row for row in rows if row]


@cache
def _cell_pattern(separator: str) -> re.Pattern[str]:
    quotes = r'"[^"]*(?:""[^"]*)*"(?!")'
    cell = rf'{quotes}[^{separator}\r\n]*|(?!")[^{separator}\r\n]*'
    return re.compile(rf"({_BOM}?(?:{cell}))({separator}|\r\n|\r|\n|\Z)")


def plain(cell: str) -> str:
    """Return what a cell says, without its quotes."""
    cell = cell.removeprefix(_BOM)
    if not cell.startswith('"'):
        return cell
    inside, _, rest = cell[1:].rpartition('"')
    return inside.replace('""', '"') + rest


def quote_cell(text: str, separator: str = ",") -> str:
    """Return a text as a cell, in quotes where it needs them."""
    if text != text.strip() or any(mark in text for mark in f'{separator}"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def defuse(text: str) -> str:
    """Return a text on one line that no spreadsheet program takes for a formula.

    What would be one gets an apostrophe before it, by which they know a text. Numbers stay.
    """
    harmless = not _FORMULA.match(text) or _NUMBER.fullmatch(text)
    return one_line(text) if harmless else f"'{one_line(text)}"


def table(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as a sheet of their own, every text in it defused."""
    return "".join(",".join(quote_cell(defuse(cell)) for cell in row) + "\r\n" for row in rows)
