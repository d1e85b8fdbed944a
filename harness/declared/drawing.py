"""Conversations of a declared game, drawn at random: the positions in which programs go wrong.

What is drawn is legal as far as the declaration and the replies tell: a conversation begins a
board, makes every setting, takes turns, and plays no stone after the end. Stones are drawn near
earlier ones, on small boards rather than large ones, and on points that a reply has listed. Wrong
arguments are those of the ``bad`` templates. Where nobody is asked for the replies, they are
guessed: what is right is accepted, and no game is over.

Pure, but for the files that commands name.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

from harness.declared.allowing import Allowing, is_sized
from harness.declared.declaration import (
    ANY,
    ASKS,
    CHOOSES,
    COLOR,
    COLUMN_COUNT,
    MOVES,
    ROW_COUNT,
    SETS,
    SIZE,
    STARTS,
    VERTEX,
    Argument,
    Command,
    Declaration,
)
from harness.declared.following import Place, State, places, vertex_of
from harness.records import Reply
from harness.vocabulary.script import Script

Answer = Callable[[str], Reply]
Word = Callable[[State, Place], str]  # draws an argument; the place: columns and rows
_T = TypeVar("_T")

_WELL, _REFUSED = Reply(True, "", "=", 0.0), Reply(False, "", "?", 0.0)  # guesses
# What is drawn after the opening, how often: right moves, wrong arguments …
_MOVE, _BAD, _AGAIN, _BACK = "move", "bad", "again", "back"
_WEIGHTS = {_MOVE: 24, _BAD: 4, ASKS: 8, CHOOSES: 4, SETS: 2, _AGAIN: 1, _BACK: 2}
_NEAR, _LISTED = 0.6, 0.6  # how often a point is drawn near a stone, and from a list
_LOOKED_UP = 0.5  # how often the list is asked for after a right move was refused
_AGAIN_AT_ONCE = 0.5  # how often a sized board is begun once more
_OPENED = 0.3  # how often a conversation goes on from one that was given
_AROUND = tuple((x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0))
_PATIENCE = 8  # draws of a point until it is an empty one


class Known(NamedTuple):
    """The beginning of a conversation, and where it has led to."""

    commands: tuple[str, ...]
    now: Allowing


class Drawer:
    """Draws conversations of one game."""

    def __init__(
        self,
        declaration: Declaration,
        random: Random,
        folder: Path,
        openings: Sequence[tuple[str, ...]] = (),
    ) -> None:
        """``folder``: where the files lie that commands name. ``openings``: conversations to go
        on from, such as the positions of given cases.
        """
        self.declaration = declaration
        self._random = random
        self._below = below(random)
        self._pick = picked(random)
        self._folder = folder
        self._openings = openings
        self._sizes = sorted(declaration.game.sizes, key=lambda size: size[0] * size[1])
        self.nothing = Allowing(declaration)  # where nothing has been said
        arguments = [one for command in declaration.commands for one in command.arguments]
        self.names_files = any(one.files for one in arguments)
        self._choices = _choices(declaration)
        self._kinds = [kind for kind in _WEIGHTS if self._choices[kind]]
        self._weights = list(accumulate(_WEIGHTS[kind] for kind in self._kinds))
        self._words: dict[str, Sequence[Word]] = {}  # by the names of commands
        self._vertices: dict[Place, str] = {}  # the names of places
        self.lister = ""  # a question that was once answered with places

    def draw(
        self, length: int, answer: Answer | None = None, known: Known | None = None
    ) -> Script:
        """Return a conversation.

        ``length``: how many moves, questions and the like it has between its opening and its last
        questions. ``answer``: the right reply to each command as it is drawn; without it, replies
        are guessed. ``known``: what to go on from instead of an opening.
        """
        return _Conversation(self, answer, known).drawn(length)

    @property
    def settings(self) -> tuple[Command, ...]:
        """The commands that set something, each of which is said for every board."""
        return self._choices[SETS]

    # --- what is drawn, one piece at a time ---

    def choice(self, state: State) -> str:
        """Return all that a right move says beside its color."""
        move = self.declaration.move
        told = [one for one in (move.arguments if move else ()) if one.drawn != COLOR]
        return " ".join(self._word(one, move)(state, state.size) for one in told) if move else ""

    def opening(self, state: State) -> list[str]:
        """Return what begins a board and makes every setting, and perhaps a given conversation."""
        starts = self.declaration.of_kind(STARTS)
        sized = [one for one in starts if is_sized(one)] or list(starts[:1])
        begun = [self._pick(sized)] if sized else []
        more = [
            one for one in starts if one not in sized and self._random.random() < _AGAIN_AT_ONCE
        ]
        lines = [self.command(one, state) for one in (*begun, *more, *self.settings)]
        if self._openings and self._random.random() < _OPENED:
            lines += self._pick(self._openings)
        return lines

    def next(self) -> tuple[str, Command | None]:
        """Return what comes next: a kind, one of :data:`_WEIGHTS`, and a command."""
        if not self._kinds:
            return _MOVE, None
        drawn = self._random.random() * self._weights[-1]
        kind = self._kinds[bisect(self._weights, drawn, 0, len(self._kinds) - 1)]
        return kind, self._pick(self._choices[kind])

    def last(self) -> list[Command]:
        """Return the questions at the end."""
        every = (*self._choices[ASKS], *self._choices[CHOOSES])
        asks = [one for one in every if one.kind == CHOOSES or not one.is_free]
        return self._random.sample(asks, min(len(asks), self._pick((1, 2, 3))))

    def command(self, command: Command, state: State, size: Place | None = None) -> str:
        """Return a command with arguments that are right as far as the declaration tells.

        ``size``: columns and rows of the board that it begins; None: drawn.
        """
        size = size or self._size()
        words = [word(state, size) for word in self._words_of(command)]
        return " ".join([command.name, *filter(None, words)])

    def _words_of(self, command: Command) -> Sequence[Word]:
        """Return what draws the arguments of a command."""
        if command.name not in self._words:
            self._words[command.name] = [self._word(one, command) for one in command.arguments]
        return self._words[command.name]

    def bad(self, command: Command, state: State, template: str = "") -> str:
        """Return a command with one of its wrong arguments; ``template``: this one of them."""
        colors = self.declaration.game.colors
        taken = sorted(state.taken)
        stone = self._pick(taken) if taken else (0, 0)
        arguments = (template or self._pick(command.bad)).format(
            turn=state.turn,
            other=state.other,
            color=self._pick(colors),
            vertex=self._vertex(state),
            stone=vertex_of(stone, self.declaration.game),
            size=max(state.size),
        )
        return f"{command.name} {arguments}".rstrip()

    def has(self, name: str) -> bool:
        """Whether a word of a command names a file."""
        return (self._folder / name).is_file()

    def text(self, name: str) -> str:
        """Return what is in a file that a command names."""
        return (self._folder / name).read_text(encoding="utf-8", errors="replace")

    def read(self, line: str, state: State, reply: str) -> None:
        """Take a reply: what lists places tells where stones may be played."""
        if not state.read(reply) or len(state.listed) < 2:
            return
        asked = self.declaration.command(line)
        if asked and asked.kind == ASKS:
            self.lister = line

    def look_up(self) -> str:
        """Return the question after a refused move that lists places, sometimes; "" for none."""
        return self.lister if self._random.random() < _LOOKED_UP else ""

    def _word(self, argument: Argument, command: Command) -> Word:
        """Return what draws an argument of a command."""
        if argument.drawn == COLOR:
            is_free = self.declaration.game.turns == ANY or command.kind == ASKS
            return self._color if is_free else lambda state, _: state.turn
        if argument.drawn == VERTEX:
            return lambda state, _: self._vertex(state)
        if argument.drawn == ROW_COUNT:
            return lambda _, size: str(size[1])
        if argument.drawn in (SIZE, COLUMN_COUNT):
            return lambda _, size: str(size[0])
        words = self._names_of(argument.files) if argument.files else argument.words
        return lambda _, __: self._pick(words) if words else ""

    def _color(self, _: State, __: Place) -> str:
        return self._pick(self.declaration.game.colors)

    def _names_of(self, pattern: str) -> Sequence[str]:
        """Return the names of files."""
        return [str(one.relative_to(self._folder)) for one in sorted(self._folder.glob(pattern))]

    def _size(self) -> Place:
        """Return a size, the smaller ones oftener."""
        return self._sizes[int(len(self._sizes) * self._random.random() ** 2)]

    def _vertex(self, state: State) -> str:
        place = self._place(state)
        if place not in self._vertices:
            self._vertices[place] = vertex_of(place, self.declaration.game)
        return self._vertices[place]

    def _place(self, state: State) -> Place:
        """Return a point, an empty one if a few draws find one."""
        chance, below_, taken = self._random.random, self._below, state.taken
        if state.listed and chance() < _LISTED:
            return self._pick(state.listed)
        columns, rows = size = state.size if all(state.size) else (1, 1)
        for _ in range(_PATIENCE):
            column, row = place = below_(columns), below_(rows)
            if taken and chance() < _NEAR:
                column, row = place = self._beside(self._pick(state.moves).place)
            if place not in taken and 0 <= column < columns and 0 <= row < rows:
                return place
        every = list(places(size))
        return self._pick([place for place in every if place not in taken] or every)

    def _beside(self, place: Place) -> Place:
        step = self._pick(_AROUND)
        return place[0] + step[0], place[1] + step[1]


def below(random: Random) -> Callable[[int], int]:
    """Return what draws a whole number from 0 on that is less than another, as ``randrange`` does.

    It takes a third of the time.
    """
    bits = random.getrandbits

    def draw(end: int) -> int:
        if end < 1:
            raise ValueError("there is nothing to draw from")
        size = end.bit_length()
        drawn = bits(size)
        while drawn >= end:
            drawn = bits(size)
        return drawn

    return draw


def picked(random: Random) -> Callable[[Sequence[_T]], _T]:
    """Return what draws one of several things, as ``choice`` does; see :func:`below`."""
    draw = below(random)
    return lambda some: some[draw(len(some))]


class _Conversation:
    """One conversation as it is drawn."""

    def __init__(self, drawer: Drawer, answer: Answer | None, known: Known | None) -> None:
        self._drawer = drawer
        self._declaration = drawer.declaration
        self._answer = answer
        self._now = (known.now if known else drawer.nothing).copy()
        self._said = list(known.commands) if known else []

    def drawn(self, length: int) -> Script:
        for line in () if self._said else self._drawer.opening(self._now.state):
            self._say(line)
        for _ in range(length):
            self._say_next()
        for one in self._drawer.last():
            self._say_one(one)
        return Script(tuple(self._said), tuple(self._files()))

    def _say_next(self) -> None:
        kind, command = self._drawer.next()
        if command and kind == _BAD:
            self._say(self._drawer.bad(command, self._now.state), _REFUSED)
        elif command:
            self._say_one(command)
        if kind == _AGAIN:
            for one in self._drawer.settings:
                self._say_one(one)

    def _say_one(self, command: Command) -> None:
        self._say(self._drawer.command(command, self._now.state))

    def _say(self, line: str, guess: Reply = _WELL) -> None:
        """Say a command, if it is allowed; after a move, ask whether the game is over."""
        now = self._now
        if not now.allows(line):
            return
        reply = self._answer(line) if self._answer else guess
        self._said.append(line)
        is_refused = now.hear(line, reply)
        if reply.text:
            self._drawer.read(line, now.state, reply.text)
        command, over = now.state.lines[line].command, self._declaration.game.over
        if command is None or not (command.kind == MOVES or command.plays):
            return
        # A guess may be wrong: so what may be played is asked for after right moves, too.
        lister = self._drawer.look_up() if is_refused or not self._answer else ""
        if over and not (is_refused and lister):
            self._say(over.ask)
        if lister:
            self._say(lister)

    def _files(self) -> list[tuple[str, str]]:
        """Return the files that commands name, with their texts."""
        if not self._drawer.names_files:
            return []
        named = {
            word
            for line in self._said
            if (command := self._declaration.command(line.partition(" ")[0]))
            and any(argument.files for argument in command.arguments)
            for word in line.split()[1:]
            if self._drawer.has(word)
        }
        return [(name, self._drawer.text(name)) for name in sorted(named)]


def _choices(declaration: Declaration) -> dict[str, tuple[Command, ...]]:
    """Return the commands of each kind of :data:`_WEIGHTS`."""
    moves, sets = declaration.of_kind(MOVES), declaration.of_kind(SETS)
    asks = declaration.of_kind(ASKS)
    return {
        _MOVE: tuple(one for one in moves if one.arguments),
        _BAD: tuple(one for one in declaration.commands if one.bad),
        ASKS: asks,
        CHOOSES: declaration.of_kind(CHOOSES),
        SETS: tuple(one for one in sets if one.arguments),
        _AGAIN: tuple(one for one in declaration.of_kind(STARTS) if not is_sized(one)),
        _BACK: tuple(one for one in (*moves, *sets) if not one.arguments),
    }
