"""The state of a conversation, as far as a declaration tells, and what may be said next. Pure.

Nobody here knows the rules: a stone stays where it was played, captured or not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache, partial
from operator import attrgetter
from string import Formatter
from typing import NamedTuple

from harness.core.records import Reply
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

Place = tuple[int, int]  # column and row, from 0
_REMEMBERED = 20_000  # lines


class Move(NamedTuple):
    """A stone that was played."""

    color: str
    place: Place


class LineMeaning(NamedTuple):
    """Meaning of a line in any conversation."""

    command: DeclaredCommand | None  # None if it is not declared
    words: dict[str, str]  # by what the arguments are
    place: Place | None  # that it names; None if it is not one, such as a pass
    # What it leads to, if it is not refused; None: to nothing else.
    leads: Callable[[ConversationState, LineMeaning, str], None] | None


def _read_line(declaration: Declaration, line: str) -> LineMeaning:
    name, _, rest = line.strip().partition(" ")
    command = declaration.command(name)
    words = bind_arguments(command, rest.split(), declaration.game) if command else {}
    place = place_of(words.get(Drawn.VERTEX, ""), declaration.game)
    leads: Callable[[ConversationState, LineMeaning, str], None] | None = None
    if command is None or (command.kind == Kind.MOVES and not command.arguments):
        leads = ConversationState._undo if name == "undo" else None
    elif command.kind == Kind.STARTS:
        leads = ConversationState._start
    elif command.kind == Kind.MOVES:
        leads = ConversationState._play
    elif command.kind == Kind.CHOOSES and command.plays:
        leads = ConversationState._choose
    return LineMeaning(command, words, place, leads)


def _read_list(game: DeclaredGame, reply: str) -> tuple[Place, ...]:
    """Return the places that a reply lists, none if it has anything else."""
    words, count = reply.split(), 1 if game.vertices == POINTS else 2
    each = (" ".join(words[i : i + count]) for i in range(0, len(words), count))
    found = [place_of(one, game) for one in each]
    return () if None in found else tuple(filter(None, found))


class ConversationState:
    """State of a conversation.

    Attributes: ``size``, columns and rows, (0, 0) before there are any; ``moves`` since the board
    is new; ``turn``, the color to move; ``listed``, the places that the last reply with nothing
    but places had, since the board is new; ``meaning``, which returns what a line means.
    """

    def __init__(self, declaration: Declaration) -> None:
        self._declaration = declaration
        # Most lines and replies come again and again.
        self.meaning = lru_cache(_REMEMBERED)(partial(_read_line, declaration))
        self._listed_in = lru_cache(_REMEMBERED)(partial(_read_list, declaration.game))
        self.size: Place = (0, 0)
        self.moves: list[Move] = []
        self._turns: list[tuple[str, bool]] = []  # before each turn; whether a stone was played
        self._taken: set[Place] | None = None  # see taken; None: to be found out
        self.turn = self.first
        self.listed: tuple[Place, ...] = ()

    def copy(self) -> ConversationState:
        """Return the same state, which continues by itself."""
        other = ConversationState.__new__(ConversationState)
        other.__dict__.update(self.__dict__)  # several times as fast as copy()
        other.moves, other._turns, other._taken = self.moves.copy(), self._turns.copy(), None
        return other

    @property
    def first(self) -> str:
        """The color that begins."""
        return self._declaration.game.colors[0]

    @property
    def other(self) -> str:
        """The color that follows the one to move."""
        return self.after(self.turn)

    def after(self, color: str) -> str:
        """Return the color that follows another."""
        return after(color, self._declaration.game.colors)

    @property
    def taken(self) -> set[Place]:
        """The places on which stones were played."""
        if self._taken is None:
            self._taken = {move.place for move in self.moves}
        return self._taken

    def observe(self, line: str, *, refused: bool = False, reply: str = "") -> None:
        """Follow a command; ``reply``: to one that chooses. What is refused does nothing."""
        if not refused:
            self.follow(self.meaning(line), reply)

    def follow(self, meaning: LineMeaning, reply: str = "") -> None:
        """Follow a line that was not refused; see :meth:`observe`."""
        if meaning.leads:
            meaning.leads(self, meaning, reply)

    def read(self, reply: str) -> bool:
        """Take the places that a reply lists, if it has nothing else; return whether it does."""
        found = self._listed_in(reply)
        self.listed = found or self.listed
        return bool(found)

    def as_move(self, line: str, reply: str) -> str:
        """Return the command that plays what was chosen in reply to one; "" if none plays."""
        said = self.meaning(line)
        return self.move_of(said.words.get(Drawn.COLOR, self.turn), reply) if said.command else ""

    def move_of(self, color: str, reply: str) -> str:
        """Return the command that plays a color's move; "" if none plays."""
        move, rest = self._declaration.move, iter(reply.split())
        if move is None:
            return ""
        told: list[str] = []
        for argument in move.arguments:
            count = width(argument, self._declaration.game)
            is_color = argument.drawn == Drawn.COLOR
            told += [color] if is_color else [next(rest, "") for _ in range(count)]
        return " ".join([move.name, *told]).rstrip()

    # --- what lines lead to ---

    def _start(self, meaning: LineMeaning, _: str) -> None:
        columns, rows = _sides(meaning.words)
        if columns.isdigit() and rows.isdigit():
            self.size = int(columns), int(rows)
        self.moves.clear()
        self._turns.clear()
        self._taken = None
        self.listed = ()
        self.turn = self.first

    def _play(self, meaning: LineMeaning, _: str) -> None:
        self._move(meaning, meaning.place)

    def _choose(self, meaning: LineMeaning, reply: str) -> None:
        assert meaning.command is not None
        if reply not in meaning.command.instead:
            self._move(meaning, place_of(reply, self._declaration.game))

    def _move(self, meaning: LineMeaning, place: Place | None) -> None:
        color = meaning.words.get(Drawn.COLOR, self.turn)
        self._turns.append((self.turn, place is not None))
        if place is not None:
            self.moves.append(Move(color, place))
            self.taken.add(place)
        self.turn = self.after(color)

    def _undo(self, _: LineMeaning, __: str) -> None:
        if self._turns:
            self.turn, has_stone = self._turns.pop()
            if has_stone:
                self.moves.pop()
                self._taken = None


