"""The first step: what was given, a folder or an archive, against what the assignment wants."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from harness.assignments import workspace
from harness.assignments.contents import SortedFiles, faults, foreign, remarks, sort_files
from harness.assignments.submitted import inspect_archive
from harness.check.check_context import CheckContext
from harness.escaping import escape_controls
from harness.intake.archive_writing import files_in
from harness.text import number_of


class CheckedFiles(NamedTuple):
    """The files that are tested and submitted, in a folder."""

    folder: Path
    found: SortedFiles
    copy: Path | None = None  # of the course's folder, which came along


def look(context: CheckContext) -> CheckedFiles:
    """Inspect the given files, and collect those that are kept in one folder.

    Raises:
        ArchiveError: it is refused.
    """
    source = context.wanted.source
    context.sayer.step(f"What is in {'the folder' if source.is_dir() else ''} {source.name}")
    return _folder(context, source) if source.is_dir() else _archive(context, source)


def _folder(context: CheckContext, source: Path) -> CheckedFiles:
    sayer, assignment = context.sayer, context.assignment
    folder = assignment.archive.folder
    names, odd = files_in(source)
    found = sort_files(names, "", assignment.files)
    if source.name != folder:
        sayer.note(f"The folder is called {source.name!r}; in the archive it is {folder}.")
    sizes = {name: (source / name).stat().st_size for name in found.kept}
    _describe(context, found, sizes)
    if odd:
        sayer.note(f"left out, links and the like: {', '.join(map(escape_controls, odd))}")
    copy = source / (assignment.engine.overlay or "none")
    return CheckedFiles(source, found, copy if copy.is_dir() else None)


def _archive(context: CheckContext, source: Path) -> CheckedFiles:
    sayer, assignment, room = context.sayer, context.assignment, context.room
    inside = inspect_archive(str(source), assignment)
    contents, found = inside.contents, inside.found
    count = number_of(len(contents.files), "file")
    sayer.note(f"{count}, {contents.size:,} bytes, sha256 {contents.sha256}")
    for remark in inside.remarks:
        sayer.note(remark)
    _describe(context, found, inside.sizes)
    workspace.unpack(str(source), room / "given", inside.root, found.kept)
    overlay = assignment.engine.overlay
    workspace.unpack_copy(str(source), room / "copy", found.forbidden, overlay)
    return CheckedFiles(room / "given", found, room / "copy" if found.forbidden else None)


def _describe(context: CheckContext, found: SortedFiles, sizes: dict[str, int]) -> None:
    for name, size in sizes.items():
        is_log = name == context.assignment.files.log
        old = " (an old one: a new one replaces it)" if is_log else ""
        context.sayer.note(f"{escape_controls(name):32}{size:>9,} bytes{old}")
    context.sayer.remarks(remarks(found, context.assignment.engine.overlay))
    context.sayer.faults([*faults(found), *foreign(found, context.assignment)])
