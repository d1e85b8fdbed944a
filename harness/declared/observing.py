"""A declaration tried: the reference, its own new processes and other engines, and what they say.

What is asked is drawn (:mod:`~harness.declared.conversation_drawing`); changes of it are those of
:mod:`~harness.declared.reference_probes`. What is seen is counted
(:mod:`~harness.declared.observed`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from random import Random

from harness.declared.conversation_drawing import Drawer
from harness.declared.declaration import ASKS, CHOOSES, MOVES, Declaration, DeclaredCommand
from harness.declared.engine import ReferenceEngine
from harness.declared.engine_choices import accepts
from harness.declared.following import ConversationState
from harness.declared.observed import (
    AskProgram,
    Observed,
    ObservedExchange,
    ObservedQuestion,
    ReplyPair,
    TrialDeclaration,
)
from harness.declared.reference_probes import Prober
from harness.declared.refusing import refuses
from harness.judging.equivalence import same
from harness.records import Reply

_LENGTHS = (6, 12, 6, 80)  # moves, questions and the like of conversations, in turn
_FRESH = 20  # conversations that a new process of the reference is asked
_PROBED = 30  # conversations whose changes are asked about


class Observer:
    """Tries a declaration."""

    def __init__(
        self,
        tried: TrialDeclaration,
        seed: int,
        fresh: AskProgram,
        engines: Mapping[str, AskProgram],
    ) -> None:
        """``fresh``: a new process of the reference for each conversation. ``engines``: others, by
        name.
        """
        declaration = self._declaration = tried.declaration
        self._specification = tried.specification
        self._drawer = _Noting(declaration, Random(seed), tried.folder)
        self._fresh = fresh
        self._engines = engines
        self._refuses = refuses(declaration.game)
        self.seen = Observed(one.name for one in declaration.commands)
        self._prober = Prober(self.seen, self._drawer, tried.specification, self._same)

    def begin(self) -> None:
        """Ask what is asked once.

        Raises:
            ReferenceFailedError: the reference does not answer.
        """
        self._prober.begin()

    def observe(self) -> None:
        """Try one conversation; raises as :meth:`begin`."""
        heard = self._draw()
        self.seen.conversations += 1
        self._count(heard)
        self._follow_moves(heard)
        said = [one for one in heard if one.line]
        if self.seen.conversations <= _FRESH:
            self._against_itself(said)
        self._against_engines(said)
        if self.seen.conversations <= _PROBED:
            self._prober.probe(said)

    def _draw(self) -> list[ObservedExchange]:
        engine = self._specification.reference_engine()
        assert isinstance(engine, ReferenceEngine)
        heard: list[ObservedExchange] = []

        def answer(command: str) -> Reply:
            said = engine.said
            reply = engine.reply(command)
            line = " ".join(engine.said[len(said) :])
            heard.append(
                ObservedExchange(said, command, reply, line, command in self._drawer.wrong)
            )
            return reply

        self._drawer.wrong.clear()
        self._drawer.draw(_LENGTHS[self.seen.conversations % len(_LENGTHS)], answer)
        return heard

    def _count(self, heard: list[ObservedExchange]) -> None:
        for one in heard:
            if tally := self.seen.tallies.get(one.name):
                refused = self._refuses(one.reply)
                tally.asked += 1
                tally.right += not one.is_bad
                tally.refused += refused and not one.is_bad
                tally.texts.update([one.reply.text] * one.reply.ok)
                tally.errors += not one.reply.ok
                tally.refusal = tally.refusal or (one.reply.text if refused else "")

    def _follow_moves(self, heard: list[ObservedExchange]) -> None:
        """Count what happens to moves right after each reply to a question; and ends of games."""
        last: dict[str, str] = {}
        for one in heard:
            kind = self._kind(one.command)
            if kind == ASKS:
                last[one.command] = one.reply.text
                self.seen.ends += self._is_end(one)
                continue
            refused = self._refuses(one.reply)
            if kind == MOVES and not one.is_bad:
                for asked in last.items():
                    self.seen.moves_after.setdefault(asked, [0, 0])[not refused] += 1
            if not refused:
                last.clear()

    def _is_end(self, one: ObservedExchange) -> bool:
        over = self._declaration.game.over
        is_asked = over is not None and one.command == over.ask and one.reply.ok
        return bool(over and is_asked and re.fullmatch(over.is_, one.reply.text))

    # --- other programs ---

    def _against_itself(self, said: list[ObservedExchange]) -> None:
        replies = self._fresh(tuple(one.line for one in said))
        for one, got in zip(said, replies, strict=False):
            if one.is_choice or self._same(one, got):
                continue
            if tally := self.seen.tallies.get(one.name):
                tally.unlike_itself += 1
            if self._kind(one.command) != ASKS:
                return  # what follows is about another board

    def _against_engines(self, said: list[ObservedExchange]) -> None:
        answers = {name: self._answers(name, said) for name in self._engines}
        for name, replies in answers.items():
            self._compare(name, said, replies)
        self._look_for_question(said, list(answers.values()))

    def _answers(self, name: str, said: list[ObservedExchange]) -> tuple[Reply, ...]:
        replies = self._engines[name](tuple(one.line for one in said))
        self.seen.broken[name] += len(replies) < len(said)
        return replies

    def _compare(
        self, name: str, said: list[ObservedExchange], replies: tuple[Reply, ...]
    ) -> None:
        for one, got in zip(said, replies, strict=False):
            kind, tally = self._kind(one.command), self.seen.tallies.get(one.name)
            if tally is None or one.is_choice:
                continue
            is_same = self._is_right(one, got) if kind == CHOOSES else self._same(one, got)
            tally.keep(name, ReplyPair(one.reply, got, is_same))
            if not is_same and kind not in (ASKS, CHOOSES):
                break  # what follows is about another board
        for one in [one for one in said if one.is_choice][:1]:
            self._compare_choice(name, one)

    def _compare_choice(self, name: str, one: ObservedExchange) -> None:
        replies = self._engines[name]((*one.said, one.command))
        if len(replies) == len(one.said) + 1:
            pair = ReplyPair(one.reply, replies[-1], self._is_right(one, replies[-1]))
            self.seen.tallies[one.name].keep(name, pair)

    def _is_right(self, one: ObservedExchange, got: Reply) -> bool:
        engine = self._specification.reference_engine()
        assert isinstance(engine, ReferenceEngine)
        return accepts(engine.after(one.said), one.command, one.reply, got)

    def _look_for_question(
        self, said: list[ObservedExchange], answers: list[tuple[Reply, ...]]
    ) -> None:
        """Note the first reply for which the reference stands alone."""
        for place, one in enumerate(said):
            got = [replies[place] for replies in answers if place < len(replies)]
            if len(got) < 2 or self._kind(one.command) == CHOOSES:
                continue
            if any(self._same(one, reply) for reply in got):
                continue
            if all(same(one.command, got[0], other, self._specification) for other in got):
                texts = one.reply.text, got[0].text
                self.seen.questions.append(
                    ObservedQuestion(one.said, one.command, *texts, len(got))
                )
            return

    # --- small words ---

    def _same(self, one: ObservedExchange, got: Reply) -> bool:
        if self._refuses(one.reply) and self._refuses(got):
            return one.reply.ok is got.ok
        return same(one.command, one.reply, got, self._specification)

    def _kind(self, line: str) -> str:
        command = self._declaration.command(line.partition(" ")[0])
        return command.kind if command else ASKS


class _Noting(Drawer):
    """Remembers which commands it drew to be refused."""

    def __init__(self, declaration: Declaration, random: Random, folder: Path) -> None:
        super().__init__(declaration, random, folder)
        self.wrong: set[str] = set()

    def bad(self, command: DeclaredCommand, state: ConversationState, template: str = "") -> str:
        """Return a command with one of its wrong arguments."""
        line = super().bad(command, state, template)
        self.wrong.add(line)
        return line
