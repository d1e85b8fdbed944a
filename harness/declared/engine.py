"""A reference as an engine: followed command by command, its choices, and its game turned."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from random import Random
from typing import Any, NoReturn

from harness.core.records import Reply
from harness.declared.declaration import ANY, Argument, Declaration, DeclaredCommand, Drawn, Kind
from harness.declared.game_state import (
    AllowedLines,
    ConversationState,
    bind_arguments,
    place_of,
    places,
    vertex_of,
    width,
)
from harness.vocabulary.script import name_of
from harness.vocabulary.transformations import COLORS, KINDS, SYMMETRY, Transformation, match_case
from oracle.errors import GtpError
from oracle.gtp.protocol import Engine, is_number, split
from oracle.position import BLACK, WHITE, Position, grid
from oracle.symmetry import ALL, OF_RECTANGLES

Replies = Callable[[tuple[str, ...], str], tuple[Reply, ...]]


class ReferenceGame:
    """The known state of a game whose rules only the reference knows.

    Attributes: ``position``, the stones where they were played, whatever the rules made of them.
    """

    def __init__(self, state: ConversationState) -> None:
        self._state = state
        self.is_over = False

    @property
    def position(self) -> Position:
        """The stones as they were played; on the smallest board before there is any."""
        columns, rows = self._state.size
        stones: dict[int, int] = {BLACK: 0, WHITE: 0}
        shape = grid(max(rows, 1), max(columns, 1))
        for color, (column, row) in self._state.moves:
            if (row, column) in shape:
                own = BLACK if color == self._state.first else WHITE
                stones[own] |= shape.bit((row, column))
                stones[3 - own] &= ~shape.bit((row, column))
        return Position(shape, stones[BLACK], stones[WHITE])


class ReferenceSession:
    """Session that walkers over a conversation ask for state."""

    def __init__(self, state: ConversationState) -> None:
        self.commands: dict[str, Any] = {}
        self.running = True
        self.folder = ""  # in which the files lie that commands name
        self.state = state
        self.game = ReferenceGame(state)

    def explain_open_answer(self, words: list[str]) -> str:
        """Return "": the reference leaves nothing open."""
        return ""

    def explain(self, words: list[str]) -> NoReturn:
        """Raise: the reference tells no reasons, and has no other readings."""
        raise GtpError("only the reference knows why")

    readings = explain


class ReferenceEngine(Engine):
    """An engine that answers what a reference does.

    A move that it chose is part of the conversation as the command that plays it, so that what
    follows has one answer, however often the reference is asked.
    """

    def __init__(
        self, replies: Replies, declaration: Declaration, refuses: Callable[[Reply], bool]
    ) -> None:
        """Take what knows the right replies.

        ``replies``: to a whole conversation, with files in a folder. ``refuses``: whether a reply
        refuses.
        """
        super().__init__(ReferenceSession(ConversationState(declaration)))
        self.said: tuple[str, ...] = ()  # what led here
        self.ahead: deque[tuple[str, Reply]] = deque()  # what was asked in advance
        self._replies = replies
        self.declaration = declaration
        self.refuses = refuses

    def handle(self, line: str) -> str:
        """Return the reply to a line; see :meth:`oracle.gtp.protocol.Engine.handle`."""
        words = split(line)
        if not words:
            return ""
        number = words.pop(0) if is_number(words[0]) else ""
        reply = self.reply(" ".join(words))
        status = "=" if reply.ok else "?"
        text = reply.text
        if "\n" in text:  # a reply of GTP has no empty lines
            text = "\n".join(line or " " for line in text.split("\n"))
        return f"{status}{number} {text}\n\n"

    def reply(self, command: str) -> Reply:
        """Return the reply to a command, which has no id."""
        found = self.get_right_reply(command)
        self.follow(command, found)
        return found

    def replies(self, commands: tuple[str, ...]) -> tuple[Reply, ...]:
        """Return the replies to a whole conversation, wherever this engine stands."""
        return self._replies(commands, self.session.folder)

    def get_right_reply(self, command: str) -> Reply:
        """Return the reply to a command, and do not continue."""
        if self.ahead and self.ahead[0][0] == command:
            return self.ahead[0][1]
        return self.replies((*self.said, command))[-1]

    def expect(self, commands: tuple[str, ...]) -> None:
        """Ask at once what is to be said next, which is faster than one by one."""
        self.foresee(commands, self.replies((*self.said, *commands))[len(self.said) :])

    def foresee(self, commands: Iterable[str], replies: Iterable[Reply]) -> None:
        """Take the replies to what is to be said next."""
        self.ahead = deque(zip(commands, replies, strict=False))

    def follow(self, command: str, reply: Reply) -> None:
        """Continue as if the reference had given this reply, such as another engine's move."""
        state, declared = self.session.state, self.declaration.of_line(command)
        refused = self.refuses(reply)
        said: tuple[str, ...] = (command,)
        if declared and declared.kind == Kind.CHOOSES and declared.plays:
            is_move = not refused and reply.text not in declared.instead
            move = state.as_move(command, reply.text) if is_move else ""
            said = (move,) if move else ()
        state.observe(command, refused=refused, reply=reply.text)
        self.said += said
        if self.ahead and said == self.ahead[0][:1]:
            self.ahead.popleft()
        else:
            self.ahead.clear()
        self.session.running = name_of(command) != "quit"


