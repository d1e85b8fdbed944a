"""The name of a mistake: of several that explain a finding, the one that explains most others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from harness.assignments import assignment as assignments
from harness.assignments.sets import THOROUGH
from harness.fuzzing.causes import Causes, explains, run_mistake
from harness.fuzzing.fuzzed_engine import FuzzedProgram
from harness.fuzzing.reply_judge import Drawing
from harness.judging.diagnosis import TOO_MANY
from harness.reading import casefile, suite
from harness.specifications.record import Specification
from harness.vocabulary.script import Script, Trace
from oracle.mistakes import Mistake

_DRAWN = 400  # scripts at most that are to tell two mistakes apart
_FILES = ("load_board", "is_valid")  # commands that name files, which a script would have to bring


class Namer:
    """Names mistakes, and asks the engine what those that look alike would answer differently."""

    def __init__(self, program: FuzzedProgram, causes: Causes, drawing: Drawing) -> None:
        """Take an engine; ``drawing``: of what it may be asked."""
        self._program = program
        self._causes = causes
        self._drawing = drawing
        self._folder = causes.judge.folder

    def explaining(self, trace: Trace, others: Iterable[Trace]) -> tuple[Mistake, ...]:
        """Return the mistakes that explain a trace; of several, those that explain most others.

        None where so many are left that to name one would be to guess.
        """
        settled = self._causes.specification.settled_mistakes
        found = tuple(one for one in settled if self._explains(one, trace))
        left = self._tell_apart(list(found), list(others)) if len(found) > 1 else found
        return left if len(left) < TOO_MANY else ()

    def _tell_apart(self, mistakes: list[Mistake], heard: list[Trace]) -> tuple[Mistake, ...]:
        """Return those that explain most; while several do, the engine is asked what tells."""
        left = self._rank(mistakes, heard)
        asked: set[Mistake] = set()
        while others := [one for one in left[1:] if one not in asked]:
            asked.add(others[0])
            if script := self._telling_apart(left[0], others[0]):
                self._program.renew()
                heard.append(self._program.answer(script))
                left = self._rank(left, heard)
        return left

    def _rank(self, mistakes: Iterable[Mistake], traces: Sequence[Trace]) -> tuple[Mistake, ...]:
        """Return those of the mistakes that explain most of the traces, in their order."""
        told = {one: sum(self._explains(one, trace) for trace in traces) for one in mistakes}
        most = max(told.values(), default=0)
        return tuple(one for one, count in told.items() if count == most)

    def _explains(self, mistake: Mistake, trace: Trace) -> bool:
        return explains(mistake, trace, self._causes.specification, self._folder)

    def _telling_apart(self, one: Mistake, other: Mistake) -> Script | None:
        """Return a script that two mistakes answer differently: of what ships, or drawn."""

        def differs(script: Script) -> bool:
            return not self._explains(other, run_mistake(one, script, self._folder))

        shipped = filter(differs, read_shipped_scripts(self._causes.specification))
        drawn = self._drawing._replace(most=_DRAWN)
        return next(shipped, None) or self._causes.judge.draw(differs, drawn)


def read_shipped_scripts(specification: Specification) -> Iterator[Script]:
    """Yield the case files that ship for an assignment, which tell all mistakes apart."""
    found = assignments.find(specification.key)
    paths = [*map(str, found.public_cases()), *suite.expand([str(found.place / THOROUGH)])]
    for path in paths:
        commands = tuple(step.command for step in casefile.read(path).steps)
        if not any(command.startswith(_FILES) for command in commands):
            yield Script(commands)
