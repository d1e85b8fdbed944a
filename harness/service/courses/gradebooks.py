"""Downloads of Canvas and Moodle that are filled in with the marks, by the code of ``grade``.

A teacher chooses a download for an assignment: a file, or the download that was the roster. It is
kept, and filled in anew whenever the files of the grading in force are written. It may have the
marks of other assignments in it, so only teachers get it.
"""

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.core import file_system
from harness.core.errors import InvalidGradingStateError, UsageError
from harness.core.text import number_of, some
from harness.grading.exports import exporters, moodle
from harness.grading.exports.sheet import Filled, Sheet
from harness.service.courses.gradings import export_anew
from harness.service.records import CourseAssignment, Grading
from harness.service.settings import Settings
from harness.service.storage import courses, uploads
from harness.service.storage.audit import AuditedTransaction

LARGEST = 4 << 20  # bytes
# What a gradebook of each platform is called when it is filled in.
FILES = {one.download.name: one.files[0] for one in exporters.EXPORTS if one.download}
_LIST = "gradebooks.json"  # the folder and the columns of each download, by platform
_NAMED = 40  # rows in one sentence


class GradebookRequest(NamedTuple):
    """A download to be filled in."""

    platform: str  # one of FILES
    columns: str = ""  # as the option of the command line for them; "" for the usual ones
    name: str = ""  # of the file, as messages have it; a program sends none
    data: bytes = b""  # the file; no name and no data: the download that was the roster


class KeptGradebook(NamedTuple):
    """A download that is filled in with the marks of an assignment."""

    platform: str
    title: str  # of the platform
    columns: tuple[str, ...]
    is_filled: bool  # with the marks of the grading
    notes: tuple[str, ...] = ()  # sentences about the rows


def read_roster(path: Path) -> bytes:
    """Return the bytes of a roster to be kept, or b"" if it is too large for a gradebook."""
    return path.read_bytes() if path.stat().st_size <= LARGEST else b""


def keep_roster(settings: Settings, course: str, data: bytes) -> None:
    """Keep a roster that can be filled in with marks; another one is not kept."""
    folder = _rosters(settings, course)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".new", delete=False) as file:
        file.write(data)
    unfinished = Path(file.name)
    try:
        header = set(Sheet(unfinished).header)
    except UsageError:  # such as a zip of submissions
        header = set()
    if {"Student", "ID", "Section"} <= header:
        unfinished.replace(_roster(settings, course, "canvas"))
    elif set(moodle.WORKSHEET[:2]) <= header:
        unfinished.replace(_roster(settings, course, "moodle"))
    else:
        unfinished.unlink()


def _roster(settings: Settings, course: str, platform: str) -> Path:
    return _rosters(settings, course) / FILES[platform]


def _rosters(settings: Settings, course: str) -> Path:
    return settings.data / "rosters" / course


def forget_rosters(settings: Settings, course: str) -> None:
    """Remove the downloads that were rosters of a course that was removed."""
    shutil.rmtree(_rosters(settings, course), ignore_errors=True)


def kept_rosters(settings: Settings, course: str) -> dict[str, str]:
    """Return the platforms whose downloads were a roster, with their titles."""
    return {name: name.title() for name in FILES if _roster(settings, course, name).exists()}


def sheets(settings: Settings, assignment: str) -> exporters.Sheets:
    """Return the downloads to be filled in with the marks of an assignment."""
    made = settings.assignment_folder(assignment)
    return {
        name: exporters.Downloaded(made / folder / FILES[name], tuple(columns))
        for name, (folder, columns) in _read_json(made / _LIST).items()
    }


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return {}


def list_kept(assignment_folder: Path, folder: Path) -> list[KeptGradebook]:
    """Return the downloads of an assignment, and whether they have the marks of a grading.

    ``folder``: with the files of the grading.
    """
    notes = _read_json(notes_of(folder))
    return [
        KeptGradebook(
            name,
            name.title(),
            tuple(columns),
            filled(folder, name) is not None,
            tuple(notes.get(name, ())),
        )
        for name, (_, columns) in _read_json(assignment_folder / _LIST).items()
    ]


def keep_notes(folder: Path, filled_sheets: Mapping[str, Filled]) -> None:
    """Keep beside the folder of a grading which rows of its gradebooks were filled in."""
    notes = {}
    for name, sheet in filled_sheets.items():
        rows = number_of(sheet.marked + len(sheet.left), "row")
        told = [f"{sheet.marked} of {rows} of {FILES[name]} filled in."]
        if sheet.left:
            told.append(f"Rows that were not filled in: {some(sheet.left, _NAMED)}.")
        notes[name] = [*told, *sheet.notes]
    file_system.write_whole(notes_of(folder), json.dumps(notes))


def notes_of(folder: Path) -> Path:
    """Return the file beside the folder of a grading that has sentences about its gradebooks."""
    return folder.with_name(f"{folder.name}.filled")


def filled(folder: Path, platform: str) -> Path | None:
    """Return the gradebook of a platform with the marks of a grading, or None.

    ``folder``: with the files of the grading.
    """
    path = folder / FILES[platform] if platform in FILES else None
    return path if path and path.exists() else None


def take(
    act: AuditedTransaction,
    assignment: CourseAssignment,
    grading: Grading,
    request: GradebookRequest,
) -> None:
    """Let a download be filled in with the marks of the grading in force, and of later ones.

    Raises:
        InvalidGradingStateError: there are no marks yet, or a later grading has marks.
        UsageError: it is not a gradebook of the platform, or has no such column.
    """
    courses.lock(act.db, assignment.id)
    last = uploads.in_force(act.db, assignment.id)
    if last is None or last.id != grading.id:
        raise InvalidGradingStateError("there are no marks yet, or a later grading has marks")
    if request.platform not in FILES:
        raise UsageError(f"platform: found {request.platform!r}, expected {' or '.join(FILES)}")
    columns = [request.columns or assignment.title]
    if request.platform == "moodle":
        columns = [one.strip() for one in request.columns.split(",")] if request.columns else []
        if columns and len(columns) != len(moodle.WORKSHEET):
            raise UsageError(
                f"columns: found {request.columns!r}, expected three names with commas between"
                " them"
            )
    made = act.settings.assignment_folder(assignment.id)
    made.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=made, prefix="gradebook-"))
    path = folder / FILES[request.platform]
    try:
        roster = _roster(act.settings, assignment.course, request.platform)
        is_sent = bool(request.name or request.data)
        if not is_sent and not roster.exists():
            raise UsageError(
                "choose a file: no roster of this course was a gradebook of"
                f" {request.platform.title()}"
            )
        path.write_bytes(request.data if is_sent else roster.read_bytes())
        sheet = exporters.Downloaded(path, tuple(columns))
        exporters.check({request.platform: sheet}, assignment.title)
    except UsageError as error:
        shutil.rmtree(folder)
        said = str(error).replace(f"{folder}/", "")
        raise UsageError(said.replace(path.name, request.name or path.name, 1)) from None
    before = _read_json(made / _LIST)
    now = {**before, request.platform: (folder.name, columns)}
    # Those before the last ones stay, too: an export may be reading them.
    used = {name for found in (before, now) for name, _ in found.values()}
    file_system.write_whole(made / _LIST, json.dumps(now))
    for old in made.glob("gradebook-*"):
        if old.name not in used:
            shutil.rmtree(old)
    export_anew(act, assignment)
    act.note("gradebook taken", assignment.id, platform=request.platform, columns=columns)
