"""The three methods of java-go.txt and its game in parts, and mistakes in them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from oracle.answers import java_go as answers
from oracle.games.go import EITHER_FIRST, GoGame
from oracle.gtp import protocol
from oracle.gtp.java_go import JavaGoSession, color_subject, move_subject, point_subject
from oracle.gtp.protocol import Command
from oracle.mistakes import bank
from oracle.position import BLACK, EMPTY, NAMES, WHITE, Point, Position, opponent, sides
from oracle.rules import go
from oracle.rules.flood import edge, flood, flood_diagonally, neighbours

Captured = Callable[[Position, Point], bool]
Legal = Callable[[Position, Point, int], bool]

# --- the right answers -------------------------------------------------------------------------

# The board and the point that isCaptured is asked about.
asked_about = bank.EnginePart(point_subject)
captured_stone = bank.EnginePart(lambda _, position, point: answers.is_captured(position, point))
captured_space = bank.EnginePart(lambda _, position, point: answers.is_captured(position, point))
# The stones that are points of a color, and the empty points, prisoners taken off.
prisoners = bank.EnginePart(
    lambda _, position, color: answers.prisoners_and_territory(position, color)[0]
)
territory = bank.EnginePart(
    lambda _, position, color: answers.prisoners_and_territory(position, color)[1]
)
total = bank.EnginePart(lambda _, dead, empty: dead.bit_count() + empty.bit_count())


@bank.part(prisoners, territory, total)
def points(session: JavaGoSession, position: Position, color: int) -> int:
    """Return the points of a color."""
    both = prisoners(session, position, color), territory(session, position, color)
    return int(total(session, *both))


# Whether a stone is legal on a board; the game asks it too, and knows ko besides.
allowed = bank.EnginePart(
    lambda _, position, point, color: answers.is_legal(position, point, color)
)
# Whether isLegal, which sees one board, refuses a stone for ko, and whether the game does.
ko_of_board = bank.EnginePart(lambda _, position, point, color: False)
ko_of_game = bank.EnginePart(
    lambda session, position, point, color: session.game.refusal(color, point) == "ko"
)


def _is_captured(session: JavaGoSession, words: list[str]) -> str:
    position, point = asked_about(session, words)
    kind = captured_stone if position.color_at(point) else captured_space
    return protocol.boolean(kind(session, position, point))


def _is_allowed(ko: bank.EnginePart) -> Command:
    """Return the command that tells whether a stone is legal."""

    def answer(session: JavaGoSession, words: list[str]) -> str:
        move = move_subject(session, words)
        return protocol.boolean(not ko(session, *move) and allowed(session, *move))

    return answer


SHELF = bank.Shelf(
    "java-go",
    {
        "is_captured": bank.Route(_is_captured, (asked_about, captured_stone, captured_space)),
        "score": bank.Route(
            lambda session, words: str(points(session, *color_subject(session, words))), (points,)
        ),
        "is_legal": bank.Route(_is_allowed(ko_of_board), (ko_of_board, allowed)),
        "can_play": bank.Route(_is_allowed(ko_of_game), (ko_of_game, allowed)),
    },
)
mistake = SHELF.mistake


# --- isCaptured --------------------------------------------------------------------------------


SHELF.add_rows(
    (captured_stone, "single-stones-only",
     "As if a stone were captured when its own four neighbors are not empty.",
     lambda position, point: (
         not neighbours(position.grid, position.grid.bit(point)) & position.empty)),
    (captured_stone, "surrounded-by-opponent-only",
     "As if a stone were captured only when all its four neighbors are the opponent's.",
     lambda position, point: not (
         neighbours(position.grid, position.grid.bit(point))
         & ~position.stones(opponent(position.color_at(point))))),
    (captured_space, "empty-points-never-captured",
     "As if only stones could be captured, not territory.",
     lambda position, point: False),
    (captured_stone, "stones-never-captured",
     "As if only territory could be captured, not stones.",
     lambda position, point: False),
    (captured_space, "empty-board-captured",
     "As if a region that touches no stone were captured.",
     lambda right, position, point: (
         not (position.black or position.white) or right(position, point))),
)  # fmt: skip


@mistake(captured_space)
def regions_not_flooded(position: Position, point: Point) -> bool:
    """As if an empty point were captured when its own neighbors are of one color."""
    beside = neighbours(position.grid, position.grid.bit(point))
    colors = [bool(beside & stones) for stones in (position.black, position.white)]
    return sum(colors) == 1 and not beside & position.empty


@mistake(captured_space)
def shared_regions_captured(position: Position, point: Point) -> bool:
    """As if an empty region were captured whatever colors it touches."""
    return bool(position.black or position.white)


@mistake(captured_stone)
def diagonal_chains(position: Position, point: Point) -> bool:
    """As if stones were connected along diagonals."""
    color, shape = position.color_at(point), position.grid
    chain = flood_diagonally(shape, shape.bit(point), position.stones(color))
    return not go.liberties(shape, chain, position.black | position.white)


@mistake(captured_stone)
def diagonal_liberties(position: Position, point: Point) -> bool:
    """As if diagonal points were liberties."""
    color, shape = position.color_at(point), position.grid
    chain = flood(shape, shape.bit(point), position.stones(color))
    row = chain | chain << 1 | chain >> 1
    near = row | row << shape.stride | row >> shape.stride
    return not flood_diagonally(shape, chain, shape.full) & position.empty & near


@mistake(captured_stone)
def edge_is_a_liberty(right: Captured, position: Position, point: Point) -> bool:
    """As if a chain at the edge of the board had a liberty beyond it."""
    shape = position.grid
    chain = flood(shape, shape.bit(point), position.stones(position.color_at(point)))
    return not chain & edge(shape) and right(position, point)


@mistake("is_captured")
def is_captured_changes_the_board(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if isCaptured might write on the board: a captured stone is gone after it."""
    answer = right(session, words)
    position, point = point_subject(session, words)
    if answer == "true":
        bank.last_state(session).position = position.place(point, EMPTY)
    return answer


