"""Mistakes in the playout policy of Gomoku, gomoku-policy.txt."""

from __future__ import annotations

from oracle.answers.gomoku_policy import DEFAULT
from oracle.color import BLACK, opponent
from oracle.grid import each_bit
from oracle.gtp import arguments
from oracle.gtp.gomoku import policy_text
from oracle.mistakes.bank import Crash, Hang, Shelf, crash_without
from oracle.mistakes.lines import (
    fives_made,
    near_blocks,
    open_fours,
    packed,
    third_blocks,
    unpacked,
)
from oracle.rules import policy as rules
from oracle.rules.lines import almost_open_fours, fives, long_lines, steps
from oracle.vertex import vertex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from oracle.grid import Grid
    from oracle.gtp.gomoku import GomokuSession
    from oracle.gtp.protocol import Command
    from oracle.mistakes.bank import Wrong
    from oracle.mistakes.lines import Windows

    Types = dict[str, int]  # the moves of each type, from the most urgent to the least
    Change = Callable[["Board", Types], Types]

SHELF = Shelf("gomoku-policy", {})
mistake = SHELF.mistake
MOVES = "policy_moves"


class Board:
    """What a policy looks at: ``grid``, and the masks ``mine``, ``theirs`` and ``empty``."""

    __slots__ = ("empty", "grid", "mine", "steps", "theirs")

    def __init__(self, session: GomokuSession, color: int) -> None:
        position = session.game.position
        self.grid: Grid = position.grid
        self.steps: tuple[int, ...] = steps(self.grid)
        self.mine = position.stones(color)
        self.theirs = position.stones(opponent(color))
        self.empty = position.empty

    def types(self) -> Types:
        """Return the right moves of each type."""
        by_urgency = rules.by_urgency(self.grid, self.mine, self.theirs)
        return dict(zip(rules.TYPES, by_urgency, strict=True))


# --- kinds of mistakes -------------------------------------------------------------------------


def considers(*, is_open: bool = False) -> Callable[[Change], Change]:
    """Return a decorator for a change of the moves of each type, as ``rule_based`` sees them."""

    def register(change: Change) -> Change:
        def policy_moves(right: Command, session: GomokuSession, words: list[str]) -> str:
            kind, moves = chosen(session, session.game.to_play, change)
            return (
                right(session, words)
                if not kind
                else text(session.game.position.grid, kind, moves)
            )

        def genmove(right: Command, session: GomokuSession, words: list[str]) -> str:
            _, moves = chosen(session, arguments.color(words, 0), change)
            if not moves:
                return right(session, words)
            point = session.random.choice(session.game.position.grid.points(moves))
            session.game.play(arguments.color(words, 0), point)
            return vertex(point)

        SHELF.add(change, {MOVES: policy_moves, "genmove": genmove}, is_open=is_open)
        return change

    return register


def before_policy(function: Wrong) -> None:
    """Register what stands in for ``policy_moves`` before the first ``policy`` command."""

    def policy(right: Command, session: GomokuSession, words: list[str]) -> str:
        session.commands.memory["set"] = True  # type: ignore[attr-defined]
        return right(session, words)

    def policy_moves(right: Command, session: GomokuSession, words: list[str]) -> str:
        is_set = "set" in session.commands.memory  # type: ignore[attr-defined]
        return right(session, words) if is_set else function(right, session, words)

    SHELF.add(function, {"policy": policy, MOVES: policy_moves})


def chosen(session: GomokuSession, color: int, change: Change) -> tuple[str, int]:
    """Return the first type that has moves; ``("", 0)`` where the policy makes no difference."""
    if session.policy == "random" or session.game.is_over:
        return "", 0
    board = Board(session, color)
    return first_of(change(board, board.types()))


def first_of(types: Types) -> tuple[str, int]:
    """Return the most urgent type that has moves, with these; ``("", 0)`` when none has."""
    return next(((kind, moves) for kind, moves in types.items() if moves), ("", 0))


def text(shape: Grid, kind: str, moves: int) -> str:
    """Return moves as ``policy_moves`` writes them."""
    return policy_text((kind, sorted(shape.points(moves), key=vertex)))


# --- Win and BlockWin --------------------------------------------------------------------------


