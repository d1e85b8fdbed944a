"""The records that travel while cases for a declared game are generated. All immutable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from harness.judging.strength import Wrong


class Opening(NamedTuple):
    """A conversation to go on from, and where it is from, as a phrase."""

    commands: tuple[str, ...]
    origin: str


class Draft(NamedTuple):
    """A test: what leads to it, its command, and the right answer as an expression."""

    setup: tuple[str, ...]
    command: str
    expression: str
    origin: str  # where the position is from, as a phrase
    size: tuple[int, int]  # columns and rows
    caught: int = 0  # the engines that it catches, as bits of their places

    @property
    def name(self) -> str:
        """The name of its command."""
        return self.command.partition(" ")[0]

    @property
    def identity(self) -> tuple[str, ...]:
        """The same for tests that are the same."""
        return (*self.setup, self.command)


class Bench(Protocol):
    """Wrong engines, and what they do with tests."""

    @property
    def engines(self) -> tuple[Wrong, ...]:
        """Return the engines."""

    def caught(self, texts: Sequence[str], of: int) -> list[dict[int, int]]:
        """Return of case files, by the line of each test, the engines that it catches.

        ``of``: the engines to be asked, as bits.
        """

    def wrong(self, text: str) -> set[int]:
        """Return the lines of the tests of a case file that a right engine fails."""
