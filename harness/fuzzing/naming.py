"""Which mistake it is: of several that explain a finding, the one that explains most besides."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random

import hypothesis
from hypothesis.errors import NoSuchExample
from hypothesis.strategies import SearchStrategy

from harness.assignments import assignment as assignments
from harness.assignments.sets import THOROUGH
from harness.fuzzing.causes import explains, heard_from
from harness.fuzzing.engines import Program
from harness.fuzzing.script import Script, Trace, legal
from harness.fuzzing.search import DRAW
from harness.reading import casefile, suite
from oracle.mistakes import MISTAKES, Mistake

_DRAW = hypothesis.settings(DRAW, max_examples=400)
_FILES = ("load_board", "is_valid")  # commands that name files, which a script would have to bring


class Namer:
    """Names mistakes, and asks the engine what those that look alike would answer differently."""

    def __init__(
        self, program: Program, assignment: str, strategy: SearchStrategy[Script], folder: Path
    ) -> None:
        """Take an engine; ``strategy``: of what it may be asked; ``folder``: that of its files."""
        self._program = program
        self._assignment = assignment
        self._strategy = strategy
        self._folder = folder

    def explaining(self, trace: Trace, others: Iterable[Trace]) -> tuple[Mistake, ...]:
        """Return the mistakes that explain a trace; of several, those that explain most others."""
        own = [one for one in MISTAKES.values() if one.assignment == self._assignment]
        settled = [one for one in own if not one.is_open]
        found = [one for one in settled if explains(one, trace, self._folder)]
        return self._told_apart(found, list(others)) if len(found) > 1 else tuple(found)

    def _told_apart(self, mistakes: list[Mistake], heard: list[Trace]) -> tuple[Mistake, ...]:
        left = self._ranked(mistakes, heard)
        asked: set[Mistake] = set()
        while others := [one for one in left[1:] if one not in asked]:
            asked.add(others[0])
            if script := self._telling_apart(left[0], others[0]):
                self._program.renew()
                heard.append(self._program.answer(script))
                left = self._ranked(left, heard)
        return left

    def _ranked(self, mistakes: Iterable[Mistake], traces: Sequence[Trace]) -> tuple[Mistake, ...]:
        """Return those of the mistakes that explain most of the traces, in their order."""
        told = {
            one: sum(explains(one, trace, self._folder) for trace in traces) for one in mistakes
        }
        most = max(told.values(), default=0)
        return tuple(one for one, count in told.items() if count == most)

    def _telling_apart(self, one: Mistake, other: Mistake) -> Script | None:
        """Return a script that two mistakes answer differently: of what ships, or drawn."""

        def differs(script: Script) -> bool:
            return not explains(other, heard_from(one, script, self._folder), self._folder)

        shipped = (script for script in shipped_scripts(self._assignment) if differs(script))
        return next(shipped, None) or self._drawn(differs)

    def _drawn(self, differs: Callable[[Script], bool]) -> Script | None:
        def made_legal(drawn: Script) -> Script:
            return legal(drawn, self._assignment, self._folder)

        with contextlib.suppress(NoSuchExample):
            strategy = self._strategy.map(made_legal)
            return hypothesis.find(strategy, differs, settings=_DRAW, random=Random(0))
        return None


def shipped_scripts(assignment: str) -> Iterator[Script]:
    """Yield the case files that ship for an assignment, which tell all mistakes apart."""
    found = assignments.find(assignment)
    paths = [*map(str, found.public_cases()), *suite.expand([str(found.place / THOROUGH)])]
    for path in paths:
        commands = tuple(step.command for step in casefile.read(path).steps)
        if not any(command.startswith(_FILES) for command in commands):
            yield Script(commands)