def after(color: str, colors: Sequence[str]) -> str:
    """Return the color of a game's that follows another."""
    return colors[(colors.index(color) + 1) % len(colors)] if color in colors else colors[0]


def bind_arguments(
    command: DeclaredCommand, words: list[str], game: DeclaredGame
) -> dict[str, str]:
    """Return the words of a command by what its arguments are; a vertex may have two."""
    found: dict[str, str] = {}
    rest = iter(words)
    for argument in command.arguments:
        taken = [next(rest, "") for _ in range(width(argument, game))]
        if argument.drawn:
            found[argument.drawn] = " ".join(taken)
    return found


def _sides(words: dict[str, str]) -> tuple[str, str]:
    """Return the columns and rows that arguments tell, "" for what they do not."""
    columns, rows = words.get(Drawn.COLUMN_COUNT, ""), words.get(Drawn.ROW_COUNT, "")
    size = words.get(Drawn.SIZE, "")
    return size or columns, size or rows


def width(argument: Argument, game: DeclaredGame) -> int:
    """Return how many words an argument has."""
    return 2 if argument.drawn == Drawn.VERTEX and game.vertices != POINTS else 1


def vertex_of(place: Place, game: DeclaredGame) -> str:
    """Return a place as commands name it."""
    column, row = place
    if game.vertices == POINTS:
        return f"{game.letters[column].lower()}{row + 1}"
    return f"{column + game.origin} {row + game.origin}"


def place_of(text: str, game: DeclaredGame) -> Place | None:
    """Return the place that commands or replies name; None if it is not one, such as a pass."""
    text = text.strip()
    if game.vertices == POINTS:
        column, row = game.letters.upper().find(text[:1].upper()), text[1:]
        is_one = bool(text) and column >= 0 and row.isascii() and row.isdigit() and int(row) > 0
        return (column, int(row) - 1) if is_one else None
    words = text.split()
    if len(words) < 2 or not all(word.isascii() and word.isdigit() for word in words[:2]):
        return None
    return int(words[0]) - game.origin, int(words[1]) - game.origin


def places(size: Place) -> Iterator[Place]:
    """Yield all places of a board, row by row."""
    columns, rows = size
    return ((column, row) for row in range(rows) for column in range(columns))


def refuses(game: DeclaredGame) -> Callable[[Reply], bool]:
    """Return what tells whether a reply refuses its command."""
    if not game.refused:
        return attrgetter("is_refusal")
    found = re.compile(game.refused).search
    return lambda reply: reply.is_refusal or found(reply.text) is not None


# --- The commands that a declaration allows at a place of a conversation -------------------------
# What is not declared is left open: nobody could say which of two answers is right. So a command
# has the arguments that are declared, or wrong ones that are; a board is begun before anything is
# asked about it, and each setting is made anew for each board, for nobody knows which outlive it.


_WRONG = "wrong"  # stands for nothing
_STONE = "stone"


