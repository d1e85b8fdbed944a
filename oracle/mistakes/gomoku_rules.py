"""Mistakes in the rules of Gomoku, gomoku-rules.html."""

from __future__ import annotations

from collections.abc import Callable

from oracle.errors import GtpError
from oracle.games.gomoku import GomokuState
from oracle.gtp import protocol
from oracle.gtp.gomoku import GomokuSession
from oracle.gtp.protocol import Command
from oracle.mistakes import gomoku_parts as parts
from oracle.mistakes.bank import Shelf, crash_without, keep_state, last_state
from oracle.position import EMPTY, SENSEI_LETTERS, Point, color_of, opponent, parse_vertex, sides
from oracle.rules.go import find_captured, find_taken, legal
from oracle.rules.gomoku import fives, fives_along, steps

Faults = Callable[[GomokuSession, list[str]], dict[str, str]]
Put = Callable[[GomokuSession, int, Point], None]
SHELF = Shelf("gomoku-rules", parts.ROUTES)
mistake = SHELF.mistake
RESULT = "gogui-rules_final_result"
LEGAL = "gogui-rules_legal_moves"

# --- who has won: told the state, all stones of the color that played, and the last one --------


SHELF.add_rows(
    (parts.won, "exactly-five", "As if six or more in a row did not win.",
     lambda state, stones, last: any(
         fives_along(stones, s) & ~(stones << s) & ~(stones >> 5 * s) for s in directions(state))),
    (parts.won, "four-wins", "As if four in a row won.",
     lambda state, stones, last: any(
         stones & stones >> s & stones >> 2 * s & stones >> 3 * s for s in directions(state))),
    (parts.won, "only-one-diagonal", "As if lines that run down to the right did not win.",
     lambda state, stones, last: any(fives_along(stones, s) for s in directions(state)[:3])),
    (parts.won, "no-diagonals", "As if only rows and columns won.",
     lambda state, stones, last: any(fives_along(stones, s) for s in directions(state)[:2])),
    (parts.won, "only-rows", "As if only rows won.",
     lambda state, stones, last: bool(fives_along(stones, 1))),
)  # fmt: skip


@mistake(parts.won)
def diagonal_of_knight_steps(state: GomokuState, stones: int, last: int) -> bool:
    """As if lines that run up to the right went two columns for each row, as a knight goes."""
    right, up, rising, falling = directions(state)
    return any(fives_along(stones, step) for step in (right, up, rising + 1, falling))


@mistake(parts.won)
def wrap_around_the_edge(state: GomokuState, stones: int, last: int) -> bool:
    """As if a row went on at the other edge of the board."""
    width = state.position.grid.columns
    flat = parts.pack(state.position.grid, stones)
    return any(fives_along(flat, step) for step in (1, width, width + 1, width - 1))


@mistake(parts.won)
def last_row_and_column_missed(state: GomokuState, stones: int, last: int) -> bool:
    """As if the last row and the last column were not on the board."""
    shape = state.position.grid
    column = sum(shape.bit((row, shape.columns - 1)) for row in range(shape.rows))
    return bool(fives(shape, stones & ~(parts.row_of(shape, shape.rows - 1) | column)))


SHELF.add_rows(
    (parts.won, "five-seen-from-its-end-only",
     "As if a five counted only when its last stone is at one of its ends.",
     lambda state, stones, last: any(
         (fives_along(stones, s) | fives_along(stones, s) << 4 * s) & last
         for s in directions(state))),
    (parts.won, "only-black-wins", "As if only Black could win.",
     lambda state, stones, last: (
         stones == state.position.black and bool(fives(state.position.grid, stones)))),
    (parts.won, "nobody-wins", "As if five in a row did not end the game.",
     lambda state, stones, last: False),
    (parts.won, "stones-of-both-colors-in-line",
     "As if five stones in a row won, whatever their colors.",
     lambda state, stones, last: bool(
         fives(state.position.grid, state.position.black | state.position.white))),
)  # fmt: skip


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


SHELF.add(
    "winner-kept-on-new-board",
    "As if the winner of one game had won the next one too.",
    dict.fromkeys(("boardsize", "clear_board"), keep_state("winner")),
)
SHELF.add_rows(
    ("boardsize", "winner-kept-after-boardsize",
     "As if boardsize, unlike clear_board, kept the winner of the game before.",
     keep_state("winner")),
)  # fmt: skip


