"""Reasons for right answers: the oracle is sent the same commands and asked for them.

What the engine chose (``genmove``) is played to the oracle as a move; all else is sent to it as
it stands in the case file, whatever the engine made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress

from harness.errors import UndecidedError
from harness.reading.casefile import dialect_of
from harness.reading.dialect import find_dialect
from harness.records import FileResult, Reply, Step, Verdict
from oracle.draw import Diagram
from oracle.errors import OracleError
from oracle.explanation import Explanation
from oracle.gtp.protocol import Engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.specifications.record import Specification

_CHOSEN = ("resign", "pass")
_NO_BOARDS: Mapping[int, Diagram] = {}

Reasons = dict[int, Explanation]


def explain_agreed(
    file: FileResult,
    steps: Collection[int],
    specification: Specification,
    boards: Mapping[int, Diagram],
) -> Reasons:
    """Return the reasons of the tests whose expectation the oracle's own answer meets.

    ``boards``: as far as they are known. An engine that refused a command has another one than the
    oracle, whose reason would be about what nobody sees.
    """
    from harness.specifications.record import reply_of

    dialect = dialect_of(file.case, find_dialect("gogui"))

    def holds(step: Step, answer: str) -> bool:
        with suppress(UndecidedError):
            return dialect.verdict(step.pattern, reply_of(answer)) is Verdict.PASSED
        return False

    return reasons(file, steps, specification, holds, boards)


def reasons(
    file: FileResult,
    steps: Collection[int],
    specification: Specification,
    holds: Callable[[Step, str], bool] = lambda *_: True,
    boards: Mapping[int, Diagram] = _NO_BOARDS,
) -> Reasons:
    """Return for some steps the reason of the right answer, and what it marks on the board.

    ``holds``: says of a step and the oracle's answer to it whether its reason is wanted.
    ``boards``: by step; the oracle's must be alike. Steps whose command needs no reason, or whose
    position the oracle cannot follow, are missing.
    """
    from harness.judging.in_process import folder_of

    engine = specification.reference_engine(folder_of(file.case))
    found: Reasons = {}
    last = max(steps, default=0)
    for index, (step, reply) in enumerate(zip(file.case.steps, file.replies, strict=True)):
        seen = boards.get(index)
        is_alike = seen is None or seen.position == engine.session.game.position
        if index in steps and is_alike:
            why = explanation(engine, step.command)
            if why:
                found[index] = why
        if index < last or index in found:
            answer = engine.handle(_as_played(step, reply))
            if index in found and not holds(step, answer):
                del found[index]
            if answer.startswith("?") and _is_loaded(step, reply, specification):
                break
    return found


def _is_loaded(step: Step, reply: Reply | None, specification: Specification) -> bool:
    """Whether the engine read a file. Without it, nobody can say what is right from there on."""
    properties = specification.commands[step.command.partition(" ")[0]]
    return properties.loads and reply is not None and reply.ok


def _as_played(step: Step, reply: Reply | None) -> str:
    words = step.command.split()
    if words[:1] != ["genmove"]:
        return step.command
    if reply is None or not reply.ok or reply.text.lower() in _CHOSEN:
        return "#"
    return f"play {' '.join(words[1:2])} {reply.text}"


def explanation(engine: Engine, command: str) -> Explanation | None:
    """Return why an answer of the oracle's is right; None if it explains none, or refuses."""
    with suppress(OracleError):
        return engine.explain(command)
    return None


def reason(engine: Engine, command: str) -> str:
    """Return the same in words; ``""`` for none."""
    found = explanation(engine, command)
    return found.text if found else ""


def mark_boards(boards: Mapping[int, Diagram], why: Reasons) -> dict[int, Diagram]:
    """Return boards by step with the marks of the reasons on them, where there are any."""
    return {
        step: _with_marks(board, why[step]) if step in why else board
        for step, board in boards.items()
    }


def _with_marks(diagram: Diagram, why: Explanation) -> Diagram:
    return diagram.with_marks(dict(sorted(why.labels)))  # from the first row on, as it is read
