"""Mistakes: other functions behind some commands, or parts, of the reference engine.

A mistake is written as a command that is handed the right one first::

    @mistake("score")
    def board_changed_by_score(right, session, words):
        "As if score might write on the board."
        answer = right(session, words)
        ...

One that has no use for the right command leaves that argument out. It *replaces* the command; the
other *wraps* it. The name of the mistake is the function's, its sentence the docstring's.

So that one engine can make several mistakes, a command is taken into *parts*: a mistake in the
komi and one in the text of a score are both made when each stands in its own part. One that has no
use for the session leaves that argument out, too. Single expressions stand in tables.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from oracle.assignments import told_by
from oracle.gtp import protocol

F = TypeVar("F", bound=Callable[..., Any])
Place: TypeAlias = "str | EnginePart"  # where a mistake stands: the name of a command, or a part


class Register(Protocol):
    """A decorator that leaves a function as it is."""

    def __call__(self, function: F, /) -> F: ...


class Breakdown(Exception):  # noqa: N818 - no error, but what the mistake does
    """Raised where a mistaken program does not answer at all."""


class Hang(Breakdown):
    """It never answers."""


class Crash(Breakdown):
    """It ends with this error."""


def crash_without(points: int, right: Callable[..., Any], session: Any, argument: Any) -> Any:
    """Answer as is right where there are such points; crash where there are none."""
    if points:
        return right(session, argument)
    raise Crash("IndexError: list index out of range")


def last_state(session: Any) -> Any:
    """Return the game's last moment, which a mistake may change behind its back."""
    return session.game._states[-1]


def keep_state(attribute: str) -> Callable[..., str]:
    """Return a command after which the game's last moment has an attribute as before it."""

    def command(right: protocol.Command, session: Any, words: list[str]) -> str:
        kept = getattr(last_state(session), attribute)
        answer = right(session, words)
        setattr(last_state(session), attribute, kept)
        return answer

    return command


def keep_captured(right: protocol.Command, session: Any, words: list[str]) -> str:
    """Play a stone, and leave on the board what it takes."""
    before = session.game.position
    answer = right(session, words)
    color, point = protocol.color(words, 0), protocol.move(words, 1)
    if point is not None:
        last_state(session).position = before.place(point, color)
    return answer


# --- the reference engine in parts -------------------------------------------------------------


class EnginePart:
    """A piece of the reference engine; called with the session and what it is asked about.

    Attributes: ``right``, what it does where no mistake stands in it; ``uses``, the parts that it
    asks in turn.
    """

    def __init__(self, right: Callable[..., Any], uses: tuple[EnginePart, ...] = ()) -> None:
        self.right = right
        self.uses = uses

    def __call__(self, session: Any, *arguments: Any) -> Any:
        """Do what the engine of a session does here."""
        return session.commands.parts.get(self, self.right)(session, *arguments)


def part(*uses: EnginePart) -> Callable[[Callable[..., Any]], EnginePart]:
    """Return a decorator that makes a part of a function of the session and what else it needs."""
    return lambda right: EnginePart(right, uses)


class Route(NamedTuple):
    """A command that goes through parts; while all are right, it answers as the right one."""

    command: protocol.Command
    uses: tuple[EnginePart, ...]


def collect_used(
    uses: Iterable[EnginePart], closed_places: Collection[Place] = ()
) -> set[EnginePart]:
    """Return these parts and all that they use; nothing is reached through ``closed_places``."""
    found: set[EnginePart] = set()
    left = list(uses)
    while left:
        one = left.pop()
        found.add(one)
        left += [] if one in closed_places else one.uses
    return found


# --- mistakes ----------------------------------------------------------------------------------


class Commands(dict):  # type: ignore[type-arg]
    """A table of commands with the ``parts`` that mistakes stand in.

    ``memory`` is for mistakes that keep what they should forget.
    """

    def __init__(self, right: protocol.Table) -> None:
        super().__init__(right)
        self.parts: dict[EnginePart, Callable[..., Any]] = {}
        self.memory: dict[str, Any] = {}


class Layer:
    """A mistake's code in a place: on top of what is there, or in its stead."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        self.wraps: bool = names[:1] == ("right",)
        if names[self.wraps :][:1] != ("session",):
            if self.wraps:
                self.function = lambda right, session, *about: function(
                    partial(right, session), *about
                )
            else:
                self.function = lambda session, *about: function(*about)

    def over(self, below: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function for a place in which there was ``below``."""
        made = partial(self.function, below) if self.wraps else partial(self.function)
        made.__doc__ = below.__doc__  # for --help
        return made