@mistake(RESULT, is_open=True)
def draw_before_win(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if a full board were a draw even with a five on it."""
    return right(session, words) if session.game.position.empty else "draw"


SHELF.add_rows(
    (parts.going_on, "draw-one-move-early",
     "As if the game were drawn when a single point is empty, on which a stone may still win.",
     lambda right, session: (
         "draw" if session.game.position.empty.bit_count() == 1 else right(session))),
    (parts.drawn, "full-board-unknown", "As if the game went on when the board is full.",
     lambda: "unknown"),
    (parts.going_on, "no-winner-is-draw", "As if a game that nobody has won yet were a draw.",
     lambda: "draw"),
    (RESULT, "result-crashes-on-empty-board",
     "As if there were always a stone: on an empty board final_result ends the program.",
     lambda right, session, words: crash_without(stones(session), right, session, words)),
)  # fmt: skip

# --- play --------------------------------------------------------------------------------------

SHELF.add_rows(
    (parts.order_of_reasons, "error-order", "As if the point were checked before the color.",
     lambda: ("wrong coordinate", "occupied", "wrong color")),
    (parts.refuse, "error-copies-both-arguments",
     "As if an error named both arguments of play, not the one that is wrong.",
     lambda right, words, argument, reason: right(words, " ".join(words), reason)),
)  # fmt: skip


@mistake(parts.error)
def errors_fail(text: str) -> str:
    """As if an illegal move were answered with a GTP error, ? instead of =."""
    raise GtpError(text)


SHELF.add_rows(
    (parts.error, "errors-silent", "As if an illegal move were answered with nothing.",
     lambda text: ""),
)  # fmt: skip


@mistake(parts.point_named)
def i_is_a_column(session: GomokuSession, text: str) -> Point:
    """As if the ninth column were I, not J."""
    shape = session.game.position.grid
    return parse_vertex(text, shape.rows, shape.columns, SENSEI_LETTERS + "JKLMNOPQRSTUVWXY")


@mistake("play")
def row_above_9_not_read(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if a row had one digit: A10 is read as A1."""
    return right(session, [*words[:1], *(word[:2] for word in words[1:])])


def _not_occupied(right: Faults, session: GomokuSession, words: list[str]) -> dict[str, str]:
    return {reason: word for reason, word in right(session, words).items() if reason != "occupied"}


def _put_on_another(right: Put, session: GomokuSession, color: int, point: Point) -> None:
    if session.game.refusal(point) is None:
        right(session, color, point)
    else:
        last_state(session).position = session.game.position.place(point, color)


SHELF.add(
    "occupied-not-checked",
    "As if a stone could be put on another.",
    {parts.faults: _not_occupied, parts.place: _put_on_another},
)


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


SHELF.add(
    "turn-kept-on-new-board",
    "As if a new game began with whoever's turn it was in the last one.",
    dict.fromkeys(("clear_board", "boardsize"), keep_state("to_play")),
)


@mistake(parts.place)
def captures_as_in_go(right: Put, session: GomokuSession, color: int, point: Point) -> None:
    """As if surrounded stones were captured, as in Go."""
    right(session, color, point)
    now = last_state(session)
    shape, (mine, theirs) = now.position.grid, sides(now.position, color)
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
    after = session.game.position.place(point, color)
    shape, (mine, theirs) = after.grid, sides(after, color)
    is_dead = shape.bit(point) & find_captured(shape, mine, theirs)
    is_suicide = is_dead and not find_captured(shape, theirs, mine)
    return {"occupied": words[1]} if is_suicide else {}


# --- legal moves -------------------------------------------------------------------------------

SHELF.add_rows(
    (parts.place_in_list, "sorted-by-rows", "As if moves were sorted by rows, a1 b1 c1.",
     lambda point: point),
    (parts.place_in_list, "legal-moves-from-the-top",
     "As if only the columns were sorted: each is listed from the top down, a3 a2 a1.",
     lambda point: (point[1], -point[0])),
)  # fmt: skip


@mistake(parts.place_in_list, is_open=True)
def sorted_as_numbers(point: Point) -> Point:
    """As if a10 were sorted as a number, after a9."""
    return (point[1], point[0])


SHELF.add_rows(
    (LEGAL, "brackets-for-an-empty-list", "As if an empty list were written [].",
     lambda right, session, words: right(session, words) or "[]"),
    (parts.free_after_the_end, "moves-after-the-end", "As if there were legal moves after a five.",
     lambda session: session.game.position.empty),
    (parts.free, "occupied-points-listed", "As if occupied points were legal moves.",
     lambda session: session.game.position.grid.full),
)  # fmt: skip

# --- genmove -----------------------------------------------------------------------------------

SHELF.add_rows(
    (parts.after_five, "resign-for-the-wrong-side",
     "As if the winner had to resign, and the loser only passed.",
     lambda session, color: "resign" if session.game.winner == color else "pass"),
)  # fmt: skip


@mistake(parts.after_five)
def never_resigns(session: GomokuSession, color: int) -> str | None:
    """As if genmove went on playing after the opponent's five."""
    if session.game.position.empty:
        return None
    return "resign" if session.game.winner == opponent(color) else "pass"


SHELF.add_rows(
    (parts.full_board, "resigns-a-draw",
     "As if genmove resigned on a full board, instead of passing.",
     lambda color: "resign"),
    (parts.put_own, "genmove-does-not-place",
     "As if genmove named a move without playing it.",
     lambda color, point: None),
    (parts.color_told, "genmove-plays-for-side-to-move",
     "As if genmove played for the side to move, whatever color it is told.",
     lambda session, words: session.game.to_play),
    (parts.choices, "genmove-refuses-suicide",
     "As if genmove could not go where Go forbids suicide: it passes when nothing else is left.",
     lambda right, session, color: right(session, color) & legal(
         session.game.position.grid, *sides(session.game.position, color))),
    (parts.choices, "genmove-crashes-on-empty-board",
     "As if there were always a stone: on an empty board genmove ends the program.",
     lambda right, session, color: crash_without(stones(session), right, session, color)),
    (parts.at_end, "genmove-crashes-on-full-board",
     "As if there were always a point to choose: on a full board genmove ends the program.",
     lambda right, session, color: crash_without(
         session.game.position.empty, right, session, color)),
)  # fmt: skip
