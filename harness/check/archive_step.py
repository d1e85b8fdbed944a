"""Archives: one made and unpacked as the teacher will, the log added, a last look."""

from __future__ import annotations

from pathlib import Path

from harness.assignments import receipt, workspace
from harness.assignments.contents import changed_copy, nothing
from harness.check.check_context import CheckContext
from harness.check.files_step import CheckedFiles
from harness.errors import UsageError
from harness.escaping import escape_controls
from harness.intake import archive
from harness.intake.archive_writing import pack
from harness.text import number_of


def unpacked(desk: CheckContext, given: CheckedFiles) -> CheckedFiles:
    """Make an archive of what is kept, and unpack it twice: to be kept, and to be run.

    Whatever is built and run on the stage then changes nothing of what is submitted.

    Raises:
        UsageError: there is nothing to be packed.
    """
    sayer, form = desk.sayer, desk.assignment.archive
    sayer.step(f"The archive, unpacked into a new folder: tar -xf {form.name}")
    kept = tuple(name for name in given.found.kept if name != desk.assignment.files.log)
    if not kept:
        raise UsageError(f"{desk.wanted.source}: {nothing(given.found, desk.assignment)}")
    path = desk.room / form.name
    pack(path, form.folder, given.folder, kept)
    for file in archive.examine(str(path)).files:
        sayer.note(escape_controls(file.name))
    tested = desk.room / "tested" / form.folder
    for folder in (tested, desk.stage / form.folder):
        workspace.unpack(str(path), folder, f"{form.folder}/", kept)
    return CheckedFiles(tested, given.found._replace(kept=kept))


def overlay(desk: CheckContext, copy: Path | None) -> None:
    """Put the course's own folder beside the submission's, and name what its copy has changed.

    ``copy``: what came with the submission.
    """
    sayer, name = desk.sayer, desk.assignment.engine.overlay
    if not name:
        return
    sayer.step(f"The course's own {name}")
    source = _overlay_source(desk, name)
    if source is None:
        sayer.note(f"There is no folder {name} to add: give it with --overlay.", "warn")
        return
    count = workspace.overlay(source, desk.stage / name)
    files = number_of(count, "file")
    sayer.note(f"{name} added beside {desk.assignment.archive.folder}: {files}")
    if copy is not None and (changed := workspace.differing(copy, desk.stage / name)):
        sayer.remarks([changed_copy(changed)])


def _overlay_source(desk: CheckContext, name: str) -> Path | None:
    """Return the folder named, or the teacher's, or the one beside what is checked."""
    if desk.wanted.overlay:
        return desk.wanted.overlay
    places = (desk.assignment.place / name, desk.wanted.source.parent / name)
    return next((place for place in places if place.is_dir()), None)


def packed(desk: CheckContext, tested: CheckedFiles, status: int) -> tuple[str, ...]:
    """Write the log, if one is asked for, and the archive; return the names of its files."""
    names = tested.found.kept
    if desk.assignment.files.log:
        names = (*names, _logged(desk, tested, status))
    _keep(desk)
    pack(desk.made, desk.assignment.archive.folder, tested.folder, names)
    return names


def _logged(desk: CheckContext, tested: CheckedFiles, status: int) -> str:
    """Close the transcript; it goes to what is submitted, and to the folder that was given."""
    form, log = desk.assignment.archive, desk.assignment.files.log
    desk.sayer.step(f"The log {log}, and the archive {form.name} with it")
    _receipt(desk, tested)
    desk.sayer.note(f"The log ends here; it is added to {form.folder}, and that is packed again.")
    transcript = desk.sayer.transcript.closed(status)
    (tested.folder / log).write_bytes(transcript)
    if desk.wanted.source.is_dir():
        _write(desk.wanted.source / log, transcript)
    return log


def _receipt(desk: CheckContext, tested: CheckedFiles) -> None:
    """Write the receipt for what was tested, while it can still be in the log."""
    digests = receipt.digests_in(tested.folder, tested.found.kept)
    for line in receipt.lines(receipt.made(desk.assignment, digests)):
        desk.sayer.note(line)


def last_look(desk: CheckContext, tested: CheckedFiles, names: tuple[str, ...]) -> None:
    """Read the archive as the teacher will: it has what was tested, and nothing else."""
    sayer, name = desk.sayer, desk.made.name
    sayer.step(f"A last look at what {name} contains: tar -tf {name}")
    contents = archive.examine(str(desk.made))
    last = desk.room / "last"
    workspace.unpack(str(desk.made), last, f"{desk.assignment.archive.folder}/", names)
    for file in contents.files:
        sayer.note(f"{escape_controls(file.name):44}{file.size:>9,} bytes")
    if workspace.differing(tested.folder, last) or len(contents.files) != len(names):
        sayer.wrong.append(f"{name} differs from what was tested")
    sayer.note(receipt.hash_line("archive", contents.sha256))


def _keep(desk: CheckContext) -> None:
    """Keep the archive that was given, if the new one would take its place."""
    target = desk.made
    if target.exists() and target.samefile(desk.wanted.source):
        kept = target.with_name(f"before-{target.name}")
        target.replace(kept)
        desk.sayer.note(f"The archive that was given is now called {kept.name}.")


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
