"""Conversations of a declared game, drawn at random: the positions in which programs go wrong.

What is drawn is legal as far as the declaration and the replies tell: a conversation begins a
board, makes every setting, takes turns, and plays no stone after the end. Stones are drawn near
earlier ones, on small boards rather than large ones, and on points that a reply has listed. Wrong
arguments are those of the ``bad`` templates. Where nobody is asked for the replies, they are
guessed: what is right is accepted, and no game is over.

Pure, except :meth:`Drawer.files`, which reads the files that commands name.
"""

from bisect import bisect
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path
from random import Random
from string import Formatter
from typing import NamedTuple, TypeVar

from harness.core.records import Reply
from harness.declared.declaration import ANY, Argument, Declaration, DeclaredCommand, Drawn, Kind
from harness.declared.game_state import AllowedLines, ConversationState, Place, places, vertex_of
from harness.vocabulary.script import Script

Answer = Callable[[str], Reply]
# Draws an argument; the place: columns and rows.
ArgumentDrawer = Callable[[ConversationState, Place], str]
_T = TypeVar("_T")

_WELL, _REFUSED = Reply(True, "", "=", 0.0), Reply(False, "", "?", 0.0)  # guesses
# What is drawn after the opening, how often: right moves, wrong arguments …
_MOVE, _BAD, _AGAIN, _BACK = "move", "bad", "again", "back"
_WEIGHTS = {_MOVE: 24, _BAD: 4, Kind.ASKS: 8, Kind.CHOOSES: 4, Kind.SETS: 2, _AGAIN: 1, _BACK: 2}
_NEAR, _LISTED = 0.6, 0.6  # how often a point is drawn near a stone, and from a list
_LOOKED_UP = 0.5  # how often the list is asked for after a right move was refused
_AGAIN_AT_ONCE = 0.5  # how often a sized board is begun once more
_OPENED = 0.3  # how often a conversation continues from one that was given
_AROUND = tuple((x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0))


