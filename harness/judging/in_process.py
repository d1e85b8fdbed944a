"""Case files put to engines in this process, and recognized by their commands."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from harness.reading.casefile import dialect_of
from harness.reading.dialect import Dialect
from harness.records import CaseFile, Step, Verdict
from harness.specifications import NAMES, specification
from harness.specifications.record import Specification, reply_of
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
    for step in steps:
        raw = answer(engine, step.text)
        yield step, raw
        if isinstance(raw, Breakdown) or not engine.session.running:
            return


def answer(engine: Engine, text: str) -> str | Breakdown:
    """Return an engine's raw reply to a line, or how it breaks down."""
    try:
        return engine.handle(text)
    except Breakdown as how:
        return how
    except Exception as error:  # noqa: BLE001 - a mistaken program may fail in any way
        return Crash(repr(error))


def failing_lines(case: CaseFile, engine: Engine, dialect: Dialect) -> set[int]:
    """Return the lines of the tests that the engine fails.

    When it breaks down, that is the test under way or the next one.
    """
    dialect = dialect_of(case, dialect)
    found = (find_failed(case, step, raw, dialect) for step, raw in answers(case, engine))
    return {line for lines in found for line in lines}


def find_failed(
    case: CaseFile, step: Step, raw: str | Breakdown, dialect: Dialect
) -> Collection[int]:
    """Return the line of the test, if any, that an engine fails by what it does at a step."""
    if isinstance(raw, Breakdown):
        return _first_test(case, step)
    if step.is_test and dialect.verdict(step.pattern, reply_of(raw)) is Verdict.FAILED:
        return (step.line,)
    return ()


def _first_test(case: CaseFile, step: Step) -> set[int]:
    """Return the line of the first test from a step on, if there is one."""
    return set([t.line for t in case.steps if t.is_test and t.line >= step.line][:1])


def folder_of(case: CaseFile) -> str:
    """Return where an engine of a run would be started: in the folder of the case file."""
    return str(Path(case.path).parent)


# --- The specification of a case file, recognized by its commands. Pure --------------------------


def specifications_of(case: CaseFile) -> tuple[Specification, ...]:
    """Return those that a file may belong to, the likeliest first; none is a stranger.

    The likeliest is the one of whose commands the file has most, and then come its relatives: a
    file about the policy may show mistakes in the rules as well.
    """
    commands = {step.command for step in case.steps}
    known = {name: _signs(specification(name), commands) for name in NAMES}
    found = {name for name, count in known.items() if count}
    found -= {other for name in found for other in specification(name).relatives}
    if not found:
        return ()
    likeliest = specification(max(found, key=lambda name: known[name]))
    return likeliest, *map(specification, likeliest.relatives)


def _signs(one: Specification, commands: set[str]) -> int:
    return sum(re.fullmatch(one.signs, command) is not None for command in commands)
