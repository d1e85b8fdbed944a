"""What a mistake is: other functions behind some commands of the right engine.

A mistake is written as a command that is handed the right one first::

    @mistake("score")
    def draw_with_a_fraction(right, session, words):
        "As if a draw were written 0.0."
        text = right(session, words)
        return "0.0" if text == "0" else text

Its name is the function's, its sentence the docstring's. The modules beside this one have
decorators of their own for rules of one kind, so that most mistakes are a line or two.
"""

from __future__ import annotations

from functools import partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oracle.gtp.protocol import Command, Table

    Wrong = Callable[[Command, Any, list[str]], str]
    Register = Callable[[Wrong], Wrong]


class Breakdown(Exception):  # noqa: N818 - no error, but what the mistake does
    """Raised where a mistaken program does not answer at all."""


class Hang(Breakdown):
    """It never answers."""


class Crash(Breakdown):
    """It ends with this error."""


def crash_without(points: int, right: Command, session: Any, words: list[str]) -> str:
    """Answer as is right where there are such points; crash where there are none."""
    if points:
        return right(session, words)
    raise Crash("IndexError: list index out of range")


class Commands(dict):  # type: ignore[type-arg]
    """A table of commands with a ``memory``, for mistakes that keep what they should forget."""

    def __init__(self, right: Table, wrong: Table) -> None:
        super().__init__({**right, **wrong})
        self.memory: dict[str, Any] = {}


class Mistake:
    """One mistake.

    Attributes: ``name``; ``assignment``, the one it belongs to; ``sentence``, what a student is
    told, from "as if" to the full stop; ``commands``, what is done instead of the right ones;
    ``is_open``, whether it shows only where the specification leaves the answer open, so that no
    case may catch it.
    """

    __slots__ = ("assignment", "commands", "is_open", "name", "sentence")

    def __init__(
        self, function: Any, assignment: str, commands: dict[str, Wrong], is_open: bool
    ) -> None:
        self.name: str = function.__name__.replace("_", "-")
        self.sentence = " ".join(function.__doc__.partition("\n\n")[0].split())
        self.assignment = assignment
        self.commands = commands
        self.is_open = is_open

    def table(self, right: Table) -> Table:
        """Return a table of commands with the mistake, made from the right one."""
        return Commands(right, {name: self._bound(right, name) for name in self.commands})

    def _bound(self, right: Table, name: str) -> Command:
        command = partial(self.commands[name], right[name])
        command.__doc__ = right[name].__doc__  # for --help
        return command


class Shelf:
    """The mistakes of one assignment, in the order in which they are written down."""

    def __init__(self, assignment: str) -> None:
        self.assignment = assignment
        self.mistakes: list[Mistake] = []

    def add(self, function: Any, commands: dict[str, Wrong], *, is_open: bool = False) -> None:
        """Add a mistake that has the name and the docstring of ``function``."""
        self.mistakes.append(Mistake(function, self.assignment, commands, is_open))

    def mistake(self, *names: str, is_open: bool = False) -> Register:
        """Return a decorator for a function that stands in for each of some commands."""

        def register(function: Wrong) -> Wrong:
            self.add(function, dict.fromkeys(names, function), is_open=is_open)
            return function

        return register
