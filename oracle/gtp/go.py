"""``--game go``: the go-scoring assignment, and a referee for any game of Go."""

from __future__ import annotations

from oracle.answers import go_scoring
from oracle.color import opponent
from oracle.errors import GtpError
from oracle.games.go import GoGame
from oracle.gtp import (
    common,
    gnugo_commands,
    gtp_arguments,
    handicap_commands,
    loading,
    questions,
)
from oracle.gtp.protocol import Engine
from oracle.gtp.session import Session
from oracle.komi import plain_text
from oracle.vertex import vertex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from random import Random

    from oracle.boards.snapshot import Snapshot
    from oracle.grid import Grid
    from oracle.gtp.protocol import Table
    from oracle.gtp.session import Questions
    from oracle.komi import Komi
    from oracle.position import Position
    from oracle.vertex import Point


class GoSession(Session):
    """A game of Go; the komi outlives ``boardsize`` and ``clear_board``.

    Attributes beside those of every session: ``komi``; ``handicap``, how many handicap stones
    were placed on this board.
    """

    __slots__ = ("handicap", "komi")

    game: GoGame
    knows_letters_only = True

    def __init__(self, commands: Table, questions: Questions, seed: int) -> None:
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
    session.komi = gtp_arguments.komi(words, 0)
    return ""


def get_komi(session: GoSession, words: list[str]) -> str:
    """: the komi (as in GNU Go)."""
    return plain_text(session.komi)


def score(session: GoSession, words: list[str]) -> str:
    """: the area score of the board as it is: B+4, W+0.5 or 0."""
    return go_scoring.answer(*subject(session, words))


def final_status_list(session: GoSession, words: list[str]) -> str:
    """STATUS: the stones alive, dead or in seki; all count as alive."""
    status = gtp_arguments.word(words, 0)
    if status not in ("alive", "dead", "seki"):
        raise GtpError(gtp_arguments.SYNTAX)
    position = session.game.position
    if status != "alive":
        return ""
    return list_vertices(position, position.black | position.white)


# --- moves -------------------------------------------------------------------------------------


def is_legal(session: GoSession, words: list[str]) -> str:
    """COLOR VERTEX: 1 when the move is legal now, else 0 (as in GNU Go)."""
    color, point = gtp_arguments.color(words, 0), gtp_arguments.move(words, 1)
    return "1" if point is None or session.game.is_legal(color, point) else "0"


def all_legal(session: GoSession, words: list[str]) -> str:
    """COLOR: the points where a stone is legal now (as in GNU Go)."""
    game = session.game
    return list_vertices(game.position, game.legal_moves(gtp_arguments.color(words, 0)))


def captures(session: GoSession, words: list[str]) -> str:
    """COLOR: how many stones it has captured (as in GNU Go)."""
    return str(session.game.prisoners(gtp_arguments.color(words, 0)))


def genmove(session: GoSession, words: list[str]) -> str:
    """COLOR: play a random move that fills no eye of its own."""
    color = gtp_arguments.color(words, 0)
    point = random_move(session.game, color, session.random)
    session.game.play(color, point)
    return vertex(point) if point else "pass"


def reg_genmove(session: GoSession, words: list[str]) -> str:
    """COLOR: choose such a move without playing it."""
    color = gtp_arguments.color(words, 0)
    point = random_move(session.game, color, session.new_random())
    return vertex(point) if point else "pass"


def random_move(game: GoGame, color: int, random: Random) -> Point | None:
    """Return a random legal point that is not an eye of the color, None when there is none."""
    from oracle.rules.eyes import eyes

    shape = game.position.grid
    mine = game.position.stones(color)
    theirs = game.position.stones(opponent(color))
    sensible = game.legal_moves(color) & ~eyes(shape, mine, theirs)
    return random.choice(shape.points(sensible)) if sensible else None


# --- time and display --------------------------------------------------------------------------


def time_settings(session: GoSession, words: list[str]) -> str:
    """MAIN BYO_YOMI STONES: accepted; this engine does not think."""
    for index in range(3):
        gtp_arguments.integer(words, index)
    return ""


def time_left(session: GoSession, words: list[str]) -> str:
    """COLOR TIME STONES: accepted; this engine does not think."""
    gtp_arguments.color(words, 0)
    for index in (1, 2):
        gtp_arguments.integer(words, index)
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
QUESTIONS: Questions = {"score": _SCORE, "final_score": _SCORE}

COMMANDS: Table = {
    **common.COMMANDS,
    **loading.COMMANDS,
    **questions.COMMANDS,
    **handicap_commands.COMMANDS,
    **gnugo_commands.COMMANDS,
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


def new_engine(seed: int, _playouts: int) -> Engine:
    """Return an engine for Go."""
    return Engine(GoSession(COMMANDS, QUESTIONS, seed))
