"""The files of a grading: :data:`EXPORTS`, a row for each, checked before and written after it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from harness.errors import UsageError
from harness.grading.exports.feedback import pages
from harness.grading.exports.sheet import Filled, Sheet, SheetForm, fill
from harness.grading.exports.showing import CaseSummary, Files, Material, Shown, feedback
from harness.grading.records import IMAGE, ClassResult, Graded
from harness.report.views import Views


class Download(NamedTuple):
    """A sheet that is filled in, and the options that name it and its columns."""

    name: str  # of the option for the sheet, without the dashes
    what: str  # for --help
    columns: str  # of the option for the columns
    metavar: str  # of its value: one word for each column, with commas between
    which: str  # for --help: what the columns are

    @property
    def attributes(self) -> tuple[str, str]:
        """Names of both options' values among those that were read."""
        return self.name.replace("-", "_"), self.columns.replace("-", "_")


class Export(NamedTuple):
    """A row: what is written, for whom, and by which module."""

    files: tuple[str, ...]  # their names; <…> is the key of a student or a submission
    reader: str  # who or what reads them
    what: str  # for the table in docs/exports.md
    module: str
    download: Download | None = None

    @property
    def patterns(self) -> list[str]:
        """The names with a key in them, as :meth:`~pathlib.Path.glob` takes them."""
        return [re.sub("<[^>]+>", "*", name) for name in self.files if "<" in name]


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
        f"{_ROOM}.marks_csv",
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
    """See before a long grading whether the sheets can be filled in after it.

    ``title``: of the assignment.

    Raises:
        UsageError: a sheet cannot be read, or has no such column.
    """
    _forms(sheets, title, {})


def write(
    result: ClassResult,
    folder: Path,
    sheets: Sheets = _NONE,
    say: Callable[[str], None] = lambda _: None,
    on_filled: Callable[[str, Filled], None] = lambda _name, _filled: None,
) -> tuple[Path, ...]:
    """Write everything into a folder, which is made if it is missing; return what was written.

    ``say`` is told what the teacher must know of the sheets; ``class.html`` says it too.
    ``on_filled`` is told how each gradebook was filled in.

    Raises:
        UsageError: a sheet cannot be filled in, or a file cannot be written.
    """
    views = Views(result.assignment.specification, result.assignment.place)
    shown = {one.submission.key: feedback(one, result, views) for one in result.graded}
    forms = _forms(sheets, result.assignment.title, shown)
    filled = {name: fill(form, result) for name, form in forms.items()}
    notes = [note for sheet in filled.values() for note in sheet.notes]
    for note in notes:
        say(note)
    for name, sheet in filled.items():
        on_filled(name, sheet)
    seen = {one.submission.key: tuple(_summarize_cases(one, views)) for one in result.graded}
    material = Material(result, shown, tuple(pages(result, shown)), notes, seen)
    made = [file for one in EXPORTS for file in _files(one, material, filled)]
    written = tuple(_write(folder / name, data) for name, data in made)
    _remove_old(folder, set(written))
    return written


def _summarize_cases(graded: Graded, views: Views) -> Iterator[CaseSummary]:
    """Yield the result of the case files; of variants only where they speak against somebody."""
    for attempt in graded.attempts:
        if attempt.result and (attempt.kind != IMAGE or graded.suspicion):
            yield CaseSummary(attempt, views.of(attempt.result, attempt.case, attempt.path))


def _forms(sheets: Sheets, title: str, shown: Shown) -> dict[str, SheetForm]:
    """Return how the sheets are filled in, by the names of their options."""
    forms = {}
    for one in EXPORTS:
        if one.download and (given := sheets.get(one.download.name)):
            form = import_module(one.module).form
            sheet = Sheet.read(given.path)
            forms[one.download.name] = form(sheet, given.columns, title, shown)
    return forms


def _files(export: Export, material: Material, sheets: Mapping[str, Filled]) -> Files:
    if export.download is None:
        yield from import_module(export.module).files(material)
    elif export.download.name in sheets:
        yield export.files[0], sheets[export.download.name].data


def find_stale(folder: Path, paths: tuple[Path, ...]) -> Iterator[Path]:
    """Yield the sheets of an earlier grading that were not filled in anew."""
    for one in EXPORTS:
        path = folder / one.files[0]
        if one.download and path.exists() and path not in paths:
            yield path


def _remove_old(folder: Path, paths: set[Path]) -> None:
    """Remove what an earlier grading said of submissions that have no mark now."""
    patterns = [pattern for one in EXPORTS for pattern in one.patterns]
    for pattern in patterns:
        for path in set(folder.glob(pattern)) - paths:
            path.unlink()


def _write(path: Path, data: bytes) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    return path
