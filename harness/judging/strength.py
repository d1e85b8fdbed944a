"""Strength of a set of cases, and a smallest choice of tests that catches as much."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import attrgetter, or_
from typing import NamedTuple, Protocol

from harness.core.records import CaseFile, Step
from harness.judging import in_process
from harness.judging.mutant_replay import answers_of_mutants
from harness.reading.casefile import dialect_of
from harness.reading.dialect import find_dialect
from harness.specifications.record import Specification
from oracle.mistakes import Mistake
from oracle.mistakes.clauses import Clause, find_untested
from oracle.position import each_bit

_PATIENCE = 20_000  # nodes of the search


def smallest(tests: Sequence[int]) -> tuple[list[int], bool]:
    """Return places in ``tests`` that together have all their bits, as few as found.

    ``tests``: of each test the mistakes it catches, as bits.

    Also returns whether there is certainly no smaller choice.
    """
    left, mistakes = dict(enumerate(tests)), reduce(or_, tests, 0)
    chosen: list[int] = []
    before = None
    while left != before:
        # Drop tests that another one outdoes; take those without which a mistake gets away.
        before, left = left, _drop_dominated({p: bits & mistakes for p, bits in left.items()})
        alone = _caught_once(left.values()) & mistakes
        for place in [place for place, bits in left.items() if bits & alone]:
            chosen.append(place)
            mistakes &= ~left.pop(place)
    search = _CoverSearch(left, mistakes)
    return sorted([*chosen, *search.best]), search.nodes < _PATIENCE


def _drop_dominated(tests: Mapping[int, int]) -> dict[int, int]:
    """Return the tests; drop any whose mistakes another one catches too."""
    kept: dict[int, int] = {}
    for place, bits in sorted(tests.items(), key=lambda item: (-item[1].bit_count(), item[0])):
        if bits and not any(bits & ~other == 0 for other in kept.values()):
            kept[place] = bits
    return kept


def _caught_once(tests: Iterable[int]) -> int:
    """Return the mistakes that exactly one test catches."""
    once = twice = 0
    for bits in tests:
        twice |= once & bits
        once |= bits
    return once & ~twice


class _CoverSearch:
    """Branch and bound: on the mistake that the fewest tests catch, the largest test first."""

    def __init__(self, tests: Mapping[int, int], mistakes: int) -> None:
        self.tests = tests
        self.nodes = 0
        self.best: list[int] = []
        left = mistakes
        while left:  # greedily
            place = max(self.tests, key=lambda place: (self.tests[place] & left).bit_count())
            self.best.append(place)
            left &= ~self.tests[place]
        self._branch(mistakes, [])

    def _branch(self, mistakes: int, choice: list[int]) -> None:
        self.nodes += 1
        if not mistakes:
            self.best = choice
        if not mistakes or self.nodes >= _PATIENCE:
            return
        # Whether fewer tests than the best choice has could do, if each caught the most.
        most = max((bits & mistakes).bit_count() for bits in self.tests.values())
        if len(choice) + -(-mistakes.bit_count() // most) >= len(self.best):
            return
        # The tests for the mistake that the fewest catch, the best first.
        by_mistake: dict[int, list[int]] = {}
        for place, bits in self.tests.items():
            for mistake in each_bit(bits & mistakes):
                by_mistake.setdefault(mistake, []).append(place)
        rarest = min(by_mistake.values(), key=len)
        for place in sorted(rarest, key=lambda p: -(self.tests[p] & mistakes).bit_count()):
            self._branch(mistakes & ~self.tests[place], [*choice, place])


# Every test is given to a mutant for each mistake (:mod:`oracle.mistakes`). A test *catches* a
# mistake if the reference engine passes it and the mutant fails it, crashes or hangs. Tests stay
# in their files: all commands of a file are sent, but the verdicts of other tests do not count.


class KnownWrong(Protocol):
    """Known wrong engine with a name: a mistake, or an engine of a bank."""

    @property
    def name(self) -> str:
        """Return the name."""

    @property
    def sentence(self) -> str:
        """Return what is wrong."""


class MeasuredTest(NamedTuple):
    """One test of a case file, and the mistakes it catches, as bits of their places."""

    path: str
    step: Step
    caught: int

    @property
    def place(self) -> str:
        """Its place: ``FILE:LINE``."""
        return f"{self.path}:{self.step.line}"


class Strength(NamedTuple):
    """Mistakes that some case files catch.

    A mistake that shows only where the specification leaves the answer open is not asked for.
    """

    assignment: str
    mistakes: tuple[KnownWrong, ...]  # or engines that are wrong: harness.banks
    open_mistakes: tuple[Mistake, ...]
    tests: tuple[MeasuredTest, ...]
    # Tests that the reference engine fails; they count for nothing.
    wrong: tuple[MeasuredTest, ...]

    @property
    def caught(self) -> int:
        """All mistakes that some test catches, as bits."""
        return reduce(or_, (test.caught for test in self.tests), 0)

    @property
    def kill_rate(self) -> float:
        """The share of the mistakes that some test catches, from 0 to 1."""
        return self.caught.bit_count() / max(1, len(self.mistakes))

    @property
    def idle(self) -> list[MeasuredTest]:
        """The tests that catch nobody."""
        return [test for test in self.tests if not test.caught]

    @property
    def survivors(self) -> list[KnownWrong]:
        """The mistakes that no test catches."""
        return [one for place, one in enumerate(self.mistakes) if not self.caught >> place & 1]

    @property
    def untested(self) -> Sequence[Clause]:
        """The clauses of the assignment of which no test catches a mistake."""
        if not any(isinstance(one, Mistake) for one in self.mistakes):
            return ()
        caught = {one.name for one in set(self.mistakes).difference(self.survivors)}
        return find_untested(self.assignment, caught)

    @property
    def indispensable(self) -> list[MeasuredTest]:
        """The tests that catch something no other test catches."""
        alone = _caught_once(test.caught for test in self.tests)
        return [test for test in self.tests if test.caught & alone]

    def smallest(self) -> tuple[list[MeasuredTest], bool]:
        """Return few tests that catch as much as all, and whether no fewer can."""
        places, is_least = smallest([test.caught for test in self.tests])
        return [self.tests[place] for place in places], is_least


def measure(
    cases: Sequence[CaseFile], specification: Specification, dialect: str = "gogui"
) -> Strength:
    """Put all tests of ``cases`` to all mistakes that a specification has."""
    mistakes = specification.settled_mistakes
    every = [of_file(case, mistakes, specification, dialect) for case in cases]
    tests, wrong = (tuple(one for some in every for one in some[place]) for place in (0, 1))
    unsettled = tuple(one for one in specification.mistakes if one.is_open)
    return Strength(specification.key, mistakes, unsettled, tests, wrong)


def of_file(
    case: CaseFile,
    mistakes: Sequence[Mistake],
    specification: Specification,
    dialect: str = "gogui",
) -> tuple[list[MeasuredTest], list[MeasuredTest]]:
    """Return the tests of one file that the reference engine passes, and the others."""
    spoken = find_dialect(dialect)
    bad = in_process.failing_lines(case, specification.reference_engine(), spoken)
    judge = dialect_of(case, spoken)
    caught = Counter[int]()  # by line, the mutants that fail the test there, as bits
    for step, found in answers_of_mutants(case, mistakes):
        for raw, bits in found.items():
            for line in in_process.find_failed(case, step, raw, judge):
                caught[line] |= bits
    good, wrong = [], []
    for step in filter(attrgetter("is_test"), case.steps):
        # Mutants do not know its own commands, whatever their mistake.
        is_own = step.command.partition(" ")[0] in specification.own_commands
        if step.line in bad:
            wrong.append(MeasuredTest(case.path, step, 0))
        else:
            good.append(MeasuredTest(case.path, step, 0 if is_own else caught[step.line]))
    return good, wrong
