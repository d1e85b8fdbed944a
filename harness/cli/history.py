"""``gtp-harness history``: what the runs of one ``--history`` file tell together."""

import argparse

from harness.cli.commandline import Command, add_shared, whole
from harness.cli.console import paint_for
from harness.core.errors import ExitCode, UsageError
from harness.core.text import encode_without_surrogates
from harness.history import history_file, text
from harness.history.trends import trends
from harness.report import report_files

_PAGE = """\
usage: gtp-harness history FILE [OPTION…]

Show what the runs in FILE, written by gtp-harness run --history FILE, have in common:
which tests broke when, which are flaky, and which got slower. Only one program is
shown: that of the last run, or --program.

  broke   a test that fails in the last run that judged it, and passed before; with
          the first run in which it failed, and what else changed then: the engine
          (its name, version, or the files of PROGRAM), the test (the commands up
          to it, and its expectation), or neither
  flaky   its verdict changed at least twice with the same engine and test, or a
          --rerun gave another one; with the share of failures and its 95 %
          interval (Wilson). A single change is not flaky
  slower  the last 5 runs against up to 20 before them, at least 5, on the same
          host with the same --jobs, sandbox and test. A slowdown of all tests
          in a run is divided out, and reported for all tests together. The medians
          must differ by a fifth and by 10 ms, and a one-sided rank test (Mann
          and Whitney) must agree; of the tests called slower at most one in 20
          is expected to be there by chance (Benjamini and Hochberg). Times are
          shown as the median and, in brackets, the quartiles

[options]

Exit status:
    0  the history was read, whatever it shows
    2  the input was bad: FILE is not a history, is damaged, or has no such program
    3  a report could not be written

Examples:
  gtp-harness run --history runs.sqlite ./engine cases/
  gtp-harness history runs.sqlite
  gtp-harness history runs.sqlite --output trend --json trend.json"""


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.file:
        HISTORY.refuse("give FILE")
    report_files.try_to_write(arguments.json)
    if arguments.output:
        report_files.try_to_write_into(arguments.output)
    runs = history_file.read(arguments.file)
    if arguments.program and all(run.program != arguments.program for run in runs):
        known = ", ".join(dict.fromkeys(run.program for run in runs)) or "none"
        raise UsageError(f"{arguments.file} has no runs of {arguments.program!r}; it has: {known}")
    last = runs[-arguments.last :] if arguments.last else runs
    found = trends(arguments.file, last, arguments.program)
    if arguments.output:
        from harness.history import pages

        pages.write(arguments.output, found)
    if arguments.json:
        report_files.write(arguments.json, [text.document(found)], encode_without_surrogates)
    if arguments.json not in report_files.STDOUT:
        for line in text.lines(found, paint_for(arguments), unicode=not arguments.ascii):
            print(line)
    return ExitCode.OK


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", metavar="FILE", help=argparse.SUPPRESS)
    add = parser.add_argument
    add("--output", metavar="DIR", help="write pages: index.html, each file's tests and runs")
    add("--json", metavar="FILE", help="write everything as JSON (-: to standard output)")
    add("--program", metavar="PROGRAM",
        help="show the runs of this program, as typed (default: that of the last"
        " run)")  # fmt: skip
    add("--last", type=whole(1), default=0, metavar="N",
        help="use only the last N runs in FILE (default: all)")  # fmt: skip
    add("--ascii", action="store_true", help="draw with ASCII characters")
    add_shared(add, "--no-color")


HISTORY = Command("history", _PAGE, _add_options, _run)
