"""The reference engine of a declared game as the referee: it is told each move, and may refuse."""

from __future__ import annotations

import re
from contextlib import suppress

from harness.declared.declaration import Argument, Declaration, Drawn, Kind
from harness.declared.game_state import places, refuses, vertex_of, width
from harness.declared.program_process import ProgramProcess, conversation
from harness.errors import EngineError, ReferenceFailedError, UsageError
from harness.match.records import OVER, Opening, Rules
from harness.match.referee import Ending
from harness.records import Reply
from harness.text import escape_controls
from oracle.errors import IllegalMove
from oracle.position import BLACK, EMPTY, WHITE, opponent

_SHOWN = 60  # characters of an engine's move
_DRAWN = 10_000  # of a board


class DeclaredReferee:
    """See :class:`~harness.match.referee.Referee`.

    Black is the color that begins. Colors take turns; a pass is a move if the reference plays it.
    """

    def __init__(
        self, declaration: Declaration, rules: Rules, opening: Opening, reference: ProgramProcess
    ) -> None:
        """``reference``: the one that knows the rules; it begins a new game.

        Raises:
            ReferenceFailedError: it broke, here or later. Nobody has lost by that.
        """
        self._game = declaration.game
        self._reference = reference
        self._said: list[str] = []
        self._size = rules.size
        self._left = rules.move_limit
        over, move = self._game.over, declaration.move
        (self._request, *_) = [
            one for one in declaration.of_kind(Kind.CHOOSES) if one.plays
        ]  # see check()
        assert over
        assert move
        self._over, self._move = over, move
        self.refuses = refuses(self._game)
        self.claim = over.ask
        self.to_play = opening.to_play
        self.end: Ending | None = None
        self.begin = tuple(
            self._fill(one.name, one.arguments) for one in declaration.of_kind(Kind.STARTS)
        )
        for command in self.begin:
            if self.refuses(self._say(command)):
                raise ReferenceFailedError(f"the reference refuses '{command}'")

    def _fill(self, name: str, arguments: tuple[Argument, ...]) -> str:
        columns, rows = self._size
        known = {Drawn.SIZE: columns, Drawn.COLUMN_COUNT: columns, Drawn.ROW_COUNT: rows}
        return " ".join([name, *(str(known.get(one.drawn, "")) for one in arguments)])

    def _say(self, command: str) -> Reply:
        self._said.append(command)
        try:
            said = conversation(tuple(self._said), self._reference.command_properties)
            return self._reference.replies(said)[-1]
        except EngineError as error:
            raise ReferenceFailedError(
                f"the reference did not answer '{command}': {error}"
            ) from None

    def play(self, text: str) -> str:
        """Let the reference play a move; see :class:`~harness.match.referee.Referee`."""
        words = text.split()
        if not words or len(words) > 4 or not text.isprintable():
            raise IllegalMove(f"{text[:_SHOWN]!r} is not a move")
        reply = self._say(self.tell(self.to_play, text))
        if self.refuses(reply):
            raise IllegalMove(f"{text[:_SHOWN]}: the reference says '{reply.text[:_SHOWN]}'")
        self.to_play = opponent(self.to_play)
        self._left -= 1
        said = self._say(self._over.ask)
        if said.ok and re.fullmatch(self._over.is_, said.text):
            self.end = Ending(self._winner(said.text), OVER, said.text)
        elif not self._left:
            raise ReferenceFailedError("the game was not over at the limit of moves")
        return " ".join(words)

    def _winner(self, text: str) -> int:
        """Return the color with whose name a text begins; EMPTY: nobody has won."""
        first = text.strip().lower()
        for color, name in zip((BLACK, WHITE), self._game.colors, strict=False):
            if first.startswith(name.lower()):
                return color
        return EMPTY

    def tell(self, color: int, move: str) -> str:
        """Return the command that plays a move."""
        rest = iter(move.split())
        words = [self._move.name]
        for argument in self._move.arguments:
            if argument.drawn == Drawn.COLOR:
                words.append(self._game.colors[color - 1])
            else:
                words += [next(rest, "") for _ in range(width(argument, self._game))]
        return " ".join([*words, *rest])

    def ask(self, color: int) -> str:
        """Return the command that asks for a move."""
        colors = [self._game.colors[color - 1] for one in self._request.arguments if one.drawn]
        return " ".join([self._request.name, *colors])

    def points(self) -> list[str]:
        """Return all places of the board."""
        return [vertex_of(place, self._game) for place in places(self._size)]

    def board(self) -> str:
        """Return what the reference answers to ``showboard``; "" if it does not know that."""
        with suppress(ReferenceFailedError):
            reply = self._say("showboard")
            return escape_controls(reply.text)[:_DRAWN] if reply.ok else ""
        return ""


def check(declaration: Declaration, name: str) -> None:
    """See that a declared game can be played by two engines.

    Raises:
        UsageError: it cannot.
    """
    lacks = [
        what
        for what, is_there in (
            ("two colors", len(declaration.game.colors) == 2),
            ("over", declaration.game.over),
            ("a command that plays", declaration.move),
            (
                "a command that chooses and plays a move, such as genmove",
                any(one.plays for one in declaration.of_kind(Kind.CHOOSES)),
            ),
        )
        if not is_there
    ]
    if lacks:
        raise UsageError(f"{name}: no match of it can be refereed: its [game] lacks {lacks[0]}")
