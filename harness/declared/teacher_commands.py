"""A teacher's commands beside an assignment that ships, and the topics of tests about them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from harness.declared.conversation_drawing import Drawer
from harness.declared.declaration import ASKS, SETS, Declaration, DeclaredCommand, with_standard
from harness.declared.game_state import ConversationState
from harness.records import Reply
from harness.specifications.record import InProcess, Truth, reply_of
from harness.vocabulary.answer_forms import is_a_move
from harness.vocabulary.scenes import Feature, FeatureKind, Files, SceneCommand, SceneMoment
from oracle.gtp.protocol import Engine, is_number, split
from oracle.natures import STANDARD


def beside(shipped: Truth, own: Truth, declaration: Declaration) -> Truth:
    """Return a truth of two: a reference answers what is declared, the oracle all else.

    Both are told of the game: declared commands ask and set, and do not move.
    """
    return InProcess(lambda: _EngineBeside(shipped.engine(), own, declaration))


class _EngineBeside(Engine):
    """The oracle's engine, which passes on to the reference what is the reference's."""

    def __init__(self, shipped: Engine, own: Truth, declaration: Declaration) -> None:
        super().__init__(shipped.session)
        self._shipped = shipped
        self._own = own
        self._declaration = declaration
        self._said: tuple[str, ...] = ()  # to the reference

    def handle(self, line: str) -> str:
        """Return the reply to a line; see :meth:`oracle.gtp.protocol.Engine.handle`."""
        words = split(line)
        number = words.pop(0) if words and is_number(words[0]) else ""
        declared = self._declaration.command(words[0]) if words else None
        if declared is None:
            raw = self._shipped.handle(line)
            if words:
                self._follow(words, reply_of(raw))
            return raw
        command = " ".join(words)
        reply = self._own.replies((*self._said, command), self.session.folder)[-1]
        if declared.kind == SETS:
            self._said += (command,)
        return f"{'=' if reply.ok else '?'}{number} {reply.text}\n\n"

    def _follow(self, words: list[str], reply: Reply) -> None:
        """Tell the reference of what the oracle has heard."""
        nature = STANDARD.at_hand(words[0])
        if nature.moves and nature.chooses:
            moved = (f"play {words[1]} {reply.text}",) if is_a_move(reply.text) else ()
            self._said += moved
        elif nature.sets_up and reply.ok:
            self._said += (" ".join(words),)


# --- What generated tests of an assignment that ships are about beside: a teacher's own commands -
# Positions are those of the features that ship, laid as these lay them: nobody here knows what a
# command asks, and they are where something happens. In place of their questions it is asked.


def with_declared(kind: FeatureKind, declaration: Declaration, folder: Path) -> FeatureKind:
    """Return what tests are made about, with the declared questions that have one answer.

    ``folder``: in which the files lie that commands name.
    """
    commands = with_standard(declaration.commands, declaration.game)
    whole = declaration._replace(commands=commands, extends="")
    asks = [one for one in declaration.of_kind(ASKS) if not one.is_free]
    own = (_DeclaredQuestion(one, kind.features, whole, folder).feature for one in asks)
    return kind._replace(features=(*kind.features, *own))


class _DeclaredQuestion:
    """One declared command, asked where a shipped feature would ask something else."""

    def __init__(
        self,
        command: DeclaredCommand,
        shipped: tuple[Feature, ...],
        whole: Declaration,
        folder: Path,
    ) -> None:
        self._command = command
        self._shipped = shipped
        self._whole = whole
        self._folder = folder

    @property
    def feature(self) -> Feature:
        name = self._command.name
        sentence = f"What {name} answers."
        return Feature(name, sentence, self._find, self._steps, self._make, self._files)

    def _find(self, moment: SceneMoment) -> str:
        """Return the shipped feature that a moment has, as the kind of its answer."""
        return next((one.name for one in self._shipped if one.find(moment)), "")

    def _at(self, moment: SceneMoment) -> Feature:
        name = self._find(moment)
        return next(one for one in self._shipped if one.name == name)

    def _make(self, random: Random) -> SceneMoment | None:
        return random.choice(self._shipped).make(random)

    def _files(self, moment: SceneMoment, random: Random) -> Files:
        return self._at(moment).files(moment, random)

    def _steps(self, moment: SceneMoment, random: Random) -> list[SceneCommand]:
        laid = [one for one in self._at(moment).steps(moment, random) if not one.asked]
        return [*laid, *self._settings(random), self._draw(self._command, laid, random)]

    def _settings(self, random: Random) -> Iterator[SceneCommand]:
        """Yield what the teacher's commands set, which every test sets itself."""
        drawer = Drawer(self._whole, random, self._folder)
        for one in drawer.settings:
            yield SceneCommand(drawer.command(one, ConversationState(self._whole)))

    def _draw(
        self, command: DeclaredCommand, laid: list[SceneCommand], random: Random
    ) -> SceneCommand:
        state = ConversationState(self._whole)
        for one in laid:
            state.observe(one.command)
        drawn = Drawer(self._whole, random, self._folder).command(command, state)
        return SceneCommand(drawn, asked=True, why="This is what the reference answers.")
