"""The engines of a bank, ready to be started: a student's as grading starts them."""

import contextlib
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.assignments import build_steps, workspace
from harness.assignments.assignment import Assignment
from harness.banks import banks
from harness.banks.banks import BankEntry, WrongEngine
from harness.core.errors import UsageError
from harness.engine.launch import as_typed, split_program


@contextlib.contextmanager
def engines(
    assignment: Assignment, folders: Sequence[str], commands: Sequence[str], sandbox: str
) -> Iterator[list[WrongEngine]]:
    """Give the engines of banks and declared ones, and those that commands start, meanwhile.

    ``sandbox``: in which programs are built, as of :func:`build_steps.build`.

    Raises:
        AssignmentError, UsageError: a bank cannot be read, or an engine of it not be built.
    """
    with contextlib.ExitStack() as stack:
        found = [engine_of(f"engine {n}", command) for n, command in enumerate(commands, 1)]
        wrong = assignment.declaration.wrong if assignment.declaration else ()
        here = str(assignment.place)
        found += [engine_of(one.name, one.command, one.sentence, here) for one in wrong]
        for folder in map(Path, folders):
            prefix = f"{folder.name}/" if len(folders) > 1 else ""
            for entry in banks.read(folder).entries:
                one = _make_ready(entry, folder, assignment, sandbox, stack)
                found.append(one._replace(name=f"{prefix}{one.name}"))
        yield found


def engine_of(name: str, command: str, sentence: str = "", folder: str = "") -> WrongEngine:
    """Return an engine that a command starts; ``folder``: in which its files lie; "": here."""
    words = as_typed(split_program(command), folder)
    return WrongEngine(name, sentence or command, shlex.join(words), "")


def _make_ready(
    entry: BankEntry, bank: Path, assignment: Assignment, sandbox: str, stack: contextlib.ExitStack
) -> WrongEngine:
    if entry.command:
        return engine_of(entry.name, entry.command, entry.sentence, str(bank))
    room = stack.enter_context(workspace.workspace())
    home = room / assignment.archive.folder
    shutil.copytree(bank / entry.folder, home)
    if assignment.engine.overlay:
        workspace.overlay(bank / banks.COURSE, room / assignment.engine.overlay)
    built = build_steps.build(assignment, room, sandbox)
    if built and not built.ok:
        raise UsageError(f"{bank / entry.folder} cannot be built: {built.message}")
    command, folder = assignment.start(room)
    beside = tuple(workspace.beside_submission(home))
    return WrongEngine(entry.name, entry.sentence, command, folder, str(home), beside)
