"""``--game go``: the go-scoring assignment, and a referee for any game of Go."""

from __future__ import annotations

from oracle.answers import go_scoring
from oracle.errors import GtpError
from oracle.games.go import GoGame
from oracle.gtp import common, protocol
from oracle.gtp.common import Session
from oracle.komi import plain_text
from oracle.position import WHITE, Grid, Point, Position, color_of, sides, vertex
from oracle.rules.flood import flood, neighbours
from oracle.rules.go import fixed_points, most_fixed

TYPE_CHECKING = False

if TYPE_CHECKING:
    from random import Random
    from typing import Any

    from oracle.boards import Snapshot
    from oracle.komi import Komi

# --- GNU Go's commands about stones and their liberties: replies and errors are GNU Go's ---------
# Lists begin with the uppermost row, and each row at its left.
# Source: GNU Go 3.8, by what it answers; https://www.gnu.org/software/gnugo/gnugo_19.html


def list_stones(session: Session, words: list[str]) -> str:
    """COLOR: the points of its stones (as in GNU Go)."""
    color = color_of(words[0]) if words else None
    if color is None:
        raise GtpError("invalid color")
    position = session.game.position
    return _list(position, position.stones(color))


def query_boardsize(session: Session, words: list[str]) -> str:
    """: the size of the board (as in GNU Go)."""
    return str(session.game.position.grid.rows)


def query_orientation(session: Session, words: list[str]) -> str:
    """: how the board is turned (as in GNU Go): 0, not at all."""
    return "0"


def get_handicap(session: Any, words: list[str]) -> str:
    """: how many handicap stones were placed (as in GNU Go)."""
    return str(session.handicap)


def countlib(session: Session, words: list[str]) -> str:
    """VERTEX: how many liberties the chain there has (as in GNU Go)."""
    return str(_liberties(session, words).bit_count())


def findlib(session: Session, words: list[str]) -> str:
    """VERTEX: the liberties of the chain there (as in GNU Go)."""
    return _list(session.game.position, _liberties(session, words))


def _liberties(session: Session, words: list[str]) -> int:
    position: Position = session.game.position
    try:
        point = protocol.move(words, 0)
    except GtpError:
        point = None
    if point is None or point not in position.grid:
        raise GtpError("invalid coordinate")
    color = position.color_at(point)
    if not color:
        raise GtpError("vertex must not be empty")
    chain = flood(position.grid, position.grid.bit(point), position.stones(color))
    return neighbours(position.grid, chain) & position.empty


def _list(position: Position, mask: int) -> str:
    points = sorted(position.grid.points(mask), key=lambda point: (-point[0], point[1]))
    return " ".join(map(vertex, points))


# --- Handicap stones: the three commands that place them -----------------------------------------
# Source: GTP version 2, sections 4.1.2 and 6.3.2.


def fixed_handicap(session: Session, words: list[str]) -> str:
    """STONES: place the standard handicap of so many stones."""
    stones, size = protocol.integer(words, 0), session.game.position.grid.rows
    if not 2 <= stones <= most_fixed(size):
        raise GtpError("invalid number of stones")
    return _place(session, fixed_points(size, stones))


def place_free_handicap(session: Session, words: list[str]) -> str:
    """STONES: place a handicap of the engine's choice.

    Section 4.1.2 allows to place fewer stones than asked for. Where the standard has no points
    for so many, this engine takes the largest handicap that it has, or else the two lowest points.
    """
    position = session.game.position
    stones, size = protocol.integer(words, 0), position.grid.rows
    if not 2 <= stones < size * size:
        raise GtpError("invalid number of stones")
    if most := most_fixed(size):
        return _place(session, fixed_points(size, min(stones, most)))
    return _place(session, position.grid.points(position.empty)[:2])


def set_free_handicap(session: Session, words: list[str]) -> str:
    """VERTEX ...: place the handicap that somebody else has chosen."""
    position = session.game.position
    points = [protocol.move(words, index) for index in range(len(words))]
    placed = [point for point in points if point is not None and point in position.grid]
    if len(set(placed)) != len(points) or not 2 <= len(points) < position.grid.full.bit_count():
        raise GtpError("bad vertex list")
    _place(session, placed)
    return ""


def _place(session: Any, points: list[Point]) -> str:
    """Put black stones on an empty board; they are not moves, so undo leaves them."""
    position = session.game.position
    if position.empty != position.grid.full:
        raise GtpError("board not empty")
    stones = position.with_stones(1, position.grid.mask(points))
    session.game = session.new_game(stones, WHITE)
    session.handicap = len(points)
    return " ".join(vertex(point) for point in points)


# --- the session -------------------------------------------------------------------------------


class GoSession(Session):
    """A game of Go; the komi outlives ``boardsize`` and ``clear_board``.

    Attributes beside those of every session: ``komi``; ``handicap``, how many handicap stones
    were placed on this board.
    """

    __slots__ = ("handicap", "komi")

    game: GoGame
    knows_letters_only = True

    def __init__(self, commands: protocol.Table, questions: common.Questions, seed: int) -> None:
        super().__init__(commands, questions, seed)
        self.komi: Komi = 0
        self.handicap = 0

    def new_game(self, position: Position, to_play: int) -> GoGame:
        """Return a game of Go."""
        return GoGame(position, to_play)

    def clear(self, shape: Grid) -> None:
        """Begin a new game, without handicap."""
        super().clear(shape)
        self.handicap = 0

    def resume(self, snapshot: Snapshot) -> None:
        """Take the komi from the file as well; a file without one has none."""
        super().resume(snapshot)
        self.komi = snapshot.komi or 0
        self.handicap = snapshot.handicap