def fives_by(board: Board, stones: int, places: tuple[int, ...] = (0, 1, 2, 3, 4)) -> int:
    """Return the points that complete a five, at some places of it only."""
    found = 0
    for step in board.steps:
        found |= fives_made(stones, board.empty, step, places)
    return found


@considers()
def gapped_fours_missed(board: Board, right: Types) -> Types:
    """As if only four stones side by side could become a five: gaps are not seen."""
    ends = (0, 4)
    win, block = fives_by(board, board.mine, ends), fives_by(board, board.theirs, ends)
    return {**right, "Win": win, "BlockWin": block}


@considers()
def win_not_seen(board: Board, right: Types) -> Types:
    """As if there were no moves of type Win."""
    return {**right, "Win": 0}


@considers()
def win_by_exactly_five(board: Board, right: Types) -> Types:
    """As if a move that makes six in a row did not win."""

    def exact(stones: int, moves: int) -> int:
        return sum(bit for bit in each_bit(moves) if _makes_five_only(board, stones | bit, bit))

    win, block = exact(board.mine, right["Win"]), exact(board.theirs, right["BlockWin"])
    return {**right, "Win": win, "BlockWin": block}


def _makes_five_only(board: Board, stones: int, move: int) -> bool:
    lines = long_lines(board.grid, stones)
    return any(line & move and line.bit_count() == 5 for line in lines)


@considers()
def one_end_blocked(board: Board, right: Types) -> Types:
    """As if an open four, .OOOO., could be blocked at one end only."""
    block = right["BlockWin"]
    for step in board.steps:
        four = board.theirs & board.theirs >> step
        four &= four >> 2 * step
        is_open = four & board.empty << step & board.empty >> 4 * step
        block &= ~(is_open << 4 * step)
    return {**right, "BlockWin": block}


@considers()
def first_threat_only(board: Board, right: Types) -> Types:
    """As if only the first move found of a type counted."""
    return {**right, **{kind: _first(right[kind]) for kind in ("Win", "BlockWin")}}


def _first(moves: int) -> int:
    return moves & -moves


@considers()
def hopeless_not_blocked(board: Board, right: Types) -> Types:
    """As if nothing need be blocked when not all can be."""
    block = right["BlockWin"]
    return {**right, "BlockWin": block if block.bit_count() < 2 else 0}


@considers()
def own_open_four_before_block(board: Board, right: Types) -> Types:
    """As if an open four of one's own came before the opponent's five."""
    order = ("Win", "OpenFour", "BlockWin", "BlockOpenFour", "Random")
    return {kind: right[kind] for kind in order}


@considers()
def block_before_win(board: Board, right: Types) -> Types:
    """As if blocking the opponent's five came before winning."""
    order = ("BlockWin", "Win", "OpenFour", "BlockOpenFour", "Random")
    return {kind: right[kind] for kind in order}


@considers()
def block_before_open_four(board: Board, right: Types) -> Types:
    """As if blocking an open four came before making one."""
    order = ("Win", "BlockWin", "BlockOpenFour", "OpenFour", "Random")
    return {kind: right[kind] for kind in order}


@considers()
def rows_wrap_around(board: Board, right: Types) -> Types:
    """As if a row went on at the other edge of the board."""
    shape, width = board.grid, board.grid.columns
    empty = packed(shape, board.empty)

    def wins(stones: int) -> int:
        flat = packed(shape, stones)
        found = 0
        for step in (1, width, width + 1, width - 1):
            found |= fives_made(flat, empty, step)
        return unpacked(shape, found)

    return {**right, "Win": wins(board.mine), "BlockWin": wins(board.theirs)}


@considers()
def falling_diagonals_missed(board: Board, right: Types) -> Types:
    """As if there were no lines that run down to the right."""
    board.steps = board.steps[:3]
    return {
        **right,
        "Win": fives_by(board, board.mine),
        "BlockWin": fives_by(board, board.theirs),
        "OpenFour": open_fours(board.mine, board.empty, board.steps),
        "BlockOpenFour": blocks(board, common),
    }


# --- OpenFour ----------------------------------------------------------------------------------


@considers()
def open_four_without_empty_end(board: Board, right: Types) -> Types:
    """As if a four with one empty end were an open four."""
    found = open_fours(board.mine, board.empty, board.steps, int.__or__)
    return {**right, "OpenFour": found}


