"""``gtp-harness strength``: which mistakes people make do these cases catch?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from harness import find_assignment
from harness.assignments.assignment import Assignment, specification_of
from harness.assignments.sets import Set, is_good, sets_of
from harness.banks import bank_runs
from harness.cli import banks, strength_report
from harness.cli.arguments import CommandParser
from harness.cli.option_values import number, whole
from harness.cli.strength_report import ENGINE, MISTAKE, MUTANT, percent
from harness.errors import UsageError
from harness.escaping import encode_without_surrogates
from harness.exits import ExitCode
from harness.judging.strength import Strength, measure
from harness.options import STATUS_LAST
from harness.reading.named_case_files import gather
from harness.reading.suite import expand
from harness.records import CaseFile
from harness.report import report_files
from harness.specifications import NAMES
from harness.specifications.record import Specification
from harness.text import count_rest

_NAMED = 3  # mistakes that are not caught, in a line

_DESCRIPTION = """\
Measure which common mistakes (gtp-oracle gtp --mistake list) the tests of case files
catch. Every test is given to one mutant for each mistake. A test catches a mistake if
the reference engine passes it and the mutant fails it, crashes or hangs. No engine is
started: everything runs in this process. Mistakes that show only where the
specification is open are left out.

With --bank, --engine or --mutants the tests are given to these engines instead, each
started in a sandbox; the assignment says what is right. The report shows which test
catches which engine, which tests catch none, and what each of several CASES catches.
Mutants compare sets of tests and show gaps. Their number says nothing about the worth
of a set: many are equivalent to the program, and many only crash or hang.

CASES are .gtp or .tst files, folders of them, @FILE, a list of such names, or
@NAME, cases that ship (gtp-harness cases lists them). Without CASES, a table shows
what the sets of an assignment, or of all assignments, catch: the public tests, the
thorough ones that ship beside them, and private ones in its folder or at --private.

A clause of an assignment's document is tested if some test catches a mistake that
breaks it (docs/mistakes.md). The report lists clauses that are not; the table lists
those without a public test."""

_EPILOG = """\
Exit status:
    0  the kill rate is at least that of --at-least
    1  it is lower (mutants do not count), or the reference engine fails a test;
       without CASES: the public tests catch less than 70 %, or public and private
       ones together do not catch all or are more than 40
    2  the input was bad

The smallest set is found by branch and bound, or, if that would take too long, by
greedy choice; the report says which. Tests are chosen, not commands: the commands
and tests before a chosen test stay.

