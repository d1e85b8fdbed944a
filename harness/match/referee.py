"""Who judges moves: the oracle's rules, or the reference engine of a declared game."""

from __future__ import annotations

import random
from itertools import product

from harness.errors import UsageError
from harness.match.records import FIVE, FULL, GO, LIMIT, POSITIONAL, SCORE, Opening, Rules
from harness.records import Reply
from harness.typed import NamedTuple, Protocol
from oracle.errors import IllegalMove, VertexError
from oracle.games.go import GoGame
from oracle.games.gomoku import GomokuGame
from oracle.komi import parse_komi, result_text
from oracle.position import BLACK, EMPTY, WHITE, Position, grid, opponent, parse_vertex, vertex
from oracle.rules.go import fixed_points, most_fixed, score

_WHY = {
    "off board": "it is not on the board",
    "occupied": "the point is occupied",
    "ko": "it takes a ko back at once",
    "suicide": "the stone has no liberty and takes nothing",
}
_SHOWN = 60  # characters of an engine's move
_REFUSED = "illegal move"


class Ending(NamedTuple):
    """How the rules end a game."""

    winner: int
    reason: str
    score: str = ""


class Referee(Protocol):
    """The rules of one game. Colors are numbers, whatever engines call them."""

    to_play: int
    end: Ending | None
    begin: tuple[str, ...]  # commands that begin the game
    claim: str  # the command that asks an engine for the result; "" if there is none

    def play(self, text: str) -> str:
        """Play the move of the color to play; return it as the other engine is told.

        Raises:
            IllegalMove: the sentence says why.
        """

    def points(self) -> list[str]:
        """Return where a move may be, legal or not."""

    def board(self) -> str:
        """Return the position as it is drawn; "" where the moves tell it, or nobody draws it."""
        return ""

    def tell(self, color: int, move: str) -> str:
        """Return the command that tells an engine of a move."""

    def ask(self, color: int) -> str:
        """Return the command that asks an engine for its move."""

    def refuses(self, reply: Reply) -> bool:
        """Whether an engine's reply refuses a command, though it may say that all is well."""


class _BoardReferee(Referee):
    """What the two games of the oracle have in common."""

    claim = ""

    def __init__(self, rules: Rules, opening: Opening) -> None:
        self._columns, self._rows = rules.size
        self._rules = rules
        self.end: Ending | None = None
        self.to_play = opening.to_play
        self.begin: tuple[str, ...] = (f"boardsize {self._columns}", "clear_board")
        self.begin += tuple(self.tell(*stone) for stone in opening.setup)

    def _start(self, opening: Opening) -> Position:
        position = Position(grid(self._rows, self._columns))
        for color, name in opening.setup:
            position = position.place(self._point(name), color)
        return position

    def _point(self, text: str) -> tuple[int, int]:
        try:
            return parse_vertex(text, self._rows, self._columns)
        except VertexError:
            raise IllegalMove(f"{text[:_SHOWN]!r} is not a point of the board") from None

    def points(self) -> list[str]:
        """Return all points of the board."""
        both = product(range(self._rows), range(self._columns))
        return [vertex(point) for point in both]

    def tell(self, color: int, move: str) -> str:
        """Return the command that tells of a move: the course's engines know b and w alone."""
        return f"play {'?bw'[color]} {move}"

    def ask(self, color: int) -> str:
        """Return the command that asks for a move."""
        return f"genmove {'?bw'[color]}"

    def refuses(self, reply: Reply) -> bool:
        """Whether a reply refuses: the course's engines say so in replies that report success."""
        return not reply.ok or _REFUSED in reply.text[:_SHOWN].lower()


