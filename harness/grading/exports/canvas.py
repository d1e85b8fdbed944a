"""The gradebook of Canvas: the sheet that was downloaded, with one column filled in.

Source: ``lib/gradebook_exporter.rb`` and ``lib/gradebook_importer.rb`` of Canvas. The header has
``Student``, ``ID``, perhaps ``SIS User ID`` and ``SIS Login ID``, ``Section``, and each assignment
as ``Title (id)``. Rows without a student (``Points Possible``, ``Manual Posting``) have no ID.
"""

import re
from collections.abc import Iterable, Sequence

from harness.core.errors import UsageError
from harness.core.text import some
from harness.grading.exports.exporters import Shown
from harness.grading.exports.sheet import ColumnError, Ids, Sheet, SheetForm

# The columns that tell students apart, and what a student's own numbers are called.
_IDS = {"ID": "canvas", "SIS User ID": "sis", "SIS Login ID": "login"}
_STUDENT = {*_IDS, "Student", "LastName", "FirstName", "Integration ID", "Root Account", "Section"}
_TITLE = re.compile(r"(.*) \((\d+)\)", re.DOTALL)
_POINTS = "Points Possible"
_KEPT = ("EX", "N/A")  # excused; not given to this student
_COLUMNS = 12  # named in a message


def form(sheet: Sheet, columns: Sequence[str], title: str, _: Shown) -> SheetForm:
    """Return how a gradebook is filled in.

    ``columns``: the assignment's, as ``Title (id)``, its title or its id; none: by its title.

    Raises:
        ColumnError: it has no such column, or several.
        UsageError: it is not a gradebook.
    """
    header, place = sheet.header, _column(sheet, "".join(columns) or title)
    known = [(kind, header.index(name)) for name, kind in _IDS.items() if name in header]

    def ids(row: int) -> Ids:
        cells = [(kind, sheet.cell(row, column)) for kind, column in known]
        return [(kind, value) for kind, value in cells if value.strip()]

    points = [row for row in range(1, len(sheet)) if _POINTS in sheet.cell(row, 0)]
    return SheetForm(
        sheet=sheet,
        grade=place,
        ids=ids,
        locked=lambda row: sheet.cell(row, place).strip() in _KEPT,
        locked_because="it says EX (excused) or N/A (not theirs)",
        points=tuple(sheet.cell(row, place) for row in points),
        comment=lambda _row, _mark: None,
        who=lambda row: sheet.cell(row, 0),
    )


def _column(sheet: Sheet, column: str) -> int:
    header = sheet.header
    if "ID" not in header or "Section" not in header:
        raise UsageError(
            f"{sheet.name} is not a gradebook from Canvas: found the columns {_columns(header)}; "
            "expected Student, ID, Section and assignments"
        )
    titles = {place: name for place, name in enumerate(header) if name not in _STUDENT}
    found = [place for place, name in titles.items() if name == column] or [
        place for place, name in titles.items() if _has_title_or_id(name, column)
    ]
    if len(found) > 1:
        several = _columns(header[place] for place in found)
        raise ColumnError(f"{sheet.name} has several columns {column!r}: {several}")
    if not found:
        known = _columns(titles.values())
        raise ColumnError(f"{sheet.name} has no column {column!r}; it has {known}")
    return found[0]


def _has_title_or_id(name: str, column: str) -> bool:
    found = _TITLE.fullmatch(name)
    title, number = found.groups() if found else (name, "")
    return title.strip().casefold() == column.strip().casefold() or number == column.strip()


def _columns(names: Iterable[str]) -> str:
    return some(map(repr, names), _COLUMNS) or "none"
