"""Scenes put before the oracle: are they what they should be, what is right, and why?

A scene that does not do what it is meant to do is left out, and counted with the reason.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.generating.records import SceneTest, Staged
from harness.judging import equivalence, strength
from harness.judging.explain import reason
from harness.judging.likeness import identity
from harness.reading import casefile
from harness.records import Reply
from harness.specifications.record import Specification
from harness.specifications.truth import reply_of
from harness.vocabulary.scenes import Scene, SceneMoment
from oracle.gtp.protocol import Engine, split
from oracle.mistakes import Mistake

UNDERSPECIFIED = "underspecified"


class LeftOut(Exception):  # noqa: N818 - no error, but something to count
    """Why a scene cannot be used."""


class Stage:
    """Where the scenes of one specification are tried out.

    Attribute ``mistakes``: those that tests may catch.
    """

    def __init__(self, specification: Specification, mistakes: Sequence[Mistake]) -> None:
        self._specification = specification
        self.mistakes = tuple(mistakes)

    def stage(self, scene: Scene) -> Staged:
        """Return a scene with its answers and what it catches.

        Raises :class:`LeftOut` for one that is underspecified, asks the same twice, or does not
        replay.
        """
        with _among(scene.files) as folder:
            asked = tuple(self._play(scene, folder))
            if len({one.identity for one in asked}) < len(asked):
                raise LeftOut("it asks the same twice")
            staged = Staged(scene, asked, 0)
            return staged._replace(caught=self._find_caught(staged, folder))

    def _play(self, scene: Scene, folder: str) -> Iterator[SceneTest]:
        """Yield the tests of a scene, as the reference engine goes through it."""
        engine = self._specification.reference_engine(folder)
        reached = False
        for number, step in enumerate(scene.steps):
            reached = reached or lies(engine, scene.find.moment)
            if step.asked:
                is_last = number == len(scene.steps) - 1
                yield self._ask(engine, step.command, step.why, is_last)
            elif engine.session.explain_open_answer(split(step.command)):
                raise LeftOut(UNDERSPECIFIED)
            elif not _goes_on(engine.handle(step.command)):
                raise LeftOut("a command of its setup is refused")
        if not reached:
            raise LeftOut("the intended board is not reached")

    def _ask(self, engine: Engine, command: str, why: str, is_last: bool) -> SceneTest:
        if equivalence.is_underspecified(engine, command):
            raise LeftOut(UNDERSPECIFIED)
        same = identity(engine, command, self._specification)
        choice = self._specification.choices(engine, command)
        told = why or reason(engine, command)
        reply = reply_of(engine.handle(command))
        if not reply.ok:
            raise LeftOut("its answer is an error")
        if len(choice) > 1 and not is_last:
            raise LeftOut("what follows depends on a free choice")
        return SceneTest(command, self._expression(command, reply, choice), told, same)

    def _expression(self, command: str, reply: Reply, choice: tuple[str, ...]) -> str:
        if choice:
            return f"(?i){'|'.join(choice).lower()}"
        return equivalence.expression(command, reply, self._specification)

    def _find_caught(self, staged: Staged, folder: str) -> int:
        from harness.generating.scene_text import commands

        text = "\n".join(commands(staged, 1, self._specification.commands)).encode()
        case = casefile.parse(text, str(Path(folder, "scene.gtp")))
        good, wrong = strength.of_file(case, self.mistakes, self._specification)
        if wrong:
            raise LeftOut("the reference engine fails it")
        caught = 0
        for test in good:
            caught |= test.caught
        return caught


@contextlib.contextmanager
def _among(files: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Give a folder that has the board files of a scene; "" if it has none."""
    if not files:
        yield ""
        return
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files:
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        yield folder


def _goes_on(raw: str) -> bool:
    """Return whether a setup command did its work; Gomoku's ``illegal move`` is not an error."""
    return raw.startswith("=") and "illegal" not in raw


def lies(engine: Engine, moment: SceneMoment) -> bool:
    """Return whether the engine's board is the intended one."""
    now = engine.session.game.position
    return (now.grid.rows, now.black, now.white) == (moment.size, *moment.board)
