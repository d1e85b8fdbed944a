"""Mistakes in the rules of Gomoku, gomoku-rules.html."""

from __future__ import annotations

from oracle.errors import GtpError
from oracle.gtp import protocol
from oracle.mistakes.bank import Shelf, crash_without
from oracle.mistakes.reference import gomoku as parts
from oracle.mistakes.reference.gomoku import last_state, pack, row_of
from oracle.position import EMPTY, SENSEI_LETTERS, Point, color_of, opponent, parse_vertex
from oracle.rules.go import find_captured, find_taken, legal
from oracle.rules.gomoku import fives, fives_along, steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.games.gomoku import GomokuState
    from oracle.gtp.gomoku import GomokuSession
    from oracle.gtp.protocol import Command

    Faults = Callable[[GomokuSession, list[str]], dict[str, str]]
    Put = Callable[[GomokuSession, int, Point], None]

SHELF = Shelf("gomoku-rules", parts.ROUTES)
mistake = SHELF.mistake
RESULT = "gogui-rules_final_result"
LEGAL = "gogui-rules_legal_moves"

wins = SHELF.rule(parts.won)  # told the state, all stones of the color that played, the last one


# --- who has won -------------------------------------------------------------------------------


@wins
def exactly_five(state: GomokuState, stones: int, last: int) -> bool:
    """As if six or more in a row did not win."""
    for step in steps(state.position.grid):
        fives = fives_along(stones, step)
        if fives & ~(stones << step) & ~(stones >> 5 * step):
            return True
    return False


@wins
def four_wins(state: GomokuState, stones: int, last: int) -> bool:
    """As if four in a row won."""
    lines = (stones & stones >> s & stones >> 2 * s & stones >> 3 * s for s in directions(state))
    return any(lines)


@wins
def only_one_diagonal(state: GomokuState, stones: int, last: int) -> bool:
    """As if lines that run down to the right did not win."""
    return any(fives_along(stones, step) for step in directions(state)[:3])


@wins
def no_diagonals(state: GomokuState, stones: int, last: int) -> bool:
    """As if only rows and columns won."""
    return any(fives_along(stones, step) for step in directions(state)[:2])


@wins
def only_rows(state: GomokuState, stones: int, last: int) -> bool:
    """As if only rows won."""
    return bool(fives_along(stones, 1))


@wins
def diagonal_of_knight_steps(state: GomokuState, stones: int, last: int) -> bool:
    """As if lines that run up to the right went two columns for each row, as a knight goes."""
    right, up, rising, falling = directions(state)
    return any(fives_along(stones, step) for step in (right, up, rising + 1, falling))


@wins
def wrap_around_the_edge(state: GomokuState, stones: int, last: int) -> bool:
    """As if a row went on at the other edge of the board."""
    width = state.position.grid.columns
    flat = pack(state.position.grid, stones)
    return any(fives_along(flat, step) for step in (1, width, width + 1, width - 1))


@wins
def last_row_and_column_missed(state: GomokuState, stones: int, last: int) -> bool:
    """As if the last row and the last column were not on the board."""
    shape = state.position.grid
    edge = row_of(shape, shape.rows - 1) | sum(
        shape.bit((row, shape.columns - 1)) for row in range(shape.rows)
    )
    return bool(fives(shape, stones & ~edge))


@wins
def five_seen_from_its_end_only(state: GomokuState, stones: int, last: int) -> bool:
    """As if a five counted only when its last stone is at one of its ends."""
    for step in directions(state):
        found = fives_along(stones, step)
        if found & last or found << 4 * step & last:
            return True
    return False


@wins
def only_black_wins(state: GomokuState, stones: int, last: int) -> bool:
    """As if only Black could win."""
    return bool(stones == state.position.black and fives(state.position.grid, stones))


@wins
def nobody_wins(state: GomokuState, stones: int, last: int) -> bool:
    """As if five in a row did not end the game."""
    return False


@wins
def stones_of_both_colors_in_line(state: GomokuState, stones: int, last: int) -> bool:
    """As if five stones in a row won, whatever their colors."""
    position = state.position
    return bool(fives(position.grid, position.black | position.white))


def directions(state: GomokuState) -> tuple[int, int, int, int]:
    """Return the steps to the right, up, up right and up left."""
    return steps(state.position.grid)


# --- the result --------------------------------------------------------------------------------


def stones(session: GomokuSession) -> int:
    """Return the points that have a stone."""
    position = session.game.position
    return position.black | position.white