class KnownBeginning(NamedTuple):
    """The beginning of a conversation, and where it has led to."""

    commands: tuple[str, ...]
    now: AllowedLines

    @property
    def fullness(self) -> float:
        """The share of the board on which stones were played: games on small ones are short."""
        columns, rows = self.now.state.size
        return len(self.now.state.moves) / max(1, columns * rows)


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
        self._chance = random.random
        self._pick = picker(random)
        self._folder = folder
        self._openings = openings
        self._sizes = sorted(declaration.game.sizes, key=lambda size: size[0] * size[1])
        self.nothing = AllowedLines(declaration)  # where nothing has been said
        arguments = [one for command in declaration.commands for one in command.arguments]
        self._names_files = any(one.files for one in arguments)
        moves, sets = declaration.of_kind(Kind.MOVES), declaration.of_kind(Kind.SETS)
        starts, asks = declaration.of_kind(Kind.STARTS), declaration.of_kind(Kind.ASKS)
        self.settings = tuple(one for one in sets if one.arguments)  # sent for every board
        self._choices = {
            _MOVE: tuple(one for one in moves if one.arguments),
            _BAD: tuple(one for one in declaration.commands if one.bad),
            Kind.ASKS: asks,
            Kind.CHOOSES: declaration.of_kind(Kind.CHOOSES),
            Kind.SETS: self.settings,
            _AGAIN: tuple(one for one in starts if not one.is_sized),
            _BACK: tuple(one for one in (*moves, *sets) if not one.arguments),
        }
        self._pieces = [(kind, one) for kind in _WEIGHTS for one in self._choices[kind]]
        weights = (_WEIGHTS[kind] / len(self._choices[kind]) for kind, _ in self._pieces)
        self._weights = list(accumulate(weights))
        compared = [one for one in asks if not one.is_free]
        self._last = [*compared, *self._choices[Kind.CHOOSES]]  # whose answers are compared
        self._sized = {one.name for one in declaration.commands if one.is_sized}
        self._words: dict[str, Sequence[ArgumentDrawer]] = {}  # by the names of commands
        self._name_of = cache(lambda place: vertex_of(place, declaration.game))
        # What draws each of the words that may stand in wrong arguments.
        self._fillings: dict[str, Callable[[ConversationState], str]] = {
            "turn": lambda state: state.turn,
            "other": lambda state: state.other,
            "color": lambda _: self._pick(declaration.game.colors),
            "vertex": self._vertex,
            "stone": lambda state: self._name_of(
                self._pick(state.moves).place if state.moves else (0, 0)
            ),
            "size": lambda state: str(max(state.size)),
        }
        self.lister = ""  # a question that was once answered with places

    def draw(
        self, length: int, answer: Answer | None = None, beginning: KnownBeginning | None = None
    ) -> Script:
        """Return a conversation.

        ``length``: how many moves, questions and the like it has between its opening and its last
        questions. ``answer``: the right reply to each command as it is drawn; without it, replies
        are guessed. ``beginning``: what to continue from instead of an opening.
        """
        return _DrawnConversation(self, answer, beginning).draw(length)

    # --- what is drawn, one piece at a time ---

    def choice(self, state: ConversationState) -> str:
        """Return all that a right move says beside its color."""
        move = self.declaration.move
        told = [one for one in (move.arguments if move else ()) if one.drawn != Drawn.COLOR]
        return " ".join(self._word(one, move)(state, state.size) for one in told) if move else ""

    def opening(self, state: ConversationState) -> list[str]:
        """Return what begins a board and makes every setting, and perhaps a given conversation."""
        starts = self.declaration.of_kind(Kind.STARTS)
        sized = [one for one in starts if one.is_sized] or list(starts[:1])
        begun = [self._pick(sized)] if sized else []
        more = [one for one in starts if one not in sized and self._chance() < _AGAIN_AT_ONCE]
        lines = [self.command(one, state) for one in (*begun, *more, *self.settings)]
        if self._openings and self._chance() < _OPENED:
            lines += self._pick(self._openings)
        return lines

    def next(self) -> tuple[str, DeclaredCommand | None]:
        """Return what comes next: a kind, one of :data:`_WEIGHTS`, and a command."""
        if not self._pieces:
            return _MOVE, None
        drawn = self._chance() * self._weights[-1]
        return self._pieces[bisect(self._weights, drawn, 0, len(self._pieces) - 1)]

    def last(self) -> list[DeclaredCommand]:
        """Return the questions at the end."""
        return self._random.sample(self._last, min(len(self._last), self._pick((1, 2, 3))))

    def command(
        self, command: DeclaredCommand, state: ConversationState, size: Place | None = None
    ) -> str:
        """Return a command with arguments that are right as far as the declaration tells.

        ``size``: columns and rows of the board that it begins; None: drawn.
        """
        if size is None:
            size = state.size
            if command.name in self._sized:  # the smaller ones oftener
                size = self._sizes[int(len(self._sizes) * self._chance() ** 2)]
        if command.name not in self._words:
            self._words[command.name] = [self._word(one, command) for one in command.arguments]
        words = [word(state, size) for word in self._words[command.name]]
        return " ".join([command.name, *filter(None, words)])

    def bad(self, command: DeclaredCommand, state: ConversationState, template: str = "") -> str:
        """Return a command with one of its wrong arguments; ``template``: this one of them."""
        template = template or self._pick(command.bad)
        words = dict.fromkeys(word for _, word, _, _ in Formatter().parse(template) if word)
        arguments = template.format(**{word: self._fillings[word](state) for word in words})
        return f"{command.name} {arguments}".rstrip()

    def files(self, commands: Iterable[str]) -> tuple[tuple[str, str], ...]:
        """Return the files that commands name, with their texts."""
        if not self._names_files:
            return ()
        named = {
            word
            for line in commands
            if (command := self.declaration.of_line(line))
            and any(argument.files for argument in command.arguments)
            for word in line.split()[1:]
        }
        files = ((name, self._folder / name) for name in sorted(named))
        return tuple(
            (name, file.read_text(encoding="utf-8", errors="replace"))
            for name, file in files
            if file.is_file()
        )

    def read(self, line: str, state: ConversationState, reply: str) -> None:
        """Take a reply: what lists places tells where stones may be played."""
        if not state.read(reply) or len(state.listed) < 2:
            return
        asked = self.declaration.command(line)
        if asked and asked.kind == Kind.ASKS:
            self.lister = line

    def look_up(self) -> str:
        """Return the question after a refused move that lists places, sometimes; "" for none."""
        return self.lister if self._chance() < _LOOKED_UP else ""

    def _word(self, argument: Argument, command: DeclaredCommand) -> ArgumentDrawer:
        """Return what draws an argument of a command."""
        if argument.drawn == Drawn.COLOR:
            if self.declaration.game.turns == ANY or command.kind == Kind.ASKS:
                return lambda _, __: self._pick(self.declaration.game.colors)
            return lambda state, _: state.turn
        if argument.drawn == Drawn.VERTEX:
            return lambda state, _: self._vertex(state)
        if argument.drawn == Drawn.ROW_COUNT:
            return lambda _, size: str(size[1])
        if argument.drawn in (Drawn.SIZE, Drawn.COLUMN_COUNT):
            return lambda _, size: str(size[0])
        words: Sequence[str] = argument.words
        if argument.files:
            files = sorted(self._folder.glob(argument.files))
            words = [str(one.relative_to(self._folder)) for one in files]
        return lambda _, __: self._pick(words) if words else ""

    def _vertex(self, state: ConversationState) -> str:
        """Return a point, an empty one if there is one: beside a stone, or anywhere."""
        return self._name_of(self._place(state))

    def _place(self, state: ConversationState) -> Place:
        chance, pick = self._chance, self._pick
        if state.listed and chance() < _LISTED:
            return pick(state.listed)
        columns, rows = size = state.size if all(state.size) else (1, 1)
        taken = state.taken
        if taken and chance() < _NEAR:
            around = _around(size, pick(state.moves).place)
            if around and (place := pick(around)) not in taken:
                return place
        place = int(columns * chance()), int(rows * chance())
        if place not in taken:
            return place
        every = list(places(size))
        return pick([place for place in every if place not in taken] or every)


