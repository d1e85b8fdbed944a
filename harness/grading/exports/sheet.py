"""Gradebooks of platforms as sheets of cells; each row's student is found by number."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from harness.core.errors import UsageError
from harness.core.text import number_of, one_line, some
from harness.grading import records
from harness.grading.ingest.csv_source import find_separator

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

    def __init__(self, path: Path) -> None:
        """Read a sheet; raises UsageError if it is empty, not a sheet, or cannot be read."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from None
        if data.startswith(_UTF16) or b"\0" in data:
            raise UsageError(f"{path} is not comma-separated text: save it as CSV (UTF-8)")
        if not data.strip():
            raise UsageError(f"{path} is empty")
        text = data.decode(errors="surrogateescape")
        self.name = path.name
        self.separator = find_separator(text)
        self._rows = self._split(text)  # cells as they stand, each with what is after it

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
        quotes = r'"[^"]*(?:""[^"]*)*"(?!")'
        cell = rf'{quotes}[^{self.separator}\r\n]*|(?!")[^{self.separator}\r\n]*'
        pattern = re.compile(rf"({_BOM}?(?:{cell}))({self.separator}|\r\n|\r|\n|\Z)")
        place, line = 0, 1
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


# --- Fill in a platform's gradebook: find each row's student by number, never by name ------------
# Where nobody has the number, a mail address finds a student if one row and one student have it.


_NAMED = 8  # students in one note
_MAIL = "email"  # the kind of a mail address among the numbers

Ids = Sequence[tuple[str, str]]  # kinds of numbers and the numbers, as a student has them


class Mark(NamedTuple):
    """A student's mark; each member of a group has one."""

    student: records.Student
    graded: records.Graded
    given: records.GivenMark | None = None  # by a person instead of the computed one

    @property
    def marks(self) -> records.Marks:
        """Return the mark that counts."""
        return records.counting_mark(self.graded.marks, self.given)


class SheetForm(NamedTuple):
    """The cells of a sheet to fill in. Rows count from 0, which is the header."""

    sheet: Sheet
    grade: int  # the column of the marks
    ids: Callable[[int], Ids]  # of the student of a row; none: the row is nobody's
    locked: Callable[[int], bool]  # whether a row must stay as it is
    locked_because: str  # as a phrase
    points: tuple[str, ...]  # cells that say how many points can be reached
    comment: Callable[[int, Mark], None]  # fills in what there is besides the mark
    notes: tuple[str, ...] = ()  # what there is to be said of the sheet, sentences
    mail: Callable[[int], str] = lambda _: ""  # the mail address of a row's student
    who: Callable[[int], str] = lambda _: ""  # the name in a row


class Filled(NamedTuple):
    """A downloaded sheet, filled in."""

    data: bytes
    notes: tuple[str, ...]  # sentences for the teacher
    marked: int = 0  # rows with a mark
    left: tuple[str, ...] = ()  # names in the rows of students that got none


