"""The records of verifying. All immutable, none does anything."""

from __future__ import annotations

import enum
from typing import NamedTuple

from harness.records import Reply, Step


class FindingKind(enum.Enum):
    """What may be wrong with a line of a case file, the worst first."""

    WRONG = "wrong"  # the right answer is refused, in every form
    LOOSE = "too loose"  # a wrong answer is accepted
    TIGHT = "too tight"  # the right answer is refused in some form
    OPEN = "underspecified"  # readings of the document differ, and one is refused
    UNREACHABLE = "unreachable"  # the position cannot be set up, or the test is never reached
    QUESTION = "a question"  # the reference refuses what other programs answer
    DUPLICATE = "duplicate"  # an earlier test asks the same


class CaseFinding(NamedTuple):
    """One fault of a case file."""

    kind: FindingKind
    path: str
    line: int
    command: str  # as in the file, number included
    message: str  # one sentence
    found: str = ""  # the expectation, or the answer to a command of the setup
    expected: str = ""  # what should stand there
    reason: str = ""  # why the right answer is right


class OracleAnswer(NamedTuple):
    """A test, and what the oracle knows of it."""

    step: Step
    right: Reply
    readings: tuple[str, ...] | None  # the answers under each reading, where they differ
    why_open: str  # or why the document leaves the answer open without readings
    choices: tuple[str, ...]  # of genmove: the moves that are right, at least one; else none
    is_free: bool  # an engine's own choice has led here: other engines are elsewhere
    reason: str  # the oracle's explanation


class Verified(NamedTuple):
    """The result for some case files."""

    files: int
    tests: int
    unchecked: int  # tests of settings, and of commands that the assignment does not define
    findings: tuple[CaseFinding, ...]  # in the order of the files and lines
