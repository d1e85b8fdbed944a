"""Mistakes in the rules of Gomoku, gomoku-rules.html."""

from __future__ import annotations

from oracle.color import BLACK, EMPTY, color_of, opponent
from oracle.errors import GtpError, IllegalMove, VertexError
from oracle.gtp import arguments
from oracle.mistakes.bank import Shelf, crash_without
from oracle.mistakes.lines import packed, row_of
from oracle.rules.capture import captured, legal, taken
from oracle.rules.lines import fives, fives_along, steps
from oracle.vertex import SENSEI_LETTERS, parse_vertex, vertex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oracle.games.gomoku import State
    from oracle.gtp.gomoku import GomokuSession
    from oracle.gtp.protocol import Command

SHELF = Shelf("gomoku-rules", {})
mistake = SHELF.mistake
RESULT = "gogui-rules_final_result"
LEGAL = "gogui-rules_legal_moves"


# --- kinds of mistakes -------------------------------------------------------------------------


def wins(function: Callable[[State, int, int], bool]) -> None:
    """Register another rule of when the last stone wins.

    It is given the state after the move, all stones of its color, and the last one.
    """

    def play(right: Command, session: GomokuSession, words: list[str]) -> str:
        return judged(right, session, words, function)

    def genmove(right: Command, session: GomokuSession, words: list[str]) -> str:
        return judged(random_move, session, words, function)

    SHELF.add(function, {"play": play, "genmove": genmove})


def judged(
    command: Command, session: GomokuSession, words: list[str], rule: Callable[..., bool]
) -> str:
    """Answer a command and say by a rule whether the stone it played has won."""
    before = last_state(session)
    answer = command(session, words)
    now = last_state(session)
    if now is not before and now.move is not None:
        color, point = now.move
        stones = now.position.stones(color)
        won = rule(now, stones, now.position.grid.bit(point))
        now.winner = before.winner or (color if won else EMPTY)
    return answer


def random_move(session: GomokuSession, words: list[str]) -> str:
    """Play any legal move, or resign or pass when the game is over, as the assignment has it."""
    game, color = session.game, arguments.color(words, 0)
    if game.is_over:
        return "resign" if game.winner == opponent(color) else "pass"
    return any_point(session, color)


def any_point(session: GomokuSession, color: int) -> str:
    """Play on any empty point."""
    return any_of(session.game.position.empty, session, color)


def any_of(points: int, session: GomokuSession, color: int) -> str:
    """Play on any of some empty points."""
    point = session.random.choice(session.game.position.grid.points(points))
    session.game.play(color, point)
    return vertex(point)


def last_state(session: GomokuSession) -> State:
    """Return the game's last moment, which a mistake may change behind its back."""
    return session.game._states[-1]


# --- who has won -------------------------------------------------------------------------------


@wins
def exactly_five(state: State, stones: int, last: int) -> bool:
    """As if six or more in a row did not win."""
    for step in steps(state.position.grid):
        fives = fives_along(stones, step)
        if fives & ~(stones << step) & ~(stones >> 5 * step):
            return True
    return False


@wins
def four_wins(state: State, stones: int, last: int) -> bool:
    """As if four in a row won."""
    lines = (stones & stones >> s & stones >> 2 * s & stones >> 3 * s for s in directions(state))
    return any(lines)


@wins
def only_one_diagonal(state: State, stones: int, last: int) -> bool:
    """As if lines that run down to the right did not win."""
    return any(fives_along(stones, step) for step in directions(state)[:3])


@wins
def no_diagonals(state: State, stones: int, last: int) -> bool:
    """As if only rows and columns won."""
    return any(fives_along(stones, step) for step in directions(state)[:2])


@wins
def only_rows(state: State, stones: int, last: int) -> bool:
    """As if only rows won."""
    return bool(fives_along(stones, 1))


@wins
def diagonal_of_knight_steps(state: State, stones: int, last: int) -> bool:
    """As if lines that run up to the right went two columns for each row, as a knight goes."""
    right, up, rising, falling = directions(state)
    return any(fives_along(stones, step) for step in (right, up, rising + 1, falling))


@wins
def wrap_around_the_edge(state: State, stones: int, last: int) -> bool:
    """As if a row went on at the other edge of the board."""
    width = state.position.grid.columns
    flat = packed(state.position.grid, stones)
    return any(fives_along(flat, step) for step in (1, width, width + 1, width - 1))


@wins
def last_row_and_column_missed(state: State, stones: int, last: int) -> bool:
    """As if the last row and the last column were not on the board."""
    shape = state.position.grid
    edge = row_of(shape, shape.rows - 1) | sum(
        shape.bit((row, shape.columns - 1)) for row in range(shape.rows)
    )
    return bool(fives(shape, stones & ~edge))


