"""The files of a grading: :data:`EXPORTS`, a row for each, checked before and written after it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from harness.core.errors import UsageError
from harness.core.text import escape_controls
from harness.grading import records
from harness.grading.exports.sheet import Filled, Sheet, SheetForm, fill, table
from harness.grading.exports.showing import Feedback, feedback
from harness.report.file_view import FileView
from harness.report.views import Views

Shown = Mapping[str, Feedback]  # what students may see of each submission, by its key
Files = Iterator[tuple[str, bytes]]  # their names in the folder of all, and their contents


class CaseSummary(NamedTuple):
    """The result of a case file, for the teacher."""

    attempt: records.Attempt
    view: FileView


Summaries = Mapping[str, Sequence[CaseSummary]]  # the result of the case files, by submission


class Material(NamedTuple):
    """The data that exports are made from."""

    result: records.ClassResult
    shown: Shown
    pages: Sequence[tuple[records.Student, bytes]]  # of the students
    notes: Sequence[str]  # what the teacher must know of sheets, sentences
    summaries: Summaries


def as_file(parts: Iterable[str]) -> bytes:
    """Return a text given in parts as the content of a file, fit to be shown."""
    return escape_controls("".join(parts)).encode()


class Download(NamedTuple):
    """A sheet that is filled in, and the options that name it and its columns."""

    name: str  # of the option for the sheet, without the dashes
    what: str  # for --help
    columns: str  # of the option for the columns
    metavar: str  # of its value: one word for each column, with commas between
    which: str  # for --help: what the columns are


class Export(NamedTuple):
    """A row: what is written, for whom, and by which module."""

    files: tuple[str, ...]  # their names; <…> is the key of a student or a submission
    reader: str  # who or what reads them
    what: str  # for the table in docs/exports.md
    module: str
    download: Download | None = None


_ROOM = "harness.grading.exports"

# In the order in which they are written.
EXPORTS = (
    Export(
        ("class.html",),
        "the teacher",
        "what to look at first, the marks and their parts, what the class got wrong with a board"
        " and a sentence for the lecture, every submission, tests × submissions, each test under"
        " suspicion with its text",
        f"{_ROOM}.class_page.page",
    ),
    Export(
        ("evidence/<submission>.html",),
        "the teacher",
        "the evidence for a cell of that table: each failed test with its board, the conversation,"
        " standard error, time and memory, the build, both runs if there were two",
        f"{_ROOM}.evidence_pages",
    ),
    Export(
        ("marks.csv",),
        "spreadsheets",
        "a row for each student, a column for each part; text that looks like a formula is"
        " defused",
        f"{_ROOM}.exporters",
    ),
    Export(
        ("class.json",),
        "programs",
        "everything; its schema, `gtp-harness/class` version 1, is in"
        " `harness/grading/exports/class_json.py`",
        f"{_ROOM}.class_json",
    ),
    Export(
        ("junit.xml",),
        "programs",
        "a suite for each submission and case file, as JUnit XML",
        f"{_ROOM}.junit",
    ),
    Export(
        ("canvas.csv",),
        "Canvas",
        "the gradebook that `--canvas` names with one column filled in; rows are found by `ID`,"
        " else `SIS User ID` or `SIS Login ID` (ids `canvas`, `sis`, `login` of a CSV), never by"
        " name; `EX` and `N/A` stay",
        f"{_ROOM}.canvas",
        Download(
            "canvas",
            "gradebook from Canvas to fill in, as downloaded",
            "canvas-column",
            "NAME",
            "column of --canvas to fill in: Title (id), title or id (default: the assignment's"
            " title)",
        ),
    ),
    Export(
        ("moodle.csv",),
        "Moodle",
        "the grading worksheet that `--moodle` names with grades and comments filled in, by"
        " participant number, else by a mail address (id `email` of a CSV) that nobody else has,"
        " with decimal commas where it has them",
        f"{_ROOM}.moodle",
        Download(
            "moodle",
            "grading worksheet from Moodle to fill in, as downloaded",
            "moodle-columns",
            "A,B,C",
            "its names for Identifier, Grade and Feedback comments",
        ),
    ),
    Export(
        ("feedback/<student>.html",),
        "a student",
        "the mark and its parts, mistakes that would explain the failures, each failed test in"
        " plain words: the question, the board, the right answer and why, the actual answer; the"
        " passed tests, folded; command lines to repeat them at home; one page that can be mailed",
        f"{_ROOM}.feedback",
    ),
    Export(
        ("gradescope/<submission>/results.json",),
        "Gradescope",
        "its documented format; nothing in it is hidden from students, so they see their total",
        f"{_ROOM}.gradescope",
    ),
    Export(
        ("moodle-feedback-folders.zip", "moodle-feedback-flat.zip"),
        "Moodle",
        "the students' pages, in either layout that *Upload multiple feedback files* takes",
        f"{_ROOM}.moodle",
    ),
)


# --- Check before a grading that its exports can be written, and write them ----------------------


class Downloaded(NamedTuple):
    """A sheet to fill in."""

    path: Path
    columns: tuple[str, ...] = ()  # empty: as the platform calls them


Sheets = Mapping[str, Downloaded]  # by the names of their options
_NONE: Sheets = {}


def check(sheets: Sheets, title: str) -> None:
    """See before a grading that the sheets can be filled in after it; raises UsageError if not."""
    _forms(sheets, title, {})


def write(
    result: records.ClassResult,
    folder: Path,
    sheets: Sheets = _NONE,
    on_filled: Callable[[str, Filled], None] = lambda _name, _filled: None,
) -> tuple[Path, ...]:
    """Write everything into a folder, which is made if it is missing; return what was written.

    ``on_filled`` is told how each gradebook was filled in; ``class.html`` has its notes, too.

    Raises:
        UsageError: a sheet cannot be filled in, or a file cannot be written.
    """
    views = Views(result.assignment.specification, result.assignment.place)
    shown = {one.submission.key: feedback(one, result, views) for one in result.graded}
    forms = _forms(sheets, result.assignment.title, shown)
    filled = {name: fill(form, result) for name, form in forms.items()}
    notes = [note for sheet in filled.values() for note in sheet.notes]
    for name, sheet in filled.items():
        on_filled(name, sheet)
    summaries = {
        one.submission.key: tuple(
            CaseSummary(each, views.of(each.result, each.case, each.path))
            for each in one.attempts
            # Of variants only where they speak against somebody.
            if each.result and (each.kind != records.IMAGE or one.suspicion)
        )
        for one in result.graded
    }
    pages = import_module(f"{_ROOM}.feedback").pages
    material = Material(result, shown, tuple(pages(result, shown)), notes, summaries)
    made: list[tuple[str, bytes]] = []
    for export in EXPORTS:
        if export.download is None:
            made += import_module(export.module).files(material)
        elif export.download.name in filled:
            made.append((export.files[0], filled[export.download.name].data))
    for name, data in made:
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None
    written = tuple(folder / name for name, _ in made)
    # What an earlier grading said of submissions that have no mark now goes.
    for name in (name for export in EXPORTS for name in export.files if "<" in name):
        for path in set(folder.glob(re.sub("<[^>]+>", "*", name))) - set(written):
            path.unlink()
    return written


def _forms(sheets: Sheets, title: str, shown: Shown) -> dict[str, SheetForm]:
    """Return how the sheets are filled in, by the names of their options."""
    forms = {}
    for one in EXPORTS:
        if one.download and (given := sheets.get(one.download.name)):
            form = import_module(one.module).form
            sheet = Sheet(given.path)
            forms[one.download.name] = form(sheet, given.columns, title, shown)
    return forms


def find_stale(folder: Path, paths: tuple[Path, ...]) -> Iterator[Path]:
    """Yield the sheets of an earlier grading that were not filled in anew."""
    for one in EXPORTS:
        path = folder / one.files[0]
        if one.download and path.exists() and path not in paths:
            yield path


# --- ``marks.csv``: a row for each student, for people and their spreadsheet programs ------------
# Columns: ``student``, ``key``, a column for each kind of number that somebody has, ``submission``
# (its key), a column for each part of the marks, ``late`` (what that costs), ``total``, ``of`` and
# ``note``. ``total`` is the mark that counts; where a person gave somebody another one than was
# computed, a column ``computed`` before it has all computed ones. Points have a point and at most
# two decimals; they are blank where a mark is withheld.


def files(material: Material) -> Files:
    """Yield the table."""
    result = material.result
    pairs = [(one, student) for one in result.graded for student in one.submission.students]
    kinds = sorted({kind for _, student in pairs for kind, _ in student.ids})
    parts = [part.name for part in result.assignment.marks]
    computed = ["computed"] if result.given else []
    end = ["late", *computed, "total", "of", "note"]
    rows = [["student", "key", *kinds, "submission", *parts, *end]]
    for graded, student in pairs:
        own, ids = graded.marks, dict(student.ids)
        marks = records.counting_mark(own, result.get_given_mark(student))
        shown = () if own.withheld else own.parts
        reached = {one.name: records.decimal(one.points) for one in shown}
        rows.append([
            *(student.name, student.key, *(ids.get(kind, "") for kind in kinds)),
            graded.submission.key,
            *(reached.get(name, "") for name in parts),
            "" if own.withheld else records.decimal(own.deduction),
            *([_total(own)] if result.given else []),
            _total(marks),
            records.decimal(marks.of),
            f"withheld: {marks.note}" if marks.withheld else marks.note or marks.deduction_reason,
        ])  # fmt: skip
    yield "marks.csv", table(rows).encode()


def _total(marks: records.Marks) -> str:
    return "" if marks.withheld else records.decimal(marks.total)
