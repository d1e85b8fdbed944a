"""What a draft of private cases is made of, whatever its game: tests with what they catch.

Who knows the game finds candidates, and writes those that are chosen (:class:`CandidateMaker`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from harness.assignments.assignment import Assignment
from harness.reading import expectation
from harness.records import CaseFile, Pattern
from harness.specifications.record import Specification
from harness.vocabulary import wordings
from oracle.draw import Diagram
from oracle.grid import grid
from oracle.position import Position

HEADING = ("Private cases", "Made on the pages of gtp-harness serve.")


class CandidateTest(NamedTuple):
    """A test, in words for a teacher."""

    question: str
    answer: str
    reason: str  # empty: the reference knows, and tells none


class CandidateBoard(NamedTuple):
    """A board; stones are bits of :mod:`oracle.grid`."""

    columns: int
    rows: int
    black: int
    white: int
    letters: str  # of the columns

    @classmethod
    def of(cls, position: Position, letters: str) -> CandidateBoard:
        """Return the board of a position."""
        shape = position.grid
        return cls(shape.columns, shape.rows, position.black, position.white, letters)

    @property
    def position(self) -> Position:
        """Return its stones."""
        return Position(grid(self.rows, self.columns), self.black, self.white)

    def diagram(self) -> Diagram:
        """Return what is drawn."""
        return Diagram(self.position, letters=self.letters)

    def text(self) -> list[str]:
        """Return its rows, the top one first: ``.`` empty, ``X`` black, ``O`` white."""
        return ["".join(".XO"[color] for color in row) for row in self.position.to_rows()]


class Candidate(NamedTuple):
    """One or more tests that are chosen, dropped and exchanged together."""

    kind: str  # what it is about; it is exchanged for another one of the kind first
    sentence: str
    origin: str  # a sentence
    board: CandidateBoard | None  # None: the game has none
    setup: tuple[str, ...]  # the commands that lead to it, where nobody else tells
    tests: tuple[CandidateTest, ...]
    identities: tuple[str, ...]  # the same for tests that are the same
    caught: int  # mistakes, as bits of their places
    record: str  # what its maker writes it from


class PublicCatch(NamedTuple):
    """What a public case file catches."""

    file: str
    caught: int  # mistakes, as bits of their places


class DraftFindings(NamedTuple):
    """What a worker found."""

    candidates: tuple[Candidate, ...]
    first: tuple[int, ...]  # places of those that were chosen
    mistakes: tuple[str, ...]  # in the order of the bits of what is caught; none: none are known
    beside: int  # what other private case files catch, as bits
    remarks: tuple[str, ...]  # why some games were not used
    public: tuple[PublicCatch, ...] = ()
    given_up: tuple[str, ...] = ()  # wrong programs that hung too often to be asked to the end


class Sought(NamedTuple):
    """What candidates are wanted for."""

    assignment: Assignment
    specification: Specification
    games: Sequence[str]  # paths of game records
    tests: int  # at most
    private: tuple[CaseFile, ...]  # the existing ones
    public: tuple[CaseFile, ...]
    sandbox: str  # for programs that are wrong
    on_step: Callable[[str], None] = lambda _: None  # hears what is done now
    on_ask: Callable[[str], None] = lambda _: None  # hears the name of the program that is asked


class CandidateMaker(Protocol):
    """Who finds candidates, and makes a case file of them."""

    def find(self, sought: Sought) -> DraftFindings:
        """Return what was found."""

    def write(
        self, assignment: Assignment, chosen: Sequence[Candidate]
    ) -> tuple[str, Mapping[str, bytes]]:
        """Return the text of a case file, and the files that its commands name."""


def word_test(
    specification: Specification, command: str, expression: str, reason: str
) -> CandidateTest:
    """Return a test in words."""
    question = wordings.word_question(specification.wordings, command) or command
    return CandidateTest(question, expectation.in_words(_pattern(expression)), reason)


def is_told_by_words(expression: str) -> bool:
    """Whether words can tell what matches; else a teacher would have to read the pattern."""
    return not expectation.put_in_words(_pattern(expression)).pattern


def _pattern(expression: str) -> Pattern:
    return Pattern(expression, expression, negated=False, expected_fail=False)


def digest(identity: object) -> str:
    """Return a short name of what is the same for tests that are the same."""
    return hashlib.sha256(repr(identity).encode()).hexdigest()[:16]


def without_folder(text: str, games: Sequence[str]) -> str:
    """Return where something is from, with nothing of where the server has its game records."""
    return text.replace(f"{Path(games[0]).parent}/", "record ") if games else text


def remarks(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return why some games were not used; ``counts`` has counts of others in one word, too."""
    return tuple(f"{count} × {why}" for why, count in sorted(counts.items()) if " " in why)
