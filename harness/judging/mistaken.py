"""Case files put to engines in this process: the oracle's, right or with a mistake.

Nothing is started, so that a thousand tests meet dozens of mistakes in seconds. Engines read the
files that commands name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.reading.casefile import dialect_of
from harness.reading.dialect import Dialect
from harness.records import CaseFile, Step, Verdict
from harness.specifications.truth import reply_of
from oracle.gtp.protocol import Engine
from oracle.mistakes import Breakdown, Crash, Mistake, engine_with, mistaken_engine

_PLAYOUTS = 0  # any move of the policy will do; to find the best would only take time


def mutant_engine(mistake: Mistake) -> Engine:
    """Return the engine that makes a mistake."""
    return mistaken_engine(mistake, playouts=_PLAYOUTS)


def mutant(mistakes: Iterable[Mistake], assignment: str) -> Engine:
    """Return the engine for an assignment that makes all of some mistakes."""
    return engine_with(mistakes, assignment, playouts=_PLAYOUTS)


def answers(case: CaseFile, engine: Engine) -> Iterator[tuple[Step, str | Breakdown]]:
    """Yield each step with the engine's raw reply, as ``truth.reply_of`` reads it.

    It reads files where an engine of a run would. Where it breaks down, that comes instead, and
    nothing more is asked of it, nor after ``quit``.
    """
    return replay(case.steps, engine.in_folder(folder_of(case)))


def replay(steps: Iterable[Step], engine: Engine) -> Iterator[tuple[Step, str | Breakdown]]:
    """Yield the same for steps of a conversation, wherever the engine is."""
    handle = engine.handle
    for step in steps:
        try:
            raw = handle(step.text)
        except Breakdown as how:
            yield step, how
            return
        except Exception as error:  # noqa: BLE001 - a mistaken program may fail in any way
            yield step, Crash(repr(error))
            return
        yield step, raw
        if not engine.session.running:
            return


def failing_lines(case: CaseFile, engine: Engine, dialect: Dialect) -> set[int]:
    """Return the lines of the tests that the engine fails.

    When it breaks down, that is the test under way or the next one.
    """
    failed: set[int] = set()
    dialect = dialect_of(case, dialect)
    for step, raw in answers(case, engine):
        if isinstance(raw, Breakdown):
            return failed | _first_test(case, step)
        if step.is_test and dialect.verdict(step.pattern, reply_of(raw)) is Verdict.FAILED:
            failed.add(step.line)
    return failed


def _first_test(case: CaseFile, step: Step) -> set[int]:
    """Return the line of the first test from a step on, if there is one."""
    return set([t.line for t in case.steps if t.is_test and t.line >= step.line][:1])


def folder_of(case: CaseFile) -> str:
    """Return where an engine of a run would be started: in the folder of the case file."""
    return str(Path(case.path).parent)
