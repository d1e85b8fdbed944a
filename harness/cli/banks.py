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
from harness.cli.option_values import whole
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


def are_known(given: argparse.Namespace, found: Assignment) -> bool:
    """Whether there are wrong engines: the command line names them, or the assignment does."""
    return bool(given.mutants) or are_known_wrong(given, found)


def are_known_wrong(given: argparse.Namespace, found: Assignment) -> bool:
    """Whether there are engines that somebody has found to be wrong, as mutants need not be."""
    declared = found.declaration.wrong if found.declaration else ()
    return bool(given.bank or given.engine or declared)


@contextlib.contextmanager
def engines(given: argparse.Namespace, found: Assignment) -> Iterator[list[WrongEngine]]:
    """Give the wrong engines that the command line and the assignment name, meanwhile.

    Raises:
        UsageError: there is none in the banks that it names.
    """
    platforms.need_engines("starting wrong engines")
    from harness.assignments import banked
    from harness.assignments.needs import with_python

    with contextlib.ExitStack() as stack:
        own = found
        if given.bank and found.starts_python:
            own = stack.enter_context(with_python(found))
        named = stack.enter_context(banked.engines(own, given.bank, given.engine, given.sandbox))
        all_ = [*named, *_mutants(given, found, stack)]
        if given.bank and not all_:
            raise UsageError(f"found no engines in {', '.join(given.bank)}")
        yield all_


def _mutants(
    given: argparse.Namespace, found: Assignment, stack: contextlib.ExitStack
) -> list[WrongEngine]:
    if not given.mutants:
        return []
    room = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gtp-harness-")))
    room.chmod(0o755)  # an engine in a sandbox is another user
    return mutant_engines(_reference(given, found), given.mutants, given.seed, room)


def _reference(given: argparse.Namespace, found: Assignment) -> str:
    """Return the command of the program that mutants are made of."""
    if given.reference:
        return str(given.reference)
    told = found.declaration and found.declaration.reference
    if not told:
        raise UsageError("--mutants needs a program in Python: give it with --reference")
    words = found.fill_in(shlex.split(told.command), found.place)
    return shlex.join(as_typed(words, str(found.place)))
