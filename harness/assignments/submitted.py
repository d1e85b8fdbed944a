"""An archive that was submitted, looked into with its assignment's eyes.

Before the deadline (``check``) and after it (``grade``) the same is found and said.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from harness.assignments import misplaced, workspace
from harness.assignments.assignment import Assignment
from harness.assignments.contents import SortedFiles, sort_files
from harness.errors import ArchiveError
from harness.intake import archive
from harness.intake.archive import place


class InspectedArchive(NamedTuple):
    """What is in it."""

    contents: archive.Contents
    root: str  # what the names of the submission's own files begin with
    found: SortedFiles
    remarks: tuple[str, ...]  # sentences about the archive and its folder

    @property
    def sizes(self) -> dict[str, int]:
        """Return the bytes of the files that are kept, by name."""
        sizes = {file.name: file.size for file in self.contents.files}
        return {name: sizes[self.root + name] for name in self.found.kept}


def inspect_archive(path: str, assignment: Assignment, name: str = "") -> InspectedArchive:
    """Examine an archive and sort its files by what the assignment says of them.

    ``name``: as of :func:`harness.intake.archive.examine`; raises as that does.
    """
    try:
        contents = archive.examine(path, name=name)
    except ArchiveError as error:
        advice = misplaced.of_environment(error.member)
        message = "; ".join(filter(None, (error.message, advice)))
        raise ArchiveError(message, error.member) from None
    names = [file.name for file in contents.files]
    # Junk does not decide where the folder is.
    junk = set(sort_files(names, "", assignment.files).left_out)
    seen = [one for one in names if one not in junk]
    placing = place(seen or names, assignment.archive.folder)
    found = sort_files(names, placing.root, assignment.files)
    remarks = (*contents.remarks, *filter(None, [placing.remark]))
    return InspectedArchive(contents, placing.root, found, remarks)


def changes(path: str, found: SortedFiles, name: str, overlay: Path) -> list[str]:
    """Return which files of the course's folder ``name`` came along in an archive, and changed.

    ``overlay``: the course folder.
    """
    if not found.forbidden:
        return []
    with workspace.workspace() as room:
        workspace.unpack_copy(path, room / "copy", found.forbidden, name)
        return workspace.list_differences(room / "copy", overlay)
