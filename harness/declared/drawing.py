"""Conversations of a declared game, drawn at random: the positions in which programs go wrong.

What is drawn is legal as far as the declaration and the replies tell: a conversation begins a
board, makes every setting, takes turns, and plays no stone after the end. Stones are drawn near
earlier ones, on small boards rather than large ones, and on points that a reply has listed. Wrong
arguments are those of the ``bad`` templates. Where nobody is asked for the replies, they are
guessed: what is right is accepted, and no game is over.

Pure, but for the files that commands name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import NamedTuple

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
        self._folder = folder
        self._openings = openings
        self._sizes = sorted(declaration.game.sizes, key=lambda size: size[0] * size[1])
        self.nothing = Allowing(declaration)  # where nothing has been said
        arguments = [one for command in declaration.commands for one in command.arguments]
        self.names_files = any(one.files for one in arguments)
        self._choices = _choices(declaration)
        self._kinds = [kind for kind in _WEIGHTS if self._choices[kind]]
        self._weights = list(accumulate(_WEIGHTS[kind] for kind in self._kinds))
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
        return " ".join(self._word(one, move, state, state.size) for one in told) if move else ""

    def opening(self, state: State) -> list[str]:
        """Return what begins a board and makes every setting, and perhaps a given conversation."""
        starts = self.declaration.of_kind(STARTS)
        sized = [one for one in starts if is_sized(one)] or list(starts[:1])
        begun = [self._random.choice(sized)] if sized else []
        more = [
            one for one in starts if one not in sized and self._random.random() < _AGAIN_AT_ONCE
        ]
        lines = [self.command(one, state) for one in (*begun, *more, *self.settings)]
        if self._openings and self._random.random() < _OPENED:
            lines += self._random.choice(self._openings)
        return lines

    def next(self) -> tuple[str, Command | None]:
        """Return what comes next: a kind, one of :data:`_WEIGHTS`, and a command."""
        if not self._kinds:
            return _MOVE, None
        kind = self._random.choices(self._kinds, cum_weights=self._weights)[0]
        return kind, self._random.choice(self._choices[kind])

    def last(self) -> list[Command]:
        """Return the questions at the end."""
        every = (*self._choices[ASKS], *self._choices[CHOOSES])
        asks = [one for one in every if one.kind == CHOOSES or not one.is_free]
        return self._random.sample(asks, min(len(asks), self._random.choice((1, 2, 3))))

    def command(self, command: Command, state: State, size: Place | None = None) -> str:
        """Return a command with arguments that are right as far as the declaration tells.

        ``size``: columns and rows of the board that it begins; None: drawn.
        """
        size = size or self._size()
        words = [self._word(one, command, state, size) for one in command.arguments]
        return " ".join([command.name, *filter(None, words)])

    def bad(self, command: Command, state: State, template: str = "") -> str:
        """Return a command with one of its wrong arguments; ``template``: this one of them."""
        colors = self.declaration.game.colors
        taken = sorted(state.taken)
        stone = self._random.choice(taken) if taken else (0, 0)
        arguments = (template or self._random.choice(command.bad)).format(
            turn=state.turn,
            other=state.other,
            color=self._random.choice(colors),
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
        if not reply:
            return
        before = state.listed
        state.read(reply)
        asked = self.declaration.command(line)
        if asked and asked.kind == ASKS and state.listed is not before and len(state.listed) > 1:
            self.lister = line

    def look_up(self) -> str:
        """Return the question after a refused move that lists places, sometimes; "" for none."""
        return self.lister if self._random.random() < _LOOKED_UP else ""

    def _word(self, argument: Argument, command: Command, state: State, size: Place) -> str:
        if argument.drawn == COLOR:
            return self._color(command, state)
        if argument.drawn == VERTEX:
            return self._vertex(state)
        if argument.drawn == ROW_COUNT:
            return str(size[1])
        if argument.drawn in (SIZE, COLUMN_COUNT):
            return str(size[0])
        if argument.files:
            found = sorted(self._folder.glob(argument.files))
            return str(self._random.choice(found).relative_to(self._folder)) if found else ""
        return self._random.choice(argument.words)

    def _color(self, command: Command, state: State) -> str:
        is_free = self.declaration.game.turns == ANY or command.kind == ASKS
        return self._random.choice(self.declaration.game.colors) if is_free else state.turn

    def _size(self) -> Place:
        """Return a size, the smaller ones oftener."""
        return self._sizes[int(len(self._sizes) * self._random.random() ** 2)]

    def _vertex(self, state: State) -> str:
        return vertex_of(self._place(state), self.declaration.game)

    def _place(self, state: State) -> Place:
        """Return a point, an empty one if a few draws find one."""
        taken, listed = state.taken, state.listed
        if listed and self._random.random() < _LISTED:
            return self._random.choice(listed)
        columns, rows = (max(side, 1) for side in state.size)
        for _ in range(_PATIENCE):
            place = self._random.randrange(columns), self._random.randrange(rows)
            if taken and self._random.random() < _NEAR:
                place = self._beside(self._random.choice(state.moves).place)
            if place not in taken and 0 <= place[0] < columns and 0 <= place[1] < rows:
                return place
        free = [place for place in places((columns, rows)) if place not in taken]
        return self._random.choice(free or list(places((columns, rows))))

    def _beside(self, place: Place) -> Place:
        step = self._random.choice(_AROUND)
        return place[0] + step[0], place[1] + step[1]


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
        if not self._now.allows(line):
            return
        reply = self._answer(line) if self._answer else guess
        self._said.append(line)
        is_refused = self._now.hear(line, reply)
        self._drawer.read(line, self._now.state, reply.text)
        command, over = self._now.state.lines[line].command, self._declaration.game.over
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