@mistake(RESULT)
def winner_not_remembered(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if the winner were forgotten once it has been told."""
    answer = right(session, words)
    last_state(session).winner = EMPTY
    return answer


@mistake("boardsize", "clear_board")
def winner_kept_on_new_board(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if the winner of one game had won the next one too."""
    winner = session.game.winner
    right(session, words)
    last_state(session).winner = winner
    return ""


@mistake("boardsize")
def winner_kept_after_boardsize(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if boardsize, unlike clear_board, kept the winner of the game before."""
    winner = session.game.winner
    right(session, words)
    last_state(session).winner = winner
    return ""


@mistake(RESULT, is_open=True)
def draw_before_win(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if a full board were a draw even with a five on it."""
    return right(session, words) if session.game.position.empty else "draw"


@mistake(parts.going_on)
def draw_one_move_early(right: Callable[..., str], session: GomokuSession) -> str:
    """As if the game were drawn when a single point is empty, on which a stone may still win."""
    return "draw" if session.game.position.empty.bit_count() == 1 else right(session)


@mistake(parts.drawn)
def full_board_unknown(session: GomokuSession) -> str:
    """As if the game went on when the board is full."""
    return "unknown"


@mistake(parts.going_on)
def no_winner_is_draw(session: GomokuSession) -> str:
    """As if a game that nobody has won yet were a draw."""
    return "draw"


@mistake(RESULT)
def result_crashes_on_empty_board(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if there were always a stone: on an empty board final_result ends the program."""
    return str(crash_without(stones(session), right, session, words))


# --- play --------------------------------------------------------------------------------------


@mistake(parts.order_of_reasons)
def error_order(session: GomokuSession) -> tuple[str, ...]:
    """As if the point were checked before the color."""
    return ("wrong coordinate", "occupied", "wrong color")


@mistake(parts.refuse)
def error_copies_both_arguments(
    right: Callable[..., str], session: GomokuSession, words: list[str], argument: str, reason: str
) -> str:
    """As if an error named both arguments of play, not the one that is wrong."""
    return right(session, words, " ".join(words), reason)


@mistake(parts.error)
def errors_fail(session: GomokuSession, text: str) -> str:
    """As if an illegal move were answered with a GTP error, ? instead of =."""
    raise GtpError(text)


@mistake(parts.error)
def errors_silent(session: GomokuSession, text: str) -> str:
    """As if an illegal move were answered with nothing."""
    return ""


@mistake(parts.point_named)
def i_is_a_column(session: GomokuSession, text: str) -> Point:
    """As if the ninth column were I, not J."""
    shape = session.game.position.grid
    return parse_vertex(text, shape.rows, shape.columns, SENSEI_LETTERS + "JKLMNOPQRSTUVWXY")


@mistake("play")
def row_above_9_not_read(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if a row had one digit: A10 is read as A1."""
    return right(session, [words[0], words[1][:2]])


def occupied_not_checked(
    right: Faults, session: GomokuSession, words: list[str]
) -> dict[str, str]:
    """As if a stone could be put on another."""
    return {reason: word for reason, word in right(session, words).items() if reason != "occupied"}


def _put_on_another(right: Put, session: GomokuSession, color: int, point: Point) -> None:
    if session.game.refusal(point) is None:
        right(session, color, point)
    else:
        last_state(session).position = session.game.position.place(point, color)


SHELF.add(occupied_not_checked, {parts.faults: occupied_not_checked, parts.place: _put_on_another})


@mistake(parts.refuse)
def turn_lost_by_an_error(
    right: Callable[..., str], session: GomokuSession, words: list[str], argument: str, reason: str
) -> str:
    """As if an illegal move passed the turn on."""
    now = last_state(session)
    now.to_play = opponent(now.to_play)
    return right(session, words, argument, reason)


@mistake(parts.place)
def play_keeps_the_turn(right: Put, session: GomokuSession, color: int, point: Point) -> None:
    """As if play left the turn as it was."""
    to_play = session.game.to_play
    right(session, color, point)
    last_state(session).to_play = to_play


@mistake(parts.faults)
def turn_must_be_kept(right: Faults, session: GomokuSession, words: list[str]) -> dict[str, str]:
    """As if a color could play in its turn only."""
    is_out_of_turn = color_of(words[0]) == opponent(session.game.to_play)
    return right(session, words) | ({"wrong color": words[0]} if is_out_of_turn else {})


@mistake("clear_board", "boardsize")
def turn_kept_on_new_board(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if a new game began with whoever's turn it was in the last one."""
    color = session.game.to_play
    right(session, words)
    last_state(session).to_play = color
    return ""


@mistake(parts.place)
def captures_as_in_go(right: Put, session: GomokuSession, color: int, point: Point) -> None:
    """As if surrounded stones were captured, as in Go."""
    right(session, color, point)
    now = last_state(session)
    mine, theirs = now.position.stones(color), now.position.stones(opponent(color))
    shape = now.position.grid
    dead = find_taken(shape, mine & ~shape.bit(point), theirs, shape.bit(point))
    now.position = now.position.with_stones(opponent(color), theirs & ~dead)


@mistake(parts.faults)
def suicide_refused_as_in_go(
    right: Faults, session: GomokuSession, words: list[str]
) -> dict[str, str]:
    """As if a stone without liberties were illegal, as in Go."""
    wrong = right(session, words)
    if wrong:
        return wrong
    color, point = protocol.color(words, 0), parts.point_named(session, words[1])
    return {"occupied": words[1]} if _is_suicide(session, color, point) else {}


def _is_suicide(session: GomokuSession, color: int, point: Point) -> bool:
    after = session.game.position.place(point, color)
    shape, mine, theirs = after.grid, after.stones(color), after.stones(opponent(color))
    is_dead = shape.bit(point) & find_captured(shape, mine, theirs)
    return bool(is_dead and not find_captured(shape, theirs, mine))


# --- legal moves -------------------------------------------------------------------------------


@mistake(parts.place_in_list)
def sorted_by_rows(session: GomokuSession, point: Point) -> Point:
    """As if moves were sorted by rows, a1 b1 c1."""
    return point


@mistake(parts.place_in_list)
def legal_moves_from_the_top(session: GomokuSession, point: Point) -> Point:
    """As if only the columns were sorted: each is listed from the top down, a3 a2 a1."""
    return (point[1], -point[0])


@mistake(parts.place_in_list, is_open=True)
def sorted_as_numbers(session: GomokuSession, point: Point) -> Point:
    """As if a10 were sorted as a number, after a9."""
    return (point[1], point[0])


@mistake(LEGAL)
def brackets_for_an_empty_list(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if an empty list were written []."""
    return right(session, words) or "[]"


@mistake(parts.free_after_the_end)
def moves_after_the_end(session: GomokuSession) -> int:
    """As if there were legal moves after a five."""
    return session.game.position.empty


@mistake(parts.free)
def occupied_points_listed(session: GomokuSession) -> int:
    """As if occupied points were legal moves."""
    return session.game.position.grid.full


# --- genmove -----------------------------------------------------------------------------------


@mistake(parts.after_five)
def resign_for_the_wrong_side(session: GomokuSession, color: int) -> str | None:
    """As if the winner had to resign, and the loser only passed."""
    return "resign" if session.game.winner == color else "pass"


@mistake(parts.after_five)
def never_resigns(session: GomokuSession, color: int) -> str | None:
    """As if genmove went on playing after the opponent's five."""
    if session.game.position.empty:
        return None
    return "resign" if session.game.winner == opponent(color) else "pass"


@mistake(parts.full_board)
def resigns_a_draw(session: GomokuSession, color: int) -> str | None:
    """As if genmove resigned on a full board, instead of passing."""
    return "resign"


@mistake(parts.put_own)
def genmove_does_not_place(session: GomokuSession, color: int, point: Point) -> None:
    """As if genmove named a move without playing it."""


@mistake(parts.color_told)
def genmove_plays_for_side_to_move(session: GomokuSession, words: list[str]) -> int:
    """As if genmove played for the side to move, whatever color it is told."""
    return session.game.to_play


@mistake(parts.choices)
def genmove_refuses_suicide(right: Callable[..., int], session: GomokuSession, color: int) -> int:
    """As if genmove could not go where Go forbids suicide: it passes when nothing else is left."""
    position = session.game.position
    mine, theirs = position.stones(color), position.stones(opponent(color))
    return right(session, color) & legal(position.grid, mine, theirs)


@mistake(parts.choices)
def genmove_crashes_on_empty_board(
    right: Callable[..., int], session: GomokuSession, color: int
) -> int:
    """As if there were always a stone: on an empty board genmove ends the program."""
    return int(crash_without(stones(session), right, session, color))


@mistake(parts.at_end)
def genmove_crashes_on_full_board(
    right: Callable[..., str | None], session: GomokuSession, color: int
) -> str | None:
    """As if there were always a point to choose: on a full board genmove ends the program."""
    answer: str | None = crash_without(session.game.position.empty, right, session, color)
    return answer