@considers()
def gapped_open_fours_missed(board: Board, right: Types) -> Types:
    """As if .X.XX. could not become an open four."""
    ends = open_fours(board.mine, board.empty, board.steps, places=(0, 3))
    return {**right, "OpenFour": ends}


@considers()
def diagonal_open_fours_missed(board: Board, right: Types) -> Types:
    """As if an open four lay in a row or a column, never on a diagonal."""
    straight = open_fours(board.mine, board.empty, board.steps[:2])
    return {**right, "OpenFour": straight}


@considers()
def one_of_two_open_fours(board: Board, right: Types) -> Types:
    """As if .XXX. with room on both sides had one move to an open four, at its far end."""
    found = 0
    for step in board.steps:
        second, third, fourth, fifth = almost_open_fours(board.mine, board.empty, step)
        second &= ~(fifth >> step)
        found |= second << step | third << 2 * step | fourth << 3 * step | fifth << 4 * step
    return {**right, "OpenFour": found}


@considers()
def edge_as_empty(board: Board, right: Types) -> Types:
    """As if there were an empty point beyond the edge of the board."""
    up = board.grid.stride  # all is moved up, for there is nothing below row 0
    room = (1 << (board.grid.rows + 2) * up + 1) - 1
    mine, theirs = board.mine << up, board.theirs << up
    found = open_fours(mine, room & ~(mine | theirs), board.steps) >> up
    return {**right, "OpenFour": found & board.empty}


@considers()
def ends_of_split_three_listed(board: Board, right: Types) -> Types:
    """As if the ends of .X.XX. made an open four, as the gap does."""
    found = right["OpenFour"]
    for step in board.steps:
        _, third, fourth, _ = almost_open_fours(board.mine, board.empty, step)
        found |= third | fourth | (third | fourth) << 5 * step
    return {**right, "OpenFour": found}


@considers()
def open_three_is_open_four(board: Board, right: Types) -> Types:
    """As if three in a row with empty ends were an open four already."""
    found = right["OpenFour"]
    for step in board.steps:
        for place in range(3):
            starts = board.empty >> place * step
            for other in {0, 1, 2} - {place}:
                starts &= board.mine >> other * step
            ends = board.empty << step & board.empty >> 3 * step
            found |= (starts & ends) << place * step
    return {**right, "OpenFour": found}


# --- BlockOpenFour -----------------------------------------------------------------------------


def blocks(board: Board, rule: Callable[[Windows, int], int]) -> int:
    """Return the blocks by a rule on the windows .eXXX. .XeXX. .XXeX. .XXXe. of each direction."""
    found = 0
    for step in board.steps:
        found |= rule(almost_open_fours(board.theirs, board.empty, step), step)
    return found


def split(windows: Windows, step: int) -> int:
    """Return the right blocks of the split threes: both ends and the gap."""
    _, third, fourth, _ = windows
    either = third | fourth
    return either | gap(windows, step) | either << 5 * step


def gap(windows: Windows, step: int) -> int:
    """Return the gaps of the split threes."""
    _, third, fourth, _ = windows
    return third << 2 * step | fourth << 3 * step


def solid(windows: Windows, step: int) -> int:
    """Return the right blocks of the threes without a gap."""
    return near_blocks(windows, step) | third_blocks(windows, step)


def common(windows: Windows, step: int) -> int:
    """Return the right blocks."""
    return split(windows, step) | solid(windows, step)


@considers()
def random_where_block_exists(board: Board, right: Types) -> Types:
    """As if there were no moves of type BlockOpenFour."""
    return {**right, "BlockOpenFour": 0}


@considers()
def split_three_gap_alone(board: Board, right: Types) -> Types:
    """As if .OO.O. could be blocked in the gap alone."""

    def rule(windows: Windows, step: int) -> int:
        return solid(windows, step) | gap(windows, step)

    return {**right, "BlockOpenFour": blocks(board, rule)}


@considers()
def split_three_not_seen(board: Board, right: Types) -> Types:
    """As if .OO.O. were no threat."""
    return {**right, "BlockOpenFour": blocks(board, solid)}


