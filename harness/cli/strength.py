"""``gtp-harness strength``: which mistakes people make do these cases catch?"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence

from harness.assignments import assignment
from harness.assignments.assignment import specification_of
from harness.assignments.sets import Set, is_good, sets_of
from harness.cli.arguments import Parser, number
from harness.errors import UsageError
from harness.exits import ExitCode
from harness.judging.strength import Strength, Test, measure
from harness.reading.gathered import gather
from harness.report import files
from harness.specifications import NAMES
from harness.text import more, number_of
from harness.visible import one_line, without_surrogates
from oracle.mistakes import Mistake

SCHEMA, VERSION = "gtp-harness/strength", 1
_NAMED = 3  # mistakes that are not caught, in a line

_DESCRIPTION = """\
Put every test of the case files to an engine for each of the mistakes people
make (gtp-oracle gtp --mistake list), and tell which mistakes the tests catch.
A test catches a mistake when the right engine passes it and the mistaken one
fails it, crashes or hangs at it. No engine is started: all runs in this process.
Mistakes that show only where the specification is open are left out.

CASES are .gtp or .tst files, folders of them, @FILE, a list of such names, or
@NAME, cases that ship (gtp-harness cases lists them).
Without CASES it tells in a table what the sets of an assignment catch, or of all
assignments: its public tests, the thorough ones that ship beside them, and the
private ones, if there are any, in its folder or at --private."""

_EPILOG = """\
Exit status:
    0  the kill rate is at least that of --at-least
    1  it is less, or the right engine fails a test;
       without CASES: the public tests catch less than 70 %, or public and private
       ones together do not catch all or are more than 40
    2  the input was bad

The smallest set is found by branch and bound; where that would take long, by
greedy choice, and the report says so. Tests are chosen, not commands: what is
set up before a test, and other tests before it, stays.

