"""Mistakes in the playout policy of Gomoku, gomoku-policy.txt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from oracle.answers.gomoku_policy import DEFAULT
from oracle.assignments import told_by
from oracle.gtp.gomoku import GomokuSession
from oracle.gtp.protocol import Command
from oracle.mistakes import gomoku_parts as parts
from oracle.mistakes.bank import Crash, Hang, Place, Shelf, crash_without, last_state
from oracle.mistakes.gomoku_parts import PolicyBoard, fives_made, gap, near_blocks, open_fours
from oracle.position import BLACK, Point, each_bit, opponent
from oracle.rules import gomoku as rules
from oracle.rules.gomoku import almost_open_fours, long_lines, steps

Moves = Callable[[PolicyBoard], int]
Listed = Callable[[PolicyBoard, str, int], list[Point]]
SHELF = Shelf("gomoku-policy", parts.ROUTES)
mistake = SHELF.mistake
MOVES = "policy_moves"


def before_policy(place: Place) -> Callable[[Callable[..., str]], None]:
    """Return a decorator for what stands in a place before the first ``policy`` command."""

    def policy(right: Command, session: GomokuSession, words: list[str]) -> str:
        session.commands.memory["set"] = True  # type: ignore[attr-defined]
        return right(session, words)

    def register(function: Callable[..., str]) -> None:
        def before(right: Callable[..., str], session: GomokuSession, *arguments: Any) -> str:
            is_set = "set" in session.commands.memory  # type: ignore[attr-defined]
            return right(session, *arguments) if is_set else function(session, *arguments)

        SHELF.add(*told_by(function), {"policy": policy, place: before})

    return register


# --- Win and BlockWin --------------------------------------------------------------------------


SHELF.add_rows(
    (parts.completing, "gapped-fours-missed",
     "As if only four stones side by side could become a five: gaps are not seen.",
     lambda board, stones: parts.union(
         fives_made(stones, board.empty, step, (0, 4)) for step in board.steps)),
    (parts.win, "win-not-seen", "As if there were no moves of type Win.", lambda board: 0),
)  # fmt: skip


@mistake(parts.completing)
def win_by_exactly_five(
    right: Callable[[PolicyBoard, int], int], board: PolicyBoard, stones: int
) -> int:
    """As if a move that makes six in a row did not win."""

    def makes_five(move: int) -> bool:
        lines = long_lines(board.grid, stones | move)
        return any(line & move and line.bit_count() == 5 for line in lines)

    return sum(filter(makes_five, each_bit(right(board, stones))))


@mistake(parts.block_win)
def one_end_blocked(right: Moves, board: PolicyBoard) -> int:
    """As if an open four, .OOOO., could be blocked at one end only."""
    block = right(board)
    for step in board.steps:
        four = board.theirs & board.theirs >> step
        four &= four >> 2 * step
        is_open = four & board.empty << step & board.empty >> 4 * step
        block &= ~(is_open << 4 * step)
    return block


@mistake(parts.win, parts.block_win)
def first_threat_only(right: Moves, board: PolicyBoard) -> int:
    """As if only the first move found of a type counted."""
    moves = right(board)
    return moves & -moves


@mistake(parts.block_win)
def hopeless_not_blocked(right: Moves, board: PolicyBoard) -> int:
    """As if nothing need be blocked when not all can be."""
    block = right(board)
    return block if block.bit_count() < 2 else 0


SHELF.add_rows(
    (parts.urgency, "own-open-four-before-block",
     "As if an open four of one's own came before the opponent's five.",
     lambda: ("Win", "OpenFour", "BlockWin", "BlockOpenFour", "Random")),
    (parts.urgency, "block-before-win",
     "As if blocking the opponent's five came before winning.",
     lambda: ("BlockWin", "Win", "OpenFour", "BlockOpenFour", "Random")),
    (parts.urgency, "block-before-open-four",
     "As if blocking an open four came before making one.",
     lambda: ("Win", "BlockWin", "BlockOpenFour", "OpenFour", "Random")),
)  # fmt: skip


@mistake(parts.completing)
def rows_wrap_around(board: PolicyBoard, stones: int) -> int:
    """As if a row went on at the other edge of the board."""
    shape, width = board.grid, board.grid.columns
    flat, empty = parts.pack(shape, stones), parts.pack(shape, board.empty)
    across = (1, width, width + 1, width - 1)
    return parts.unpack(shape, parts.union(fives_made(flat, empty, step) for step in across))


SHELF.add_rows(
    (parts.lines, "falling-diagonals-missed",
     "As if there were no lines that run down to the right.",
     lambda shape: steps(shape)[:3]),
)  # fmt: skip

# --- OpenFour ----------------------------------------------------------------------------------

SHELF.add_rows(
    (parts.open_four, "open-four-without-empty-end",
     "As if a four with one empty end were an open four.",
     lambda board: open_fours(board.mine, board.empty, board.steps, int.__or__)),
    (parts.open_four, "gapped-open-fours-missed",
     "As if .X.XX. could not become an open four.",
     lambda board: open_fours(board.mine, board.empty, board.steps, places=(0, 3))),
    (parts.open_four, "diagonal-open-fours-missed",
     "As if an open four lay in a row or a column, never on a diagonal.",
     lambda board: open_fours(board.mine, board.empty, board.steps[:2])),
)  # fmt: skip


@mistake(parts.open_four)
def one_of_two_open_fours(board: PolicyBoard) -> int:
    """As if .XXX. with room on both sides had one move to an open four, at its far end."""
    found = 0
    for step in board.steps:
        second, third, fourth, fifth = almost_open_fours(board.mine, board.empty, step)
        second &= ~(fifth >> step)
        found |= second << step | third << 2 * step | fourth << 3 * step | fifth << 4 * step
    return found


@mistake(parts.open_four)
def edge_as_empty(board: PolicyBoard) -> int:
    """As if there were an empty point beyond the edge of the board."""
    up = board.grid.stride  # all is moved up, for there is nothing below row 0
    room = (1 << (board.grid.rows + 2) * up + 1) - 1
    mine, theirs = board.mine << up, board.theirs << up
    found = open_fours(mine, room & ~(mine | theirs), board.steps) >> up
    return found & board.empty


@mistake(parts.open_four)
def ends_of_split_three_listed(right: Moves, board: PolicyBoard) -> int:
    """As if the ends of .X.XX. made an open four, as the gap does."""
    found = right(board)
    for step in board.steps:
        _, third, fourth, _ = almost_open_fours(board.mine, board.empty, step)
        found |= parts.both_ends(third, fourth, step)
    return found


@mistake(parts.open_four)
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

SHELF.add_rows(
    (parts.block_open_four, "random-where-block-exists",
     "As if there were no moves of type BlockOpenFour.",
     lambda board: 0),
    (parts.split, "split-three-gap-alone", "As if .OO.O. could be blocked in the gap alone.",
     gap),
    (parts.split, "split-three-not-seen", "As if .OO.O. were no threat.",
     lambda third, fourth, step: 0),
)  # fmt: skip


@mistake(parts.solid)
def one_sided_three_not_seen(board: PolicyBoard, second: int, fifth: int, step: int) -> int:
    """As if X.OOO.., a three that can grow to one side only, were no threat."""
    free = fifth & second << step  # from the point before the three on
    return free | free << 4 * step


SHELF.add_rows(
    (parts.solid, "third-block-lost",
     "As if X.OOO.. had two blocks: the third, two steps from the stones, is lost.",
     lambda board, second, fifth, step: near_blocks(second, fifth, step)),
    (parts.solid, "third-block-lost-at-the-edge",
     "As if |.OOO.. at the edge had two blocks: the third, two steps from the stones, is lost.",
     lambda board, second, fifth, step: near_blocks(second, fifth, step) | parts.third_blocks(
         second, fifth, step, lambda steps: shifted(board.grid.full, steps))),
)  # fmt: skip


@mistake(parts.solid)
def third_block_lost_beside_a_stone(board: PolicyBoard, second: int, fifth: int, step: int) -> int:
    """As if X.OOO.., but not the same at the edge, had two blocks: the third is lost."""
    third = parts.third_blocks(second, fifth, step, lambda steps: ~shifted(board.mine, steps))
    return near_blocks(second, fifth, step) | third


SHELF.add_rows(
    (parts.solid, "third-block-lost-below",
     "As if ..OOO.X had two blocks where X.OOO.. has three: the third is lost on the left.",
     lambda board, second, fifth, step: (
         near_blocks(second, fifth, step) | (fifth & ~(second << step)) << 5 * step)),
    (parts.solid, "third-block-lost-above",
     "As if X.OOO.. had two blocks where ..OOO.X has three: the third is lost on the right.",
     lambda board, second, fifth, step: (
         near_blocks(second, fifth, step) | second & ~(fifth >> step))),
    (parts.split, "split-three-lone-end-lost",
     "As if .OO.O. had two blocks: the third, beside the single stone, is lost.",
     lambda third, fourth, step: gap(third, fourth, step) | third << 5 * step | fourth),
    (parts.split, "split-three-pair-end-lost",
     "As if .OO.O. had two blocks: the third, beside the two stones, is lost.",
     lambda third, fourth, step: gap(third, fourth, step) | third | fourth << 5 * step),
    (parts.split, "mirrored-split-three-end-lost",
     "As if .OO.O. had three blocks, but its image .O.OO. two: the first end is lost.",
     lambda third, fourth, step: (
         gap(third, fourth, step) | (third | fourth) << 5 * step | fourth)),
)  # fmt: skip
SHELF.add(
    "blocks-of-the-edge-and-gaps-alone",
    "As if X.OOO.. had a third block at the edge only, and .OO.O. no block but the gap.",
    {parts.split: gap, parts.solid: third_block_lost_beside_a_stone},
)


@mistake(parts.block_open_four)
def third_block_answered_is_lost(board: PolicyBoard) -> int:
    """As if the third block of X.OOO.. counted only where the opponent then has nothing urgent."""
    near = 0
    for step in board.steps:
        second, third, fourth, fifth = almost_open_fours(board.theirs, board.empty, step)
        near |= parts.both_ends(third, fourth, step) | gap(third, fourth, step)
        near |= near_blocks(second, fifth, step)
    found = near
    for bit in each_bit(third_blocks(board) & ~near):
        *urgent, _ = rules.by_urgency(board.grid, board.theirs, board.mine | bit)
        found |= 0 if any(urgent) else bit
    return found


def third_blocks(board: PolicyBoard) -> int:
    """Return the blocks of X.OOO.. that lie two steps from the stones, of each direction."""
    found = 0
    for step in board.steps:
        second, _, _, fifth = almost_open_fours(board.theirs, board.empty, step)
        found |= parts.third_blocks(second, fifth, step)
    return found


def shifted(points: int, steps: int) -> int:
    """Return the points from which some of these are so many steps away."""
    return points >> steps if steps > 0 else points << -steps


SHELF.add_rows(
    (parts.solid, "outer-points-block",
     "As if every empty point of ..OOO.. were a block, the outer ones too.",
     lambda board, second, fifth, step: (
         second | fifth | second << step | fifth << 4 * step | (second | fifth) << 5 * step)),
)  # fmt: skip


@mistake(parts.block_open_four, is_open=True)
def only_blocks_that_stop_all(right: Moves, board: PolicyBoard) -> int:
    """As if only a move counted that stops every open four."""

    def stops(bit: int) -> bool:
        return not open_fours(board.theirs, board.empty & ~bit, board.steps)

    return sum(filter(stops, each_bit(right(board))))


# --- the side, the policy and the end ----------------------------------------------------------

SHELF.add_rows(
    (parts.side, "always-for-black", "As if it were always Black's turn.", lambda: BLACK),
    (parts.policy_in_force, "random-policy-ignored",
     "As if policy_moves followed the rules under policy random too.",
     lambda: "rule_based"),
    (parts.heading, "random-policy-has-no-type",
     "As if the moves of type Random were listed without their type.",
     lambda right, kind: "" if kind == "Random" else right(kind)),
)  # fmt: skip


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


SHELF.add_rows(
    (parts.policy_at_end, "list-after-the-end", "As if there were moves after a five.",
     lambda right, session: parts.written(
         session, PolicyBoard(session, parts.side(session)), "Random", session.game.position.empty
     ) if session.game.position.empty else right(session)),
    (parts.policy_at_end, "rules-after-a-five",
     "As if the policy went on after a five, with all its rules.",
     lambda right, session: (
         parts.moves_to_play(session) if session.game.position.empty else right(session))),
    (parts.policy_at_end, "type-after-the-end",
     "As if there were a type, without moves, when the game is over.",
     lambda: "Random"),
    (parts.policy_at_end, "type-on-a-full-board",
     "As if a full board, unlike a five, left the type Random, without moves.",
     lambda right, session: right(session) if session.game.position.empty else "Random"),
    (MOVES, "crash-on-a-full-board",
     "As if there were always an empty point: on a full board policy_moves ends the program.",
     lambda right, session, words: crash_without(
         session.game.position.empty, right, session, words)),
)  # fmt: skip

# --- the list ----------------------------------------------------------------------------------


# The order is that of the legal moves, which is open from 10 by 10 on.
@mistake(parts.place_of_move, is_open=True)
def sorted_by_number(point: Point) -> Point:
    """As if A10 were sorted as a number, after A9."""
    return (point[1], point[0])


SHELF.add_rows(
    (parts.place_of_move, "sorted-by-row", "As if moves were sorted by rows, A1 B1 C1.",
     lambda point: point),
    (parts.place_of_move, "rows-from-the-top",
     "As if only the columns were sorted: each is listed from the top down, A3 A2 A1.",
     lambda point: (point[1], -point[0])),
)  # fmt: skip


@mistake(parts.listed)
def third_blocks_twice(right: Listed, board: PolicyBoard, kind: str, moves: int) -> list[Point]:
    """As if the third block of X.OOO.., two steps from the stones, were listed once more."""
    again = third_blocks(board) & moves if kind == "BlockOpenFour" else 0
    return [*right(board, kind, moves), *board.grid.points(again)]


@mistake(parts.listed)
def duplicates(right: Listed, board: PolicyBoard, kind: str, moves: int) -> list[Point]:
    """As if a move were listed once for every line in which it is found."""
    found = right(board, kind, moves)
    if kind not in ("Win", "BlockWin"):
        return found
    stones, once = (board.mine if kind == "Win" else board.theirs), 0
    for step in board.steps:
        line = fives_made(stones, board.empty, step) & moves
        found += board.grid.points(line & once)
        once |= line
    return found