@wins
def five_seen_from_its_end_only(state: State, stones: int, last: int) -> bool:
    """As if a five counted only when its last stone is at one of its ends."""
    for step in directions(state):
        found = fives_along(stones, step)
        if found & last or found << 4 * step & last:
            return True
    return False


@wins
def only_black_wins(state: State, stones: int, last: int) -> bool:
    """As if only Black could win."""
    return bool(stones == state.position.black and fives(state.position.grid, stones))


@wins
def nobody_wins(state: State, stones: int, last: int) -> bool:
    """As if five in a row did not end the game."""
    return False


@wins
def stones_of_both_colors_in_line(state: State, stones: int, last: int) -> bool:
    """As if five stones in a row won, whatever their colors."""
    position = state.position
    return bool(fives(position.grid, position.black | position.white))


def directions(state: State) -> tuple[int, int, int, int]:
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


@mistake(RESULT)
def draw_one_move_early(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if the game were drawn when a single point is empty, on which a stone may still win."""
    answer = right(session, words)
    early = session.game.position.empty.bit_count() == 1
    return "draw" if early and answer == "unknown" else answer


@mistake(RESULT)
def full_board_unknown(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if the game went on when the board is full."""
    return right(session, words).replace("draw", "unknown")


@mistake(RESULT)
def no_winner_is_draw(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if a game that nobody has won yet were a draw."""
    return right(session, words).replace("unknown", "draw")


@mistake(RESULT)
def result_crashes_on_empty_board(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if there were always a stone: on an empty board final_result ends the program."""
    return crash_without(stones(session), right, session, words)


# --- play --------------------------------------------------------------------------------------


def checked(session: GomokuSession, words: list[str], order: tuple[str, ...]) -> str | None:
    """Return the error that a program gives which checks in this order, None for a good move."""
    shape = session.game.position.grid
    wrong = {"wrong color": words[0]} if color_of(words[0]) is None else {}
    try:
        point = parse_vertex(words[1], shape.rows, shape.columns)
    except VertexError:
        wrong["wrong coordinate"] = words[1]
    else:
        if session.game.refusal(point):
            wrong["occupied"] = words[1]
    reason = next((reason for reason in order if reason in wrong), None)
    return reason and f'illegal move: "{wrong[reason]}" {reason}'


@mistake("play")
def error_order(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if the point were checked before the color."""
    order = ("wrong coordinate", "occupied", "wrong color")
    return checked(session, words, order) or right(session, words)


@mistake("play")
def error_copies_both_arguments(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if an error named both arguments of play, not the one that is wrong."""
    answer = right(session, words)
    if not answer:
        return answer
    return f'illegal move: "{words[0]} {words[1]}" {answer.rpartition(chr(34))[2].strip()}'


@mistake("play")
def errors_fail(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if an illegal move were answered with a GTP error, ? instead of =."""
    answer = right(session, words)
    if answer:
        raise GtpError(answer)
    return answer


@mistake("play")
def errors_silent(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if an illegal move were answered with nothing."""
    right(session, words)
    return ""


@mistake("play")
def i_is_a_column(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if the ninth column were I, not J."""
    letters = SENSEI_LETTERS + "JKLMNOPQRSTUVWXY"
    shape = session.game.position.grid
    try:
        point = parse_vertex(words[1], shape.rows, shape.columns, letters)
    except VertexError:
        if color_of(words[0]) is None:
            return right(session, words)
        return f'illegal move: "{words[1]}" wrong coordinate'
    answer = right(session, [words[0], vertex(point)])
    return answer.replace(f'"{vertex(point)}"', f'"{words[1]}"')


@mistake("play")
def row_above_9_not_read(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if a row had one digit: A10 is read as A1."""
    return right(session, [words[0], words[1][:2]])


@mistake("play")
def occupied_not_checked(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if a stone could be put on another."""
    answer = right(session, words)
    if answer.endswith("occupied"):
        shape = session.game.position.grid
        point = parse_vertex(words[1], shape.rows, shape.columns)
        color = color_of(words[0]) or BLACK
        last_state(session).position = session.game.position.placed(point, color)
        return ""
    return answer


@mistake("play")
def turn_lost_by_an_error(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if an illegal move passed the turn on."""
    answer = right(session, words)
    if answer:
        now = last_state(session)
        now.to_play = opponent(now.to_play)
    return answer


@mistake("play")
def play_keeps_the_turn(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if play left the turn as it was."""
    color = session.game.to_play
    answer = right(session, words)
    last_state(session).to_play = color
    return answer


@mistake("play")
def turn_must_be_kept(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if a color could play in its turn only."""
    if color_of(words[0]) == opponent(session.game.to_play):
        return f'illegal move: "{words[0]}" wrong color'
    return right(session, words)


@mistake("clear_board", "boardsize")
def turn_kept_on_new_board(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if a new game began with whoever's turn it was in the last one."""
    color = session.game.to_play
    right(session, words)
    last_state(session).to_play = color
    return ""


@mistake("play")
def captures_as_in_go(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if surrounded stones were captured, as in Go."""
    answer = right(session, words)
    now = last_state(session)
    if not answer and now.move:
        color, point = now.move
        mine, theirs = now.position.stones(color), now.position.stones(opponent(color))
        shape = now.position.grid
        dead = taken(shape, mine & ~shape.bit(point), theirs, shape.bit(point))
        now.position = now.position.with_stones(opponent(color), theirs & ~dead)
    return answer


@mistake("play")
def suicide_refused_as_in_go(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if a stone without liberties were illegal, as in Go."""
    answer = right(session, words)
    now = last_state(session)
    if answer or not now.move:
        return answer
    color, point = now.move
    shape = now.position.grid
    mine, theirs = now.position.stones(color), now.position.stones(opponent(color))
    if shape.bit(point) & captured(shape, mine, theirs) and not captured(shape, theirs, mine):
        session.game.undo()
        return f'illegal move: "{words[1]}" occupied'
    return answer


# --- legal moves -------------------------------------------------------------------------------


def listed(session: GomokuSession, key: Callable[[Any], Any]) -> str:
    """Return the legal moves in another order."""
    points = session.game.position.grid.points(session.game.legal_moves())
    return " ".join(vertex(point).lower() for point in sorted(points, key=key))


@mistake(LEGAL)
def sorted_by_rows(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if moves were sorted by rows, a1 b1 c1."""
    return listed(session, lambda point: point)


@mistake(LEGAL)
def legal_moves_from_the_top(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if only the columns were sorted: each is listed from the top down, a3 a2 a1."""
    return listed(session, lambda point: (point[1], -point[0]))


@mistake(LEGAL, is_open=True)
def sorted_as_numbers(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if a10 were sorted as a number, after a9."""
    return listed(session, lambda point: (point[1], point[0]))


@mistake(LEGAL)
def brackets_for_an_empty_list(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if an empty list were written []."""
    return right(session, words) or "[]"


@mistake(LEGAL)
def moves_after_the_end(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if there were legal moves after a five."""
    position = session.game.position
    points = position.grid.points(position.empty)
    return " ".join(sorted(vertex(point).lower() for point in points))


@mistake(LEGAL)
def occupied_points_listed(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if occupied points were legal moves."""
    if session.game.is_over:
        return ""
    shape = session.game.position.grid
    return " ".join(sorted(vertex(point).lower() for point in shape.points(shape.full)))


# --- genmove -----------------------------------------------------------------------------------


@mistake("genmove")
def resign_for_the_wrong_side(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if the winner had to resign, and the loser only passed."""
    game, color = session.game, arguments.color(words, 0)
    if game.winner == color:
        return "resign"
    return random_move(session, words) if game.winner == EMPTY else "pass"


@mistake("genmove")
def never_resigns(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if genmove went on playing after the opponent's five."""
    if session.game.winner == EMPTY or not session.game.position.empty:
        return random_move(session, words)
    return any_point(session, arguments.color(words, 0))


@mistake("genmove")
def resigns_a_draw(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if genmove resigned on a full board, instead of passing."""
    return random_move(session, words).replace("pass", "resign")


@mistake("genmove")
def genmove_does_not_place(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if genmove named a move without playing it."""
    answer = random_move(session, words)
    if answer not in ("resign", "pass"):
        session.game.undo()
    return answer


@mistake("genmove")
def genmove_plays_for_side_to_move(
    right: Command, session: GomokuSession, words: list[str]
) -> str:
    """As if genmove played for the side to move, whatever color it is told."""
    try:
        return random_move(session, ["bw"[session.game.to_play - 1]])
    except IllegalMove:
        raise GtpError("illegal move") from None


@mistake("genmove")
def genmove_refuses_suicide(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if genmove could not go where Go forbids suicide: it passes when nothing else is left."""
    if session.game.is_over:
        return random_move(session, words)
    color, position = arguments.color(words, 0), session.game.position
    points = legal(position.grid, position.stones(color), position.stones(opponent(color)))
    return any_of(points, session, color) if points else "pass"


@mistake("genmove")
def genmove_crashes_on_empty_board(
    right: Command, session: GomokuSession, words: list[str]
) -> str:
    """As if there were always a stone: on an empty board genmove ends the program."""
    return crash_without(stones(session), random_move, session, words)


@mistake("genmove")
def genmove_crashes_on_full_board(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if there were always a point to choose: on a full board genmove ends the program."""
    return crash_without(session.game.position.empty, random_move, session, words)
