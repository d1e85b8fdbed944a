"""The three methods of java-go.txt and its game in parts."""

from __future__ import annotations

from oracle.answers import java_go as answers
from oracle.gtp import protocol
from oracle.gtp.java_go import JavaGoSession, color_subject, move_subject, point_subject
from oracle.mistakes.bank import Route, part

TYPE_CHECKING = False

if TYPE_CHECKING:
    from oracle.gtp.protocol import Command
    from oracle.position import Point, Position


# --- isCaptured --------------------------------------------------------------------------------


@part()
def asked_about(session: JavaGoSession, words: list[str]) -> tuple[Position, Point]:
    """Return the board and the point that isCaptured is asked about."""
    return point_subject(session, words)


@part()
def captured_stone(session: JavaGoSession, position: Position, point: Point) -> bool:
    """Return whether a stone is captured."""
    return answers.is_captured(position, point)


@part()
def captured_space(session: JavaGoSession, position: Position, point: Point) -> bool:
    """Return whether an empty point is captured."""
    return answers.is_captured(position, point)


def _is_captured(right: Command, session: JavaGoSession, words: list[str]) -> str:
    position, point = asked_about(session, words)
    kind = captured_stone if position.color_at(point) else captured_space
    return protocol.boolean(kind(session, position, point))


# --- score -------------------------------------------------------------------------------------


@part()
def prisoners(session: JavaGoSession, position: Position, color: int) -> int:
    """Return the stones that are points of a color."""
    return answers.prisoners_and_territory(position, color)[0]


@part()
def territory(session: JavaGoSession, position: Position, color: int) -> int:
    """Return the empty points, prisoners taken off, that are points of a color."""
    return answers.prisoners_and_territory(position, color)[1]


@part()
def total(session: JavaGoSession, dead: int, empty: int) -> int:
    """Return the points for prisoners and territory."""
    return dead.bit_count() + empty.bit_count()


@part(prisoners, territory, total)
def points(session: JavaGoSession, position: Position, color: int) -> int:
    """Return the points of a color."""
    both = prisoners(session, position, color), territory(session, position, color)
    return int(total(session, *both))


def _score(right: Command, session: JavaGoSession, words: list[str]) -> str:
    return str(points(session, *color_subject(session, words)))


# --- isLegal, and the game ---------------------------------------------------------------------


@part()
def allowed(session: JavaGoSession, position: Position, point: Point, color: int) -> bool:
    """Return whether a stone is legal on a board; the game asks it too, and knows ko besides."""
    return answers.is_legal(position, point, color)


@part()
def ko_of_board(session: JavaGoSession, position: Position, point: Point, color: int) -> bool:
    """Return whether isLegal, which sees one board, refuses a stone for ko."""
    return False


@part()
def ko_of_game(session: JavaGoSession, position: Position, point: Point, color: int) -> bool:
    """Return whether the game refuses a stone for ko."""
    return session.game.refusal(color, point) == "ko"


def _is_legal(right: Command, session: JavaGoSession, words: list[str]) -> str:
    move = move_subject(session, words)
    return protocol.boolean(not ko_of_board(session, *move) and allowed(session, *move))


def _can_play(right: Command, session: JavaGoSession, words: list[str]) -> str:
    move = move_subject(session, words)
    return protocol.boolean(not ko_of_game(session, *move) and allowed(session, *move))


ROUTES = {
    "is_captured": Route(_is_captured, (asked_about, captured_stone, captured_space)),
    "score": Route(_score, (points,)),
    "is_legal": Route(_is_legal, (ko_of_board, allowed)),
    "can_play": Route(_can_play, (ko_of_game, allowed)),
}