def picker(random: Random) -> Callable[[Sequence[_T]], _T]:
    """Return what draws one of several things by one call, where ``choice`` takes several."""
    chance = random.random
    return lambda some: some[int(chance() * len(some))]


@lru_cache(20_000)
def _around(size: Place, place: Place) -> Sequence[Place]:
    """Return the points around one; ``size``: of the board."""
    (columns, rows), (column, row) = size, place
    around = [(column + x, row + y) for x, y in _AROUND]
    return [(x, y) for x, y in around if 0 <= x < columns and 0 <= y < rows]


class _DrawnConversation:
    """One conversation as it is drawn."""

    def __init__(
        self, drawer: Drawer, answer: Answer | None, beginning: KnownBeginning | None
    ) -> None:
        self._drawer = drawer
        self._declaration = drawer.declaration
        self._answer = answer
        self._now = (beginning.now if beginning else drawer.nothing).copy()
        self._said = list(beginning.commands) if beginning else []

    def draw(self, length: int) -> Script:
        for line in () if self._said else self._drawer.opening(self._now.state):
            self._say(line)
        for _ in range(length):
            kind, command = self._drawer.next()
            if command and kind == _BAD:
                self._say(self._drawer.bad(command, self._now.state), _REFUSED)
            elif command:
                self._say_one(command)
            if kind == _AGAIN:
                for one in self._drawer.settings:
                    self._say_one(one)
        for one in self._drawer.last():
            self._say_one(one)
        return Script(tuple(self._said), self._drawer.files(self._said))

    def _say_one(self, command: DeclaredCommand) -> None:
        self._say(self._drawer.command(command, self._now.state))

    def _say(self, line: str, guess: Reply = _WELL) -> None:
        """Say a command, if it is allowed; after a move, ask whether the game is over."""
        now = self._now
        if not now.allows(line):
            return
        reply = self._answer(line) if self._answer else guess
        self._said.append(line)
        is_refused = now.observe(line, reply)
        if reply.text:
            self._drawer.read(line, now.state, reply.text)
        command, over = now.state.meaning(line).command, self._declaration.game.over
        if command is None or not (command.kind == Kind.MOVES or command.plays):
            return
        # A guess may be wrong: so what may be played is asked for after right moves, too.
        lister = self._drawer.look_up() if is_refused or not self._answer else ""
        if over and not (is_refused and lister):
            self._say(over.ask)
        if lister:
            self._say(lister)
