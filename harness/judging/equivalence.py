"""Answers that the specification treats as the same: the forms of a right answer. Pure.

A :class:`~harness.specifications.record.Specification` says for each command in which
:class:`~harness.vocabulary.answer_forms.AnswerForm` its right answer may be written.

A command that the document does not define is judged by nobody: its answer is *not exact*, and
every answer to it is the same. An error is an error, whatever its text.
"""

from __future__ import annotations

from contextlib import suppress

from harness.records import Reply
from harness.vocabulary.answer_forms import EXACT, MOVE, SETTING, UNDEFINED, AnswerForm, is_a_move
from oracle.errors import OracleError
from oracle.gtp.protocol import Engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from harness.specifications.record import Specification


def same(command: str, right: Reply, got: Reply, specification: Specification) -> bool:
    """Return whether the specification accepts ``got`` where the oracle answers ``right``."""
    form = _form(command, right.text, specification)
    if form is UNDEFINED:
        return True
    if not (right.ok and got.ok):
        return right.ok is got.ok
    return form.normal(right.text) == form.normal(got.text)


def expression(command: str, right: Reply, specification: Specification) -> str:
    """Return the expression for a ``#? [...]`` line that accepts what the specification accepts.

    Raises :class:`ValueError` where the right answer is an error: no expectation accepts one.
    """
    if not right.ok:
        raise ValueError(f"the right answer to {command!r} is an error: {right.text}")
    return _form(command, right.text, specification).expression(right.text)


def forms(command: str, right: Reply, specification: Specification) -> tuple[str, ...]:
    """Return sample texts that the specification accepts, the oracle's own first."""
    samples = _form(command, right.text, specification).samples(right.text)
    return tuple(dict.fromkeys(samples))


def is_exact(command: str, specification: Specification) -> bool:
    """Return whether the position determines the answer.

    It does not for ``genmove``, whose choice is free (though ``pass`` and ``resign`` are not), for
    settings, whose answer nobody reads, and for what the assignment does not define.
    """
    return _find_form(command, specification).is_exact


def is_judged(command: str, specification: Specification) -> bool:
    """Return whether the assignment calls some answers right and some wrong, errors aside.

    It does not for settings, nor for commands that it does not define.
    """
    return _find_form(command, specification) not in (SETTING, UNDEFINED)


def is_underspecified(engine: Engine, command: str) -> bool:
    """Return whether the document leaves open what an oracle's engine answers to a command now."""
    with suppress(OracleError):
        return engine.readings(command).is_open
    return False


def _form(command: str, text: str, specification: Specification) -> AnswerForm:
    form = _find_form(command, specification)
    return EXACT if form is MOVE and not is_a_move(text) else form


def _find_form(command: str, specification: Specification) -> AnswerForm:
    words = command.split()
    table = specification.forms
    if words[:1] == ["known_command"]:  # nobody can tell what else an engine knows
        return EXACT if words[1:] and words[1] in table else UNDEFINED
    return table.get(words[0], UNDEFINED) if words else UNDEFINED
