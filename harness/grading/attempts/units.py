"""Units of work, and what is told of them while they are done. All immutable.

A unit travels to a worker process, and its words back to the parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from harness.grading.ledger.canonical_json import Figures
from harness.grading.records import Submission
from harness.records import Build, CaseFile


class Task(NamedTuple):
    """A case file to be run."""

    basis: str
    case: CaseFile  # by its real path


class Unit(NamedTuple):
    """A submission with what is to be run of it."""

    submission: Submission
    archive: Path  # the bytes handed in
    build: str  # the basis of its build
    tasks: tuple[Task, ...]
    spent: float = 0.0  # seconds of its budget


class Built(NamedTuple):
    """A worker's word that the build steps were done."""

    basis: str
    build: Build
    seconds: float


class Done(NamedTuple):
    """A worker's word that a case file was run."""

    basis: str
    result: str  # JSON
    figures: Figures
    failed: bool  # something is wrong with the submission
    doubtful: bool  # it is to be run again, alone


class Broke(NamedTuple):
    """A worker's word that the harness broke."""

    basis: str
    message: str


Word = Built | Done | Broke


class Listener(Protocol):
    """What is told of a grading while it lasts."""

    def on_word(self, unit: Unit, word: Word) -> None:
        """Take in what a worker says."""

    def on_time(self, under_way: Sequence[Unit]) -> None:
        """Take note that time goes by; called several times a second, between two words."""


class Unheard:
    """A listener that keeps all to itself."""

    def on_word(self, unit: Unit, word: Word) -> None:
        """Do nothing."""

    def on_time(self, under_way: Sequence[Unit]) -> None:
        """Do nothing."""
