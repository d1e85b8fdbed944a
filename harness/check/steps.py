"""The order of a check, and its last sentence."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path

from harness.assignments import needs, workspace
from harness.assignments.assignment import Assignment
from harness.assignments.python import with_python
from harness.check import archive_step, files_step
from harness.check.check_context import CheckContext, CheckOptions
from harness.check.saying import CheckReporter
from harness.check.testing import Testing, build_and_show
from harness.errors import ArchiveError, UsageError
from harness.escaping import one_line
from harness.exits import ExitCode
from harness.report.tally import exit_code
from oracle import __version__

_NOTHING = "nothing wrong was found"
_ALL_OF_IT = "check without --test before you hand in"
_OURS = (
    "That is not your fault, and nothing else was found wrong with {made}. Check it once more; if"
    " this happens again, hand it in and tell your instructor."
)


def check(wanted: CheckOptions, sayer: CheckReporter) -> int:
    """Check, leave the archive to be submitted, and return the exit status."""
    title = f"check for {wanted.assignment.title} ({wanted.assignment.key})"
    sayer.say(f"gtp-harness {__version__}: {title}")
    needs.require(wanted.assignment)
    with workspace.workspace() as room, _with_python(wanted, sayer) as assignment:
        context = CheckContext(wanted._replace(assignment=assignment), room, sayer)
        try:
            given = files_step.look(context)
            tested = archive_step.make_archive(context, given)
            archive_step.overlay(context, given.copy)
        except ArchiveError as error:
            sayer.note(f"The archive is refused: {error}.", "bad")
            sayer.say(f"\nDo not hand it in: {error}.")
            return ExitCode.BROKEN
        status = _tests(context)
        if wanted.line:
            return _verdict_on_one(status, sayer)
        names = archive_step.write_archive(context, tested, status)
        archive_step.last_look(context, tested, names)
    return _verdict(context.made, status, sayer)


def _with_python(wanted: CheckOptions, sayer: CheckReporter) -> AbstractContextManager[Assignment]:
    """Give the assignment with the Python of the course, built if it was not yet."""
    return with_python(wanted.assignment, wanted.python, lambda text: sayer.note(text, "dim"))


def _tests(context: CheckContext) -> int:
    """Build and run; return the exit status."""
    if not build_and_show(context):
        return ExitCode.BROKEN
    status = exit_code(Testing(context).run().result)
    return ExitCode.FAILED if status == ExitCode.OK and context.sayer.wrong else status


def _verdict(made: Path, status: int, sayer: CheckReporter) -> int:
    unknown = "; ".join(map(one_line, sayer.unknown))
    if sayer.odd:
        sayer.last(f"Remark: {'; '.join(sayer.odd)}. No test fails because of it.", "warn")
    if sayer.wrong:
        reasons = "; ".join(map(one_line, sayer.wrong))
        more = f" Not your fault: {unknown}." if unknown else ""
        sayer.last(f"Do not hand in {made} yet: {reasons}.{more}", "bad")
        return status or ExitCode.FAILED
    if unknown:
        sayer.last(f"{unknown[0].upper()}{unknown[1:]}. {_OURS.format(made=made)}", "warn")
        return status
    sayer.last(f"Hand in {made}: {_NOTHING}.", "good")
    return status


def _verdict_on_one(status: int, sayer: CheckReporter) -> int:
    """Say how the only test went that was run."""
    if status == ExitCode.OK:
        sayer.last(f"This test passes. Nothing was written: {_ALL_OF_IT}.", "good")
    else:
        sayer.last("This test does not pass. Nothing was written.", "bad")
    return status


def source_named(name: str | None, assignment: Assignment) -> Path:
    """Return what is to be checked: as named, or the assignment's folder here, or this folder.

    Raises:
        UsageError: there is nothing there.
    """
    folder = assignment.archive.folder
    here = Path(folder) if Path(folder).is_dir() else Path()
    path = Path(os.path.abspath(name)) if name else here.absolute()  # noqa: PTH100 - links stay
    if not path.exists():
        raise UsageError(f"there is no {name}: name a folder or an archive")
    if not name and path.name != folder:
        raise UsageError(f"there is no folder {folder} here: name it, or an archive")
    return path
