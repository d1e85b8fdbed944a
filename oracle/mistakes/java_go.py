"""Mistakes in the three methods of java-go.txt and in its game."""

from __future__ import annotations

from itertools import pairwise

from oracle.answers import java_go as answers
from oracle.color import BLACK, EMPTY, WHITE, opponent
from oracle.games.go import EITHER_FIRST, GoGame
from oracle.gtp import arguments
from oracle.gtp.java_go import color_subject, move_subject, point_subject
from oracle.mistakes.bank import Crash, Shelf
from oracle.position import Position
from oracle.rules import area, capture
from oracle.rules.flood import flood, flood_diagonally, neighbours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oracle.gtp.java_go import JavaGoSession
    from oracle.gtp.protocol import Command
    from oracle.vertex import Point

SHELF = Shelf("java-go")
mistake = SHELF.mistake


# --- kinds of mistakes -------------------------------------------------------------------------


def captured(function: Callable[[Position, Point], bool]) -> None:
    """Register another ``isCaptured``."""

    def is_captured(right: Command, session: JavaGoSession, words: list[str]) -> str:
        return arguments.boolean(function(*point_subject(session, words)))

    SHELF.add(function, {"is_captured": is_captured})


def scores(function: Callable[[Position, int], int]) -> None:
    """Register another ``score``."""

    def score(right: Command, session: JavaGoSession, words: list[str]) -> str:
        return str(function(*color_subject(session, words)))

    SHELF.add(function, {"score": score})


def allows(function: Callable[[Position, Point, int], bool]) -> None:
    """Register another ``isLegal``; the game asks it too, and knows ko besides."""

    def is_legal(right: Command, session: JavaGoSession, words: list[str]) -> str:
        return arguments.boolean(function(*move_subject(session, words)))

    def can_play(right: Command, session: JavaGoSession, words: list[str]) -> str:
        position, point, color = move_subject(session, words)
        is_ko = session.game.refusal(color, point) == "ko"
        return arguments.boolean(not is_ko and function(position, point, color))

    SHELF.add(function, {"is_legal": is_legal, "can_play": can_play})


def sides(position: Position, color: int) -> tuple[int, int]:
    """Return the stones of a color and those of its opponent."""
    return position.stones(color), position.stones(opponent(color))


def last_state(session: JavaGoSession) -> Any:
    """Return the game's last moment, which a mistake may change behind its back."""
    return session.game._states[-1]


# --- isCaptured --------------------------------------------------------------------------------


@captured
def single_stones_only(position: Position, point: Point) -> bool:
    """As if a stone were captured when its own four neighbors are not empty."""
    bit = position.grid.bit(point)
    if bit & position.empty:
        return answers.is_captured(position, point)
    return not neighbours(position.grid, bit) & position.empty


@captured
def surrounded_by_opponent_only(position: Position, point: Point) -> bool:
    """As if a stone were captured only when all its four neighbors are the opponent's."""
    color, shape = position.color_at(point), position.grid
    if color == EMPTY:
        return answers.is_captured(position, point)
    return not neighbours(shape, shape.bit(point)) & ~position.stones(opponent(color))


@captured
def empty_points_never_captured(position: Position, point: Point) -> bool:
    """As if only stones could be captured, not territory."""
    return bool(position.color_at(point)) and answers.is_captured(position, point)


@captured
def stones_never_captured(position: Position, point: Point) -> bool:
    """As if only territory could be captured, not stones."""
    return not position.color_at(point) and answers.is_captured(position, point)


@captured
def empty_board_captured(position: Position, point: Point) -> bool:
    """As if a region that touches no stone were captured."""
    return not (position.black or position.white) or answers.is_captured(position, point)


@captured
def regions_not_flooded(position: Position, point: Point) -> bool:
    """As if an empty point were captured when its own neighbors are of one color."""
    if position.color_at(point):
        return answers.is_captured(position, point)
    beside = neighbours(position.grid, position.grid.bit(point))
    colors = [bool(beside & stones) for stones in (position.black, position.white)]
    return sum(colors) == 1 and not beside & position.empty


@captured
def shared_regions_captured(position: Position, point: Point) -> bool:
    """As if an empty region were captured whatever colors it touches."""
    if position.color_at(point):
        return answers.is_captured(position, point)
    return bool(position.black or position.white)


@captured
def diagonal_chains(position: Position, point: Point) -> bool:
    """As if stones were connected along diagonals."""
    color, shape = position.color_at(point), position.grid
    if color == EMPTY:
        return answers.is_captured(position, point)
    chain = flood_diagonally(shape, shape.bit(point), position.stones(color))
    return not capture.liberties(shape, chain, position.black | position.white)


