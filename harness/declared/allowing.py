"""What may be said to a program at some place of a conversation, as a declaration has it. Pure.

What is not declared is left open: nobody could say which of two answers is right. So a command has
the arguments that are declared, or wrong ones that are; a board is begun before anything is asked
about it, and each setting is made anew for each board, for nobody knows which outlive it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import copy
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

_WRONG = "wrong"  # stands for nothing


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
        self._open: dict[str, tuple[tuple[str, str], ...]] = {}  # by the line
        self._places: dict[str, Place | None] = {}  # by their names
        self.state = State(declaration)
        self.is_over = False

    def copy(self) -> Allowing:
        """Return the same place of a conversation, which goes on by itself."""
        other = copy(self)
        other._made, other.state = self._made.copy(), self.state.copy()
        return other

    def allows(self, line: str) -> bool:
        """Whether a command may be said here, and its answer is known to be right or wrong."""
        command = self.state.lines[line].command
        if command is None or not self._is_time_for(command):
            return False
        return self._fits(command, line) or self._is_bad(command, line)

    def hear(self, line: str, reply: Reply) -> bool:
        """Go on after a command and the right reply to it; what is refused does nothing.

        Returns whether it was refused.
        """
        refused = self._refuses(reply)
        self.state.hear(line, refused=refused, chosen=reply.text)
        over = self._declaration.game.over
        if over and line == over.ask:
            self.is_over = reply.ok and re.fullmatch(over.is_, reply.text.strip()) is not None
        command = self.state.lines[line].command
        if command and not refused:
            self._follow(command)
        return refused

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

    def _fits(self, command: Command, line: str) -> bool:
        """Whether the words are such arguments as are declared."""
        found = self._open.get(line)
        if found is None:
            found = self._open[line] = tuple(self._left_open(command, line.split()[1:]))
        return all(self._is_now(word, text) for word, text in found)

    def _left_open(self, command: Command, words: list[str]) -> Iterator[tuple[str, str]]:
        """Yield words of the declaration with what stands for them, which may be right or wrong.

        What is never right is a :data:`_WRONG` word.
        """
        widths = [width(one, self._declaration.game) for one in command.arguments]
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

    def _word(self, argument: Argument, command: Command) -> str:
        is_free = self._declaration.game.turns == ANY or command.kind == ASKS
        return "turn" if argument.drawn == COLOR and not is_free else argument.drawn

    def _has_size(self, command: Command, words: list[str]) -> bool:
        told = bound(command, words, self._declaration.game)
        columns, rows = (told.get(SIZE) or told.get(one, "") for one in (COLUMN_COUNT, ROW_COUNT))
        sizes = {(str(wide), str(high)) for wide, high in self._declaration.game.sizes}
        return (columns, rows) in sizes

    def _is_bad(self, command: Command, line: str) -> bool:
        """Whether the words are wrong arguments that are declared."""
        words = " ".join(line.split()[1:])
        return any(one.matches(words, self._is_now) for one in self._templates_of(command))

    def _is_now(self, word: str, text: str) -> bool:
        """Whether a text is what a word of the declaration stands for, as things are."""
        game, state = self._declaration.game, self.state
        if word in (COLOR, "turn", "other"):
            colors = game.colors if word == COLOR else (getattr(state, word),)
            return text.lower() in map(str.lower, colors)
        if word in (VERTEX, "stone"):
            place = self._place(text)
            if place is None or word == "stone":
                return place in state.taken
            return _is_on(place, state.size)
        return word != _WRONG and text.isascii() and text.isdigit()

    def _place(self, text: str) -> Place | None:
        if text not in self._places:
            self._places[text] = place_of(text, self._declaration.game)
        return self._places[text]

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
