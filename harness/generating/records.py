"""The records that travel while cases are generated. All immutable.

Game record → … → :class:`~harness.vocabulary.scenes.Scene` (commands) → :class:`Staged` (answers,
and what they catch) → text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from harness.judging.strength import KnownWrong
from harness.records import CaseFile
from harness.vocabulary.scenes import Scene


class SceneTest(NamedTuple):
    """A test of a scene: the right answer, why it is right, and what it looks at."""

    command: str
    expression: str
    reason: str
    identity: tuple[object, ...]  # equal for tests that are the same except for a symmetry


class Staged(NamedTuple):
    """A scene with its answers."""

    scene: Scene
    asked: tuple[SceneTest, ...]  # in the order of the steps that ask
    caught: int  # the mistakes that its tests catch, as bits of their places


class TestBench(Protocol):
    """Wrong engines, and what they do with tests."""

    @property
    def engines(self) -> tuple[KnownWrong, ...]:
        """Return the engines."""

    @property
    def folder(self) -> Path:
        """Return the folder of the case files, in which lie the files that commands name."""

    def map_catches(self, texts: Sequence[str], of: int) -> list[dict[int, int]]:
        """Return of case files, by the line of each test, the engines that it catches.

        ``of``: the engines to be asked, as bits.
        """

    def find_caught(self, cases: Sequence[CaseFile]) -> int:
        """Return the engines that case files catch, as bits."""

    def find_wrong(self, text: str) -> set[int]:
        """Return the lines of the tests of a case file that the reference engine fails."""