@mistake("is_captured")
def is_captured_reads_past_column_0(
    right: Command, session: JavaGoSession, words: list[str]
) -> str:
    """As if there were a column before the first: the program ends with an error."""
    _, (_, column) = point_subject(session, words)
    if column == 0:
        raise bank.Crash("Index -1 out of bounds")
    return right(session, words)


@mistake(asked_about)
def rows_and_columns_exchanged(session: JavaGoSession, words: list[str]) -> tuple[Position, Point]:
    """As if x were the row and y the column."""
    position, (row, column) = point_subject(session, words)
    if (column, row) not in position.grid:
        raise bank.Crash(f"Index {max(row, column)} out of bounds")
    return position, (column, row)


# --- score -------------------------------------------------------------------------------------

SHELF.add_rows(
    (total, "prisoners-once", "As if a captured stone on the board were one point, not two.",
     lambda dead, empty: (dead | empty).bit_count()),
    (prisoners, "prisoners-for-their-own-color",
     "As if a captured stone were a point for its own color.",
     lambda position, color: go.find_captured(position.grid, *sides(position, color))),
    (points, "stones-are-points", "As if stones on the board were points.",
     lambda right, position, color: right(position, color) + position.stones(color).bit_count()),
)  # fmt: skip


@mistake(territory)
def shared_territory(position: Position, color: int) -> int:
    """As if empty regions that touch both colors were territory of each."""
    mine, theirs = sides(position, color)
    dead = go.find_captured(position.grid, theirs, mine)
    by_mine, _ = go.reach(position.grid, mine, theirs & ~dead)
    return by_mine & ~mine


SHELF.add_rows(
    (territory, "empty-board-is-territory", "As if the empty board were territory.",
     lambda right, position, color: (
         right(position, color) if position.black or position.white else position.empty)),
    (points, "score-of-black-only", "As if score were always asked for Black.",
     lambda right, position, color: right(position, BLACK)),
    (points, "score-as-difference", "As if the opponent's points were taken off.",
     lambda right, position, color: right(position, color) - right(position, opponent(color))),
)  # fmt: skip


@mistake(territory)
def single_points_of_territory(
    right: Callable[[Position, int], int], position: Position, color: int
) -> int:
    """As if only empty points with stones all around were territory."""
    found = right(position, color)
    return found & ~neighbours(position.grid, found)