class AllowedLines:
    """Commands allowed next; :meth:`observe` follows the conversation.

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
        self._needs_size = any(one.is_sized for one in declaration.of_kind(Kind.STARTS))
        self._readings = lru_cache(_REMEMBERED)(_LineReader(declaration).read)
        over = declaration.game.over
        self._asks_end = over.ask if over else None
        self._is_end = re.compile(over.is_ if over else "").fullmatch
        self.state = ConversationState(declaration)
        self.is_over = False

    def copy(self) -> AllowedLines:
        """Return the same place of a conversation, which continues by itself."""
        other = AllowedLines.__new__(AllowedLines)
        other.__dict__.update(self.__dict__)  # several times as fast as copy()
        other.state = self.state.copy()
        return other

    def allows(self, line: str) -> bool:
        """Whether a command may be said here, and its answer is known to be right or wrong."""
        state = self.state
        command = state.meaning(line).command
        if command is None or not self._is_time_for(command):
            return False
        turn, (columns, rows) = state.turn, state.size
        # A loop takes half the time of any(), and each command that is drawn comes here.
        for turns, places, stones in self._readings(line):
            if turn not in turns:
                continue
            if places and [x for x, y in places if not (0 <= x < columns and 0 <= y < rows)]:
                continue
            if not stones or state.taken.issuperset(stones):
                return True
        return False

    def observe(self, line: str, reply: Reply) -> bool:
        """Continue after a command and the right reply to it; what is refused does nothing.

        Returns whether it was refused.
        """
        said, refused = self.state.meaning(line), self._refuses(reply)
        if not refused:
            self.state.follow(said, reply.text)
        if line == self._asks_end:
            self.is_over = reply.ok and self._is_end(reply.text.strip()) is not None
        command = said.command
        if refused or command is None:
            return refused
        if command.kind == Kind.STARTS:
            self._has_board |= command.is_sized or not self._needs_size
            self._missing = self._settings
        elif command.kind == Kind.SETS:
            self._missing -= {command.name}
        if command.kind in (Kind.STARTS, Kind.MOVES):
            self.is_over = False
        return refused

    def _is_time_for(self, command: DeclaredCommand) -> bool:
        if command.kind == Kind.STARTS:
            return self._has_board or command.is_sized or not self._needs_size
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
    """Readings of declared words, right or wrong ones, and when they hold."""

    turns: frozenset[str]  # the color to move is one of these; none: never
    places: tuple[Place, ...] = ()  # that are on the board
    stones: tuple[Place, ...] = ()  # on which stones were played


class _LineReader:
    """Reads the words of lines as the declaration has them."""

    def __init__(self, declaration: Declaration) -> None:
        self._declaration = declaration
        self._game = declaration.game
        vertex = r"\S+" if self._game.vertices == POINTS else r"\S+ \S+"
        # Of the wrong arguments of a command.
        self._templates = cache(
            lambda command: [_read_template(one, vertex) for one in command.bad]
        )

    def read(self, line: str) -> tuple[_LineReading, ...]:
        """Return the readings of a line that hold at some time."""
        command, words = self._declaration.of_line(line), line.split()[1:]
        if command is None:
            return ()
        every = [self._reading(self._arguments(command, words))]
        for names, pattern in self._templates(command):
            if found := pattern.fullmatch(" ".join(words)):
                every.append(self._reading(zip(names, found.groups(), strict=True)))
        return tuple(one for one in every if one.turns)

    def _arguments(self, command: DeclaredCommand, words: list[str]) -> Iterator[tuple[str, str]]:
        """Yield words of the declaration with what stands for them, which may be right or wrong.

        What is never right is a :data:`_WRONG` word.
        """
        widths = [width(one, self._game) for one in command.arguments]
        least = sum(widths) - sum("" in one.words for one in command.arguments)
        fits = least <= len(words) <= sum(widths)
        if fits and command.is_sized:
            sizes = {(str(columns), str(rows)) for columns, rows in self._game.sizes}
            fits = _sides(bind_arguments(command, words, self._game)) in sizes
        if not fits:
            yield _WRONG, ""
            return
        rest = iter(words)
        for argument, count in zip(command.arguments, widths, strict=True):
            text = " ".join(next(rest, "") for _ in range(count))
            if argument.drawn:
                is_free = self._game.turns == ANY or command.kind == Kind.ASKS
                is_turn = argument.drawn == Drawn.COLOR and not is_free
                yield "turn" if is_turn else argument.drawn, text
            elif not (text if argument.files else text in argument.words):
                yield _WRONG, ""

    def _reading(self, pairs: Iterable[tuple[str, str]]) -> _LineReading:
        """Return when words of the declaration are what stands for them."""
        turns = frozenset(self._game.colors)
        found: dict[str, list[Place]] = {Drawn.VERTEX: [], _STONE: []}
        for word, text in pairs:
            if word in found and (place := place_of(text, self._game)):
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
            return frozenset(one for one in colors if after(one, colors).lower() == small)
        if word == Drawn.COLOR:
            is_one = small in map(str.lower, colors)
        else:
            is_one = word in Drawn.COUNTS and text.isascii() and text.isdigit()
        return frozenset(colors if is_one else ())


def _read_template(text: str, vertex: str) -> tuple[list[str], re.Pattern[str]]:
    """Return the words of wrong arguments such as ``{turn} pass``, and what finds them in a text.

    ``vertex``: the pattern of one.
    """
    words: list[str] = []  # what the groups of the pattern stand for
    pattern = ""
    for before, word, _, _ in Formatter().parse(" ".join(text.split())):
        pattern += re.escape(before)
        if word is not None:
            words.append(word)
            pattern += f"({vertex if word in (Drawn.VERTEX, _STONE) else r'[^ ]+'})"
    return words, re.compile(pattern, re.IGNORECASE)
