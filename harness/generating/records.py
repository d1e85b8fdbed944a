"""The records that travel while cases are generated. All immutable.

Game record → … → :class:`~harness.vocabulary.scenes.Scene` (commands) → :class:`Staged` (answers,
and what they catch) → text.
"""

from __future__ import annotations

from typing import NamedTuple

from harness.vocabulary.scenes import Scene


class Asked(NamedTuple):
    """A test of a scene: the right answer, why it is right, and what it looks at."""

    command: str
    expression: str
    reason: str
    identity: tuple[object, ...]  # equal for tests that are the same except for a symmetry


class Staged(NamedTuple):
    """A scene with its answers."""

    scene: Scene
    asked: tuple[Asked, ...]  # in the order of the steps that ask
    caught: int  # the mistakes that its tests catch, as bits of their places