class Mistake:
    """One mistake.

    Attributes: ``name``; ``assignment``, the one it belongs to; ``sentence``, what a student is
    told, from "as if" to the full stop; ``layers``, by place what is done there; ``routes``, the
    commands that go through parts; ``commands``, the names of those that it may change;
    ``is_open``, whether it shows only where the specification leaves the answer open, so that no
    case may catch it.
    """

    def __init__(
        self,
        name: str,
        sentence: str,
        shelf: Shelf,
        layers: Mapping[Place, Callable[..., Any]],
        is_open: bool,
    ) -> None:
        self.name = name
        self.sentence = sentence
        self.assignment = shelf.assignment
        self.routes = shelf.routes
        self.layers = {place: Layer(layer) for place, layer in layers.items()}
        self.is_open = is_open
        through = (name for name in self.routes if name not in layers and self.is_part_of(name))
        self.commands = (*(place for place in layers if isinstance(place, str)), *through)

    def __repr__(self) -> str:
        return f"<mistake {self.name}>"

    def is_part_of(self, command: str) -> bool:
        """Whether it stands in a part that a command goes through."""
        route = self.routes.get(command)
        return route is not None and not collect_used(route.uses).isdisjoint(self.layers)

    @property
    def clause(self) -> str:
        """Its sentence as the end of another, from "as if" on, without a full stop."""
        return self.sentence[:1].lower() + self.sentence[1:].removesuffix(".")

    @property
    def replaced(self) -> set[Place]:
        """The places where nothing is left of what was there."""
        return {place for place, layer in self.layers.items() if not layer.wraps}


# --- several in one engine ---------------------------------------------------------------------


def table_with(right: protocol.Table, mistakes: Sequence[Mistake]) -> Commands:
    """Return a table of commands that makes all of some mistakes, made from the right one.

    In each place what replaces lies below what wraps; else they lie in the order given.
    """
    table = Commands(right)
    for mistake in mistakes:
        for name in filter(mistake.is_part_of, mistake.commands):
            table[name] = partial(mistake.routes[name].command)
            table[name].__doc__ = right[name].__doc__  # for --help
    found: dict[Place, list[Layer]] = {}
    for mistake in mistakes:
        for place, layer in mistake.layers.items():
            found.setdefault(place, []).append(layer)
    for place, layers in found.items():
        where: dict[Any, Any] = table if isinstance(place, str) else table.parts
        below = table[place] if isinstance(place, str) else place.right
        for layer in sorted(layers, key=lambda one: one.wraps):
            below = layer.over(below)
        where[place] = below
    return table


def can_meet(mistakes: Sequence[Mistake]) -> bool:
    """Whether one engine can make all of some mistakes.

    It cannot if two replace the same thing, or if one is hidden behind what others replace.
    """
    places = [place for one in mistakes for place in one.replaced]
    if len(places) > len(set(places)):
        return False
    return all(_shows(one, {p for other in mistakes for p in other.replaced}) for one in mistakes)


def _shows(mistake: Mistake, replaced_places: Collection[Place]) -> bool:
    """Whether some layer of a mistake is reached although other places are replaced."""
    open_routes = [route for name, route in mistake.routes.items() if name not in replaced_places]
    parts = {one for route in open_routes for one in collect_used(route.uses, replaced_places)}
    return any(isinstance(place, str) or place in parts for place in mistake.layers)


# --- the mistakes of an assignment -------------------------------------------------------------


class Shelf:
    """The mistakes of one assignment, in the order in which they are written down."""

    def __init__(self, assignment: str, routes: Mapping[str, Route]) -> None:
        self.assignment = assignment
        self.routes = routes
        self.mistakes: list[Mistake] = []

    def add(
        self,
        name: str,
        sentence: str,
        layers: Mapping[Place, Callable[..., Any]],
        *,
        is_open: bool = False,
    ) -> None:
        """Add a mistake; ``layers``: by place what is done there."""
        self.mistakes.append(Mistake(name, sentence, self, layers, is_open))

    def add_rows(self, *rows: tuple[Place, str, str, Callable[..., Any]]) -> None:
        """Add mistakes in one place each: the place, name, sentence, and what is done there."""
        for place, name, sentence, function in rows:
            self.add(name, sentence, {place: function})

    def mistake(self, *places: Place, is_open: bool = False) -> Register:
        """Return a decorator for a function that stands in each of some places."""

        def register(function: F) -> F:
            self.add(*told_by(function), dict.fromkeys(places, function), is_open=is_open)
            return function

        return register