@captured
def diagonal_liberties(position: Position, point: Point) -> bool:
    """As if diagonal points were liberties."""
    color, shape = position.color_at(point), position.grid
    if color == EMPTY:
        return answers.is_captured(position, point)
    chain = flood(shape, shape.bit(point), position.stones(color))
    return not flood_diagonally(shape, chain, shape.full) & position.empty & _near(position, chain)


def _near(position: Position, chain: int) -> int:
    """Return the points at most one step from a chain, diagonally too."""
    row = chain | chain << 1 | chain >> 1
    return row | row << position.grid.stride | row >> position.grid.stride


@captured
def edge_is_a_liberty(position: Position, point: Point) -> bool:
    """As if a chain at the edge of the board had a liberty beyond it."""
    shape = position.grid
    color = position.color_at(point)
    if color == EMPTY:
        return answers.is_captured(position, point)
    chain = flood(shape, shape.bit(point), position.stones(color))
    last = shape.rows - 1, shape.columns - 1
    at_edge = any(0 in p or p[0] == last[0] or p[1] == last[1] for p in shape.points(chain))
    return not at_edge and answers.is_captured(position, point)


@mistake("is_captured")
def is_captured_changes_the_board(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if isCaptured might write on the board: a captured stone is gone after it."""
    answer = right(session, words)
    position, point = point_subject(session, words)
    if answer == "true":
        last_state(session).position = position.placed(point, EMPTY)
    return answer


@mistake("is_captured")
def is_captured_reads_past_column_0(
    right: Command, session: JavaGoSession, words: list[str]
) -> str:
    """As if there were a column before the first: the program ends with an error."""
    _, (_, column) = point_subject(session, words)
    if column == 0:
        raise Crash("Index -1 out of bounds")
    return right(session, words)


@mistake("is_captured")
def rows_and_columns_exchanged(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if x were the row and y the column."""
    position, (row, column) = point_subject(session, words)
    if (column, row) not in position.grid:
        raise Crash(f"Index {max(row, column)} out of bounds")
    return arguments.boolean(answers.is_captured(position, (column, row)))


# --- score -------------------------------------------------------------------------------------


@scores
def prisoners_once(position: Position, color: int) -> int:
    """As if a captured stone on the board were one point, not two."""
    prisoners, territory = answers.prisoners_and_territory(position, color)
    return (prisoners | territory).bit_count()


@scores
def prisoners_for_their_own_color(position: Position, color: int) -> int:
    """As if a captured stone were a point for its own color."""
    mine, theirs = sides(position, color)
    _, territory = answers.prisoners_and_territory(position, color)
    return territory.bit_count() + capture.captured(position.grid, mine, theirs).bit_count()


@scores
def stones_are_points(position: Position, color: int) -> int:
    """As if stones on the board were points."""
    return answers.score(position, color) + position.stones(color).bit_count()


@scores
def shared_territory(position: Position, color: int) -> int:
    """As if empty regions that touch both colors were territory of each."""
    mine, theirs = sides(position, color)
    prisoners = capture.captured(position.grid, theirs, mine)
    by_mine, _ = area.reach(position.grid, mine, theirs & ~prisoners)
    return prisoners.bit_count() + (by_mine & ~mine).bit_count()


@scores
def empty_board_is_territory(position: Position, color: int) -> int:
    """As if the empty board were territory."""
    if position.black or position.white:
        return answers.score(position, color)
    return position.empty.bit_count()


@scores
def score_of_black_only(position: Position, color: int) -> int:
    """As if score were always asked for Black."""
    return answers.score(position, BLACK)


@scores
def score_as_difference(position: Position, color: int) -> int:
    """As if the opponent's points were taken off."""
    return answers.score(position, color) - answers.score(position, opponent(color))


@scores
def single_points_of_territory(position: Position, color: int) -> int:
    """As if only empty points with stones all around were territory."""
    prisoners, territory = answers.prisoners_and_territory(position, color)
    lonely = territory & ~neighbours(position.grid, territory)
    return prisoners.bit_count() + lonely.bit_count()


@mistake("score")
def score_changes_the_board(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if score might write on the board: prisoners are gone after it."""
    answer = right(session, words)
    position, color = color_subject(session, words)
    prisoners, _ = answers.prisoners_and_territory(position, color)
    theirs = position.stones(opponent(color)) & ~prisoners
    last_state(session).position = position.with_stones(opponent(color), theirs)
    return answer


# --- isLegal -----------------------------------------------------------------------------------


@allows
def suicide_allowed(position: Position, point: Point, color: int) -> bool:
    """As if self capture were legal."""
    return not position.color_at(point)


@allows
def suicide_before_capture(position: Position, point: Point, color: int) -> bool:
    """As if a stone needed a liberty before it captures."""
    shape, (mine, theirs) = position.grid, sides(position, color)
    bit = shape.bit(point)
    chain = flood(shape, bit, mine)
    free = capture.liberties(shape, chain, mine | theirs | bit)
    return bool(bit & position.empty and free)


@allows
def own_chain_not_seen(position: Position, point: Point, color: int) -> bool:
    """As if only the four neighbors of a stone were its liberties, not those of its chain."""
    shape, (mine, theirs) = position.grid, sides(position, color)
    bit = shape.bit(point)
    free = neighbours(shape, bit) & position.empty
    return bool(bit & position.empty and (free or capture.taken(shape, mine, theirs, bit)))


@allows
def any_friend_saves(position: Position, point: Point, color: int) -> bool:
    """As if a stone beside one's own were always legal."""
    shape, (mine, theirs) = position.grid, sides(position, color)
    bit = shape.bit(point)
    friend = bool(neighbours(shape, bit) & mine)
    empty = bool(bit & position.empty)
    return empty and (friend or capture.is_legal(shape, mine, theirs, bit))


@allows
def occupied_points_legal(position: Position, point: Point, color: int) -> bool:
    """As if a stone could be put on another."""
    return bool(position.color_at(point)) or answers.is_legal(position, point, color)


@allows
def is_legal_ignores_the_color(position: Position, point: Point, color: int) -> bool:
    """As if it were always Black who plays."""
    return answers.is_legal(position, point, BLACK)


@mistake("is_legal", "can_play")
def legal_for_either_color(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if a move that is legal for one color were legal for both.

    Any empty point is, but on a board of one point; in a game this sets it apart from
    :func:`suicide_allowed`, which knows whose the ko is.
    """
    either = [right(session, [color, *words[1:]]) for color in ("black", "white")]
    return "true" if "true" in either else "false"


@allows
def any_touched_chain_dies(position: Position, point: Point, color: int) -> bool:
    """As if a stone inside a string were legal whenever the opponent's stones surround it."""
    shape = position.grid
    bit = shape.bit(point)
    around = neighbours(shape, bit)
    if bit & position.empty and not around & ~position.stones(opponent(color)):
        return True
    return answers.is_legal(position, point, color)


# --- the game ----------------------------------------------------------------------------------


@mistake("can_play")
def ko_ignored(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if a ko might be taken back at once."""
    return arguments.boolean(answers.is_legal(*move_subject(session, words)))


@mistake("can_play")
def ko_for_both_colors(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if a ko might not be filled either."""
    _, point, _ = move_subject(session, words)
    return "false" if point == session.game.ko else right(session, words)


@mistake("can_play")
def ko_for_ever(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if a ko could never be taken back."""
    position, point, _ = move_subject(session, words)
    bit = position.grid.bit(point)
    states = session.game._states
    return "false" if any(state.ko == bit for state in states) else right(session, words)


@mistake("is_legal")
def ko_on_the_bare_board(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if the method isLegal, which sees one board, knew ko."""
    _, point, color = move_subject(session, words)
    return arguments.boolean(session.game.is_legal(color, point))


@mistake("play")
def captured_stones_stay_on_board(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if captured stones stayed on the board of the game."""
    before = session.game.position
    answer = right(session, words)
    color, point = arguments.color(words, 0), arguments.move(words, 1)
    if point is not None:
        last_state(session).position = before.placed(point, color)
    return answer


@mistake("captures")
def captures_count_once(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if a move captured one stone at most."""
    color = arguments.color(words, 0)
    states = session.game._states
    gains = pairwise(states)
    return str(sum(b.prisoners[color] > a.prisoners[color] for a, b in gains))


@mistake("captures")
def captures_of_the_other_color(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if captures named the stones that a color has lost."""
    return str(session.game.prisoners(opponent(arguments.color(words, 0))))


@mistake("clear_board", "boardsize")
def captures_kept_in_new_game(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if prisoners of one game were kept in the next."""
    kept = last_state(session).prisoners
    right(session, words)
    last_state(session).prisoners = kept
    return ""


@mistake("is_over")
def ends_with_either_pass_first(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if White might pass first at the end."""
    game = session.game
    over = GoGame(game.start, ending=EITHER_FIRST)
    over._states = game._states
    return arguments.boolean(over.is_over)


@mistake("is_over")
def ends_with_one_pass(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if one pass ended the game."""
    moves = session.game.moves
    return arguments.boolean(bool(moves) and moves[-1][1] is None)


@mistake("is_over")
def passes_need_not_follow(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if Black's and White's passes need not follow one another."""
    passed = [color for color, point in session.game.moves if point is None]
    return arguments.boolean(BLACK in passed and WHITE in passed[passed.index(BLACK) :])


@mistake("is_over")
def never_over(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if passes did not end the game."""
    return "false"
