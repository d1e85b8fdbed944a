"""The records that travel while cases for a declared game are generated. All immutable."""

from __future__ import annotations

from typing import NamedTuple


class Opening(NamedTuple):
    """A conversation to continue from, and where it is from, as a phrase."""

    commands: tuple[str, ...]
    origin: str


class Draft(NamedTuple):
    """A test: what leads to it, its command, and the right answer as an expression."""

    setup: tuple[str, ...]
    command: str
    expression: str
    origin: str  # where the position is from, as a phrase
    size: tuple[int, int]  # columns and rows
    refused: frozenset[int] = frozenset()  # places in the setup of commands that are refused
    is_free: bool = False  # an engine chooses in it: what it catches hangs on chance, too
    caught: int = 0  # the engines that it catches, as bits of their places

    @property
    def name(self) -> str:
        """The name of its command."""
        return self.command.partition(" ")[0]

    @property
    def identity(self) -> tuple[str, ...]:
        """The same for tests that are the same."""
        return (*self.setup, self.command)
