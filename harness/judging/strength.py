"""How strong a set of cases is: which of the mistakes people make do its tests catch?

Every test is given to a mutant for each mistake (:mod:`oracle.mistakes`). A test *catches* a
mistake if the reference engine passes it and the mutant fails it, crashes or hangs. Tests stay in
their files: all commands of a file are sent, but the verdicts of other tests do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from harness.judging import mistaken, shared_replay
from harness.judging.cover import smallest
from harness.reading.casefile import dialect_of
from harness.reading.dialect import find_dialect
from harness.records import CaseFile, Step
from harness.specifications.record import Specification
from oracle.mistakes import Mistake
from oracle.mistakes.clauses import Clause, find_untested


class KnownWrong(Protocol):
    """What is wrong and known by a name: a mistake, or an engine of a bank."""

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
        """Where it stands: ``FILE:LINE``."""
        return f"{self.path}:{self.step.line}"


class Strength(NamedTuple):
    """What the tests of some case files catch.

    A mistake that shows only where the specification leaves the answer open is not asked for.
    """

    assignment: str
    mistakes: tuple[KnownWrong, ...]  # or engines that are wrong: harness.banks
    open_mistakes: tuple[Mistake, ...]
    tests: tuple[MeasuredTest, ...]
    wrong: tuple[
        MeasuredTest, ...
    ]  # tests that the reference engine fails; they count for nothing

    @property
    def caught(self) -> int:
        """All mistakes that some test catches, as bits."""
        every = 0
        for test in self.tests:
            every |= test.caught
        return every

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
        lost = set(self.survivors)
        return find_untested(
            self.assignment, {one.name for one in self.mistakes if one not in lost}
        )

    @property
    def indispensable(self) -> list[MeasuredTest]:
        """The tests that catch something no other test catches."""
        once = twice = 0
        for test in self.tests:
            twice |= once & test.caught
            once |= test.caught
        return [test for test in self.tests if test.caught & once & ~twice]

    def smallest(self) -> tuple[list[MeasuredTest], bool]:
        """Return few tests that catch as much as all, and whether no fewer can."""
        places, is_least = smallest([test.caught for test in self.tests])
        return [self.tests[place] for place in places], is_least


def measure(
    cases: Sequence[CaseFile], specification: Specification, dialect: str = "gogui"
) -> Strength:
    """Put all tests of ``cases`` to all mistakes that a specification has."""
    mistakes = specification.settled_mistakes
    tests: list[MeasuredTest] = []
    wrong: list[MeasuredTest] = []
    for case in cases:
        right, others = of_file(case, mistakes, specification, dialect)
        tests += right
        wrong += others
    unsettled = tuple(one for one in specification.mistakes if one.is_open)
    return Strength(specification.key, mistakes, unsettled, tuple(tests), tuple(wrong))


def of_file(
    case: CaseFile,
    mistakes: Sequence[Mistake],
    specification: Specification,
    dialect: str = "gogui",
) -> tuple[list[MeasuredTest], list[MeasuredTest]]:
    """Return the tests of one file that the reference engine passes, and the others."""
    bad = mistaken.failing_lines(case, specification.reference_engine(), find_dialect(dialect))
    caught = _find_caught(case, mistakes, dialect)
    for step in case.steps:
        if step.is_test and step.command.partition(" ")[0] in specification.own_commands:
            caught[step.line] = 0  # it fails because it is not known, whatever the mistake
    tests = [
        MeasuredTest(case.path, step, caught[step.line]) for step in case.steps if step.is_test
    ]
    good = [test for test in tests if test.step.line not in bad]
    return good, [test._replace(caught=0) for test in tests if test.step.line in bad]


def _find_caught(case: CaseFile, mistakes: Sequence[Mistake], dialect: str) -> dict[int, int]:
    """Return by line, for each test, the mutants that fail it, as bits."""
    judge = dialect_of(case, find_dialect(dialect))
    caught = dict.fromkeys((step.line for step in case.steps if step.is_test), 0)
    for answer in shared_replay.answers(case, shared_replay.find_shown(case, mistakes)):
        for raw, bits in answer.by_answer().items():
            for line in mistaken.find_failed(case, answer.step, raw, judge):
                caught[line] |= bits
    return caught