# --- komi and score ----------------------------------------------------------------------------


def komi(session: GoSession, words: list[str]) -> str:
    """KOMI: set the komi; every digit counts."""
    session.komi = protocol.komi(words, 0)
    return ""


def get_komi(session: GoSession, words: list[str]) -> str:
    """: the komi (as in GNU Go)."""
    return plain_text(session.komi)


def score(session: GoSession, words: list[str]) -> str:
    """: the area score of the board as it is: B+4, W+0.5 or 0."""
    return go_scoring.answer(*subject(session, words))


def final_status_list(session: GoSession, words: list[str]) -> str:
    """STATUS: the stones alive, dead or in seki; all count as alive."""
    status = protocol.word(words, 0)
    if status not in ("alive", "dead", "seki"):
        raise GtpError(protocol.SYNTAX)
    position = session.game.position
    stones = position.black | position.white
    return list_vertices(position, stones) if status == "alive" else ""


# --- moves -------------------------------------------------------------------------------------


def is_legal(session: GoSession, words: list[str]) -> str:
    """COLOR VERTEX: 1 when the move is legal now, else 0 (as in GNU Go)."""
    color, point = protocol.color(words, 0), protocol.move(words, 1)
    return "1" if point is None or session.game.is_legal(color, point) else "0"


def all_legal(session: GoSession, words: list[str]) -> str:
    """COLOR: the points where a stone is legal now (as in GNU Go)."""
    game = session.game
    return list_vertices(game.position, game.legal_moves(protocol.color(words, 0)))


def captures(session: GoSession, words: list[str]) -> str:
    """COLOR: how many stones it has captured (as in GNU Go)."""
    return str(session.game.prisoners(protocol.color(words, 0)))


def genmove(session: GoSession, words: list[str]) -> str:
    """COLOR: play a random move that fills no eye of its own."""
    color = protocol.color(words, 0)
    point = random_move(session.game, color, session.random)
    session.game.play(color, point)
    return vertex(point) if point else "pass"


def reg_genmove(session: GoSession, words: list[str]) -> str:
    """COLOR: choose such a move without playing it."""
    point = random_move(session.game, protocol.color(words, 0), session.new_random())
    return vertex(point) if point else "pass"


def random_move(game: GoGame, color: int, random: Random) -> Point | None:
    """Return a random legal point that is not an eye of the color, None when there is none."""
    from oracle.rules.go import eyes

    shape = game.position.grid
    sensible = game.legal_moves(color) & ~eyes(shape, *sides(game.position, color))
    return random.choice(shape.points(sensible)) if sensible else None


# --- time and display --------------------------------------------------------------------------


def time_settings(session: GoSession, words: list[str]) -> str:
    """MAIN BYO_YOMI STONES: accepted; this engine does not think."""
    for index in range(3):
        protocol.integer(words, index)
    return ""


def time_left(session: GoSession, words: list[str]) -> str:
    """COLOR TIME STONES: accepted; this engine does not think."""
    protocol.color(words, 0)
    for index in (1, 2):
        protocol.integer(words, index)
    return ""


def analyze_commands(session: GoSession, words: list[str]) -> str:
    """: what GoGui's analyze menu offers."""
    return (
        "string/Score/score\n"
        "cboard/Owner of each point/oracle-owner\n"
        "gfx/Explain the score/oracle-explain score\n"
        "plist/Legal moves/all_legal %c\n"
        "string/Stones captured by/captures %c\n"
        "string/Komi/get_komi"
    )


def owner(session: GoSession, words: list[str]) -> str:
    """: the owner of every point, in colors for GoGui."""
    position = session.game.position
    owners = go_scoring.owners(position)
    rows, columns = reversed(range(position.grid.rows)), range(position.grid.columns)
    names = ("gray", "black", "white")
    return "\n".join(" ".join(names[owners[row, column]] for column in columns) for row in rows)


def list_vertices(position: Position, mask: int) -> str:
    """Return the vertices of a mask, from A1 rightwards, then upwards."""
    return " ".join(vertex(point) for point in position.grid.points(mask))


def subject(session: GoSession, words: list[str]) -> tuple[Position, Komi]:
    """Return what the score depends on."""
    return session.game.position, session.komi


_SCORE = (subject, go_scoring.explain, go_scoring.readings, str)
QUESTIONS: common.Questions = {"score": _SCORE, "final_score": _SCORE}

COMMANDS: protocol.Table = {
    **common.COMMANDS,
    "fixed_handicap": fixed_handicap,
    "place_free_handicap": place_free_handicap,
    "set_free_handicap": set_free_handicap,
    "list_stones": list_stones,
    "query_boardsize": query_boardsize,
    "query_orientation": query_orientation,
    "countlib": countlib,
    "findlib": findlib,
    "get_handicap": get_handicap,
    "komi": komi,
    "get_komi": get_komi,
    "score": score,
    "final_score": score,
    "final_status_list": final_status_list,
    "is_legal": is_legal,
    "all_legal": all_legal,
    "captures": captures,
    "genmove": genmove,
    "reg_genmove": reg_genmove,
    "time_settings": time_settings,
    "time_left": time_left,
    "gogui-analyze_commands": analyze_commands,
    "oracle-owner": owner,
}


def new_engine(seed: int, _playouts: int) -> protocol.Engine:
    """Return an engine for Go."""
    return protocol.Engine(GoSession(COMMANDS, QUESTIONS, seed))
