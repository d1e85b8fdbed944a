"""``gtp-harness new``: an assignment of one's own, proposed from a right solution."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from harness import find_assignment, new_folders
from harness.assignments import needs
from harness.assignments.assignment import FILE
from harness.cli import calibrate
from harness.cli.arguments import CommandParser
from harness.cli.console import colors, never_fail_to_encode
from harness.declared import proposal
from harness.declared.protocol_trial import ProtocolTrial, try_protocols
from harness.engine.launch import split_program
from harness.errors import UsageError
from harness.exits import ExitCode
from harness.reading.named_case_files import gather
from harness.records import CaseFile
from harness.report import report_files
from harness.report.paint import Paint
from harness.text import number_of

_DESCRIPTION = """\
Draft an assignment of your own in DIR from a correct solution. It is any program that
speaks GTP or the course's protocol with a status line at the end. The program is asked
for its commands, the public tests are read, and DIR/assignment.toml is written. It
declares the game; each guess in it has its reason beside it.

The declaration is then tried out with the solution and the engines that you name, as
gtp-harness calibrate does. Correct what is wrong, and calibrate again."""

_EPILOG = """\
Exit status:
    0  written; the report says what to check
    2  the input was bad, or the program does not answer

Examples:
  gtp-harness new nogo --reference "python3 nogo.py" --public public/*.gtp
  gtp-harness new nogo --reference ./nogo --engine "python3 former/nogo.py\""""


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    parser = command_line()
    given = parser.read(arguments)
    if given is None:
        return ExitCode.OK
    if not given.folder or not given.reference:
        parser.error("give DIR and --reference")
    never_fail_to_encode()
    folder = Path(given.folder)
    if (folder / FILE).exists():
        raise UsageError(f"{folder / FILE} already exists: give a new DIR, or calibrate it")
    _make(given, folder)
    found = find_assignment(str(folder))
    trial = calibrate.try_declaration(found, given)
    print("\n".join(calibrate.lines(trial, Paint(colors(sys.stdout)))))
    return ExitCode.OK


def _make(given: argparse.Namespace, folder: Path) -> None:
    """Ask the program, read the tests, and write the assignment's file beside them."""
    new_folders.make(folder)
    command = _from(folder, split_program(given.reference))
    words, _ = needs.in_command(shlex.split(command), "")
    with try_protocols(tuple(words), folder.absolute(), given.sandbox) as trial:
        if trial is None:
            raise UsageError(
                f"{given.reference!r} does not answer list_commands, neither as GTP has it nor"
                " with a status line: is the command right?"
            )
        cases = _cases(given.public, trial)
        proposed = proposal.propose(trial, cases)
    for path in given.public:
        shutil.copy(path, folder)
    report_files.write(str(folder / FILE), [proposal.text(command, given.sandbox, proposed)])
    print(f"{folder / FILE}: {number_of(len(proposed.commands), 'command')} proposed\n")


def _from(folder: Path, words: Sequence[str]) -> str:
    """Return a command with its files as they are called from the assignment's folder."""
    named = [
        os.path.relpath(word, folder) if "/" in word or Path(word).is_file() else word
        for word in words
    ]
    return shlex.join(named)


def _cases(paths: Sequence[str], trial: ProtocolTrial) -> list[CaseFile]:
    """Read the public tests.

    Raises:
        UsageError: one cannot be read.
    """
    found = gather(paths, protocol=trial.protocol) if paths else None
    if found and found.errors:
        raise UsageError("\n".join(found.errors))
    return list(found.cases) if found else []


def command_line() -> CommandParser:
    """Return the parser of its command line."""
    parser = CommandParser("new", description=_DESCRIPTION, epilog=_EPILOG)
    parser.usage = "gtp-harness new DIR --reference COMMAND [--public FILE…] [OPTION…]"
    add = parser.add_argument
    add(
        "folder",
        nargs="?",
        metavar="DIR",
        help="folder of the assignment; created if it does not exist",
    )
    add("--reference", metavar="COMMAND", help="command of the correct solution, as in a shell")
    add("--public", nargs="+", default=[], metavar="FILE",
        help="public tests to copy into DIR")  # fmt: skip
    calibrate.add_options(parser)
    add("--help", "-h", action="store_true", help="print this help and exit")
    return parser
