"""Where an engine and the oracle differ. Pure.

The oracle is sent what the engine was sent, and follows it in what the specification leaves to
the engine: which move ``genmove`` chooses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from harness.judging.equivalence import same, underspecified
from harness.records import FailureKind, Reply
from harness.running import protocol
from harness.specifications.record import Specification
from harness.specifications.truth import reply_of
from harness.vocabulary.script import Script, Trace, name_of, with_files
from oracle.gtp.protocol import Engine
from oracle.natures import Nature

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_MOVE = re.compile(r"(?i)[a-hj-z][0-9]+")
_OTHERS = 2  # oracles that choose other moves than the engine

HANG = "hang"
BREAKDOWNS = {FailureKind.DIED: "crash", FailureKind.TIMEOUT: HANG}
PROTOCOL = "protocol"
SURPLUS = "too many replies"


class Difference(NamedTuple):
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


def differences(trace: Trace, specification: Specification, folder: Path) -> Iterator[Difference]:
    """Yield where the engine went wrong, up to where the oracle cannot follow it any more."""
    yield from _wrong_answers(trace, specification, folder)
    if trace.has_surplus:
        last = max(0, len(trace.replies) - 1)
        got = "it sent more replies than it got commands"
        yield Difference(last, trace.script.commands[last], SURPLUS, "one reply", got)


def _wrong_answers(
    trace: Trace, specification: Specification, folder: Path
) -> Iterator[Difference]:
    judge = _Judge(trace, specification)
    with with_files(trace.script, folder):
        for index, command in enumerate(trace.script.commands):
            if index == len(trace.replies):
                yield judge.breakdown(index)
                return
            if found := judge.difference(index, command):
                yield found
                # An engine that answers a question wrongly may still be right afterwards.
                if specification.commands[name_of(command)].sets_up:
                    return


class _Judge:
    """The oracle at work on one trace; the others differ from it in the moves they choose."""

    def __init__(self, trace: Trace, specification: Specification) -> None:
        self.trace = trace
        self.specification = specification
        self.engine = specification.right_engine()
        self.others: list[Engine] = []

    def breakdown(self, index: int) -> Difference:
        failure, command = self.trace.failure, self.trace.script.commands[index]
        assert failure is not None
        kind = BREAKDOWNS.get(failure.kind, failure.kind.value)
        right = _text(reply_of(self.engine.handle(command)))
        return Difference(index, command, kind, right, failure.message)

    def difference(self, index: int, command: str) -> Difference | None:
        got, nature = self.trace.replies[index], self._nature(command)
        if nature.sets_up and name_of(command) not in self.specification.forms and not got.ok:
            return None  # the assignment does not ask for it: what was done stays
        is_open = nature.sets_up and underspecified(self.engine, command)
        right = self._followed(command, got) if _plays_freely(nature) else self._answer(command)
        if breach := protocol.warnings([protocol.own_step(command)], [got]):
            return Difference(index, command, PROTOCOL, _text(right), breach[0])
        if is_open or self._accepts(command, right, got) or self._is_open(command, right):
            return None
        return Difference(index, command, kind(right, got), _text(right), _text(got))

    def _accepts(self, command: str, right: Reply, got: Reply) -> bool:
        """Whether an answer is right, or a case file could not say that it is wrong.

        It cannot where another move of ``genmove`` would have led to another right answer.
        """
        if _plays_freely(self._nature(command)):
            return right is got or (not _is_move(right) and self._same(command, right, got))
        if self._same(command, right, got):
            return True
        return not all(self._same(command, right, other) for other in self._other_answers)

    def _nature(self, command: str) -> Nature:
        return self.specification.commands[name_of(command)]

    def _same(self, command: str, right: Reply, got: Reply) -> bool:
        return same(command, right, got, self.specification)

    def _answer(self, command: str) -> Reply:
        self._other_answers = [reply_of(one.handle(command)) for one in self.others]
        return reply_of(self.engine.handle(command))

    def _is_open(self, command: str, right: Reply) -> bool:
        """Whether it was a question that the specification does not answer, or forbids."""
        if self._nature(command).sets_up:
            return False
        return not right.ok or underspecified(self.engine, command)

    def _followed(self, command: str, got: Reply) -> Reply:
        """Let the oracle play the engine's move, and return that; else what is right."""
        if not self.others:
            self.others = [self._other(seed) for seed in range(_OTHERS)]
        for one in self.others:
            one.handle(command)
        right = reply_of(self.engine.handle(command))
        if _is_move(right) and got.ok:
            self.engine.session.game.undo()
            if self.engine.handle(f"play {command.split()[1]} {got.text}") == "= \n\n":
                return got
        return right

    def _other(self, seed: int) -> Engine:
        """Return an oracle that has heard the same so far and chooses other moves."""
        engine = self.specification.right_engine()
        for command in self.trace.script.commands:
            if _plays_freely(self._nature(command)):
                break
            engine.handle(command)
        engine.session._random = Random(seed)
        return engine


def expectations(
    script: Script, specification: Specification, folder: Path
) -> Iterator[tuple[str, Reply | None]]:
    """Yield the script's commands with the oracle's replies; None where any reply will do."""
    engine = specification.right_engine()
    with with_files(script, folder):
        for command in script.commands:
            is_open = underspecified(engine, command)
            right = reply_of(engine.handle(command))
            yield command, None if is_open or not right.ok else right


def _plays_freely(nature: Nature) -> bool:
    """Whether a command plays a move of the engine's choice."""
    return nature.moves and nature.chooses


def _is_move(reply: Reply) -> bool:
    return reply.ok and _MOVE.fullmatch(reply.text) is not None


def _text(reply: Reply) -> str:
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
