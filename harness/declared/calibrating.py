"""A declaration put to the test before it judges anybody."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import NamedTuple

from harness.declared.observed import AskProgram, Observed, TrialDeclaration
from harness.declared.observing import Observer
from harness.declared.program_process import ProgramProcess, ProgramStart, conversation
from harness.declared.reference import find_unlisted_files
from harness.errors import EngineError
from harness.records import Reply


class TrialBudget(NamedTuple):
    """How long to try: whichever ends first; 0 means no limit."""

    seconds: float
    conversations: int

    def is_over(self, began: float, done: int) -> bool:
        """Whether nothing more is to be tried; ``began``: of ``time.monotonic()``."""
        late = bool(self.seconds) and time.monotonic() - began >= self.seconds
        return late or bool(self.conversations and done >= self.conversations)


def calibrate(
    tried: TrialDeclaration,
    reference: ProgramStart,
    engines: Mapping[str, ProgramStart],
    budget: TrialBudget,
    seed: int,
) -> Observed:
    """Try a declaration with its reference, new processes of that, and engines at hand by name.

    Raises:
        ReferenceFailedError: the reference does not answer.
        SandboxError: there is no such sandbox here.
    """
    began = time.monotonic()
    with ExitStack() as ends:
        fresh = ends.enter_context(_open_program(reference._replace(fresh=True)))
        heard = {
            name: ends.enter_context(_open_program(program)) for name, program in engines.items()
        }
        observer = Observer(tried, seed, fresh, heard)
        observer.seen.unfollowed = _find_unlisted_files(tried, reference)
        observer.begin()
        while not budget.is_over(began, observer.seen.conversations):
            observer.observe()
    return observer.seen


def _find_unlisted_files(tried: TrialDeclaration, reference: ProgramStart) -> list[str]:
    told = tried.declaration.reference
    return find_unlisted_files(reference.words, reference.folder, told.files if told else ())


@contextlib.contextmanager
def _open_program(program: ProgramStart) -> Iterator[AskProgram]:
    """Give what a program answers; fewer replies than commands where it breaks."""
    asked = ProgramProcess(program)

    def hear(commands: tuple[str, ...]) -> tuple[Reply, ...]:
        try:
            return tuple(asked.replies(conversation(commands, program.natures)))
        except EngineError:
            return asked.answered

    with contextlib.closing(asked):
        yield hear
