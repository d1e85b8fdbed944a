"""A submission on trial against an assignment's case files, here and at home."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from harness import shipped
from harness.assignments.assignment import Assignment
from harness.assignments.workspace import beside_submission
from harness.errors import SandboxError
from harness.options import Options
from harness.records import FileResult, Progress, Repeat, RunResult, Verdict
from harness.report.file_view import FileView
from harness.report.tally import never_answers
from harness.report.views import Views
from harness.running.gathering import RunListeners
from harness.running.rerun import believe, fails_by_choice
from harness.running.runs import run
from harness.sandbox.levels import EscapeError
from harness.text import number_of

TEST = "--test"  # the option of ``check`` that names a test


class AtHome(NamedTuple):
    """Command lines, to be run in the submitted folder or in the one above it."""

    folder: str  # the submitted one's name
    beside: str  # the course's folder that must lie beside it; "": none
    check: str  # all public tests, and what else is looked at
    repeat: Repeat  # of single tests
    is_shipped: bool  # the assignment, so that its name is enough


def at_home(assignment: Assignment) -> AtHome:
    """Return how the public tests of an assignment are repeated."""
    command = f"gtp-harness check --assignment {shlex.quote(assignment.key)}"
    is_shipped = assignment.place == shipped.folder() / assignment.key
    folder, beside = assignment.archive.folder, assignment.engine.overlay
    return AtHome(folder, beside, command, Repeat(command, test=TEST), is_shipped)


# --- A submission on trial: its engine against an assignment's case files, in a sandbox ----------


class TrialResult(NamedTuple):
    """The result."""

    result: RunResult
    no_sandbox: str  # why there was none though one was wanted; else empty


def run_public_tests(
    assignment: Assignment,
    room: Path,
    options: Options,
    on_file: Callable[[FileResult], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> TrialResult:
    """Run the public case files against the submission in ``room``, once it is built.

    ``room``: the folder with the submission's own and the course's beside it. ``options``: of the
    run; limits and folders are the assignment's business. A sandbox that is ``auto`` may be none.

    Raises:
        SandboxError: the level that was asked for does not work here, or does not hold.
    """
    program, folder = assignment.start(room)
    home = room / assignment.archive.folder
    tests = [str(path) for path in assignment.public_cases()]
    own = options._replace(
        limits=assignment.limits,
        box=assignment.box,
        show=tuple(beside_submission(home)),
        submission=str(home),
        folder=folder,
        strict=True,
        restart=assignment.cases.restart,
        protocol=assignment.protocol,
        translate=assignment.translate,
    )
    if assignment.python:
        own = own._replace(python=assignment.python.described)
    try:
        return TrialResult(
            _run(assignment, program, tests, own, RunListeners(on_progress, on_file)), ""
        )
    except EscapeError:
        raise
    except SandboxError as error:
        if options.sandbox != "auto":
            raise
        own = own._replace(sandbox="off")
        plain = _run(assignment, program, tests, own, RunListeners(on_progress, on_file))
        return TrialResult(plain, str(error))


def _run(
    assignment: Assignment,
    program: str,
    tests: Sequence[str],
    options: Options,
    listeners: RunListeners,
) -> RunResult:
    """Run the files; those with a failed choice once more, one at a time, before they are told.

    All are told in their order: those after such a file wait for it.
    """
    tell, command_properties = listeners.on_file or (lambda _: None), assignment.command_properties
    held: list[FileResult] = []
    result = run(
        program,
        tests,
        options,
        listeners.on_progress,
        lambda file: (
            held.append(file) if held or fails_by_choice(file, command_properties) else tell(file)
        ),
        natures=command_properties,
    )
    known = {file.case.path: file for file in result.files}
    faults = result.faults
    for first in held:
        if fails_by_choice(first, command_properties):
            again = run(
                program,
                [first.case.path],
                options._replace(jobs=1),
                natures=command_properties,
            )
            for second in again.files:
                known[first.case.path] = believe(first, second, command_properties)
            faults += again.faults
        tell(known[first.case.path])
    return result._replace(files=tuple(known.values()), faults=faults)


def explain(file: FileResult, assignment: Assignment) -> FileView:
    """Return a file's view with the oracle's reasons, its path as short as the assignment's."""
    views = Views(assignment.specification, assignment.place)
    return views.of(file, shorten_path(file.case.path, assignment))


def shorten_path(path: str, assignment: Assignment) -> str:
    """Return the path of a case file as short as the assignment's."""
    return Path(path).relative_to(assignment.place).as_posix()


def troubles(result: RunResult) -> list[str]:
    """Return what is wrong with the submission, a phrase for each kind."""
    verdicts = [outcome.verdict for file in result.files for outcome in file.outcomes]
    failed = verdicts.count(Verdict.FAILED)
    broken = [file for file in result.files if file.failure]
    said = []
    if broken and never_answers(result.files):
        said.append("the engine does not run")
    elif broken:
        said.append(f"the engine breaks in {len(broken)} of {len(result.files)} files")
    if failed:
        said.append(f"{failed} of {number_of(len(verdicts), 'test')} fail")
    return said


def unknowns(result: RunResult) -> list[str]:
    """Return what could not be found out, a phrase for each kind; no student is to blame."""
    verdicts = [outcome.verdict for file in result.files for outcome in file.outcomes]
    said = ["the harness itself failed"] if result.faults else []
    if unsure := verdicts.count(Verdict.NOT_JUDGED):
        said.append(f"{number_of(unsure, 'test')} could not be judged")
    return [*said, *(f"a case file cannot be read: {error}" for error in result.errors)]
