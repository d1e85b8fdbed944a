"""The options of a command that measures tests by wrong engines."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness import platforms
from harness.assignments.assignment import Assignment
from harness.banks.banks import WrongEngine
from harness.banks.mutants import mutant_engines
from harness.cli.arguments import CommandParser
from harness.cli.commandline import whole
from harness.engine.launch import as_typed
from harness.errors import UsageError
from harness.options import SANDBOXES


def add_options(parser: CommandParser) -> None:
    """Add what names wrong engines, and how they are started."""
    add = parser.add_argument_group("wrong engines, started in a sandbox").add_argument
    add("--bank", action="append", default=[], metavar="BANK",
        help="a folder of wrong engines (gtp-harness bank); may be repeated")  # fmt: skip
    add("--engine", action="append", default=[], metavar="COMMAND",
        help="a wrong engine's command, as in a shell; may be repeated")  # fmt: skip
    add("--mutants", type=whole(1, "a number of mutants"), default=0, metavar="N",
        help="number of mutants to make of a reference in Python, each with one"
        " change")  # fmt: skip
    add("--reference", metavar="COMMAND",
        help="the program to make mutants of (default: the assignment's)")  # fmt: skip
    add("--sandbox", choices=SANDBOXES, default="auto",
        help="sandbox level, 3 to 1; auto: the strongest that works (default: auto)")  # fmt: skip


def are_known(arguments: argparse.Namespace, assignment: Assignment) -> bool:
    """Whether there are wrong engines: the command line names them, or the assignment does."""
    return bool(arguments.mutants) or are_known_wrong(arguments, assignment)


def are_known_wrong(arguments: argparse.Namespace, assignment: Assignment) -> bool:
    """Whether there are engines that somebody has found to be wrong, as mutants need not be."""
    declared = assignment.declaration.wrong if assignment.declaration else ()
    return bool(arguments.bank or arguments.engine or declared)


@contextlib.contextmanager
def wrong_engines(
    arguments: argparse.Namespace, assignment: Assignment
) -> Iterator[list[WrongEngine]]:
    """Give the wrong engines that the command line and the assignment name, meanwhile.

    Raises:
        UsageError: there is none in the banks that it names.
    """
    platforms.need_engines("starting wrong engines")
    from harness.assignments import banked
    from harness.assignments.needs import with_python

    with contextlib.ExitStack() as stack:
        own = assignment
        if arguments.bank and assignment.starts_python:
            own = stack.enter_context(with_python(assignment))
        named = stack.enter_context(
            banked.engines(own, arguments.bank, arguments.engine, arguments.sandbox)
        )
        all_ = [*named, *_mutants(arguments, assignment, stack)]
        if arguments.bank and not all_:
            raise UsageError(f"found no engines in {', '.join(arguments.bank)}")
        yield all_


def _mutants(
    arguments: argparse.Namespace, assignment: Assignment, stack: contextlib.ExitStack
) -> list[WrongEngine]:
    if not arguments.mutants:
        return []
    room = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gtp-harness-")))
    room.chmod(0o755)  # an engine in a sandbox is another user
    return mutant_engines(
        _reference(arguments, assignment), arguments.mutants, arguments.seed, room
    )


def _reference(arguments: argparse.Namespace, assignment: Assignment) -> str:
    """Return the command of the program that mutants are made of."""
    if arguments.reference:
        return str(arguments.reference)
    told = assignment.declaration and assignment.declaration.reference
    if not told:
        raise UsageError("--mutants needs a program in Python: give it with --reference")
    words = assignment.fill_in(shlex.split(told.command), assignment.place)
    return shlex.join(as_typed(words, str(assignment.place)))
