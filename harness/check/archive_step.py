"""Archives: one made and unpacked as the teacher will, the log added, a last look."""

from __future__ import annotations

from pathlib import Path

from harness.assignments import receipt, workspace
from harness.assignments.contents import describe_changed_copy, describe_empty
from harness.check.check_context import CheckContext
from harness.check.files_step import CheckedFiles
from harness.errors import UsageError
from harness.escaping import escape_controls
from harness.intake import archive
from harness.intake.archive_writing import pack
from harness.text import number_of


def make_archive(context: CheckContext, given: CheckedFiles) -> CheckedFiles:
    """Make an archive of what is kept, and unpack it twice: to be kept, and to be run.

    Whatever is built and run on the stage then changes nothing of what is submitted.

    Raises:
        UsageError: there is nothing to be packed.
    """
    sayer, form = context.sayer, context.assignment.archive
    sayer.step(f"The archive, unpacked into a new folder: tar -xf {form.name}")
    kept = tuple(name for name in given.found.kept if name != context.assignment.files.log)
    if not kept:
        raise UsageError(
            f"{context.wanted.source}: {describe_empty(given.found, context.assignment)}"
        )
    path = context.room / form.name
    pack(path, form.folder, given.folder, kept)
    for file in archive.examine(str(path)).files:
        sayer.note(escape_controls(file.name))
    tested = context.room / "tested" / form.folder
    for folder in (tested, context.stage / form.folder):
        workspace.unpack(str(path), folder, f"{form.folder}/", kept)
    return CheckedFiles(tested, given.found._replace(kept=kept))


def overlay(context: CheckContext, copy: Path | None) -> None:
    """Put the course folder beside the submission's, and name what its copy has changed.

    ``copy``: what came with the submission.
    """
    sayer, name = context.sayer, context.assignment.engine.overlay
    if not name:
        return
    sayer.step(f"The course folder {name}")
    source = _overlay_source(context, name)
    if source is None:
        sayer.note(f"Course folder {name} not found: give it with --overlay.", "warn")
        return
    count = workspace.overlay(source, context.stage / name)
    files = number_of(count, "file")
    sayer.note(f"{name} added beside {context.assignment.archive.folder}: {files}")
    if copy is not None and (changed := workspace.list_differences(copy, context.stage / name)):
        sayer.remarks([describe_changed_copy(changed)])


def _overlay_source(context: CheckContext, name: str) -> Path | None:
    """Return the folder named, or the teacher's, or the one beside the checked files."""
    if context.wanted.overlay:
        return context.wanted.overlay
    places = (context.assignment.place / name, context.wanted.source.parent / name)
    return next((place for place in places if place.is_dir()), None)


def write_archive(context: CheckContext, tested: CheckedFiles, status: int) -> tuple[str, ...]:
    """Write the log, if one is asked for, and the archive; return the names of its files."""
    names = tested.found.kept
    if context.assignment.files.log:
        names = (*names, _write_log(context, tested, status))
    _keep(context)
    pack(context.made, context.assignment.archive.folder, tested.folder, names)
    return names


def _write_log(context: CheckContext, tested: CheckedFiles, status: int) -> str:
    """Close the transcript; it goes to what is submitted, and to the folder that was given."""
    form, log = context.assignment.archive, context.assignment.files.log
    context.sayer.step(f"The log {log}, and the archive {form.name} with it")
    _receipt(context, tested)
    context.sayer.note(
        f"The log ends here; it is added to {form.folder}, and that is packed again."
    )
    transcript = context.sayer.transcript.close(status)
    (tested.folder / log).write_bytes(transcript)
    if context.wanted.source.is_dir():
        _write(context.wanted.source / log, transcript)
    return log


def _receipt(context: CheckContext, tested: CheckedFiles) -> None:
    """Write the receipt for what was tested, while it can still be in the log."""
    digests = receipt.digests_in(tested.folder, tested.found.kept)
    for line in receipt.lines(receipt.make_receipt(context.assignment, digests)):
        context.sayer.note(line)


def last_look(context: CheckContext, tested: CheckedFiles, names: tuple[str, ...]) -> None:
    """Read the archive as the teacher will: it has what was tested, and nothing else."""
    sayer, name = context.sayer, context.made.name
    sayer.step(f"A last look at the contents of {name}: tar -tf {name}")
    contents = archive.examine(str(context.made))
    last = context.room / "last"
    workspace.unpack(str(context.made), last, f"{context.assignment.archive.folder}/", names)
    for file in contents.files:
        sayer.note(f"{escape_controls(file.name):44}{file.size:>9,} bytes")
    if workspace.list_differences(tested.folder, last) or len(contents.files) != len(names):
        sayer.wrong.append(f"{name} differs from the tested files")
    sayer.note(receipt.hash_line("archive", contents.sha256))


def _keep(context: CheckContext) -> None:
    """Keep the archive that was given, if the new one would take its place."""
    target = context.made
    if target.exists() and target.samefile(context.wanted.source):
        kept = target.with_name(f"before-{target.name}")
        target.replace(kept)
        context.sayer.note(f"The archive that was given is now called {kept.name}.")


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
