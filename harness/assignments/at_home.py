"""Command lines with which a student repeats the tests at home, in the submitted folder."""

from __future__ import annotations

import shlex
from typing import NamedTuple

from harness import shipped
from harness.assignments.assignment import Assignment
from harness.options import GTP
from harness.records import Repeat


class AtHome(NamedTuple):
    """Command lines, to be run in the submitted folder."""

    folder: str  # its name
    beside: str  # the course's folder that must lie beside it; "": none
    check: str  # all public tests, and what else is looked at
    repeat: Repeat  # of single tests; empty: only ``check`` can start the program
    all_tests: str  # "" likewise, or where the case files do not ship

    @property
    def single(self) -> Repeat:
        """How to repeat single tests with the shipped case files alone."""
        return self.repeat if self.all_tests else Repeat()


def at_home(assignment: Assignment) -> AtHome:
    """Return how the public tests of an assignment are repeated."""
    is_shipped = assignment.place == shipped.folder() / assignment.key
    repeat = Repeat(_start(assignment), shipped=assignment.key if is_shipped else "")
    tests = f"{repeat.start} @{assignment.key}/{shipped.PUBLIC}"
    return AtHome(
        assignment.archive.folder,
        assignment.engine.overlay,
        f"gtp-harness check --assignment {shlex.quote(assignment.key)}",
        repeat,
        tests if repeat.start and is_shipped else "",
    )


def _start(assignment: Assignment) -> str:
    """Return the beginning of a command line that runs tests.

    It is "" where the program needs an adapter, is built first, or has other words than the tests:
    only ``check`` does that.
    """
    if assignment.adapter or assignment.build or assignment.translate:
        return ""
    first, *others = shlex.split(assignment.engine.command.replace("{python}", "python3"))
    words = [first.replace("{folder}/", "./"), *(word.replace("{folder}/", "") for word in others)]
    program = shlex.join(word.replace("{folder}", ".") for word in words)
    options = ["--report"]
    if assignment.protocol != GTP:
        options.append(f"--protocol={assignment.protocol.replace(' ', '-')}")
    return f"gtp-harness run {' '.join(options)} {_quote(program)}"


def _quote(text: str) -> str:
    """Return a text as one word of a command line: in double quotes, as all shells have them."""
    return shlex.quote(text) if set(text) & set('"$`\\!') else f'"{text}"'