Examples:
  gtp-harness strength
  gtp-harness strength --assignment go-scoring --private ~/secret/go-scoring
  gtp-harness strength cases/go-scoring --assignment go-scoring --matrix"""


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    parser = command_line()
    given = parser.read(arguments)
    if given is None:
        return ExitCode.OK
    if not given.assignment and (given.cases or given.private):
        parser.error("--assignment is needed")
    if given.json:
        files.try_to_write(given.json)
    if not given.cases:
        return _tell_sets(given)
    specification = specification_of(assignment.find(given.assignment))
    cases, errors, _ = gather(given.cases, given.dialect)
    if errors:
        raise UsageError("\n".join(errors))  # a kill rate without them would be too low
    found = measure(cases, specification, given.dialect)
    if not found.tests and not found.wrong:
        parser.error("there is no test in these files")
    print("\n".join(_report(found, len(cases), matrix=given.matrix)))
    if given.json:
        files.write(given.json, [_document(found)], without_surrogates)
    enough = 100 * found.kill_rate >= given.at_least and not found.wrong
    return ExitCode.OK if enough else ExitCode.FAILED


def command_line() -> Parser:
    """Return the parser of its command line."""
    parser = Parser("strength", description=_DESCRIPTION, epilog=_EPILOG)
    parser.usage = "gtp-harness strength [CASES…] [--assignment A] [OPTION…]"
    add = parser.add_argument
    add("cases", nargs="*", metavar="CASES", help="case files, folders, @FILE, @NAME")
    add("--assignment", metavar="A", help="whose mistakes, by name or folder")
    add("--at-least", type=number(0, "a percentage"), default=100.0, metavar="PERCENT",
        help="kill rate for exit status 0 (default: %(default)g)")  # fmt: skip
    add("--private", action="append", default=[], metavar="PATH",
        help="without CASES: private case files or a folder of them; may be repeated")  # fmt: skip
    add("--matrix", action="store_true", help="print the tests × mistakes, too")
    add("--json", metavar="FILE", help="write all of it as JSON (with CASES)")
    add("--dialect", choices=("gogui", "gnugo"), default="gogui",
        help="whose reading of expectations (default: %(default)s)")  # fmt: skip
    add("--help", "-h", action="store_true", help="print this help and exit")
    return parser


# --- the sets of an assignment ------------------------------------------------------------------


def _tell_sets(given: argparse.Namespace) -> ExitCode:
    """Print a table of what the sets of one assignment, or of all, catch."""
    names = [given.assignment] if given.assignment else list(NAMES)
    print(f"{'':16}{'set':20}{'files':>5}{'tests':>7}  caught")
    good = True
    for name in names:
        found = list(sets_of(assignment.find(name), given.private))
        for place, one in enumerate(found):
            print(f"{'' if place else name:16}{_row(one)}")
        good = good and is_good(found)
    return ExitCode.OK if good else ExitCode.FAILED


def _row(one: Set) -> str:
    found = one.strength
    caught = f"{found.caught.bit_count()} of {len(found.mistakes)}, {_percent(found)}"
    lost = "".join(f"; not {mistake.name}" for mistake in found.survivors[:_NAMED])
    lost += more(len(found.survivors) - _NAMED, " and {} more")
    return f"{one.name:20}{one.files:5}{one.tests:7}  {caught}{lost}"


# --- for a reader ------------------------------------------------------------------------------


def _report(found: Strength, number_of_files: int, *, matrix: bool) -> Iterator[str]:
    """Yield the lines of the report."""
    caught, total = found.caught.bit_count(), len(found.mistakes)
    tests = len(found.tests) + len(found.wrong)
    yield (
        f"{found.assignment}: {number_of(tests, 'test')} in "
        f"{number_of(number_of_files, 'file')}, {total} mistakes"
    )
    if matrix:
        yield from _matrix(found)
    yield from _mistakes(found)
    yield from _listed("The right engine fails", [_place(test) for test in found.wrong])
    yield from _listed("No test catches", [_told(one) for one in found.survivors])
    alone = found.indispensable
    yield from _listed("Only this test catches something", [_place(test) for test in alone])
    least, is_least = found.smallest()
    how = (
        "smallest set" if is_least else "small set (by greedy choice: there may be a smaller one)"
    )
    yield from _listed(f"A {how} of the same power", [_place(test) for test in least])
    if found.open_mistakes:
        names = ", ".join(one.name for one in found.open_mistakes)
        yield f"\nLeft out, for the specification leaves open what they do: {names}"
    yield f"\nkill rate {_percent(found)} ({caught} of {total} mistakes)"


def _percent(found: Strength) -> str:
    """Return the kill rate; never 100 % when a mistake gets away."""
    return f"{int(1000 * found.kill_rate) / 10:g} %"


def _mistakes(found: Strength) -> Iterator[str]:
    """Yield each mistake with how many tests catch it, and the first of them."""
    width = max(len(one.name) for one in found.mistakes)
    yield f"\n{'caught by':>{width + 9}}  first"
    for place, one in enumerate(found.mistakes):
        by = [test for test in found.tests if test.caught >> place & 1]
        yield f"{one.name:{width}} {len(by):8}  {by[0].place if by else '-'}"


def _matrix(found: Strength) -> Iterator[str]:
    """Yield a row for each test, ``#`` where it catches the mistake of the column."""
    width = max((len(test.place) for test in found.tests), default=0)
    yield "\nColumns:"
    yield from (f"{place:4}  {one.name}" for place, one in enumerate(found.mistakes, 1))
    places = range(len(found.mistakes))
    numbers = [str(place + 1).rjust(3) for place in places]
    yield ""
    for digits in zip(*numbers, strict=True):
        if set(digits) != {" "}:
            yield f"{'':{width}}  {''.join(digits)}"
    for test in found.tests:
        marks = "".join("#" if test.caught >> place & 1 else "." for place in places)
        yield f"{test.place:{width}}  {marks}"


def _listed(heading: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"\n{heading} ({len(lines)}):"
        yield from (f"  {line}" for line in lines)


def _place(test: Test) -> str:
    return f"{test.place}  {one_line(test.step.text, 60)}"


def _told(mistake: Mistake) -> str:
    return f"{mistake.name}  {mistake.sentence}"


# --- for programs ------------------------------------------------------------------------------


def _document(found: Strength) -> str:
    """Return the JSON document: its members are named as those of :class:`Strength`."""
    least, is_least = found.smallest()
    document = {
        "schema": SCHEMA,
        "version": VERSION,
        "assignment": found.assignment,
        "kill_rate": found.kill_rate,
        "mistakes": [{"name": one.name, "sentence": one.sentence} for one in found.mistakes],
        "tests": [_test(found, test) for test in found.tests],
        "wrong": [test.place for test in found.wrong],
        "survivors": [one.name for one in found.survivors],
        "indispensable": [test.place for test in found.indispensable],
        "smallest": {"tests": [test.place for test in least], "exact": is_least},
        "left_out": [one.name for one in found.open_mistakes],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _test(found: Strength, test: Test) -> dict[str, object]:
    catches = [one.name for place, one in enumerate(found.mistakes) if test.caught >> place & 1]
    step = test.step
    return {
        "path": test.path,
        "line": step.line,
        "id": step.id,
        "command": step.command,
        "catches": catches,
    }
