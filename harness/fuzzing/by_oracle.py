"""The oracle as judge: its engine, in this process, is sent what the engine was sent.

It follows the engine in what the specification leaves to it: which move ``genmove`` chooses. Files
that commands name are written into a folder first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import hypothesis

from harness.fuzzing.batch_judging import ScriptSearch
from harness.fuzzing.reply_judge import (
    PROTOCOL,
    Drawing,
    Expected,
    Shows,
    WrongReply,
    breakdown,
    kind,
    text_of,
)
from harness.fuzzing.script_drawing import DRAW, find, legal, scripts
from harness.judging.equivalence import expression, is_exact, is_underspecified, same
from harness.judging.explain import explanation
from harness.records import Reply
from harness.running import protocol_facts
from harness.specifications.record import Specification
from harness.specifications.truth import reply_of
from harness.vocabulary.script import Script, Trace, lay_files, name_of
from oracle.draw import Diagram, draw_text
from oracle.gtp.protocol import Engine
from oracle.natures import Nature

_MOVE = re.compile(r"(?i)[a-hj-z][0-9]+")
_OTHERS = 2  # oracles that choose other moves than the engine


class ByOracle:
    """The oracle's engines; see ``Judge``."""

    def __init__(self, specification: Specification, folder: Path) -> None:
        self.specification = specification
        self.folder = folder

    def look(self, looking: ScriptSearch, drawing: Drawing) -> None:
        """Draw scripts and show them one by one; see ``Judge``."""
        self.draw(looking.shows, drawing)

    def draw(self, shows: Shows, drawing: Drawing) -> Script | None:
        """Draw scripts with Hypothesis; see ``Judge``."""
        strategy = scripts(self.specification, drawing.known, drawing.length)
        settings = hypothesis.settings(DRAW, max_examples=drawing.most)
        return find(strategy, shows, self.cut_to_allowed, settings, drawing.seed)

    def cut_to_allowed(self, script: Script) -> Script:
        """Return the script without what is forbidden or left open; see ``Judge``."""
        return legal(script, self.specification, self.folder)

    def find_wrong_answers(self, trace: Trace) -> Iterator[WrongReply]:
        """Yield where the oracle answers otherwise; see ``Judge``."""
        following = _OracleTrace(trace, self.specification, self.folder)
        lay_files(trace.script, self.folder)
        for index, command in enumerate(trace.script.commands):
            if index == len(trace.replies):
                yield following.breakdown(index)
                return
            if found := following.difference(index, command):
                yield found
                # An engine that answers a question wrongly may still be right afterwards.
                if self.specification.commands[name_of(command)].sets_up:
                    return

    def ways(self, trace: Trace, at: int) -> Iterable[Script]:
        """Return the script as it is, mistakes included; see ``Judge``."""
        return (trace.script,)

    def expectations(self, script: Script) -> Iterator[Expected]:
        """Yield what the oracle answers; see ``Judge``."""
        engine, asked = self._engine(), self.specification
        last = len(script.commands) - 1
        lay_files(script, self.folder)
        for index, command in enumerate(script.commands):
            is_open = is_underspecified(engine, command)
            right = reply_of(engine.handle(command))
            wanted = None if is_open or not right.ok else expression(command, right, asked)
            is_test = index == last or (wanted is not None and is_exact(command, asked))
            yield Expected(command, wanted if is_test else None, is_test)

    def picture(self, script: Script) -> tuple[str, str]:
        """Return the board and the oracle's reason; see ``Judge``."""
        engine = self._engine()
        lay_files(script, self.folder)
        for command in script.commands[:-1]:
            engine.handle(command)
        why = explanation(engine, script.commands[-1])
        diagram = Diagram(engine.session.game.position, marks=why.marks if why else {})
        return draw_text(diagram, unicode=False), why.text if why else ""

    def _engine(self) -> Engine:
        return self.specification.reference_engine(str(self.folder))


class _OracleTrace:
    """The oracle at work on one trace; the others differ from it in the moves they choose."""

    def __init__(self, trace: Trace, specification: Specification, folder: Path) -> None:
        self.trace = trace
        self.specification = specification
        self.folder = folder
        self.engine = specification.reference_engine(str(folder))
        self.others: list[Engine] = []

    def breakdown(self, index: int) -> WrongReply:
        right = reply_of(self.engine.handle(self.trace.script.commands[index]))
        return breakdown(self.trace, right)

    def difference(self, index: int, command: str) -> WrongReply | None:
        got, nature = self.trace.replies[index], self._nature(command)
        if nature.sets_up and name_of(command) not in self.specification.forms and not got.ok:
            return None  # the assignment does not ask for it: what was done stays
        is_open = nature.sets_up and is_underspecified(self.engine, command)
        right = self._follow(command, got) if _plays_freely(nature) else self._answer(command)
        if breach := protocol_facts.warnings([protocol_facts.own_step(command)], [got]):
            return WrongReply(index, command, PROTOCOL, text_of(right), breach[0])
        if is_open or self._accepts(command, right, got) or self._is_open(command, right):
            return None
        return WrongReply(index, command, kind(right, got), text_of(right), text_of(got))

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
        return not right.ok or is_underspecified(self.engine, command)

    def _follow(self, command: str, got: Reply) -> Reply:
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
        engine = self.specification.reference_engine(str(self.folder))
        for command in self.trace.script.commands:
            if _plays_freely(self._nature(command)):
                break
            engine.handle(command)
        engine.session._random = Random(seed)
        return engine


def _plays_freely(nature: Nature) -> bool:
    """Whether a command plays a move of the engine's choice."""
    return nature.moves and nature.chooses


def _is_move(reply: Reply) -> bool:
    return reply.ok and _MOVE.fullmatch(reply.text) is not None
