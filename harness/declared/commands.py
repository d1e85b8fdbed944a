"""The commands that a declaration allows at a place of a conversation. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from string import Formatter
from typing import NamedTuple

from harness.declared import game_state
from harness.declared.declaration import (
    ANY,
    POINTS,
    Argument,
    Declaration,
    DeclaredCommand,
    DeclaredGame,
    Drawn,
    Kind,
)
from harness.records import Reply


def refuses(game: DeclaredGame) -> Callable[[Reply], bool]:
    """Return what tells whether a reply refuses its command."""
    if not game.refused:
        return attrgetter("is_refusal")
    found = re.compile(game.refused).search
    return lambda reply: reply.is_refusal or found(reply.text) is not None


# --- The commands that a declaration allows at a place of a conversation. Pure -------------------
# What is not declared is left open: nobody could say which of two answers is right. So a command
# has the arguments that are declared, or wrong ones that are; a board is begun before anything is
# asked about it, and each setting is made anew for each board, for nobody knows which outlive it.


_WRONG = "wrong"  # stands for nothing
_STONE = "stone"
_NUMBERS = (Drawn.SIZE, Drawn.COLUMN_COUNT, Drawn.ROW_COUNT)
_REMEMBERED = 20_000  # lines


class Allowing:
    """What may be said next; told of the conversation by :meth:`observe`.

    Attributes: ``state``, where it stands; ``is_over``, whether the game on the board is, after
    which no move is played.
    """

    def __init__(self, declaration: Declaration) -> None:
        self._declaration = declaration
        self._refuses = refuses(declaration.game)
        settings = (one.name for one in declaration.of_kind(Kind.SETS) if one.arguments)
        self._settings = frozenset(settings)
        self._missing = self._settings  # those that were not made since the board is new
        self._has_board = False
        self._needs_size = any(map(is_sized, declaration.of_kind(Kind.STARTS)))
        self._readings = _LineReadings(declaration)
        over = declaration.game.over
        self._asks_end = over.ask if over else None
        self._is_end = re.compile(over.is_ if over else "").fullmatch
        self.state = game_state.ConversationState(declaration)
        self.is_over = False

    def copy(self) -> Allowing:
        """Return the same place of a conversation, which continues by itself."""
        other = Allowing.__new__(Allowing)
        other.__dict__.update(self.__dict__)  # several times as fast as copy()
        other.state = self.state.copy()
        return other

    def allows(self, line: str) -> bool:
        """Whether a command may be said here, and its answer is known to be right or wrong."""
        state = self.state
        command = state.lines[line].command
        if command is None or not self._is_time_for(command):
            return False
        turn, size = state.turn, state.size
        # A loop takes half the time of any(), and each command that is drawn comes here.
        for turns, places, stones in self._readings[line]:
            if turn not in turns or (places and not _are_on(places, size)):
                continue
            if not stones or state.taken.issuperset(stones):
                return True
        return False

    def observe(self, line: str, reply: Reply) -> bool:
        """Continue after a command and the right reply to it; what is refused does nothing.

        Returns whether it was refused.
        """
        said, refused = self.state.lines[line], self._refuses(reply)
        if not refused:
            self.state.follow(said, reply.text)
        if line == self._asks_end:
            self.is_over = reply.ok and self._is_end(reply.text.strip()) is not None
        if said.command and said.command.kind != Kind.ASKS and not refused:
            self._follow(said.command)
        return refused

    def _follow(self, command: DeclaredCommand) -> None:
        if command.kind == Kind.STARTS:
            self._has_board |= is_sized(command) or not self._needs_size
            self._missing = self._settings
        if command.kind == Kind.SETS:
            self._missing -= {command.name}
        if command.kind in (Kind.STARTS, Kind.MOVES):
            self.is_over = False

    # --- when, and with what ---------------------------------------------------------------------

    def _is_time_for(self, command: DeclaredCommand) -> bool:
        if command.kind == Kind.STARTS:
            return self._has_board or is_sized(command) or not self._needs_size
        if not self._has_board:
            return False
        if command.kind == Kind.SETS:
            return bool(command.arguments or self.state.moves)
        if self._missing:
            return False
        if command.kind != Kind.MOVES:
            return True
        return not self.is_over if command.arguments else bool(self.state.moves)


class _LineReading(NamedTuple):
    """What words may be that are declared, right ones or wrong ones, and when they are."""

    turns: frozenset[str]  # the color to move is one of these; none: never
    places: tuple[game_state.Place, ...] = ()  # that are on the board
    stones: tuple[game_state.Place, ...] = ()  # on which stones were played


class _LineReadings(dict[str, tuple[_LineReading, ...]]):
    """What the words of lines may be; many come again, and each is read once."""

    def __init__(self, declaration: Declaration) -> None:
        super().__init__()
        self._declaration = declaration
        self._game = declaration.game
        self._templates: dict[str, list[_Template]] = {}

    def __missing__(self, line: str) -> tuple[_LineReading, ...]:
        if len(self) >= _REMEMBERED:
            self.clear()
        command = self._declaration.command(line.strip().partition(" ")[0])
        every = self._every(command, line.split()[1:]) if command else ()
        found = self[line] = tuple(one for one in every if one.turns)
        return found

    def _every(self, command: DeclaredCommand, words: list[str]) -> Iterator[_LineReading]:
        """Yield the words as arguments, and as each of the wrong ones, that are declared."""
        yield self._reading(self._arguments(command, words))
        for one in self._templates_of(command):
            stands_for = one.stands_for(" ".join(words))
            if stands_for is not None:
                yield self._reading(stands_for)

    def _arguments(self, command: DeclaredCommand, words: list[str]) -> Iterator[tuple[str, str]]:
        """Yield words of the declaration with what stands for them, which may be right or wrong.

        What is never right is a :data:`_WRONG` word.
        """
        widths = [game_state.width(one, self._game) for one in command.arguments]
        least = sum(widths) - sum("" in one.words for one in command.arguments)
        is_sized_well = not is_sized(command) or self._has_size(command, words)
        if not least <= len(words) <= sum(widths) or not is_sized_well:
            yield _WRONG, ""
            return
        rest = iter(words)
        for argument, count in zip(command.arguments, widths, strict=True):
            text = " ".join(next(rest, "") for _ in range(count))
            if argument.drawn:
                yield self._word(argument, command), text
            elif not (text if argument.files else text in argument.words):
                yield _WRONG, ""

    def _word(self, argument: Argument, command: DeclaredCommand) -> str:
        is_free = self._game.turns == ANY or command.kind == Kind.ASKS
        return "turn" if argument.drawn == Drawn.COLOR and not is_free else argument.drawn

    def _has_size(self, command: DeclaredCommand, words: list[str]) -> bool:
        told = game_state.bind_arguments(command, words, self._game)
        columns, rows = (
            told.get(Drawn.SIZE) or told.get(one, "")
            for one in (Drawn.COLUMN_COUNT, Drawn.ROW_COUNT)
        )
        sizes = {(str(wide), str(high)) for wide, high in self._game.sizes}
        return (columns, rows) in sizes

    def _templates_of(self, command: DeclaredCommand) -> list[_Template]:
        if command.name not in self._templates:
            vertex = r"\S+" if self._game.vertices == POINTS else r"\S+ \S+"
            made = [_Template(one, vertex) for one in command.bad]
            self._templates[command.name] = made
        return self._templates[command.name]

    def _reading(self, stands_for: Iterable[tuple[str, str]]) -> _LineReading:
        """Return when words of the declaration are what stands for them."""
        turns = frozenset(self._game.colors)
        found: dict[str, list[game_state.Place]] = {Drawn.VERTEX: [], _STONE: []}
        for word, text in stands_for:
            if word in found and (place := game_state.place_of(text, self._game)):
                found[word].append(place)
            else:
                turns &= self._turns(word, text)
        return _LineReading(turns, tuple(found[Drawn.VERTEX]), tuple(found[_STONE]))

    def _turns(self, word: str, text: str) -> frozenset[str]:
        """Return the colors that may be to move if a text stands for a word."""
        colors, small = self._game.colors, text.lower()
        if word == "turn":
            return frozenset(one for one in colors if one.lower() == small)
        if word == "other":
            return frozenset(
                one for one in colors if game_state.after(one, colors).lower() == small
            )
        if word == Drawn.COLOR:
            is_one = small in map(str.lower, colors)
        else:
            is_one = word in _NUMBERS and text.isascii() and text.isdigit()
        return frozenset(colors if is_one else ())


class _Template:
    """Wrong arguments as they are declared, such as ``{turn} pass``."""

    def __init__(self, text: str, vertex: str) -> None:
        self._words: list[str] = []  # what the groups of the pattern stand for
        parts = (self._part(*one[:2], vertex) for one in Formatter().parse(" ".join(text.split())))
        self._pattern = re.compile("".join(parts), re.IGNORECASE)

    def _part(self, text: str, word: str | None, vertex: str) -> str:
        if word is None:
            return re.escape(text)
        self._words.append(word)
        return f"{re.escape(text)}({vertex if word in (Drawn.VERTEX, _STONE) else r'[^ ]+'})"

    def stands_for(self, text: str) -> list[tuple[str, str]] | None:
        """Return its words with what stands for them in a text; None if it is another text."""
        found = self._pattern.fullmatch(text)
        return None if found is None else list(zip(self._words, found.groups(), strict=True))


def is_sized(command: DeclaredCommand) -> bool:
    """Whether a command tells the size of a board."""
    return any(one.drawn in _NUMBERS for one in command.arguments)


def _are_on(places: tuple[game_state.Place, ...], size: game_state.Place) -> bool:
    """Whether places are on a board."""
    columns, rows = size
    off = [one for one in places if not (0 <= one[0] < columns and 0 <= one[1] < rows)]
    return not off
