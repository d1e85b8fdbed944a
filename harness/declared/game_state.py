"""The state of a conversation, as far as a declaration tells: size, stones, turn. Pure.

Nobody here knows the rules: a stone stays where it was played, captured or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from harness.declared.declaration import (
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
    """What a line says, whatever has been said before."""

    name: str
    command: DeclaredCommand | None  # None if it is not declared
    words: dict[str, str]  # by what the arguments are
    place: Place | None  # that it names; None if it is not one, such as a pass
    leads: (
        Callable[[ConversationState, LineMeaning, str], None] | None
    )  # where, if not refused; None: nowhere else


class _Lines(dict[str, LineMeaning]):
    """What lines say; many come again, and each is read once."""

    def __init__(self, declaration: Declaration) -> None:
        super().__init__()
        self._declaration = declaration

    def __missing__(self, line: str) -> LineMeaning:
        if len(self) >= _REMEMBERED:
            self.clear()
        name, _, rest = line.strip().partition(" ")
        command, game = self._declaration.command(name), self._declaration.game
        words = bind_arguments(command, rest.split(), game) if command else {}
        place = place_of(words.get(Drawn.VERTEX, ""), game)
        found = self[line] = LineMeaning(name, command, words, place, _leads(name, command))
        return found


class _Lists(dict[str, tuple[Place, ...]]):
    """The places that replies list, none if they have anything else; each is read once."""

    def __init__(self, game: DeclaredGame) -> None:
        super().__init__()
        self._game = game

    def __missing__(self, reply: str) -> tuple[Place, ...]:
        if len(self) >= _REMEMBERED:
            self.clear()
        words, count = reply.split(), 1 if self._game.vertices == POINTS else 2
        each = (" ".join(words[i : i + count]) for i in range(0, len(words), count))
        found = [place_of(one, self._game) for one in each]
        is_list = None not in found
        read = self[reply] = tuple(place for place in found if place and is_list)
        return read


class ConversationState:
    """Where a conversation stands.

    Attributes: ``size``, columns and rows, (0, 0) before there are any; ``moves`` since the board
    is new; ``turn``, the color to move; ``listed``, the places that the last reply with nothing
    but places had, since the board is new.
    """

    def __init__(self, declaration: Declaration) -> None:
        self._declaration = declaration
        self.lines = _Lines(declaration)
        self._lists = _Lists(declaration.game)
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

    def observe(self, line: str, *, refused: bool = False, chosen: str = "") -> None:
        """Follow a command; ``chosen``: the reply to one that chooses. What is refused does
        nothing.
        """
        if not refused:
            self.follow(self.lines[line], chosen)

    def follow(self, said: LineMeaning, chosen: str = "") -> None:
        """Follow a line that was not refused; see :meth:`observe`."""
        if said.leads:
            said.leads(self, said, chosen)

    def read(self, reply: str) -> bool:
        """Take the places that a reply lists, if it has nothing else; return whether it does."""
        found = self._lists[reply]
        self.listed = found or self.listed
        return bool(found)

    def as_move(self, line: str, chosen: str) -> str:
        """Return the command that plays what was chosen in reply to one; "" if none plays."""
        said = self.lines[line]
        return self.move_of(said.words.get(Drawn.COLOR, self.turn), chosen) if said.command else ""

    def move_of(self, color: str, chosen: str) -> str:
        """Return the command that plays a color's move; "" if none plays."""
        move, rest = self._declaration.move, iter(chosen.split())
        if move is None:
            return ""
        told: list[str] = []
        for argument in move.arguments:
            count = width(argument, self._declaration.game)
            is_color = argument.drawn == Drawn.COLOR
            told += [color] if is_color else [next(rest, "") for _ in range(count)]
        return " ".join([move.name, *told]).rstrip()

    # --- what lines lead to ---

    def _start(self, said: LineMeaning, _: str) -> None:
        columns, rows = said.words.get(Drawn.COLUMN_COUNT, ""), said.words.get(Drawn.ROW_COUNT, "")
        if size := said.words.get(Drawn.SIZE, ""):
            columns = rows = size
        if columns.isdigit() and rows.isdigit():
            self.size = int(columns), int(rows)
        self.moves.clear()
        self._turns.clear()
        self._taken = None
        self.listed = ()
        self.turn = self.first

    def _play(self, said: LineMeaning, _: str) -> None:
        self._move(said, said.place)

    def _choose(self, said: LineMeaning, chosen: str) -> None:
        assert said.command is not None
        if chosen not in said.command.instead:
            self._move(said, place_of(chosen, self._declaration.game))

    def _move(self, said: LineMeaning, place: Place | None) -> None:
        color = said.words.get(Drawn.COLOR, self.turn)
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


def _leads(
    name: str, command: DeclaredCommand | None
) -> Callable[[ConversationState, LineMeaning, str], None] | None:
    """Return what a line leads to; ``name``: its first word, ``command``: as it is declared."""
    if command is None or (command.kind == Kind.MOVES and not command.arguments):
        return ConversationState._undo if name == "undo" else None
    if command.kind == Kind.STARTS:
        return ConversationState._start
    if command.kind == Kind.MOVES:
        return ConversationState._play
    return ConversationState._choose if command.kind == Kind.CHOOSES and command.plays else None


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
