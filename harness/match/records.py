"""Records of a match. They are immutable, and go to and from the journal as plain JSON."""

from collections.abc import Iterable, Mapping
from typing import Any

from harness.core.options import GTP, Options
from harness.core.text import one_line
from harness.core.typed import NamedTuple
from oracle.position import BLACK, EMPTY, WHITE

GO, GOMOKU = "go", "gomoku"
SIMPLE, POSITIONAL = KOS = ("simple", "positional")

# How a game ended. The first group is the referee's count; in the others the loser did it.
SCORE, FIVE, FULL, OVER, LIMIT = "score", "five in a row", "board full", "rules", "move limit"
RESIGNED, ILLEGAL, REFUSED, TURN = "resigned", "illegal move", "refused a move", "out of turn"
TIME, HUNG, CRASHED, OUTPUT, LIMITS = "time", "hung", "crashed", "too much output", "limits"
NOT_READY = "not ready"  # it did not start, or refused what begins a game
ABSENT = "withdrawn"  # there is no engine to play
BOTH = "both failed"  # nobody has a point
COUNTED = (SCORE, FIVE, FULL, OVER, LIMIT)


class Player(NamedTuple):
    """An engine that takes part. ``words``: of its command; none: it loses without playing."""

    name: str
    command: str
    words: tuple[str, ...] = ()
    folder: str = ""  # where it is started
    show: tuple[str, ...] = ()  # paths that it may read besides its own program
    submission: str = ""  # its folder, if it is an assignment's
    absent: str = ""  # why there is no engine
    seeded: bool = False  # its command has %SRAND: each start gets another number


class TimeControl(NamedTuple):
    """The time of a game, as GTP's ``time_settings`` has it. Seconds; all 0: no limit."""

    main: float = 0.0
    period: float = 0.0  # for so many
    stones: int = 0


class Rules(NamedTuple):
    game: str = GO  # GO, GOMOKU or the name of a declared game
    size: tuple[int, int] = (9, 9)  # columns, rows
    komi: str = "7.5"
    ko: str = SIMPLE
    handicap: int = 0
    most_moves: int = 0  # 0: three for each point
    time: TimeControl = TimeControl()
    protocol: str = GTP

    @property
    def move_limit(self) -> int:
        """Return after how many moves a game is counted as it stands."""
        return self.most_moves or 3 * self.size[0] * self.size[1]

    @property
    def title(self) -> str:
        """Game and rules, in a few words."""
        columns, rows = self.size
        parts = [f"{self.game} {columns}x{rows}"]
        if self.game == GO:
            parts += [f"komi {self.komi}", f"{self.ko} ko"]
        if self.handicap:
            parts.append(f"handicap {self.handicap}")
        main, period, stones = self.time
        if main or stones:
            parts.append(f"time {main:g} s" + (f" + {period:g} s for {stones}" if stones else ""))
        return ", ".join(parts)


class Opening(NamedTuple):
    """Beginning of a game. Colors are numbers, vertices are text."""

    name: str = ""
    setup: tuple[tuple[int, str], ...] = ()
    moves: tuple[tuple[int, str], ...] = ()
    to_play: int = BLACK


class Plan(NamedTuple):
    """A game to be played. Players are known by their place in the list."""

    number: int  # from 0
    pair: int  # the games of one opening with both colors
    black: int
    white: int
    opening: int
    round: int = 0

    @property
    def players(self) -> tuple[int, int]:
        """Return who is Black and who White."""
        return self.black, self.white

    def player(self, color: int) -> int:
        """Return who has a color."""
        return self.black if color == BLACK else self.white


class Game(NamedTuple):
    plan: Plan
    winner: int  # BLACK, WHITE or EMPTY
    reason: str
    detail: str = ""  # a sentence
    score: str = ""  # as SGF's RE has it
    moves: tuple[tuple[int, str], ...] = ()  # after the opening
    seconds: tuple[float, float] = (0.0, 0.0)  # that Black's and White's engine used
    claims: tuple[str, str] = ("", "")  # what each said of the end; "" if it was not asked
    board: str = ""  # the last position as a declared game's reference draws it

    def points(self, color: int) -> float:
        """Return 1 for a win, 0.5 for a draw, 0 for a loss."""
        if self.winner == EMPTY:
            return 0.0 if self.reason == BOTH else 0.5
        return float(self.winner == color)

    def points_of(self, player: int) -> float:
        """Return the points of one of its two players."""
        return self.points(BLACK if self.plan.black == player else WHITE)

    @property
    def result(self) -> str:
        """The result as SGF has it."""
        if self.winner == EMPTY:
            return "Void" if self.reason == BOTH else "0"
        if self.reason in COUNTED and self.score:
            return self.score
        how = "" if self.reason in COUNTED else _IN_SGF.get(self.reason, "F")
        return f"{'?BW'[self.winner]}+{how}"

    @property
    def disputed(self) -> bool:
        """Whether an engine counts another winner than the referee."""
        return not {claimed_winner(claim) for claim in self.claims} <= {None, self.winner}

    def as_json(self) -> dict[str, Any]:
        """Return the game as JSON has it: tuples are lists there."""
        winner = " bw"[self.winner].strip()
        return {**self._asdict(), "winner": winner, "moves": moves_as_text(self.moves)}


def game_from_json(data: Mapping[str, Any]) -> Game:
    """Return a game that was written as JSON.

    Raises:
        KeyError, TypeError, ValueError: it is not one.
    """
    moves = tuple(("?bw".index(one[0]), one[2:]) for one in data["moves"])
    winner = " bw".index(data["winner"] or " ")
    pairs = {name: tuple(data[name]) for name in ("seconds", "claims")}
    known = {"plan": Plan(*data["plan"]), "winner": winner, "moves": moves}
    return Game(**{**data, **pairs, **known})


def moves_as_text(moves: Iterable[tuple[int, str]]) -> list[str]:
    """Return moves as GTP has them."""
    return [f"{'?bw'[color]} {vertex}" for color, vertex in moves]


_IN_SGF = {RESIGNED: "R", TIME: "T"}
_CLAIMED = {
    **dict.fromkeys(("b", "black"), BLACK),
    **dict.fromkeys(("w", "white"), WHITE),
    **dict.fromkeys(("0", "draw", "jigo"), EMPTY),
}


def claimed_winner(claim: str) -> int | None:
    """Return the winner that ``B+3.5``, ``black`` or ``0`` names; None of anything else."""
    return _CLAIMED.get(claim.strip().lower().partition("+")[0])


class Match(NamedTuple):
    """All that is to be played."""

    players: tuple[Player, ...]
    rules: Rules
    openings: tuple[Opening, ...] = (Opening(),)
    options: Options = Options()
    place: str = ""  # the folder in which engines are started that have none of their own

    def names(self, game: Game, length: int = 0) -> tuple[str, str]:
        """Return who is Black and who White in a game, each on one line."""
        black, white = (self.players[one].name for one in game.plan.players)
        return one_line(black, length), one_line(white, length)