# --- Choices of an engine: right if the reference's own play accepts them ------------------------
# A choice that must *keep* the first word of the reply, as a solver's winning move keeps the
# winner, is right if the reference still says that word when it is asked after the move.


def accepts(engine: ReferenceEngine, command: str, right: Reply, answer: Reply) -> bool:
    """Whether a reply to a command that chooses is right.

    ``engine``: the reference, before the command. ``right``: its reply. ``answer``: the other's.
    """
    asked = engine.declaration.of_line(command)
    assert asked is not None
    if asked.keeps and _is_instead(asked, right):
        return True  # the reference gives up, and nobody knows better
    if engine.refuses(right) or engine.refuses(answer):
        return engine.refuses(right) is engine.refuses(answer)
    if _is_instead(asked, right) or _is_instead(asked, answer):
        return right.text.lower() == answer.text.lower()
    (kept, own), (word, chosen) = (_parts(asked, reply.text) for reply in (right, answer))
    if kept != word or not (own and chosen):
        return (kept, own) == (word, chosen)
    return _holds(engine, command, asked, kept, chosen)


def choices(engine: Engine, command: str) -> tuple[str, ...]:
    """Return the replies that are right where a command chooses; none for other commands.

    ``engine``: the reference, before the command.
    """
    words = split(command)
    if not isinstance(engine, ReferenceEngine) or not words:
        return ()
    asked = engine.declaration.command(words[0])
    if asked is None or asked.kind != Kind.CHOOSES:
        return ()
    right = engine.replies((*engine.said, command))[-1]
    kept, chosen = _parts(asked, right.text)
    if engine.refuses(right) or _is_instead(asked, right) or not chosen:
        return ()
    if not _holds(engine, command, asked, kept, chosen):
        return ()  # it is not a choice, whatever it is
    # All that may be chosen on a board: a point, and what else a move has to say.
    game, move = engine.declaration.game, engine.declaration.move
    names = [vertex_of(place, game) for place in places(engine.session.state.size)]
    told = [
        names if one.drawn == Drawn.VERTEX else one.words
        for one in (move.arguments if move else ())
        if one.drawn != Drawn.COLOR
    ]
    every = map(" ".join, product(*told))
    found = [one for one in every if _holds(engine, command, asked, kept, one)]
    return tuple(f"{kept} {one}".lstrip() for one in found)


def _holds(
    engine: ReferenceEngine, command: str, definition: DeclaredCommand, kept_text: str, choice: str
) -> bool:
    """Whether the reference plays a move, and says after it what is to be kept."""
    move = engine.session.state.as_move(command, choice)
    if not move:
        return False
    after = (*engine.said, move)
    if engine.refuses(engine.replies(after)[-1]):
        return False
    if not definition.keeps:
        return True
    again = engine.replies((*after, command))[-1]
    return not engine.refuses(again) and _parts(definition, again.text)[0] == kept_text


def _is_instead(command: DeclaredCommand, reply: Reply) -> bool:
    return reply.text.lower() in map(str.lower, command.instead)


def _parts(command: DeclaredCommand, text: str) -> tuple[str, str]:
    """Return what of a reply is to be kept, in small letters, and what is chosen."""
    words = text.split()
    if not command.keeps:
        return "", " ".join(words)
    return " ".join(words[:1]).lower(), " ".join(words[1:])


# --- A declared game asked otherwise: the board turned, colors exchanged where any may play ------
# Nobody here knows the rules: in Hex a turned position is another game. So nothing is taken to
# stay as it was. The reference is asked anew, and a conversation ends where the declaration leaves
# open what follows, as after the end of a game. Words change where the declaration has a color, a
# vertex or a size; all others stay.


_KEPT = 2_000  # places of conversations
_SIDES = {Drawn.COLUMN_COUNT: Drawn.ROW_COUNT, Drawn.ROW_COUNT: Drawn.COLUMN_COUNT}