Examples:
  gtp-harness strength
  gtp-harness strength --assignment go-scoring --private ~/secret/go-scoring
  gtp-harness strength cases/go-scoring --assignment go-scoring --matrix
  gtp-harness strength public private --assignment go-scoring --bank ~/banks/go1
  gtp-harness strength nogo/cases --assignment nogo --mutants 40"""


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    parser = command_line()
    given = parser.read(arguments)
    if given is None:
        return ExitCode.OK
    _check(parser, given)
    if given.json:
        report_files.try_to_write(given.json)
    return _tell_cases(parser, given) if given.cases else _tell_sets(given)


def _check(parser: CommandParser, given: argparse.Namespace) -> None:
    if not given.assignment and (given.cases or given.private):
        parser.error("give --assignment")
    if (given.bank or given.engine or given.mutants) and not given.cases:
        parser.error("give CASES for these engines")


def _tell_cases(parser: CommandParser, given: argparse.Namespace) -> ExitCode:
    """Put case files to mistakes or engines, and print the result."""
    named = find_assignment(given.assignment)
    specification = specification_of(named)
    named_files = gather(given.cases, given.dialect, protocol=STATUS_LAST)
    cases = named_files.cases
    if errors := named_files.errors:
        raise UsageError("\n".join(errors))  # a kill rate without them would be too low
    if banks.are_known(given, named):
        found = _by_engines(given, named, specification, cases)
    else:
        found = measure(cases, specification, given.dialect)
    if not found.tests and not found.wrong:
        parser.error("found no tests in these files")
    report = strength_report.StrengthReport(found, _subject_name(given, named))
    print("\n".join(report.lines(len(cases), _sets(given), matrix=given.matrix)))
    if given.json:
        report_files.write(
            given.json, [strength_report.document(found)], encode_without_surrogates
        )
    is_enough = bool(given.mutants) or 100 * found.kill_rate >= given.at_least
    return ExitCode.OK if is_enough and not found.wrong else ExitCode.FAILED


def _by_engines(
    given: argparse.Namespace,
    found: Assignment,
    specification: Specification,
    cases: Sequence[CaseFile],
) -> Strength:
    """Put the tests to the engines that the command line names."""
    asker = bank_runs.EngineAsker(
        specification.commands, given.sandbox, given.dialect, protocol=found.protocol
    )
    bad = bank_runs.find_failing(cases, specification, given.dialect)
    with banks.engines(given, found) as engines:
        return bank_runs.measure(
            cases, specification.key, bad, engines, lambda one: asker.find_failed(cases, one)
        )


def _subject_name(given: argparse.Namespace, found: Assignment) -> str:
    """Return what the tests are put to, as the report calls one of them."""
    if not banks.are_known(given, found):
        return MISTAKE
    return ENGINE if banks.are_known_wrong(given, found) else MUTANT


def _sets(given: argparse.Namespace) -> dict[str, set[str]]:
    """Return the paths of each of CASES where there are several to be compared."""
    if len(given.cases) < 2:
        return {}
    return {one: set(expand([one], has_answers=True)) for one in given.cases}


def command_line() -> CommandParser:
    """Return the parser of its command line."""
    parser = CommandParser("strength", description=_DESCRIPTION, epilog=_EPILOG)
    parser.usage = "gtp-harness strength [CASES…] [--assignment A] [OPTION…]"
    add = parser.add_argument
    add("cases", nargs="*", metavar="CASES", help="case files, folders, @FILE, @NAME")
    add("--assignment", metavar="A", help="the assignment, by name or folder")
    add("--at-least", type=number(0, "a percentage"), default=100.0, metavar="PERCENT",
        help="kill rate for exit status 0 (default: %(default)g)")  # fmt: skip
    add("--private", action="append", default=[], metavar="PATH",
        help="without CASES: private case files, or a folder of them; may be"
        " repeated")  # fmt: skip
    add(
        "--matrix",
        action="store_true",
        help="print a matrix of tests × mistakes (or engines), too",
    )
    add("--json", metavar="FILE", help="write everything as JSON (with CASES)")
    add("--dialect", choices=("gogui", "gnugo"), default="gogui",
        help="whose rules expectations follow (default: %(default)s)")  # fmt: skip
    add("--seed", type=whole(0, "a whole number"), default=0, metavar="N",
        help="random seed for the choice of mutants (default: %(default)s)")  # fmt: skip
    banks.add_options(parser)
    add("--help", "-h", action="store_true", help="print this help and exit")
    return parser


# --- the sets of an assignment ------------------------------------------------------------------


def _tell_sets(given: argparse.Namespace) -> ExitCode:
    """Print a table of what the sets of one assignment, or of all, catch."""
    names = [given.assignment] if given.assignment else list(NAMES)
    print(f"{'':16}{'set':20}{'files':>5}{'tests':>7}  caught")
    good = True
    for name in names:
        found = list(sets_of(find_assignment(name), given.private))
        for place, one in enumerate(found):
            print(f"{'' if place else name:16}{_row(one)}")
        for clause in found[0].strength.untested:
            print(f"{'':16}no public test of {strength_report.describe_clause(clause)}")
        good = good and is_good(found)
    return ExitCode.OK if good else ExitCode.FAILED


def _row(one: Set) -> str:
    found = one.strength
    caught = f"{found.caught.bit_count()} of {len(found.mistakes)}, {percent(found)}"
    lost = "".join(f"; not {mistake.name}" for mistake in found.survivors[:_NAMED])
    lost += count_rest(len(found.survivors) - _NAMED, " and {} more")
    return f"{one.name:20}{one.files:5}{one.tests:7}  {caught}{lost}"
