"""Mistakes in the playout policy of Gomoku, gomoku-policy.txt."""

from __future__ import annotations

from oracle.answers.gomoku_policy import DEFAULT
from oracle.mistakes.bank import Crash, Hang, Place, Shelf, crash_without, without_session
from oracle.mistakes.reference import gomoku as parts
from oracle.mistakes.reference.gomoku import (
    PolicyBoard,
    both_ends,
    considered,
    fives_made,
    gap,
    last_state,
    near_blocks,
    open_fours,
    pack,
    third_blocks,
    unpack,
    written,
)
from oracle.position import BLACK, Grid, Point, each_bit, opponent
from oracle.rules import gomoku as rules
from oracle.rules.gomoku import almost_open_fours, long_lines, steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oracle.gtp.gomoku import GomokuSession
    from oracle.gtp.protocol import Command
    from oracle.mistakes.reference.gomoku import Windows

    Moves = Callable[[PolicyBoard], int]

SHELF = Shelf("gomoku-policy", parts.ROUTES)
mistake = SHELF.mistake
MOVES = "policy_moves"

completing = SHELF.rule(parts.completing)  # told the board and the stones of a five
win = SHELF.rule(parts.win)
block_win = SHELF.rule(parts.block_win)
open_four = SHELF.rule(parts.open_four)
block_open_four = SHELF.rule(parts.block_open_four)
split = SHELF.rule(parts.split)
solid = SHELF.rule(parts.solid)
urgency = SHELF.rule(parts.urgency)


def before_policy(place: Place) -> Callable[[Callable[..., str]], None]:
    """Return a decorator for what stands in a place before the first ``policy`` command."""

    def policy(right: Command, session: GomokuSession, words: list[str]) -> str:
        session.commands.memory["set"] = True  # type: ignore[attr-defined]
        return right(session, words)

    def register(function: Callable[..., str]) -> None:
        def before(right: Callable[..., str], session: GomokuSession, *arguments: Any) -> str:
            is_set = "set" in session.commands.memory  # type: ignore[attr-defined]
            return right(session, *arguments) if is_set else function(session, *arguments)

        SHELF.add(function, {"policy": policy, place: before})

    return register


# --- Win and BlockWin --------------------------------------------------------------------------


@completing
def gapped_fours_missed(board: PolicyBoard, stones: int) -> int:
    """As if only four stones side by side could become a five: gaps are not seen."""
    found = 0
    for step in board.steps:
        found |= fives_made(stones, board.empty, step, (0, 4))
    return found


@win
def win_not_seen(board: PolicyBoard) -> int:
    """As if there were no moves of type Win."""
    return 0


@completing
def win_by_exactly_five(
    right: Callable[[PolicyBoard, int], int], board: PolicyBoard, stones: int
) -> int:
    """As if a move that makes six in a row did not win."""
    moves = each_bit(right(board, stones))
    return sum(bit for bit in moves if _makes_five_only(board, stones | bit, bit))


def _makes_five_only(board: PolicyBoard, stones: int, move: int) -> bool:
    lines = long_lines(board.grid, stones)
    return any(line & move and line.bit_count() == 5 for line in lines)


@block_win
def one_end_blocked(right: Moves, board: PolicyBoard) -> int:
    """As if an open four, .OOOO., could be blocked at one end only."""
    block = right(board)
    for step in board.steps:
        four = board.theirs & board.theirs >> step
        four &= four >> 2 * step
        is_open = four & board.empty << step & board.empty >> 4 * step
        block &= ~(is_open << 4 * step)
    return block


@SHELF.rule(parts.win, parts.block_win)
def first_threat_only(right: Moves, board: PolicyBoard) -> int:
    """As if only the first move found of a type counted."""
    moves = right(board)
    return moves & -moves


@block_win
def hopeless_not_blocked(right: Moves, board: PolicyBoard) -> int:
    """As if nothing need be blocked when not all can be."""
    block = right(board)
    return block if block.bit_count() < 2 else 0


@urgency
def own_open_four_before_block() -> tuple[str, ...]:
    """As if an open four of one's own came before the opponent's five."""
    return ("Win", "OpenFour", "BlockWin", "BlockOpenFour", "Random")


@urgency
def block_before_win() -> tuple[str, ...]:
    """As if blocking the opponent's five came before winning."""
    return ("BlockWin", "Win", "OpenFour", "BlockOpenFour", "Random")


