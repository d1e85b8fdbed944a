"""``gtp-harness gradescope``: the command line of an autograder."""

import argparse
from pathlib import Path

from harness import file_system, find_assignment, gradescope, shipped
from harness.cli import arguments
from harness.cli.commandline import Command, number
from harness.errors import ExitCode, UsageError

_LEAST = 4.0  # minutes: less leaves no time for tests

_PAGE = """\
usage: gtp-harness gradescope [OPTION…] --assignment NAME

Make the zip of an autograder for Gradescope: setup.sh, run_autograder, this version of
gtp-harness as a wheel, the assignment and its case files, private ones too. Upload it
as the autograder of a programming assignment there. Each submission is then graded as
gtp-harness grade does it, in the strongest sandbox that Gradescope's container allows.
Teachers see the sandbox level in standard output. If no sandbox works or the harness
itself fails, Gradescope shows an error and gives no mark.

[options]

Exit status:
    0  the zip is written; with --grade: there is a mark
    2  the input was bad
    3  the harness itself failed; with --grade: no mark, and no results.json
  130  interrupted with Ctrl-C

Examples:
  gtp-harness gradescope --assignment go-scoring --private ~/private \\
      --overlay ../util -o autograder.zip
  gtp-harness gradescope --assignment my/assignment --public-only"""


def _run(arguments: argparse.Namespace) -> int:
    if (arguments.assignment is None) is (arguments.grade is None):
        GRADESCOPE.refuse(f"give --assignment: {', '.join(shipped.names())}, or a folder")
    if arguments.grade is not None:
        mark, sandbox = gradescope.mark(Path(arguments.grade))
        told = f"The sandbox was {sandbox}" if sandbox else "Nothing was run"
        print(f"{mark} points. {told}.")
        return ExitCode.OK
    if arguments.private and arguments.public_only:
        raise UsageError("--private and --public-only exclude each other")
    assignment = find_assignment(arguments.assignment)
    overlay = Path(arguments.overlay) if arguments.overlay else None
    wanted = gradescope.GradescopeSettings(
        "", (), arguments.public_only, arguments.timeout * 60, arguments.private_visibility
    )
    content = gradescope.bundle(assignment, arguments.private, overlay, wanted)
    path = Path(arguments.output)
    file_system.make(path.parent)
    try:  # private case files are in it: nobody else may read it
        path.unlink(missing_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(content)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    told = "Upload it as the autograder of the assignment."
    print(f"{arguments.output}: {len(content):,} bytes. {told}")
    return ExitCode.OK


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    arguments.add_assignment(add)
    arguments.add_private(add)
    add("--private-visibility", choices=gradescope.VISIBILITIES, default="after_due_date",
        help="when students see points and verdicts of private tests, and their total"
        " (default: %(default)s)")  # fmt: skip
    add("--overlay", metavar="DIR", help="the course folder, such as util")
    add("--timeout", type=number(_LEAST, f"at least {_LEAST:g} minutes"), default=10.0,
        metavar="MINUTES",
        help="time limit, as in Gradescope's autograder settings. There it costs all points; we"
        " end a little earlier, with an error and no mark (default: %(default)g)")  # fmt: skip
    add("--output", "-o", default="autograder.zip", metavar="FILE",
        help="zip to write (default: %(default)s)")  # fmt: skip
    add("--grade", metavar="DIR",
        help="for run_autograder: grade DIR/submission, write"
        " DIR/results/results.json")  # fmt: skip


GRADESCOPE = Command("gradescope", _PAGE, _add_options, _run)