@considers()
def one_sided_three_not_seen(board: Board, right: Types) -> Types:
    """As if X.OOO.., a three that can grow to one side only, were no threat."""

    def rule(windows: Windows, step: int) -> int:
        second, _, _, fifth = windows
        free = fifth & second << step  # from the point before the three on
        return split(windows, step) | free | free << 4 * step

    return {**right, "BlockOpenFour": blocks(board, rule)}


@considers()
def third_block_lost(board: Board, right: Types) -> Types:
    """As if X.OOO.. had two blocks: the third, two steps from the stones, is lost."""

    def rule(windows: Windows, step: int) -> int:
        return split(windows, step) | near_blocks(windows, step)

    return {**right, "BlockOpenFour": blocks(board, rule)}


def blocks_with_third(
    board: Board, beside: Callable[[int], int], splits: Callable[[Windows, int], int] = split
) -> int:
    """Return the blocks with some of the third ones only; ``beside``: see :func:`third_blocks`.

    ``splits``: the blocks of the split threes.
    """

    def rule(windows: Windows, step: int) -> int:
        third = third_blocks(windows, step, beside)
        return splits(windows, step) | near_blocks(windows, step) | third

    return blocks(board, rule)


@considers()
def third_block_lost_at_the_edge(board: Board, right: Types) -> Types:
    """As if |.OOO.. at the edge had two blocks: the third, two steps from the stones, is lost."""
    found = blocks_with_third(board, lambda steps: shifted(board.grid.full, steps))
    return {**right, "BlockOpenFour": found}


@considers()
def third_block_lost_beside_a_stone(board: Board, right: Types) -> Types:
    """As if X.OOO.., but not the same at the edge, had two blocks: the third is lost."""
    found = blocks_with_third(board, lambda steps: ~shifted(board.mine, steps))
    return {**right, "BlockOpenFour": found}


@considers()
def blocks_of_the_edge_and_gaps_alone(board: Board, right: Types) -> Types:
    """As if X.OOO.. had a third block at the edge only, and .OO.O. no block but the gap."""
    found = blocks_with_third(board, lambda steps: ~shifted(board.mine, steps), gap)
    return {**right, "BlockOpenFour": found}


@considers()
def third_block_answered_is_lost(board: Board, right: Types) -> Types:
    """As if the third block of X.OOO.. counted only where the opponent then has nothing urgent."""
    near, third = blocks(board, lambda *found: split(*found) | near_blocks(*found)), 0
    for bit in each_bit(blocks(board, third_blocks) & ~near):
        *urgent, _ = rules.by_urgency(board.grid, board.theirs, board.mine | bit)
        third |= 0 if any(urgent) else bit
    return {**right, "BlockOpenFour": near | third}


def shifted(points: int, steps: int) -> int:
    """Return the points from which some of these are so many steps away."""
    return points >> steps if steps > 0 else points << -steps


@considers()
def outer_points_block(board: Board, right: Types) -> Types:
    """As if every empty point of ..OOO.. were a block, the outer ones too."""

    def rule(windows: Windows, step: int) -> int:
        second, _, _, fifth = windows
        inner = second << step | fifth << 4 * step
        return split(windows, step) | second | fifth | inner | (second | fifth) << 5 * step

    return {**right, "BlockOpenFour": blocks(board, rule)}


@considers(is_open=True)
def only_blocks_that_stop_all(board: Board, right: Types) -> Types:
    """As if only a move counted that stops every open four."""

    def stops(bit: int) -> bool:
        return not open_fours(board.theirs, board.empty & ~bit, board.steps)

    moves = right["BlockOpenFour"]
    return {**right, "BlockOpenFour": sum(bit for bit in each_bit(moves) if stops(bit))}


# --- the side, the policy and the end ----------------------------------------------------------


