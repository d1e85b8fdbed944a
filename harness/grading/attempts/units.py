"""The attempts with one submission, and the listeners to their results. All immutable."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from harness.grading.records import Submission
from harness.records import CaseFile
from harness.work.worker_events import AttemptEvent, ProgressEvent


class Task(NamedTuple):
    """A case file to run."""

    basis: str
    case: CaseFile  # by its real path
    content: bytes = b""  # of the case file
    machine: str = ""  # of a cluster, where it was run before


class GradingUnit(NamedTuple):
    """A submission with its case files to run."""

    submission: Submission
    archive: Path  # the submitted bytes
    build: str  # the basis of its build
    tasks: tuple[Task, ...]
    spent: float = 0.0  # seconds of its budget
    hung: tuple[str, ...] = ()  # as of a :class:`~harness.work.records.WorkUnit`
    patient: tuple[str, ...] = ()  # the same
    why: str = ""  # it is run alone; empty: it is not


class GradingListener(Protocol):
    """A listener to the events of a grading."""

    def on_word(self, unit: GradingUnit, word: AttemptEvent) -> None:
        """Take in what a worker says."""

    def on_progress(self, unit: GradingUnit, word: ProgressEvent) -> None:
        """Take note of what runs now; where engines run elsewhere, nothing is told of it."""

    def on_time(self, under_way: Sequence[GradingUnit]) -> None:
        """Take note that time goes by; called several times a second, between two words."""


class Unheard:
    """A listener that ignores all events."""

    def on_word(self, unit: GradingUnit, word: AttemptEvent) -> None:
        """Do nothing."""

    def on_progress(self, unit: GradingUnit, word: ProgressEvent) -> None:
        """Do nothing."""

    def on_time(self, under_way: Sequence[GradingUnit]) -> None:
        """Do nothing."""
