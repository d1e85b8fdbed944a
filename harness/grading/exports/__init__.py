"""What comes of a grading, in files: for people, for other programs and for learning platforms.

Everything is made of one :class:`~harness.grading.records.ClassResult`; what students see of it is
decided in :mod:`~harness.grading.exports.showing` alone. A mark that is withheld is nowhere a
number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from harness.errors import UsageError
from harness.grading.exports import canvas, document, gradescope, junit, moodle
from harness.grading.exports.comments import comment
from harness.grading.exports.feedback import body_of, student_page
from harness.grading.exports.moodle import WORKSHEET
from harness.grading.exports.report import report_page
from harness.grading.exports.roster import Filled, Form, Mark, fill
from harness.grading.exports.sheet import Sheet
from harness.grading.exports.showing import Feedback, feedback
from harness.grading.exports.table import marks_table
from harness.grading.records import ClassResult, Student
from harness.report.views import Views
from harness.visible import visible, without_surrogates


class Wanted(NamedTuple):
    """The sheets that were downloaded to be filled in, and their columns."""

    canvas: Path | None = None  # a gradebook
    canvas_column: str = ""  # ``Title (id)``, title or id; empty: the assignment's title
    moodle: Path | None = None  # an offline grading worksheet
    moodle_columns: tuple[str, str, str] = WORKSHEET


_NOTHING = Wanted()
_OF_SUBMISSIONS = ("feedback/*.html", "gradescope/*/results.json")


def check(wanted: Wanted, title: str) -> None:
    """See before a long grading whether the sheets can be filled in after it.

    ``title``: of the assignment.

    Raises:
        UsageError: a sheet cannot be read, or has no such column.
    """
    _forms(wanted, title, {})


def write(
    result: ClassResult,
    folder: Path,
    wanted: Wanted = _NOTHING,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[Path, ...]:
    """Write everything into a folder, which is made if there is none; return what was written.

    ``class.html``, ``marks.csv``, ``class.json``, ``junit.xml``; ``feedback/<student>.html``;
    ``gradescope/<submission>/results.json``; ``canvas.csv`` and ``moodle.csv`` where a sheet is
    given; a zip of the feedback in each of Moodle's layouts where a student has a number there.
    ``say`` is told what the teacher must know of the sheets; ``class.html`` says it too.

    Raises:
        UsageError: a sheet cannot be filled in, or a file cannot be written.
    """
    views = Views(result.assignment.specification, result.assignment.place)
    shown = {one.submission.key: feedback(one, result, views) for one in result.graded}
    forms = _forms(wanted, result.assignment.title, shown)
    sheets = {name: fill(form, result) for name, form in forms.items()}
    notes = [note for sheet in sheets.values() for note in sheet.notes]
    for note in notes:
        say(note)
    made = [*_reports(result, notes), *_sheets(sheets), *_feedback(result, shown)]
    written = tuple(_written(folder / name, data) for name, data in made)
    _remove_old(folder, set(written))
    return written


# --- the sheets --------------------------------------------------------------------------------


def _forms(wanted: Wanted, title: str, shown: Mapping[str, Feedback]) -> dict[str, Form]:
    """Return how the sheets that were downloaded are filled in, by the names they are to have."""

    def about(mark: Mark) -> str:
        return comment(shown[mark.graded.submission.key])

    forms = {}
    if wanted.canvas:
        column = wanted.canvas_column or title
        forms["canvas.csv"] = canvas.form(Sheet.read(wanted.canvas), column)
    if wanted.moodle:
        columns = wanted.moodle_columns
        forms["moodle.csv"] = moodle.form(Sheet.read(wanted.moodle), columns, about)
    return forms


def _sheets(sheets: Mapping[str, Filled]) -> Iterator[tuple[str, bytes]]:
    for name, sheet in sheets.items():
        yield name, sheet.data


# --- files by their names ----------------------------------------------------------------------


def _reports(result: ClassResult, notes: list[str]) -> Iterator[tuple[str, bytes]]:
    yield "class.html", _page(report_page(result, notes))
    yield "marks.csv", marks_table(result).encode()
    yield "class.json", without_surrogates("".join(document.parts(result))).encode()
    yield "junit.xml", _page(junit.parts(result))


def _page(parts: Iterable[str]) -> bytes:
    return visible("".join(parts)).encode()


def _feedback(result: ClassResult, shown: Mapping[str, Feedback]) -> Iterator[tuple[str, bytes]]:
    pages = list(_pages(result, shown))
    for student, page in pages:
        yield f"feedback/{student.key}.html", page
    for one in result.graded:
        key = one.submission.key
        if not one.marks.withheld:
            yield f"gradescope/{key}/results.json", gradescope.results(shown[key]).encode()
    if any(moodle.number(student) for student, _ in pages):
        for name, layout in moodle.LAYOUTS.items():
            yield name, moodle.zipped(layout, pages)


def _pages(result: ClassResult, shown: Mapping[str, Feedback]) -> Iterator[tuple[Student, bytes]]:
    for one in result.graded:
        about = shown[one.submission.key]
        body = "".join(body_of(about))
        for student in one.submission.students:
            yield student, _page(student_page(about.title, student.name, body))


# --- writing -----------------------------------------------------------------------------------


def _remove_old(folder: Path, written: set[Path]) -> None:
    """Remove what an earlier grading said of submissions that have no mark now."""
    for pattern in _OF_SUBMISSIONS:
        for path in set(folder.glob(pattern)) - written:
            path.unlink()


def _written(path: Path, data: bytes) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    return path
