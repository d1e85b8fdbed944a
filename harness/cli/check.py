"""``gtp-harness check``: the command line of a check before submitting."""

import argparse
import glob
import os
import shlex
import sys
from pathlib import Path

from harness import find_assignment
from harness.assignments.public_tests import TEST, shorten_path
from harness.check.steps import CheckOptions, CheckReporter, check
from harness.cli import arguments
from harness.cli.commandline import Command, add_shared, whole
from harness.cli.console import can_draw, columns, paint_for
from harness.core.errors import UsageError
from harness.core.options import SANDBOXES
from harness.core.records import Repeat
from harness.core.text import read_number
from harness.reading import casefile, shipped
from harness.report import report_files
from harness.report.reporters import shell_word

_PAGE = """\
usage: gtp-harness check [OPTION…] [FOLDER or ARCHIVE] --assignment NAME

Check a submission before you submit it. Its files are compared with what the
assignment asks for. The archive is made, unpacked into a new folder, and built if the
assignment says so. The public tests are run in a sandbox; the report gives the reason
for each right answer and what may explain the failures. If the assignment asks for a
log, it is written and packed. The last line says whether to submit. You can check a
folder or an archive; the default is the assignment's folder: one in this folder, or
this folder itself.

[options]

Exit status:
    0  nothing wrong was found
    1  a test failed, or a file is missing
    2  the engine died, hung, could not start or be built, or the input was bad
    3  the harness itself failed; the engine is not to blame
  130  interrupted with Ctrl-C

Examples:
  gtp-harness check --assignment go-scoring
  gtp-harness check assignment1 --assignment go-scoring --overlay ../util
  gtp-harness check a1.tgz --assignment go-scoring --output checked
  gtp-harness check gosensei --assignment gosensei"""


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.assignment:
        CHECK.refuse(f"give --assignment: {', '.join(shipped.names())}")
    unicode = not arguments.ascii and can_draw(sys.stdout)
    words = ["gtp-harness", "check", *arguments.typed]
    repetition = " ".join(map(shell_word, words))
    assignment = find_assignment(arguments.assignment)
    # What is named, or the assignment's folder here, or this folder; links stay.
    folder, name = assignment.archive.folder, arguments.source
    default = folder if Path(folder).is_dir() else ""
    source = Path(os.path.abspath(name or default))  # noqa: PTH100
    if not os.path.exists(source):  # noqa: PTH110 - False of a name that no file can have
        raise UsageError(f"there is no {name}: name a folder or an archive")
    if not name and source.name != folder:
        raise UsageError(f"there is no folder {folder} here: name it, or an archive")
    if arguments.overlay and not os.path.isdir(arguments.overlay):  # noqa: PTH112 - as above
        raise UsageError(f"there is no folder {arguments.overlay}")
    if arguments.output:
        report_files.try_to_write_into(arguments.output)
    line = ""
    if arguments.test:  # the public case file and the line that FILE:LINE names
        case, _, line = arguments.test.rpartition(":")
        if not case or read_number(line) is None:
            raise UsageError(
                f"{TEST}: found {arguments.test!r}, expected FILE:LINE, such as area.gtp:12"
            )
        files = [shorten_path(str(path), assignment) for path in assignment.public_cases()]
        if case not in files:
            expected = ", ".join(files) or "none"
            raise UsageError(f"{TEST}: found {case!r}, expected a public case file: {expected}")
        steps = casefile.read(str(assignment.place / case)).steps
        if not any(step.is_test and step.line == int(line) for step in steps):
            raise UsageError(f"{TEST}: found line {line}, expected the line of a test in {case}")
        cases = assignment.cases._replace(public=(glob.escape(case),))
        assignment = assignment._replace(cases=cases)
    options = CheckOptions(
        source=source,
        assignment=assignment,
        output=Path(arguments.output) if arguments.output else source.parent,
        overlay=Path(arguments.overlay) if arguments.overlay else None,
        sandbox=arguments.sandbox,
        jobs=arguments.jobs,
        python=arguments.python,
        line=line,
        live=sys.stdout.isatty() and sys.stderr.isatty(),
    )
    sayer = CheckReporter(
        shlex.join(words),
        paint_for(arguments),
        unicode=unicode,
        repeat=Repeat() if arguments.test else Repeat(repetition, test=TEST),
        width=columns(sys.stdout),
    )
    return check(options, sayer)


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", nargs="?", metavar="SOURCE", help=argparse.SUPPRESS)
    arguments.add_assignment(add)
    add_shared(add, "--overlay")
    add("--output", metavar="DIR",
        help="where to write the archive; created if it does not exist (default: beside the"
        " checked folder or archive)")  # fmt: skip
    add("--python", metavar="PATH", default="",
        help="Python that runs the engine, instead of the assignment's environment or the"
        " system's")  # fmt: skip
    add("--sandbox", choices=SANDBOXES, default="auto",
        help="sandbox level, 3 to 1; auto: the strongest that works, if any (default:"
        " %(default)s)")  # fmt: skip
    add("--jobs", type=whole(1), default=0, metavar="N",
        help="case files run at a time (default: the number of cores)")  # fmt: skip
    add(TEST, metavar="FILE:LINE", default="",
        help="run only the public test whose command is in this line, and write"
        " nothing")  # fmt: skip
    add_shared(add, "--ascii", "--no-color")


CHECK = Command("check", _PAGE, _add_options, _run)
