"""The context that all steps of a check share."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from harness.assignments.assignment import Assignment
from harness.check.saying import CheckReporter


class CheckOptions(NamedTuple):
    """What is to be checked, and how."""

    source: Path  # a folder or an archive
    assignment: Assignment
    output: Path  # the folder the archive goes to
    overlay: Path | None = None  # the course's folder; None: looked for
    sandbox: str = "auto"
    jobs: int = 0
    python: str = ""  # the engine's, by its path; empty: the assignment's choice
    line: str = ""  # of the only test to be run, in the only public case file; "": all, and write
    live: bool = False  # draw how far the tests are


class CheckContext(NamedTuple):
    """Where one check is worked on."""

    wanted: CheckOptions
    room: Path  # a new folder, gone afterwards
    sayer: CheckReporter

    @property
    def assignment(self) -> Assignment:
        """Return the assignment."""
        return self.wanted.assignment

    @property
    def stage(self) -> Path:
        """Return the folder with all that the engine sees."""
        return self.room / "stage"

    @property
    def made(self) -> Path:
        """Return the archive to be submitted."""
        return self.wanted.output / self.assignment.archive.name
