"""Check before a grading that its exports can be written, and write them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from harness.errors import UsageError
from harness.grading.exports import exporters
from harness.grading.exports.export_material import CaseSummary, Files, Material, Shown
from harness.grading.exports.exporters import Export
from harness.grading.exports.feedback import pages
from harness.grading.exports.sheet import Sheet
from harness.grading.exports.sheet_filling import Filled, SheetForm, fill
from harness.grading.exports.showing import feedback
from harness.grading.records import IMAGE, ClassResult, Graded
from harness.report.views import Views


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
    made = [file for one in exporters.EXPORTS for file in _files(one, material, filled)]
    written = tuple(_write(folder / name, data) for name, data in made)
    _remove_old(folder, set(written))
    return written


def _summarize_cases(one: Graded, views: Views) -> Iterator[CaseSummary]:
    """Yield the result of the case files; of variants only where they speak against somebody."""
    for attempt in one.attempts:
        if attempt.result and (attempt.kind != IMAGE or one.suspicion):
            yield CaseSummary(attempt, views.of(attempt.result, attempt.case, attempt.path))


def _forms(sheets: Sheets, title: str, shown: Shown) -> dict[str, SheetForm]:
    """Return how the sheets are filled in, by the names of their options."""
    forms = {}
    for one in exporters.EXPORTS:
        if one.download and (given := sheets.get(one.download.name)):
            form = import_module(one.module).form
            sheet = Sheet.read(given.path)
            forms[one.download.name] = form(sheet, given.columns, title, shown)
    return forms


def _files(one: Export, material: Material, filled: Mapping[str, Filled]) -> Files:
    if one.download is None:
        yield from import_module(one.module).files(material)
    elif one.download.name in filled:
        yield one.files[0], filled[one.download.name].data


def find_stale(folder: Path, written: tuple[Path, ...]) -> Iterator[Path]:
    """Yield the sheets of an earlier grading that were not filled in anew."""
    for one in exporters.EXPORTS:
        path = folder / one.files[0]
        if one.download and path.exists() and path not in written:
            yield path


def _remove_old(folder: Path, written: set[Path]) -> None:
    """Remove what an earlier grading said of submissions that have no mark now."""
    patterns = [pattern for one in exporters.EXPORTS for pattern in one.patterns]
    for pattern in patterns:
        for path in set(folder.glob(pattern)) - written:
            path.unlink()


def _write(path: Path, data: bytes) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    return path
