"""Command lines with which a student repeats the tests at home."""

from __future__ import annotations

import shlex
from typing import NamedTuple

from harness import shipped
from harness.assignments.assignment import Assignment
from harness.records import Repeat

TEST = "--test"  # the option of ``check`` that names a test


class AtHome(NamedTuple):
    """Command lines, to be run in the submitted folder or in the one above it."""

    folder: str  # the submitted one's name
    beside: str  # the course's folder that must lie beside it; "": none
    check: str  # all public tests, and what else is looked at
    repeat: Repeat  # of single tests
    is_shipped: bool  # the assignment, so that its name is enough


def at_home(assignment: Assignment) -> AtHome:
    """Return how the public tests of an assignment are repeated."""
    command = f"gtp-harness check --assignment {shlex.quote(assignment.key)}"
    is_shipped = assignment.place == shipped.folder() / assignment.key
    folder, beside = assignment.archive.folder, assignment.engine.overlay
    return AtHome(folder, beside, command, Repeat(command, test=TEST), is_shipped)
