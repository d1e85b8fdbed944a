"""``gtp-harness strength``: which mistakes and wrong engines tests catch."""

import argparse
from collections.abc import Iterable, Iterator, Mapping

from harness import find_assignment
from harness.assignments.assignment import specification_of
from harness.assignments.sets import is_good, sets_of
from harness.banks import banks
from harness.cli import bank
from harness.cli.commandline import Command, add_shared, number, whole
from harness.core.errors import ExitCode, UsageError
from harness.core.options import STATUS_LAST
from harness.core.text import at_most, count_rest, number_of, one_line
from harness.judging.strength import MeasuredTest, Strength, measure
from harness.reading.dialect import find_dialect
from harness.reading.suite import expand, gather
from harness.report import report_files
from harness.specifications import NAMES
from oracle.mistakes.clauses import Clause

MISTAKE, ENGINE, MUTANT = "mistake", "engine", "mutant"  # what tests are put to
_IDLE = 20  # tests that catch nobody, by place


def _report(
    found: Strength, noun: str, number_of_files: int, sets: Mapping[str, set[str]], *, matrix: bool
) -> Iterator[str]:
    """Yield the lines of a report.

    ``noun``: what tests were put to, of those above. ``sets``: the paths of each set where several
    are compared.
    """
    caught, total = found.caught.bit_count(), len(found.mistakes)
    tests = len(found.tests) + len(found.wrong)
    yield (
        f"{found.assignment}: {number_of(tests, 'test')} in "
        f"{number_of(number_of_files, 'file')}, {number_of(total, noun)}"
    )
    if matrix:
        yield from _matrix(found)
    width = max(len(one.name) for one in found.mistakes)
    yield f"\n{'caught by':>{width + 9}}  first"
    for place, one in enumerate(found.mistakes):
        by = [test for test in found.tests if test.caught >> place & 1]
        yield f"{one.name:{width}} {len(by):8}  {by[0].place if by else '-'}"
    yield from _describe_sets(found, sets)
    yield from _section("The reference engine fails", map(_place, found.wrong))
    described = (f"{one.name}  {one_line(one.sentence, 120)}" for one in found.survivors)
    yield from _section("No test catches", described)
    yield from _section("No test of these clauses", map(_describe_clause, found.untested))
    if found.idle:
        yield f"\nCatches nothing ({len(found.idle)}):"
        yield from (f"  {line}" for line in at_most([*map(_place, found.idle)], _IDLE))
    alone = map(_place, found.indispensable)
    yield from _section("No other test catches what this one catches", alone)
    least, is_least = found.smallest()
    greedy = "small set (by greedy choice: there may be a smaller one)"
    how = "smallest set" if is_least else greedy
    yield from _section(f"A {how} that catches the same", map(_place, least))
    if found.open_mistakes:
        names = ", ".join(one.name for one in found.open_mistakes)
        yield f"\nLeft out, because the specification allows what they do: {names}"
    if noun == MUTANT:
        yield f"\n{caught} of {total} mutants are caught; the others may be equivalent"
    elif noun == ENGINE:
        yield f"\n{caught} of {number_of(total, 'engine')} caught"
    else:
        yield f"\nkill rate {_percent(found)} ({caught} of {total} mistakes)"


def _matrix(strength: Strength) -> Iterator[str]:
    """Yield a row for each test, ``#`` where it catches the mistake of the column."""
    width = max((len(test.place) for test in strength.tests), default=0)
    yield "\nColumns:"
    yield from (f"{place:4}  {one.name}" for place, one in enumerate(strength.mistakes, 1))
    places = range(len(strength.mistakes))
    yield ""
    for digits in zip(*(f"{place + 1:3}" for place in places), strict=True):
        if set(digits) != {" "}:
            yield f"{'':{width}}  {''.join(digits)}"
    for test in strength.tests:
        marks = "".join("#" if test.caught >> place & 1 else "." for place in places)
        yield f"{test.place:{width}}  {marks}"


