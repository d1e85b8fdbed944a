"""The files of a grading: :data:`EXPORTS`, a row for each, and a module that makes it.

An export is one row and one module. Most modules have ``files(material)``, which yields names and
contents. One that fills in a downloaded sheet has ``form(sheet, columns, material)`` instead, and
its row names the options for the sheet and its columns. The command line, the checks before a
grading, and the table in ``docs/exports.md`` follow from the rows.
"""

from __future__ import annotations

import re

from harness.typed import NamedTuple


class Download(NamedTuple):
    """A sheet that is filled in, and the options that name it and its columns."""

    name: str  # of the option for the sheet, without the dashes
    what: str  # for --help
    columns: str  # of the option for the columns
    metavar: str  # of its value: one word for each column, with commas between
    which: str  # for --help: what the columns are

    @property
    def attributes(self) -> tuple[str, str]:
        """What the values of both options are called among those that were read."""
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
