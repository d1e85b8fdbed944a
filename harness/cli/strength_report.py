"""The result of putting tests to mistakes or to engines: for a reader, and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from harness.escaping import one_line
from harness.judging.strength import KnownWrong, MeasuredTest, Strength
from harness.text import at_most, number_of
from oracle.mistakes.clauses import Clause

SCHEMA, VERSION = "gtp-harness/strength", 1
MISTAKE, ENGINE, MUTANT = "mistake", "engine", "mutant"  # what tests are put to
_IDLE = 20  # tests that catch nobody, by place


class StrengthReport:
    """The lines of a report."""

    def __init__(self, found: Strength, noun: str) -> None:
        """``noun``: what tests were put to, of those above."""
        self._found = found
        self._noun = noun

    def lines(
        self, number_of_files: int, sets: Mapping[str, set[str]], *, matrix: bool
    ) -> Iterator[str]:
        """Yield the lines; ``sets``: the paths of each set where several are compared."""
        found = self._found
        caught, total = found.caught.bit_count(), len(found.mistakes)
        tests = len(found.tests) + len(found.wrong)
        yield (
            f"{found.assignment}: {number_of(tests, 'test')} in "
            f"{number_of(number_of_files, 'file')}, {number_of(total, self._noun)}"
        )
        if matrix:
            yield from _matrix(found)
        yield from _mistakes(found)
        yield from _sets(found, sets)
        yield from _section("The reference engine fails", [_place(test) for test in found.wrong])
        yield from _section("No test catches", [_describe(one) for one in found.survivors])
        yield from _section("No test of these clauses", list(map(describe_clause, found.untested)))
        yield from _idle(found.idle)
        alone = found.indispensable
        yield from _section(
            "No other test catches what this one catches", [_place(test) for test in alone]
        )
        least, is_least = found.smallest()
        how = (
            "smallest set"
            if is_least
            else "small set (by greedy choice: there may be a smaller one)"
        )
        yield from _section(f"A {how} that catches the same", [_place(test) for test in least])
        if found.open_mistakes:
            names = ", ".join(one.name for one in found.open_mistakes)
            yield f"\nLeft out, because the specification allows what they do: {names}"
        yield f"\n{self._sum(caught, total)}"

    def _sum(self, caught: int, total: int) -> str:
        if self._noun == MUTANT:
            return f"{caught} of {total} mutants are caught; the others may be equivalent"
        if self._noun == ENGINE:
            return f"{caught} of {number_of(total, 'engine')} caught"
        return f"kill rate {percent(self._found)} ({caught} of {total} mistakes)"


def percent(found: Strength) -> str:
    """Return the kill rate; never 100 % when a mistake gets away."""
    return f"{int(1000 * found.kill_rate) / 10:g} %"


def _mistakes(found: Strength) -> Iterator[str]:
    """Yield each mistake with how many tests catch it, and the first of them."""
    width = max(len(one.name) for one in found.mistakes)
    yield f"\n{'caught by':>{width + 9}}  first"
    for place, one in enumerate(found.mistakes):
        by = [test for test in found.tests if test.caught >> place & 1]
        yield f"{one.name:{width}} {len(by):8}  {by[0].place if by else '-'}"


def _sets(found: Strength, sets: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield what each of several sets catches, and what it alone does."""
    caught = {name: _find_caught(found, paths) for name, paths in sets.items()}
    width = max(map(len, caught), default=0)
    if caught:
        yield f"\n{'':{width}}  tests  caught  by this set alone"
    for name, bits in caught.items():
        others = 0
        for other, theirs in caught.items():
            others |= theirs if other != name else 0
        tests = sum(test.path in sets[name] for test in found.tests)
        alone = [one.name for n, one in enumerate(found.mistakes) if bits & ~others & 1 << n]
        told = ", ".join(alone) or "-"
        yield f"{name:{width}}  {tests:5}  {bits.bit_count():6}  {told}"


def _find_caught(found: Strength, paths: set[str]) -> int:
    bits = 0
    for test in found.tests:
        bits |= test.caught if test.path in paths else 0
    return bits


def _idle(tests: Sequence[MeasuredTest]) -> Iterator[str]:
    shown = at_most([_place(test) for test in tests], _IDLE)
    if tests:
        yield f"\nCatches nothing ({len(tests)}):"
        yield from (f"  {line}" for line in shown)


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


def _section(heading: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"\n{heading} ({len(lines)}):"
        yield from (f"  {line}" for line in lines)


def _place(test: MeasuredTest) -> str:
    return f"{test.place}  {one_line(test.step.text, 60)}"


def _describe(one: KnownWrong) -> str:
    return f"{one.name}  {one_line(one.sentence, 120)}"


def describe_clause(one: Clause) -> str:
    """Return a clause with its place in the assignment's document."""
    return f"{one.name}: {one.sentence} ({one.source})"


# --- for programs ------------------------------------------------------------------------------


def document(found: Strength) -> str:
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
        "untested": [
            {"name": one.name, "sentence": one.sentence, "source": one.source}
            for one in found.untested
        ],
        "indispensable": [test.place for test in found.indispensable],
        "smallest": {"tests": [test.place for test in least], "exact": is_least},
        "left_out": [one.name for one in found.open_mistakes],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _test(found: Strength, test: MeasuredTest) -> dict[str, object]:
    catches = [one.name for place, one in enumerate(found.mistakes) if test.caught >> place & 1]
    step = test.step
    return {
        "path": test.path,
        "line": step.line,
        "id": step.id,
        "command": step.command,
        "catches": catches,
    }