@urgency
def block_before_open_four() -> tuple[str, ...]:
    """As if blocking an open four came before making one."""
    return ("Win", "BlockWin", "BlockOpenFour", "OpenFour", "Random")


@completing
def rows_wrap_around(board: PolicyBoard, stones: int) -> int:
    """As if a row went on at the other edge of the board."""
    shape, width = board.grid, board.grid.columns
    flat, empty = pack(shape, stones), pack(shape, board.empty)
    found = 0
    for step in (1, width, width + 1, width - 1):
        found |= fives_made(flat, empty, step)
    return unpack(shape, found)


@mistake(parts.lines)
def falling_diagonals_missed(session: GomokuSession, shape: Grid) -> tuple[int, ...]:
    """As if there were no lines that run down to the right."""
    return steps(shape)[:3]


# --- OpenFour ----------------------------------------------------------------------------------


@open_four
def open_four_without_empty_end(board: PolicyBoard) -> int:
    """As if a four with one empty end were an open four."""
    return open_fours(board.mine, board.empty, board.steps, int.__or__)


@open_four
def gapped_open_fours_missed(board: PolicyBoard) -> int:
    """As if .X.XX. could not become an open four."""
    return open_fours(board.mine, board.empty, board.steps, places=(0, 3))


@open_four
def diagonal_open_fours_missed(board: PolicyBoard) -> int:
    """As if an open four lay in a row or a column, never on a diagonal."""
    return open_fours(board.mine, board.empty, board.steps[:2])


@open_four
def one_of_two_open_fours(board: PolicyBoard) -> int:
    """As if .XXX. with room on both sides had one move to an open four, at its far end."""
    found = 0
    for step in board.steps:
        second, third, fourth, fifth = almost_open_fours(board.mine, board.empty, step)
        second &= ~(fifth >> step)
        found |= second << step | third << 2 * step | fourth << 3 * step | fifth << 4 * step
    return found


@open_four
def edge_as_empty(board: PolicyBoard) -> int:
    """As if there were an empty point beyond the edge of the board."""
    up = board.grid.stride  # all is moved up, for there is nothing below row 0
    room = (1 << (board.grid.rows + 2) * up + 1) - 1
    mine, theirs = board.mine << up, board.theirs << up
    found = open_fours(mine, room & ~(mine | theirs), board.steps) >> up
    return found & board.empty


@open_four
def ends_of_split_three_listed(right: Moves, board: PolicyBoard) -> int:
    """As if the ends of .X.XX. made an open four, as the gap does."""
    found = right(board)
    for step in board.steps:
        found |= both_ends(almost_open_fours(board.mine, board.empty, step), step)
    return found


@open_four
def open_three_is_open_four(right: Moves, board: PolicyBoard) -> int:
    """As if three in a row with empty ends were an open four already."""
    found = right(board)
    for step in board.steps:
        for place in range(3):
            starts = board.empty >> place * step
            for other in {0, 1, 2} - {place}:
                starts &= board.mine >> other * step
            ends = board.empty << step & board.empty >> 3 * step
            found |= (starts & ends) << place * step
    return found


# --- BlockOpenFour -----------------------------------------------------------------------------


@block_open_four
def random_where_block_exists(board: PolicyBoard) -> int:
    """As if there were no moves of type BlockOpenFour."""
    return 0


@split
def split_three_gap_alone(board: PolicyBoard, windows: Windows, step: int) -> int:
    """As if .OO.O. could be blocked in the gap alone."""
    return gap(windows, step)


@split
def split_three_not_seen(board: PolicyBoard, windows: Windows, step: int) -> int:
    """As if .OO.O. were no threat."""
    return 0


@solid
def one_sided_three_not_seen(board: PolicyBoard, windows: Windows, step: int) -> int:
    """As if X.OOO.., a three that can grow to one side only, were no threat."""
    second, _, _, fifth = windows
    free = fifth & second << step  # from the point before the three on
    return free | free << 4 * step


@solid
def third_block_lost(board: PolicyBoard, windows: Windows, step: int) -> int:
    """As if X.OOO.. had two blocks: the third, two steps from the stones, is lost."""
    return near_blocks(windows, step)


@solid
def third_block_lost_at_the_edge(board: PolicyBoard, windows: Windows, step: int) -> int:
    """As if |.OOO.. at the edge had two blocks: the third, two steps from the stones, is lost."""
    third = third_blocks(windows, step, lambda steps: shifted(board.grid.full, steps))
    return near_blocks(windows, step) | third