@mistake(MOVES)
def always_for_black(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if it were always Black's turn."""
    kind, moves = chosen_for(session, BLACK)
    return text(session.game.position.grid, kind, moves) if kind else right(session, words)


def chosen_for(session: GomokuSession, color: int) -> tuple[str, int]:
    """Return the right type and moves of a color under the policy ``rule_based``."""
    return chosen(session, color, lambda board, types: types)


@mistake(MOVES)
def random_policy_ignored(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if policy_moves followed the rules under policy random too."""
    policy, session.policy = session.policy, "rule_based"
    answer = right(session, words)
    session.policy = policy
    return answer


@mistake(MOVES)
def random_policy_has_no_type(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if the moves of type Random were listed without their type."""
    return right(session, words).removeprefix("Random ")


@mistake("clear_board", "boardsize")
def policy_lost_on_new_board(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if a new board set the policy back to random."""
    session.policy = DEFAULT
    return right(session, words)


@before_policy
def rule_based_by_default(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if the policy were rule_based before the first policy command."""
    return random_policy_ignored(right, session, words)


@before_policy
def crash_before_policy(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if there were no policy before the first policy: policy_moves ends the program."""
    raise Crash("IndexError: list index out of range")


@before_policy
def hang_before_policy(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if policy_moves waited for the first policy: no answer."""
    raise Hang


@mistake(MOVES)
def policy_moves_passes_the_turn(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if policy_moves were a move: after it, it is the other color's turn."""
    answer = right(session, words)
    now = session.game._states[-1]
    now.to_play = opponent(now.to_play)
    return answer


@mistake(MOVES)
def list_after_the_end(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if there were moves after a five."""
    position = session.game.position
    return (
        right(session, words)
        if not ended(session)
        else text(position.grid, "Random", position.empty)
    )


@mistake(MOVES)
def rules_after_a_five(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if the policy went on after a five, with all its rules."""
    if session.policy == "random" or not ended(session):
        return list_after_the_end(right, session, words)
    board = Board(session, session.game.to_play)
    return text(board.grid, *first_of(board.types()))


@mistake(MOVES)
def type_after_the_end(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if there were a type, without moves, when the game is over."""
    return "Random" if session.game.is_over else right(session, words)


@mistake(MOVES)
def type_on_a_full_board(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if a full board, unlike a five, left the type Random, without moves."""
    return right(session, words) if session.game.position.empty else "Random"


@mistake(MOVES)
def crash_on_a_full_board(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if there were always an empty point: on a full board policy_moves ends the program."""
    return crash_without(session.game.position.empty, right, session, words)


def ended(session: GomokuSession) -> bool:
    """Whether a five has ended the game on a board that is not full."""
    both = session.game.position
    joined = both.grid.join(both.black, both.white)
    return bool(both.empty and fives(both.grid, joined))


# --- the list ----------------------------------------------------------------------------------


def ordered(answer: str, key: Callable[[str], Any]) -> str:
    """Return the moves of an answer in another order."""
    kind, *moves = answer.split() or [""]
    return " ".join([kind, *sorted(moves, key=key)])


# The order is that of the legal moves, which is open from 10 by 10 on.
@mistake(MOVES, is_open=True)
def sorted_by_number(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if A10 were sorted as a number, after A9."""
    return ordered(right(session, words), lambda name: (name[0], int(name[1:])))


@mistake(MOVES)
def sorted_by_row(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if moves were sorted by rows, A1 B1 C1."""
    return ordered(right(session, words), lambda name: (int(name[1:]), name[0]))


@mistake(MOVES)
def rows_from_the_top(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if only the columns were sorted: each is listed from the top down, A3 A2 A1."""
    return ordered(right(session, words), lambda name: (name[0], -int(name[1:])))


@mistake(MOVES)
def third_blocks_twice(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if the third block of X.OOO.., two steps from the stones, were listed once more."""
    answer = right(session, words)
    kind, *moves = answer.split() or [""]
    if kind != "BlockOpenFour":
        return answer
    board = Board(session, session.game.to_play)
    again = map(vertex, board.grid.points(blocks(board, third_blocks)))
    return " ".join([kind, *sorted([*moves, *again])])


@mistake(MOVES)
def duplicates(right: Command, session: GomokuSession, words: list[str]) -> str:
    """As if a move were listed once for every line in which it is found."""
    answer = right(session, words)
    kind = answer.partition(" ")[0]
    if kind not in ("Win", "BlockWin"):
        return answer
    board = Board(session, session.game.to_play)
    stones = board.mine if kind == "Win" else board.theirs
    found = [
        point
        for step in board.steps
        for point in board.grid.points(fives_made(stones, board.empty, step))
    ]
    return policy_text((kind, sorted(found, key=vertex)))