def _describe_sets(strength: Strength, sets: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield what each of several sets catches, and what it alone does."""
    caught = dict.fromkeys(sets, 0)
    for name, paths in sets.items():
        for test in strength.tests:
            caught[name] |= test.caught if test.path in paths else 0
    width = max(map(len, caught), default=0)
    if caught:
        yield f"\n{'':{width}}  tests  caught  by this set alone"
    for name, bits in caught.items():
        others = 0
        for other, theirs in caught.items():
            others |= theirs if other != name else 0
        tests = sum(test.path in sets[name] for test in strength.tests)
        alone = [one.name for n, one in enumerate(strength.mistakes) if bits & ~others & 1 << n]
        told = ", ".join(alone) or "-"
        yield f"{name:{width}}  {tests:5}  {bits.bit_count():6}  {told}"


def _percent(strength: Strength) -> str:
    """Return the kill rate; never 100 % when a mistake gets away."""
    return f"{int(1000 * strength.kill_rate) / 10:g} %"


def _section(heading: str, texts: Iterable[str]) -> Iterator[str]:
    if lines := list(texts):
        yield f"\n{heading} ({len(lines)}):"
        yield from (f"  {line}" for line in lines)


def _place(test: MeasuredTest) -> str:
    return f"{test.place}  {one_line(test.step.text, 60)}"


def _describe_clause(clause: Clause) -> str:
    return f"{clause.name}: {clause.sentence} ({clause.source})"


def document(strength: Strength) -> dict[str, object]:
    """Return what tests catch as JSON.

    The document is an object with these members::

        schema         "gtp-harness/strength", and version: 1
        assignment     its name
        kill_rate      the share of the mistakes that is caught, from 0 to 1
        mistakes       [{name, sentence}]
        tests          [{path, line, id (-1: none), command, catches}]; catches names mistakes
        wrong          places of tests that the reference engine fails
        survivors      names of mistakes that no test catches
        untested       [{name, sentence, source}]: clauses of the assignment's document of which
                       no test catches a mistake
        indispensable  places of tests that catch what no other test does
        smallest       {tests, exact}: places of few tests that catch as much as all; exact says
                       whether no smaller set does
        left_out       names of mistakes that are not counted: the specification leaves open what
                       they do
    """
    least, is_least = strength.smallest()
    return {
        "assignment": strength.assignment,
        "kill_rate": strength.kill_rate,
        "mistakes": [{"name": one.name, "sentence": one.sentence} for one in strength.mistakes],
        "tests": [
            {
                "path": test.path,
                "line": test.step.line,
                "id": test.step.id,
                "command": test.step.command,
                "catches": [
                    one.name for n, one in enumerate(strength.mistakes) if test.caught >> n & 1
                ],
            }
            for test in strength.tests
        ],
        "wrong": [test.place for test in strength.wrong],
        "survivors": [one.name for one in strength.survivors],
        "untested": [
            {"name": one.name, "sentence": one.sentence, "source": one.source}
            for one in strength.untested
        ],
        "indispensable": [test.place for test in strength.indispensable],
        "smallest": {"tests": [test.place for test in least], "exact": is_least},
        "left_out": [one.name for one in strength.open_mistakes],
    }


_NAMED = 3  # mistakes that are not caught, in a line

_PAGE = """\
usage: gtp-harness strength [CASES…] [--assignment A] [OPTION…]

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
those without a public test.

[options]

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


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.assignment and (arguments.cases or arguments.private):
        STRENGTH.refuse("give --assignment")
    if (arguments.bank or arguments.engine or arguments.mutants) and not arguments.cases:
        STRENGTH.refuse("give CASES for these engines")
    report_files.try_to_write(arguments.json)
    return _tell_cases(arguments) if arguments.cases else _tell_sets(arguments)


def _tell_cases(arguments: argparse.Namespace) -> ExitCode:
    """Put case files to mistakes or engines, and print the result."""
    assignment, dialect = find_assignment(arguments.assignment), arguments.dialect
    own = specification_of(assignment)
    gathered = gather(arguments.cases, find_dialect(dialect), protocol=STATUS_LAST)
    if gathered.errors:
        raise UsageError("\n".join(gathered.errors))  # a kill rate without them would be too low
    cases = gathered.cases
    if bank.are_known(arguments, assignment):
        noun = ENGINE if bank.are_known_wrong(arguments, assignment) else MUTANT
        commands, protocol = own.commands, assignment.protocol
        asker = banks.EngineAsker(commands, arguments.sandbox, dialect, protocol=protocol)
        bad = banks.find_failing(cases, own, dialect)
        with bank.wrong_engines(arguments, assignment) as engines:
            found = banks.measure(
                cases, own.key, bad, engines, lambda one: asker.find_failed(cases, one)
            )
    else:
        noun, found = MISTAKE, measure(cases, own, dialect)
    if not found.tests and not found.wrong:
        STRENGTH.refuse("found no tests in these files")
    named = arguments.cases if len(arguments.cases) > 1 else ()  # to be compared
    sets = {one: set(expand([one], has_answers=True)) for one in named}
    print("\n".join(_report(found, noun, len(cases), sets, matrix=arguments.matrix)))
    if arguments.json:
        report_files.write_json(arguments.json, "gtp-harness/strength", document(found))
    is_enough = bool(arguments.mutants) or 100 * found.kill_rate >= arguments.at_least
    return ExitCode.OK if is_enough and not found.wrong else ExitCode.FAILED


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("cases", nargs="*", metavar="CASES", help="case files, folders, @FILE, @NAME")
    add("--assignment", metavar="A", help="the assignment, by name or folder")
    add("--at-least", type=number(0, "a percentage"), default=100.0, metavar="PERCENT",
        help="kill rate for exit status 0 (default: %(default)g)")  # fmt: skip
    add("--private", action="append", default=[], metavar="PATH",
        help="without CASES: private case files, or a folder of them; may be"
        " repeated")  # fmt: skip
    add("--matrix", action="store_true",
        help="print a matrix of tests × mistakes (or engines), too")  # fmt: skip
    add("--json", metavar="FILE", help="write everything as JSON (with CASES)")
    add_shared(add, "--dialect")
    add("--seed", type=whole(0), default=0, metavar="N",
        help="random seed for the choice of mutants (default: %(default)s)")  # fmt: skip
    bank.add_wrong_engines(parser)


def _tell_sets(arguments: argparse.Namespace) -> ExitCode:
    """Print a table of what the sets of one assignment, or of all, catch."""
    names = [arguments.assignment] if arguments.assignment else list(NAMES)
    print(f"{'':16}{'set':20}{'files':>5}{'tests':>7}  caught")
    good = True
    for name in names:
        found = list(sets_of(find_assignment(name), arguments.private))
        for place, one in enumerate(found):
            known = one.strength
            caught = f"{known.caught.bit_count()} of {len(known.mistakes)}, {_percent(known)}"
            lost = "".join(f"; not {mistake.name}" for mistake in known.survivors[:_NAMED])
            lost += count_rest(len(known.survivors) - _NAMED, " and {} more")
            row = f"{one.name:20}{one.files:5}{one.tests:7}  {caught}{lost}"
            print(f"{'' if place else name:16}{row}")
        for clause in found[0].strength.untested:
            print(f"{'':16}no public test of {_describe_clause(clause)}")
        good = good and is_good(found)
    return ExitCode.OK if good else ExitCode.FAILED


STRENGTH = Command("strength", _PAGE, _add_options, _run)
