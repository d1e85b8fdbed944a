"""``--game java-go``: the three methods of the java-go document and its playable game.

``is_legal`` answers as the document's method does, from the board alone; ``can_play`` answers for
the game, where the immediate recapture of a ko is forbidden as well.
"""

from __future__ import annotations

from oracle.answers import java_go as answers
from oracle.errors import GtpError
from oracle.games.go import BLACK_FIRST, GoGame
from oracle.gtp import common, protocol
from oracle.gtp.go import captures, genmove
from oracle.position import Point, Position


class JavaGoSession(common.Session):
    """A game that ends when Black passes and White passes after it."""

    __slots__ = ()

    game: GoGame
    sizes = range(1, 26)
    size = 11  # java-go.txt, "The Game"

    def new_game(self, position: Position, to_play: int) -> GoGame:
        """Return a game without komi."""
        return GoGame(position, to_play, ending=BLACK_FIRST)

    def explain_open_answer(self, words: list[str]) -> str:
        """Return what java-go.txt, "KO Rule", leaves open: a recapture of more than was lost.

        "You may not play a position that recaptures a position that has just been captured from
        you. Allowing this could result in an infinite loop." Here it could not.
        """
        game = self.game
        if words[:1] not in (["play"], ["can_play"]) or game.ko is None or game.ko_repeats:
            return ""
        try:
            _, point, color = move_subject(self, words[1:])
        except GtpError:  # a pass, or what is not a move at all
            return ""
        is_ko = (color, point) == (game.to_play, game.ko)
        return "the ko is taken back with more stones than one" if is_ko else ""


def is_captured(session: JavaGoSession, words: list[str]) -> str:
    """VERTEX: whether the point is captured: true or false."""
    return protocol.boolean(answers.is_captured(*point_subject(session, words)))


def score(session: JavaGoSession, words: list[str]) -> str:
    """COLOR: its territory and prisoners on this board."""
    return str(answers.score(*color_subject(session, words)))


def is_legal(session: JavaGoSession, words: list[str]) -> str:
    """COLOR VERTEX: whether a stone is legal on this board: true or false."""
    return protocol.boolean(answers.is_legal(*move_subject(session, words)))


def can_play(session: JavaGoSession, words: list[str]) -> str:
    """COLOR VERTEX: the same in the game, which knows ko."""
    _, point, color = move_subject(session, words)
    return protocol.boolean(session.game.is_legal(color, point))


def is_over(session: JavaGoSession, words: list[str]) -> str:
    """: whether the game has ended: true or false."""
    return protocol.boolean(session.game.is_over)


def load_board(session: common.Session, words: list[str]) -> str:
    """FILE: load a board of 0, 1 and 2, of any shape."""
    from oracle.boards.diagram import parse_digits

    return common.load_board(session, words, "text", parse_digits)


# --- what the answers depend on, in the order of the document's methods ------------------------


def point_subject(session: JavaGoSession, words: list[str]) -> tuple[Position, Point]:
    """Return the board and the point of VERTEX."""
    return session.game.position, common.on_board(session, words, 0)


def color_subject(session: JavaGoSession, words: list[str]) -> tuple[Position, int]:
    """Return the board and the color of COLOR."""
    return session.game.position, protocol.color(words, 0)


def move_subject(session: JavaGoSession, words: list[str]) -> tuple[Position, Point, int]:
    """Return the board, and point and color of COLOR VERTEX."""
    color = protocol.color(words, 0)
    return session.game.position, common.on_board(session, words, 1), color


QUESTIONS: common.Questions = {
    "is_captured": (
        point_subject,
        answers.explain_captured,
        answers.readings_captured,
        protocol.boolean,
    ),
    "score": (color_subject, answers.explain_score, answers.readings_score, str),
    "is_legal": (move_subject, answers.explain_legal, answers.readings_legal, protocol.boolean),
}


def analyze_commands(session: JavaGoSession, words: list[str]) -> str:
    """: what GoGui's analyze menu offers."""
    return (
        "string/Score/score %c\n"
        "string/Is captured/is_captured %p\n"
        "string/Is legal/is_legal %c %p\n"
        "gfx/Explain the score/oracle-explain score %c\n"
        "gfx/Explain captured/oracle-explain is_captured %p\n"
        "gfx/Explain legal/oracle-explain is_legal %c %p"
    )


COMMANDS: protocol.Table = {
    **common.COMMANDS,
    "load_board": load_board,
    "is_captured": is_captured,
    "score": score,
    "is_legal": is_legal,
    "can_play": can_play,
    "captures": captures,
    "is_over": is_over,
    "genmove": genmove,
    "gogui-analyze_commands": analyze_commands,
}


def new_engine(seed: int, _playouts: int) -> protocol.Engine:
    """Return an engine for java-go."""
    return protocol.Engine(JavaGoSession(COMMANDS, QUESTIONS, seed))
