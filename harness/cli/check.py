"""``gtp-harness check``: the command line of a check before handing in."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from harness import shipped
from harness.assignments import assignment
from harness.assignments.at_home import at_home
from harness.check.check_context import CheckOptions
from harness.check.saying import CheckReporter
from harness.check.steps import check, source_named
from harness.cli import graded
from harness.cli.arguments import CommandParser
from harness.cli.console import can_draw, colors, never_fail_to_encode
from harness.cli.option_values import whole
from harness.errors import UsageError
from harness.exits import ExitCode
from harness.options import SANDBOXES
from harness.report.paint import Paint
from harness.report.transcript import Transcript

_DESCRIPTION = """\
Check a submission before it is handed in: its files against the assignment, the
archive made and unpacked into a new folder, built if it is to be built, the public
tests run in a sandbox, with the reason of each right answer and what explains the
failures, the log of all that written and packed where the assignment asks for one.
The last line says whether to hand it in. What is checked is a folder or an archive; by
default the assignment's folder, from within it or from beside it."""

_EPILOG = """\
Exit status:
    0  nothing was found wrong
    1  a test failed, or a file is missing
    2  the engine died, hung, could not start or be built, or the input was bad
    3  the harness itself failed; the engine is not to blame
  130  interrupted with Ctrl-C

Examples:
  gtp-harness check --assignment go-scoring
  gtp-harness check assignment1 --assignment go-scoring --overlay ../util
  gtp-harness check a1.tgz --assignment go-scoring --output checked
  gtp-harness check gosensei --assignment gosensei"""


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    parser = command_line()
    given = parser.read(arguments)
    if given is None:
        return ExitCode.OK
    if not given.assignment:
        parser.error(f"--assignment is needed: {', '.join(shipped.names())}")
    never_fail_to_encode()
    unicode = not given.ascii and can_draw(sys.stdout)
    command = shlex.join(["gtp-harness", "check", *arguments])
    paint = Paint(0 if given.no_color else colors(sys.stdout))
    wanted = _wanted(given)
    repeat = at_home(wanted.assignment).single
    return check(wanted, CheckReporter(Transcript(command), paint, unicode=unicode, repeat=repeat))


def _wanted(given: argparse.Namespace) -> CheckOptions:
    found = assignment.find(given.assignment)
    source = source_named(given.source, found)
    for path in filter(None, (given.overlay, given.output)):
        if not Path(path).is_dir():
            raise UsageError(f"there is no folder {path}")
    return CheckOptions(
        source=source,
        assignment=found,
        output=Path(given.output) if given.output else source.parent,
        overlay=Path(given.overlay) if given.overlay else None,
        sandbox=given.sandbox,
        jobs=given.jobs,
        python=given.python,
        live=sys.stdout.isatty() and sys.stderr.isatty(),
    )


def command_line() -> CommandParser:
    """Return the parser of its command line."""
    parser = CommandParser("check", description=_DESCRIPTION, epilog=_EPILOG)
    parser.usage = "gtp-harness check [OPTION…] [FOLDER or ARCHIVE] --assignment NAME"
    add = parser.add_argument
    add("source", nargs="?", metavar="SOURCE", help=argparse.SUPPRESS)
    graded.add_assignment(add)
    add("--overlay", metavar="DIR", help="the course's own folder, such as its util")
    add("--output", metavar="DIR", help="where the archive goes (default: beside what is checked)")
    add(
        "--python",
        metavar="PATH",
        default="",
        help="the engine's Python, instead of the assignment's environment or the system's",
    )
    add("--sandbox", choices=SANDBOXES, default="auto",
        help="auto: the strongest that works, if one does (default: %(default)s)")  # fmt: skip
    add("--jobs", type=whole(1, "a whole number from 1"), default=0, metavar="N",
        help="files at a time (default: the number of cores)")  # fmt: skip
    add("--ascii", action="store_true", help="draw boards with ASCII characters")
    add("--no-color", action="store_true", help="no colors (also: NO_COLOR in the environment)")
    add("--help", "-help", "-h", action="store_true", help="print this help and exit")
    return parser