class GoReferee(_BoardReferee):
    """Go: area scoring, no suicide, simple ko or positional superko; two passes end it."""

    claim = "final_score"

    def __init__(self, rules: Rules, opening: Opening) -> None:
        super().__init__(rules, opening)
        self.begin = (*self.begin[:2], f"komi {rules.komi}", *self.begin[2:])
        self._game = GoGame(self._start(opening), opening.to_play)
        self._komi = parse_komi(rules.komi)
        self._seen = {self._game.position} if rules.ko == POSITIONAL else None

    def play(self, text: str) -> str:
        """Play a move; see :class:`Referee`."""
        word, game = text.strip(), self._game
        point = None if word.lower() == "pass" else self._point(word)
        try:
            game.play(self.to_play, point)
        except IllegalMove as error:
            raise IllegalMove(f"{word}: {_WHY[error.reason]}") from None
        if point and self._seen is not None:
            if game.position in self._seen:
                game.undo()
                raise IllegalMove(f"{word}: it repeats an earlier position")
            self._seen.add(game.position)
        self.to_play = opponent(self.to_play)
        is_long = len(game.moves) >= self._rules.move_limit
        if game.is_over or is_long:
            self.end = self._count(SCORE if game.is_over else LIMIT)
        return vertex(point) if point else "pass"

    def _count(self, reason: str) -> Ending:
        board = self._game.position
        text = result_text(score(board.grid, board.black, board.white), self._komi)
        return Ending({"B": BLACK, "W": WHITE}.get(text[0], EMPTY), reason, text)


class GomokuReferee(_BoardReferee):
    """Gomoku: five or more in a row win; a full board is a draw."""

    claim = "gogui-rules_final_result"

    def __init__(self, rules: Rules, opening: Opening) -> None:
        super().__init__(rules, opening)
        self._game = GomokuGame(self._start(opening), opening.to_play)

    def play(self, text: str) -> str:
        """Play a move; see :class:`Referee`."""
        word, game = text.strip(), self._game
        point = self._point(word)
        try:
            game.play(self.to_play, point)
        except IllegalMove as error:
            raise IllegalMove(f"{word}: {_WHY[error.reason]}") from None
        self.to_play = opponent(self.to_play)
        if game.is_over:
            self.end = Ending(
                game.winner, FIVE if game.winner else FULL, "" if game.winner else "0"
            )
        return vertex(point)


def after_opening(referee: Referee, opening: Opening) -> Referee:
    """Play the moves of an opening.

    Raises:
        UsageError: one is illegal, or the game is over after it.
    """
    for color, move in opening.moves:
        try:
            if color != referee.to_play:
                raise IllegalMove(f"{move}: the colors do not take turns")
            referee.play(move)
        except IllegalMove as error:
            raise UsageError(f"opening {opening.name}: {error}") from None
    if referee.end:
        raise UsageError(f"opening {opening.name}: the game is over after it")
    return referee


# --- openings that are drawn -------------------------------------------------------------------


def draw_opening(referee: Referee, opening: Opening, moves: int, dice: random.Random) -> Opening:
    """Return an opening with so many more moves, each drawn from the legal ones.

    Raises:
        UsageError: no such opening was found.
    """
    drawn: list[tuple[int, str]] = []
    points = referee.points()
    dice.shuffle(points)
    for point in points:
        if len(drawn) == moves or referee.end:
            break
        color = referee.to_play
        try:
            drawn.append((color, referee.play(point)))
        except IllegalMove:
            continue
    if len(drawn) < moves or referee.end:
        raise UsageError(f"no opening of {moves} moves was found on this board; draw fewer")
    return opening._replace(moves=(*opening.moves, *drawn))


def handicap_opening(rules: Rules) -> Opening:
    """Return the opening of a handicap game: stones on the standard points, White begins.

    Raises:
        UsageError: the board has no such points.
    """
    if not rules.handicap:
        return Opening()
    columns, rows = rules.size
    most = most_fixed(rows) if rows == columns else 0
    if rules.game != GO or not 2 <= rules.handicap <= most:
        raise UsageError(
            f"--handicap {rules.handicap}: found a board for {most} stones, expected"
            " a game of Go with 2 stones or more on a board that has points for them"
        )
    stones = [(BLACK, vertex(point)) for point in fixed_points(rows, rules.handicap)]
    return Opening(f"handicap {rules.handicap}", tuple(stones), (), WHITE)
