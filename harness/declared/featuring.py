"""What generated tests of an assignment that ships are about beside: a teacher's own commands.

Positions are those of the features that ship, laid as these lay them: nobody here knows what a
command asks, and they are where something happens. In place of their questions it is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from harness.declared.conversation_drawing import Drawer
from harness.declared.declaration import ASKS, Declaration, DeclaredCommand, with_standard
from harness.declared.following import ConversationState
from harness.vocabulary.features import Feature, FeatureKind, Files
from harness.vocabulary.scenes import SceneCommand, SceneMoment


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