def fill(form: SheetForm, result: records.ClassResult) -> Filled:
    """Fill in the marks of a class. Rows of others, and every other cell, stay as they are."""
    sheet = form.sheet
    rows = range(1, len(sheet))
    roster = _Roster(result, form)
    texts = [*form.points, *(sheet.cell(row, form.grade) for row in rows)]
    comma = any("," in text and _number(text) is not None for text in texts)
    withheld, locked, others = [], [], 0
    filled: set[int] = set()
    for row in rows:
        ids = form.ids(row)
        mark = roster.find(ids, form.mail(row))
        if mark is None:
            others += bool(ids)
        elif mark.marks.withheld:
            withheld.append(mark.student.name)
        elif form.locked(row):
            locked.append(mark.student.name)
        else:
            text = records.decimal(mark.marks.total)
            if _number(sheet.cell(row, form.grade)) != Fraction(text):
                sheet.write(row, form.grade, text.replace(".", ",") if comma else text)
            form.comment(row, mark)
            filled.add(row)
    notes = [
        *form.notes,
        *_note(roster.list_unmatched(), f"without a row in {sheet.name}"),
        *_note(roster.claimed, f"not filled in, in {sheet.name}: two submissions have their ID"),
        *_note(roster.contradicted, f"not filled in, in {sheet.name}: another ID differs"),
        *_note(withheld, f"not filled in, in {sheet.name}: the mark is withheld"),
        *_note(locked, f"not filled in, in {sheet.name}: {form.locked_because}"),
        *(
            f"{sheet.name} says that {text} points can be reached, the assignment "
            f"{records.decimal(result.of)}: marks are not scaled."
            for text in sorted({t for t in form.points if _number(t) not in (None, result.of)})
        ),
    ]
    if others:
        notes.append(f"{number_of(others, 'row')} of {sheet.name} without a submission.")
    left = [one_line(form.who(row)) for row in rows if form.ids(row) and row not in filled]
    return Filled(sheet.data(), tuple(notes), len(filled), tuple(left))


class _Roster:
    """Students by their numbers and addresses, and which of them were found."""

    def __init__(self, result: records.ClassResult, form: SheetForm) -> None:
        self.claimed: list[str] = []  # names of those whose number is another's as well
        self.contradicted: list[str] = []  # of those whose row has another number of theirs
        self._marks = [
            Mark(s, graded, result.get_given_mark(s))
            for graded in result.graded
            for s in graded.submission.students
        ]
        self._met: set[str] = set()
        self._by_id: dict[tuple[str, str], list[Mark]] = {}
        for mark in self._marks:
            for kind, value in set(mark.student.ids):
                self._by_id.setdefault(_id(kind, value), []).append(mark)
        rows = range(1, len(form.sheet))
        self._numbers = {_id(*one) for row in rows for one in form.ids(row)}
        self._mails = Counter(_id(_MAIL, form.mail(row)) for row in rows)

    def find(self, ids: Ids, mail: str = "") -> Mark | None:
        """Return the mark of the student with the first of these numbers that anybody has.

        If nobody has one, that of the student with the address.

        A wrong mark is worse than a missing one. So a number that two submissions claim counts for
        neither, and a student is skipped if another number in the row contradicts.
        """
        known = (self._by_id[_id(*one)] for one in ids if _id(*one) in self._by_id)
        found = next(known, [])
        if not found:
            return self._find_by_mail(mail)
        self._met.update(mark.student.key for mark in found)
        own = {_id(*one) for one in found[0].student.ids}
        kinds = {kind for kind, _ in own}
        if len(found) > 1:
            self.claimed += [mark.student.name for mark in found]
        elif any(kind in kinds and _id(kind, value) not in own for kind, value in ids):
            self.contradicted.append(found[0].student.name)
        else:
            return found[0]
        return None

    def _find_by_mail(self, mail: str) -> Mark | None:
        """Return the mark of the student with an address, if no row has a number of theirs.

        Another number does not count: Moodle numbers the participants of each assignment anew.
        """
        address = _id(_MAIL, mail)
        found = self._by_id.get(address, []) if mail and self._mails[address] == 1 else []
        if len(found) != 1 or any(_id(*one) in self._numbers for one in found[0].student.ids):
            return None
        self._met.add(found[0].student.key)
        return found[0]

    def list_unmatched(self) -> list[str]:
        """Return the names of students who were not found."""
        return [mark.student.name for mark in self._marks if mark.student.key not in self._met]


def _id(kind: str, value: str) -> tuple[str, str]:
    return kind, value.strip().casefold()


def _note(names: Sequence[str], text: str) -> list[str]:
    """Return a sentence that names students; none if there are none."""
    if not names:
        return []
    shown = some(map(one_line, names), _NAMED)
    return [f"{number_of(len(names), 'student')} {text}: {shown}."]


def _number(text: str) -> Fraction | None:
    return records.exact(text.strip().replace(",", "."))
