"""Whether an engine has answered a whole script as the reference did: nearly always, and cheaply.

No state is followed here. Where anything differs, :mod:`~harness.fuzzing.by_reference` follows
the conversation and sees whether that is wrong.
"""

from __future__ import annotations

from harness.declared.declaration import CHOOSES, Declaration, DeclaredCommand
from harness.declared.following import ConversationState
from harness.declared.reference import ReferenceProgram
from harness.engine.protocols import find_protocol
from harness.fuzzing.relay import Answered
from harness.judging.equivalence import same
from harness.records import Reply
from harness.running import protocol_facts
from harness.specifications.record import Specification
from harness.vocabulary.script import Trace, name_of

_REMEMBERED = 20_000  # pairs of replies, commands


class _Plays(dict[str, DeclaredCommand | None]):
    """The declarations of commands that choose and play, by whole commands; None for others."""

    def __init__(self, declaration: Declaration) -> None:
        super().__init__()
        self._plays = {one.name: one for one in declaration.commands if one.plays}

    def __missing__(self, command: str) -> DeclaredCommand | None:
        if len(self) >= _REMEMBERED:
            self.clear()
        found = self[command] = self._plays.get(name_of(command))
        return found


class Likeness:
    """Compares with one reference."""

    def __init__(self, specification: Specification, reference: ReferenceProgram) -> None:
        self._specification = specification
        self._reference = reference
        declaration = reference.declaration
        self._spoken = find_protocol(declaration.game.protocol)
        self._plays = _Plays(declaration)
        self._chooses = {one.name for one in declaration.commands if one.kind == CHOOSES}
        self._state = ConversationState(declaration)
        self._known: dict[tuple[str, str, str], bool] = {}
        self._clean: set[str] = set()  # replies that keep to the protocol

    def list_asked_commands(self, trace: Trace) -> tuple[str, ...]:
        """Return a script as the reference is asked it: with the moves that the engine chose."""
        commands, plays, replies = trace.script.commands, self._plays, trace.replies
        found = [index for index, command in enumerate(commands) if plays[command]]
        if not found:
            return commands
        told = list(commands)
        for index in found:
            got = replies[index] if index < len(replies) else None
            told[index] = self._move(commands[index], got) or commands[index]
        return tuple(told)

    def _move(self, command: str, got: Reply | None) -> str:
        """Return the command that plays what was chosen in reply to one; "" if none does.

        Where neither says whose move it is, it may be the wrong one: then the answers are not
        alike.
        """
        declared = self._plays[command]
        if declared is None or got is None or self._is_no_move(declared, got):
            return ""
        return self._state.as_move(command, got.text)

    def _is_no_move(self, declared: DeclaredCommand, got: Reply) -> bool:
        is_none = bool(declared.keeps) or got.text in declared.instead
        return is_none or self._reference.program.refuses(got)

    def is_alike(self, answered: Answered) -> bool:
        """Whether all answers are right if those of the reference are."""
        trace = answered.heard.trace
        if trace.failure or trace.has_surplus:
            return False
        rows = zip(
            trace.script.commands, answered.said, answered.right, trace.replies, strict=True
        )
        clean = self._clean
        for command, said, right, got in rows:
            # By their places, and not their names: there are millions of them.
            is_equal = said is command and right[2] == got[2] and got[2] in clean
            if (not is_equal or got[4]) and not self._is_right(command, said, right, got):
                return False
        return True

    def _is_right(self, command: str, said: str, right: Reply, got: Reply) -> bool:
        if said != command and self._reference.program.refuses(right):
            return False  # a move that the reference does not play
        key = command, right.raw if said == command else "", got.raw
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
                self._clean.clear()
            is_same = said != command or self._is_same(command, right, got)
            found = self._known[key] = is_same and self._is_clean(command, got)
        if found and right.raw == got.raw:
            self._clean.add(got.raw)
        return found and not got.invalid

    def _is_same(self, command: str, right: Reply, got: Reply) -> bool:
        if name_of(command) in self._chooses:
            return right.raw == got.raw
        return same(command, right, got, self._specification)

    def _is_clean(self, command: str, got: Reply) -> bool:
        """Whether a reply keeps to the protocol, if nothing comes before it."""
        return not protocol_facts.warnings([protocol_facts.own_step(command)], [got], self._spoken)