@mistake("score")
def score_changes_the_board(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if score might write on the board: prisoners are gone after it."""
    answer = right(session, words)
    position, color = color_subject(session, words)
    prisoners, _ = answers.prisoners_and_territory(position, color)
    theirs = position.stones(opponent(color)) & ~prisoners
    bank.last_state(session).position = position.with_stones(opponent(color), theirs)
    return answer


# --- isLegal -----------------------------------------------------------------------------------

SHELF.add_rows(
    (allowed, "suicide-allowed", "As if self capture were legal.",
     lambda position, point, color: not position.color_at(point)),
)  # fmt: skip


@mistake(allowed)
def suicide_before_capture(position: Position, point: Point, color: int) -> bool:
    """As if a stone needed a liberty before it captures."""
    shape, (mine, theirs) = position.grid, sides(position, color)
    bit = shape.bit(point)
    chain = flood(shape, bit, mine)
    free = go.liberties(shape, chain, mine | theirs | bit)
    return bool(bit & position.empty and free)


@mistake(allowed)
def own_chain_not_seen(position: Position, point: Point, color: int) -> bool:
    """As if only the four neighbors of a stone were its liberties, not those of its chain."""
    shape, (mine, theirs) = position.grid, sides(position, color)
    bit = shape.bit(point)
    free = neighbours(shape, bit) & position.empty
    return bool(bit & position.empty and (free or go.find_taken(shape, mine, theirs, bit)))


@mistake(allowed)
def any_friend_saves(right: Legal, position: Position, point: Point, color: int) -> bool:
    """As if a stone beside one's own were always legal."""
    bit = position.grid.bit(point)
    has_friend = neighbours(position.grid, bit) & position.stones(color)
    return bool(bit & position.empty and has_friend) or right(position, point, color)


SHELF.add_rows(
    (allowed, "occupied-points-legal", "As if a stone could be put on another.",
     lambda right, position, point, color: (
         bool(position.color_at(point)) or right(position, point, color))),
    (allowed, "is-legal-ignores-the-color", "As if it were always Black who plays.",
     lambda right, position, point, color: right(position, point, BLACK)),
)  # fmt: skip


@mistake("is_legal", "can_play")
def legal_for_either_color(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if a move that is legal for one color were legal for both.

    Any empty point is, but on a board of one point; in a game this sets it apart from
    ``suicide-allowed``, which knows whose the ko is.
    """
    either = [right(session, [color, *words[1:]]) for color in ("black", "white")]
    return "true" if "true" in either else "false"


@mistake(allowed)
def any_touched_chain_dies(right: Legal, position: Position, point: Point, color: int) -> bool:
    """As if a stone inside a string were legal whenever the opponent's stones surround it."""
    shape = position.grid
    bit = shape.bit(point)
    around = neighbours(shape, bit)
    if bit & position.empty and not around & ~position.stones(opponent(color)):
        return True
    return right(position, point, color)


# --- the game ----------------------------------------------------------------------------------

SHELF.add_rows(
    (ko_of_game, "ko-ignored", "As if a ko might be taken back at once.",
     lambda position, point, color: False),
    (ko_of_game, "ko-for-both-colors", "As if a ko might not be filled either.",
     lambda session, position, point, color: bool(point == session.game.ko)),
    (ko_of_game, "ko-for-ever", "As if a ko could never be taken back.",
     lambda session, position, point, color: any(
         state.ko == position.grid.bit(point) for state in session.game._states)),
    (ko_of_board, "ko-on-the-bare-board",
     "As if the method isLegal, which sees one board, knew ko.",
     lambda session, position, point, color: session.game.refusal(color, point) == "ko"),
    ("play", "captured-stones-stay-on-board",
     "As if captured stones stayed on the board of the game.", bank.keep_captured),
)  # fmt: skip


@mistake("captures")
def captures_count_once(session: JavaGoSession, words: list[str]) -> str:
    """As if a move captured one stone at most."""
    color = protocol.color(words, 0)
    gains = pairwise(session.game._states)
    return str(sum(b.prisoners[color] > a.prisoners[color] for a, b in gains))


@mistake("captures")
def captures_of_the_other_color(right: Command, session: JavaGoSession, words: list[str]) -> str:
    """As if captures named the stones that a color has lost."""
    return right(session, [NAMES[opponent(protocol.color(words, 0))]])


SHELF.add(
    "captures-kept-in-new-game",
    "As if prisoners of one game were kept in the next.",
    dict.fromkeys(("clear_board", "boardsize"), bank.keep_state("prisoners")),
)


@mistake("is_over")
def ends_with_either_pass_first(session: JavaGoSession, words: list[str]) -> str:
    """As if White might pass first at the end."""
    game = session.game
    over = GoGame(game.start, ending=EITHER_FIRST)
    over._states = game._states
    return protocol.boolean(over.is_over)


@mistake("is_over")
def ends_with_one_pass(session: JavaGoSession, words: list[str]) -> str:
    """As if one pass ended the game."""
    moves = session.game.moves
    return protocol.boolean(bool(moves) and moves[-1][1] is None)


@mistake("is_over")
def passes_need_not_follow(session: JavaGoSession, words: list[str]) -> str:
    """As if Black's and White's passes need not follow one another."""
    passed = [color for color, point in session.game.moves if point is None]
    return protocol.boolean(BLACK in passed and WHITE in passed[passed.index(BLACK) :])


SHELF.add_rows(
    ("is_over", "never-over", "As if passes did not end the game.",
     lambda session, words: "false"),
)  # fmt: skip
