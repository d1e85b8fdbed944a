"""Differences between an engine and the truth: judges, and the ways in which answers differ. Pure.

Judges: :mod:`~harness.fuzzing.by_oracle` and :mod:`~harness.fuzzing.by_reference`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from harness.fuzzing.batch_judging import ScriptSearch
from harness.records import FailureKind, Reply
from harness.specifications.record import Specification
from harness.vocabulary.script import Script, Trace, name_of

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")

HANG = "hang"
BREAKDOWNS = {FailureKind.DIED: "crash", FailureKind.TIMEOUT: HANG}
PROTOCOL = "protocol"
SURPLUS = "too many replies"

Shows = Callable[[Script], bool]  # whether a script shows something


class WrongReply(NamedTuple):
    """One answer that the specification does not accept."""

    at: int  # index of the command in the script
    command: str
    kind: str  # in what way the answers differ; or crash, hang …
    right: str  # what the oracle answers, an error as "? …"
    got: str  # what the engine answered, or how it broke

    @property
    def signature(self) -> tuple[str, str]:
        """What differences of one unknown cause have in common."""
        return "" if self.kind == SURPLUS else name_of(self.command), self.kind


class Drawing(NamedTuple):
    """How conversations are drawn."""

    known: frozenset[str]  # commands beyond the assignment's that the engine says it knows
    length: int  # what a game has of stones, lines, questions and the like, at most
    seed: int = 0  # what is drawn depends on it
    most: int = 100  # scripts


class Expected(NamedTuple):
    """One command of a case file."""

    command: str
    expression: str | None  # of right replies; None: any reply but an error will do
    is_test: bool
    refused: str = ""  # the status line of the right reply, if it refuses and has one


class ReplyJudge(Protocol):
    """Who knows what may be said to an engine, and which of its answers are wrong.

    Attributes: ``folder``, in which the files lie that scripts name.
    """

    specification: Specification
    folder: Path

    def look(self, looking: ScriptSearch, drawing: Drawing) -> None:
        """Draw scripts until the search finds something in one."""

    def draw(self, shows: Shows, drawing: Drawing) -> Script | None:
        """Draw scripts until one shows something, and return that."""

    def cut_to_allowed(self, script: Script) -> Script:
        """Return a script without what may not be said, or has no answer that is known right."""

    def find_wrong_answers(self, trace: Trace) -> Iterator[WrongReply]:
        """Yield wrong answers and engine failures while the game can be followed."""

    def ways(self, trace: Trace, at: int) -> Iterable[Script]:
        """Return scripts that may show what an answer of a trace does, the clearest first.

        To an engine that chooses otherwise each time, some say the same where its script does not.
        """

    def expectations(self, script: Script) -> Iterator[Expected]:
        """Yield the script's commands as a case file has them; the last one is a test.

        Where no case file could expect its right answer, questions that follow are the tests.
        """

    def picture(self, script: Script) -> tuple[str, str]:
        """Return the board before the last command, and why its answer is right; "" if unknown."""


def differences(trace: Trace, judge: ReplyJudge) -> Iterator[WrongReply]:
    """Yield the engine's errors, up to where the game can no longer be followed."""
    yield from judge.find_wrong_answers(trace)
    if trace.has_surplus:
        last = max(0, len(trace.replies) - 1)
        got = "it sent more replies than it got commands"
        yield WrongReply(last, trace.script.commands[last], SURPLUS, "one reply", got)


def breakdown(trace: Trace, right: Reply) -> WrongReply:
    """Return how an engine failed where it should have given a reply."""
    failure, index = trace.failure, len(trace.replies)
    assert failure is not None
    kind = BREAKDOWNS.get(failure.kind, failure.kind.value)
    return WrongReply(index, trace.script.commands[index], kind, text_of(right), failure.message)


def text_of(reply: Reply) -> str:
    """Return a reply as people see it, an error as ``? …``."""
    return reply.text if reply.ok else f"? {reply.text}"


# --- kinds -------------------------------------------------------------------------------------


def kind(right: Reply, got: Reply) -> str:
    """Say in what way two answers differ, so that those of one cause are alike."""
    if right.ok is not got.ok:
        return "an error" if right.ok else "no error"
    one, other = right.text.lower(), got.text.lower()
    if {one, other} == {"true", "false"}:
        return f"{other} for {one}"
    if _words(one) == _words(other):
        return "written otherwise"
    return _numbers(one, other) or _lists(one.split(), other.split())


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9+-]+", text)


def _numbers(right: str, got: str) -> str:
    """Compare texts that differ in one number; ``""`` for others."""
    found = [_NUMBER.search(text) for text in (right, got)]
    if not all(found) or _NUMBER.sub("", right, count=1) != _NUMBER.sub("", got, count=1):
        return ""
    one, other = (float(match[0]) for match in found if match)
    return "written otherwise" if one == other else "too low" if other < one else "too high"


def _lists(right: list[str], got: list[str]) -> str:
    if sorted(right) == sorted(got):
        return "another order"
    if set(right) == set(got):
        return "another number of times"
    if len(right) < 2 and len(got) < 2:
        return f"{' '.join(got) or 'nothing'} for {' '.join(right) or 'nothing'}"
    if set(got) < set(right):
        return "something missing"
    return "something too much" if set(right) < set(got) else "another answer"