def unfit(declaration: Declaration) -> tuple[str, ...]:
    """Return the kinds of change that a declared game does not have.

    Where colors take turns, the other one may not begin; what a larger board or another order of
    moves would mean, nobody here knows.
    """
    game = declaration.game
    used = {one.drawn for each in declaration.commands for one in each.arguments}
    exchanges = game.turns == ANY and len(game.colors) == 2 and Drawn.COLOR in used
    has = {SYMMETRY: Drawn.VERTEX in used, COLORS: exchanges}
    return tuple(kind for kind in KINDS if not has.get(kind))


class BegunBoard:
    """A board that commands have begun, as a transformation sees it."""

    def __init__(self, engine: Engine, allowed: "Allowed") -> None:
        """``engine``: the reference, right after a board was begun."""
        assert isinstance(engine, ReferenceEngine)
        self._declaration = engine.declaration
        self._starts: list[str] = []  # what has begun the board, from the last size on
        for line in engine.said:
            command = engine.declaration.of_line(line)
            if command and command.kind == Kind.STARTS:
                self._starts = [*([] if command.is_sized else self._starts), line]
        self._size = engine.session.state.size
        self._allowed = allowed

    def draw(self, kind: str, random: Random) -> Transformation | None:
        """Return a change of this kind; None where no board of a declared size was begun."""
        if self._size not in self._declaration.game.sizes:
            return None
        if kind != SYMMETRY:
            return Transformation(kind)
        columns, rows = self._size
        turns = columns == rows or (rows, columns) in self._declaration.game.sizes
        return Transformation(kind, symmetry=random.choice((ALL if turns else OF_RECTANGLES)[1:]))

    def opening(self, settings: Sequence[str], change: Transformation) -> list[str]:
        """Return the commands that began the board, and the settings."""
        return [self.command(one, change) for one in (*self._starts, *settings)]

    def command(self, command: str, change: Transformation) -> str:
        """Return a command as it reads under a change."""
        name, *words = command.split()
        declared = self._declaration.command(name)
        if declared is None:
            return command
        game, place, found = self._declaration.game, 0, [name]
        told = bind_arguments(declared, words, game)
        for argument in declared.arguments:
            own = words[place : place + width(argument, game)]
            place += len(own)
            found += self._word(argument, own, told, change) if own else ()
        return " ".join([*found, *words[place:]])

    def allows(self, engine: Engine, command: str) -> bool:
        """Whether the declaration does not leave open what is right here."""
        return self._allowed(engine, command)

    def _word(
        self,
        argument: Argument,
        words: list[str],
        bound: Mapping[str, str],
        change: Transformation,
    ) -> list[str]:
        """Return an argument as it reads under a change; ``bound``: the words of all of them."""
        if argument.drawn == Drawn.VERTEX:
            game, (columns, rows) = self._declaration.game, self._size
            place = place_of(" ".join(words), game)
            if place is None or place not in places(self._size):
                return words
            row, column = change.point((place[1], place[0]), grid(rows, columns))
            return match_case(vertex_of((column, row), game), words[0]).split()
        if argument.drawn == Drawn.COLOR and change.kind == COLORS:
            one, other = self._declaration.game.colors
            found = {one.lower(): other, other.lower(): one}.get(words[0].lower(), words[0])
            return [match_case(found, words[0])]
        if argument.drawn in _SIDES and change.symmetry not in OF_RECTANGLES:
            return [bound.get(_SIDES[argument.drawn]) or words[0]]
        return words


class Allowed:
    """Whether the answer to a command is right for all, wherever the reference stands."""

    def __init__(self, declaration: Declaration) -> None:
        self._declaration = declaration
        self._places: dict[tuple[str, ...], AllowedLines] = {(): AllowedLines(declaration)}

    def __call__(self, engine: Engine, command: str) -> bool:
        """``engine``: the reference, before the command."""
        assert isinstance(engine, ReferenceEngine)
        if len(self._places) > _KEPT:
            self._places = {(): self._places[()]}
        said, kept = engine.said, self._places
        known = next(n for n in range(len(said), -1, -1) if said[:n] in kept)
        replies = engine.replies(said) if said else ()
        over = self._declaration.game.over
        for count in range(known, len(said)):
            now, line = kept[said[:count]].copy(), said[count]
            now.observe(line, replies[count])
            declared = self._declaration.of_line(line)
            if over and declared and (declared.kind == Kind.MOVES or declared.plays):
                # After a move, is the game over?
                now.observe(over.ask, engine.replies((*said[: count + 1], over.ask))[-1])
            kept[said[: count + 1]] = now
        return kept[said].allows(command)