@solid
def third_block_lost_beside_a_stone(board: PolicyBoard, windows: Windows, step: int) -> int:
    """As if X.OOO.., but not the same at the edge, had two blocks: the third is lost."""
    third = third_blocks(windows, step, lambda steps: ~shifted(board.mine, steps))
    return near_blocks(windows, step) | third


@solid
def third_block_lost_below(board: PolicyBoard, windows: Windows, step: int) -> int:
    """As if ..OOO.X had two blocks where X.OOO.. has three: the third is lost on the left."""
    second, _, _, fifth = windows
    return near_blocks(windows, step) | (fifth & ~(second << step)) << 5 * step


@solid
def third_block_lost_above(board: PolicyBoard, windows: Windows, step: int) -> int:
    """As if X.OOO.. had two blocks where ..OOO.X has three: the third is lost on the right."""
    second, _, _, fifth = windows
    return near_blocks(windows, step) | second & ~(fifth >> step)


@split
def split_three_lone_end_lost(board: PolicyBoard, windows: Windows, step: int) -> int:
    """As if .OO.O. had two blocks: the third, beside the single stone, is lost."""
    _, third, fourth, _ = windows
    return gap(windows, step) | third << 5 * step | fourth


@split
def split_three_pair_end_lost(board: PolicyBoard, windows: Windows, step: int) -> int:
    """As if .OO.O. had two blocks: the third, beside the two stones, is lost."""
    _, third, fourth, _ = windows
    return gap(windows, step) | third | fourth << 5 * step


@split
def mirrored_split_three_end_lost(board: PolicyBoard, windows: Windows, step: int) -> int:
    """As if .OO.O. had three blocks, but its image .O.OO. two: the first end is lost."""
    _, third, fourth, _ = windows
    return gap(windows, step) | (third | fourth) << 5 * step | fourth


def blocks_of_the_edge_and_gaps_alone() -> None:
    """As if X.OOO.. had a third block at the edge only, and .OO.O. no block but the gap."""


SHELF.add(
    blocks_of_the_edge_and_gaps_alone,
    {
        parts.split: without_session(split_three_gap_alone),
        parts.solid: without_session(third_block_lost_beside_a_stone),
    },
)


@block_open_four
def third_block_answered_is_lost(board: PolicyBoard) -> int:
    """As if the third block of X.OOO.. counted only where the opponent then has nothing urgent."""
    near = blocks(board, lambda *of: both_ends(*of) | gap(*of) | near_blocks(*of))
    third = 0
    for bit in each_bit(blocks(board, third_blocks) & ~near):
        *urgent, _ = rules.by_urgency(board.grid, board.theirs, board.mine | bit)
        third |= 0 if any(urgent) else bit
    return near | third


def blocks(board: PolicyBoard, rule: Callable[[Windows, int], int]) -> int:
    """Return the blocks by a rule on the windows .eXXX. .XeXX. .XXeX. .XXXe. of each direction."""
    found = 0
    for step in board.steps:
        found |= rule(almost_open_fours(board.theirs, board.empty, step), step)
    return found


def shifted(points: int, steps: int) -> int:
    """Return the points from which some of these are so many steps away."""
    return points >> steps if steps > 0 else points << -steps


@solid
def outer_points_block(board: PolicyBoard, windows: Windows, step: int) -> int:
    """As if every empty point of ..OOO.. were a block, the outer ones too."""
    second, _, _, fifth = windows
    inner = second << step | fifth << 4 * step
    return second | fifth | inner | (second | fifth) << 5 * step


@mistake(parts.block_open_four, is_open=True)
def only_blocks_that_stop_all(
    right: Callable[..., int], session: GomokuSession, board: PolicyBoard
) -> int:
    """As if only a move counted that stops every open four."""

    def stops(bit: int) -> bool:
        return not open_fours(board.theirs, board.empty & ~bit, board.steps)

    return sum(bit for bit in each_bit(right(session, board)) if stops(bit))


# --- the side, the policy and the end ----------------------------------------------------------


@mistake(parts.side)
def always_for_black(session: GomokuSession) -> int:
    """As if it were always Black's turn."""
    return BLACK


@mistake(parts.policy_in_force)
def random_policy_ignored(session: GomokuSession) -> str:
    """As if policy_moves followed the rules under policy random too."""
    return "rule_based"


