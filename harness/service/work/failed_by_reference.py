"""Tests that the reference fails, with what it answers instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.escaping import one_line
from harness.judging import mistaken
from harness.reading import expectation
from harness.records import CaseFile, Step
from harness.specifications.record import Specification
from harness.specifications.truth import reply_of
from oracle.gtp.protocol import Engine
from oracle.mistakes import Breakdown

_LONGEST = 200  # characters of an answer


class WrongTest(NamedTuple):
    """A test that the reference fails."""

    line: int
    id: int  # -1: none
    command: str
    expected: str  # in words
    answer: str  # of the reference, in words


def list_wrong_tests(
    case: CaseFile, lines: Sequence[int], specification: Specification
) -> tuple[WrongTest, ...]:
    """Return the tests in these lines of a case file, with what the reference answers.

    Those of a command that it does not know are left out: it says nothing of them.
    """
    if not lines:
        return ()
    engine = specification.reference_engine()
    answers = {step.line: _in_words(raw) for step, raw in mistaken.answers(case, engine)}
    steps = [step for step in case.steps if step.line in lines and _is_known(engine, step)]
    return tuple(_describe(step, answers.get(step.line, "nothing")) for step in steps)


def _is_known(engine: Engine, step: Step) -> bool:
    name = step.command.partition(" ")[0]
    return reply_of(engine.handle(f"known_command {name}")).text == "true"


def _describe(step: Step, answer: str) -> WrongTest:
    expected = expectation.in_a_sentence(step.pattern)
    return WrongTest(step.line, step.id, one_line(step.command, _LONGEST), expected, answer)


def _in_words(raw: str | Breakdown) -> str:
    if isinstance(raw, Breakdown):
        return "nothing"
    reply = reply_of(raw)
    text = one_line(reply.text, _LONGEST)
    return f"'{text}'" if reply.ok else f"the error '{text}'"
