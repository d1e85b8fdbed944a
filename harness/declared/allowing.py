"""What may be said to a program at some place of a conversation, as a declaration has it. Pure.

What is not declared is left open: nobody could say which of two answers is right. So a command has
the arguments that are declared, or wrong ones that are; a board is begun before anything is asked
about it, and each setting is made anew for each board, for nobody knows which outlive it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from string import Formatter

from harness.declared.declaration import (
    ANY,
    ASKS,
    COLOR,
    COLUMN_COUNT,
    MOVES,
    POINTS,
    ROW_COUNT,
    SETS,
    SIZE,
    STARTS,
    VERTEX,
    Argument,
    Command,
    Declaration,
)
from harness.declared.following import Place, State, bound, place_of, width
from harness.declared.refusing import refuses
from harness.records import Reply


class Allowing:
    """What may be said next; told of the conversation by :meth:`hear`.

    Attributes: ``state``, where it stands; ``is_over``, whether the game on the board is, after
    which no move is played.
    """

    def __init__(self, declaration: Declaration) -> None:
        self._declaration = declaration
        self._refuses = refuses(declaration.game)
        self._settings = {one.name for one in declaration.of_kind(SETS) if one.arguments}
        self._made: set[str] = set()  # settings, since the board is new
        self._has_board = False
        self._needs_size = any(map(is_sized, declaration.of_kind(STARTS)))
        self._templates: dict[str, list[_Template]] = {}
        self.state = State(declaration)
        self.is_over = False

    def allows(self, line: str) -> bool:
        """Whether a command may be said here, and its answer is known to be right or wrong."""
        name, *words = line.split() or [""]
        command = self._declaration.command(name)
        if command is None or not self._is_time_for(command):
            return False
        return self._fits(command, words) or self._is_bad(command, " ".join(words))

    def hear(self, line: str, reply: Reply) -> None:
        """Go on after a command and the right reply to it; what is refused does nothing."""
        refused = self._refuses(reply)
        self.state.hear(line, refused=refused, chosen=reply.text)
        over = self._declaration.game.over
        if over and line == over.ask:
            self.is_over = reply.ok and re.fullmatch(over.is_, reply.text.strip()) is not None
        command = self._declaration.command(line.partition(" ")[0])
        if command and not refused:
            self._follow(command)

    def _follow(self, command: Command) -> None:
        if command.kind == STARTS:
            self._has_board |= is_sized(command) or not self._needs_size
            self._made.clear()
        if command.kind == SETS:
            self._made.add(command.name)
        if command.kind in (STARTS, MOVES):
            self.is_over = False

    # --- when, and with what ---------------------------------------------------------------------

    def _is_time_for(self, command: Command) -> bool:
        if command.kind == STARTS:
            return self._has_board or is_sized(command) or not self._needs_size
        if not self._has_board:
            return False
        if command.kind == SETS:
            return bool(command.arguments or self.state.moves)
        if self._settings - self._made:
            return False
        if command.kind != MOVES:
            return True
        return not self.is_over if command.arguments else bool(self.state.moves)

    def _fits(self, command: Command, words: list[str]) -> bool:
        """Whether the words are such arguments as are declared."""
        widths = [width(one, self._declaration.game) for one in command.arguments]
        least = sum(widths) - sum("" in one.words for one in command.arguments)
        if not least <= len(words) <= sum(widths):
            return False
        rest = iter(words)
        for argument, count in zip(command.arguments, widths, strict=True):
            taken = [next(rest, "") for _ in range(count)]
            if not self._is_one(argument, command, " ".join(taken)):
                return False
        return not is_sized(command) or self._has_size(command, words)

    def _is_one(self, argument: Argument, command: Command, text: str) -> bool:
        if argument.files:
            return bool(text)
        if argument.drawn == COLOR:
            is_free = self._declaration.game.turns == ANY or command.kind == ASKS
            return self._is_now("color" if is_free else "turn", text)
        return self._is_now(argument.drawn, text) if argument.drawn else text in argument.words

    def _has_size(self, command: Command, words: list[str]) -> bool:
        told = bound(command, words, self._declaration.game)
        columns, rows = (told.get(SIZE) or told.get(one, "") for one in (COLUMN_COUNT, ROW_COUNT))
        sizes = {(str(wide), str(high)) for wide, high in self._declaration.game.sizes}
        return (columns, rows) in sizes

    def _is_bad(self, command: Command, words: str) -> bool:
        """Whether the words are wrong arguments that are declared."""
        return any(one.matches(words, self._is_now) for one in self._templates_of(command))

    def _is_now(self, word: str, text: str) -> bool:
        """Whether a text is what a word of the declaration stands for, as things are."""
        game, state = self._declaration.game, self.state
        if word in (COLOR, "turn", "other"):
            colors = game.colors if word == COLOR else (getattr(state, word),)
            return text.lower() in map(str.lower, colors)
        if word in (VERTEX, "stone"):
            place = place_of(text, game)
            if place is None or word == "stone":
                return place in state.taken
            return _is_on(place, state.size)
        return text.isascii() and text.isdigit()

    def _templates_of(self, command: Command) -> list[_Template]:
        if command.name not in self._templates:
            vertex = r"\S+" if self._declaration.game.vertices == POINTS else r"\S+ \S+"
            made = [_Template(one, vertex) for one in command.bad]
            self._templates[command.name] = made
        return self._templates[command.name]


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
        return f"{re.escape(text)}({vertex if word in (VERTEX, 'stone') else r'[^ ]+'})"

    def matches(self, text: str, is_now: Callable[[str, str], bool]) -> bool:
        found = self._pattern.fullmatch(text)
        if found is None:
            return False
        return all(map(is_now, self._words, found.groups()))


def is_sized(command: Command) -> bool:
    """Whether a command tells the size of a board."""
    return any(one.drawn in (SIZE, COLUMN_COUNT, ROW_COUNT) for one in command.arguments)


def _is_on(place: Place, size: Place) -> bool:
    return 0 <= place[0] < size[0] and 0 <= place[1] < size[1]