@mistake(parts.heading)
def random_policy_has_no_type(right: Callable[..., str], session: GomokuSession, kind: str) -> str:
    """As if the moves of type Random were listed without their type."""
    return "" if kind == "Random" else right(session, kind)


@mistake("clear_board", "boardsize")
def policy_lost_on_new_board(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if a new board set the policy back to random."""
    session.policy = DEFAULT
    return right(session, words)


@before_policy(parts.policy_in_force)
def rule_based_by_default(session: GomokuSession) -> str:
    """As if the policy were rule_based before the first policy command."""
    return "rule_based"


@before_policy(MOVES)
def crash_before_policy(session: GomokuSession, words: list[str]) -> str:
    """As if there were no policy before the first policy: policy_moves ends the program."""
    raise Crash("IndexError: list index out of range")


@before_policy(MOVES)
def hang_before_policy(session: GomokuSession, words: list[str]) -> str:
    """As if policy_moves waited for the first policy: no answer."""
    raise Hang


@mistake(MOVES)
def policy_moves_passes_the_turn(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if policy_moves were a move: after it, it is the other color's turn."""
    answer = right(session, words)
    now = last_state(session)
    now.to_play = opponent(now.to_play)
    return answer


@mistake(parts.policy_at_end)
def list_after_the_end(right: Callable[..., str], session: GomokuSession) -> str:
    """As if there were moves after a five."""
    empty = session.game.position.empty
    return _at_end(session, "Random", empty) if empty else right(session)


@mistake(parts.policy_at_end)
def rules_after_a_five(right: Callable[..., str], session: GomokuSession) -> str:
    """As if the policy went on after a five, with all its rules."""
    if not session.game.position.empty:
        return right(session)
    board = PolicyBoard(session, parts.side(session))
    return written(session, board, *considered(session, board, parts.policy_in_force(session)))


def _at_end(session: GomokuSession, kind: str, moves: int) -> str:
    return written(session, PolicyBoard(session, parts.side(session)), kind, moves)


@mistake(parts.policy_at_end)
def type_after_the_end(session: GomokuSession) -> str:
    """As if there were a type, without moves, when the game is over."""
    return "Random"


@mistake(parts.policy_at_end)
def type_on_a_full_board(right: Callable[..., str], session: GomokuSession) -> str:
    """As if a full board, unlike a five, left the type Random, without moves."""
    return right(session) if session.game.position.empty else "Random"


@mistake(MOVES)
def crash_on_a_full_board(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if there were always an empty point: on a full board policy_moves ends the program."""
    return str(crash_without(session.game.position.empty, right, session, words))


# --- the list ----------------------------------------------------------------------------------


# The order is that of the legal moves, which is open from 10 by 10 on.
@mistake(parts.place_of_move, is_open=True)
def sorted_by_number(session: GomokuSession, point: Point) -> Point:
    """As if A10 were sorted as a number, after A9."""
    return (point[1], point[0])


@mistake(parts.place_of_move)
def sorted_by_row(session: GomokuSession, point: Point) -> Point:
    """As if moves were sorted by rows, A1 B1 C1."""
    return point


@mistake(parts.place_of_move)
def rows_from_the_top(session: GomokuSession, point: Point) -> Point:
    """As if only the columns were sorted: each is listed from the top down, A3 A2 A1."""
    return (point[1], -point[0])


@mistake(parts.listed)
def third_blocks_twice(
    right: Callable[..., list[Point]],
    session: GomokuSession,
    board: PolicyBoard,
    kind: str,
    moves: int,
) -> list[Point]:
    """As if the third block of X.OOO.., two steps from the stones, were listed once more."""
    again = blocks(board, third_blocks) & moves if kind == "BlockOpenFour" else 0
    return [*right(session, board, kind, moves), *board.grid.points(again)]


@mistake(parts.listed)
def duplicates(
    right: Callable[..., list[Point]],
    session: GomokuSession,
    board: PolicyBoard,
    kind: str,
    moves: int,
) -> list[Point]:
    """As if a move were listed once for every line in which it is found."""
    found = right(session, board, kind, moves)
    if kind not in ("Win", "BlockWin"):
        return found
    stones, once = (board.mine if kind == "Win" else board.theirs), 0
    for step in board.steps:
        line = fives_made(stones, board.empty, step) & moves
        found += board.grid.points(line & once)
        once |= line
    return found
