"""What of a submission is to be run, and who is told of it. All immutable."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from harness.grading.records import Submission
from harness.records import CaseFile
from harness.work.worker_events import AttemptEvent


class Task(NamedTuple):
    """A case file to be run."""

    basis: str
    case: CaseFile  # by its real path
    content: bytes = b""  # of the case file


class GradingUnit(NamedTuple):
    """A submission with what is to be run of it."""

    submission: Submission
    archive: Path  # the bytes handed in
    build: str  # the basis of its build
    tasks: tuple[Task, ...]
    spent: float = 0.0  # seconds of its budget


class GradingListener(Protocol):
    """What is told of a grading while it lasts."""

    def on_word(self, unit: GradingUnit, word: AttemptEvent) -> None:
        """Take in what a worker says."""

    def on_time(self, under_way: Sequence[GradingUnit]) -> None:
        """Take note that time goes by; called several times a second, between two words."""


class Unheard:
    """A listener that keeps all to itself."""

    def on_word(self, unit: GradingUnit, word: AttemptEvent) -> None:
        """Do nothing."""

    def on_time(self, under_way: Sequence[GradingUnit]) -> None:
        """Do nothing."""
