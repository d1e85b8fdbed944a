"""The rules of Gomoku and its player in parts (gomoku-rules.html, gomoku-policy.txt)."""

from __future__ import annotations

from functools import reduce
from operator import or_

from oracle.errors import VertexError
from oracle.gtp import protocol
from oracle.gtp.gomoku import GomokuSession, moves_text, policy_text
from oracle.mistakes.bank import EnginePart, Route, last_state, part
from oracle.position import BLACK, EMPTY, NAMES, color_of, opponent, parse_vertex, sides, vertex
from oracle.rules.gomoku import TYPES, almost_open_fours, fives, steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from oracle.position import Grid, Point

# --- lines as mistaken programs see them: with other ends, or over the edge of the board -------


def row_of(shape: Grid, row: int) -> int:
    """Return the points of one row."""
    return ((1 << shape.columns) - 1) << row * shape.stride


def pack(shape: Grid, points: int) -> int:
    """Return the points in an integer without guard column: each row follows the one before."""
    return sum((points & row_of(shape, row)) >> row for row in range(shape.rows))


def unpack(shape: Grid, flat: int) -> int:
    """Undo :func:`pack`."""
    width, row = shape.columns, (1 << shape.columns) - 1
    return sum((flat >> r * width & row) << r * shape.stride for r in range(shape.rows))


def union(masks: Iterable[int]) -> int:
    """Return the points of all masks."""
    return reduce(or_, masks, 0)


def _windows(stones: int, empty: int, step: int, place: int, length: int) -> int:
    """Return the first points of the windows whose points are stones, but for an empty one."""
    starts = empty >> place * step
    for other in range(length):
        if not starts:  # mostly
            break
        if other != place:
            starts &= stones >> other * step
    return starts


def fives_made(
    stones: int, empty: int, step: int, places: tuple[int, ...] = (0, 1, 2, 3, 4)
) -> int:
    """Return the empty points at these places of a window of five whose others are stones."""
    points = 0
    for place in places:
        points |= _windows(stones, empty, step, place, 5) << place * step
    return points


def open_fours(
    stones: int,
    empty: int,
    steps: tuple[int, ...],
    ends: Callable[[int, int], int] = int.__and__,
    places: tuple[int, ...] = (0, 1, 2, 3),
) -> int:
    """Return the empty points that make four in a row of whose ends ``ends`` are empty.

    ``ends`` combines the windows whose left and whose right end is empty.
    """
    points = 0
    for step in steps:
        enough = ends(empty << step, empty >> 4 * step)
        for place in places:
            points |= (_windows(stones, empty, step, place, 4) & enough) << place * step
    return points


# Of the windows .eXXX. .XeXX. .XXeX. .XXXe. the functions below take the first points of those
# that they are about, called by the place of the point that makes four: second … fifth.


def near_blocks(second: int, fifth: int, step: int) -> int:
    """Return the blocks beside threes without a gap, one step from the stones."""
    return fifth | second << step | fifth << 4 * step | second << 5 * step


def third_blocks(
    second: int, fifth: int, step: int, hindered_from: Callable[[int], int] = lambda steps: -1
) -> int:
    """Return the blocks of ``X.OOO..`` that lie two steps from the stones.

    ``hindered_from``: told how many steps the point that hinders a three on its other side is from
    a window's first point, returns the first points of the windows that count.
    """
    first_point = second & ~(fifth >> step) & hindered_from(6 * step)
    last_point = fifth & ~(second << step) & hindered_from(-step)
    return first_point | last_point << 5 * step


def both_ends(third: int, fourth: int, step: int) -> int:
    """Return the ends of the threes with a gap."""
    return (third | fourth) | (third | fourth) << 5 * step


def gap(third: int, fourth: int, step: int) -> int:
    """Return the gaps of the threes with a gap."""
    return third << 2 * step | fourth << 3 * step


# --- play --------------------------------------------------------------------------------------


@part()
def point_named(session: GomokuSession, text: str) -> Point:
    """Return the point of this name; raise :class:`VertexError` where there is none."""
    shape = session.game.position.grid
    return parse_vertex(text, shape.rows, shape.columns)


@part(point_named)
def faults(session: GomokuSession, words: list[str]) -> dict[str, str]:
    """Return for each reason against a move the argument that is wrong."""
    wrong = {"wrong color": words[0]} if color_of(words[0]) is None else {}
    try:
        point = point_named(session, words[1])
    except VertexError:
        return {**wrong, "wrong coordinate": words[1]}
    is_empty = session.game.refusal(point) is None
    return wrong if is_empty else {**wrong, "occupied": words[1]}


order_of_reasons = EnginePart(lambda _: ("wrong color", "wrong coordinate", "occupied"))
error = EnginePart(lambda _, text: text)  # how an error is answered


# How a move is answered that is refused.
refuse = EnginePart(
    lambda session, words, argument, reason: error(
        session, f'illegal move: "{argument}" {reason}'
    ),
    (error,),
)


# Whether the last of some stones, all of one color, has won.
won = EnginePart(lambda _, state, stones, last: bool(fives(state.position.grid, stones)))


@part(won)
def put(session: GomokuSession, color: int, point: Point) -> None:
    """Put a stone on an empty point."""
    before = last_state(session)
    session.game.play(color, point)
    now = last_state(session)
    stones = now.position.stones(color)
    has_won = won(session, now, stones, now.position.grid.bit(point))
    now.winner = before.winner or (color if has_won else EMPTY)


# The stone of ``play``, and that of ``genmove``.
place, put_own = EnginePart(put, (put,)), EnginePart(put, (put,))


def _play(session: GomokuSession, words: list[str]) -> str:
    words = [protocol.word(words, 0), protocol.word(words, 1)]
    wrong = faults(session, words)
    for reason in order_of_reasons(session):
        if reason in wrong:
            return str(refuse(session, words, wrong[reason], reason))
    place(session, color_of(words[0]) or BLACK, point_named(session, words[1]))
    return ""


# --- the result and the legal moves ------------------------------------------------------------

going_on = EnginePart(lambda _: "unknown")  # the result while there is none
drawn = EnginePart(lambda _: "draw")  # the result of a full board


def _result(session: GomokuSession, words: list[str]) -> str:
    game = session.game
    if game.winner != EMPTY:
        return NAMES[game.winner]
    return str((drawn if game.is_over else going_on)(session))


# The legal moves while the game goes on, and when it is over; and by what they are sorted.
free = EnginePart(lambda session: session.game.position.empty)
free_after_the_end = EnginePart(lambda _: 0)
place_in_list = EnginePart(lambda _, point: vertex(point))


def _legal_moves(session: GomokuSession, words: list[str]) -> str:
    points = (free_after_the_end if session.game.is_over else free)(session)
    listed = session.game.position.grid.points(points)
    return moves_text(sorted(listed, key=lambda point: place_in_list(session, point)))


# --- the policy: the moves of each type --------------------------------------------------------

# The steps of the lines: to the right, up, up right and up left.
lines = EnginePart(lambda _, shape: steps(shape))


class PolicyBoard:
    """Board data of a policy.

    Attributes: ``grid``; the masks ``mine``, ``theirs`` and ``empty``; ``steps``, of the lines.
    """

    def __init__(self, session: GomokuSession, color: int) -> None:
        position = session.game.position
        self.grid: Grid = position.grid
        self.mine, self.theirs = sides(position, color)
        self.empty = position.empty
        self.steps: tuple[int, ...] = lines(session, self.grid)


# The points that complete a five of some stones.
completing = EnginePart(
    lambda _, board, stones: union(fives_made(stones, board.empty, s) for s in board.steps)
)
win = EnginePart(lambda session, board: completing(session, board, board.mine), (completing,))
block_win = EnginePart(
    lambda session, board: completing(session, board, board.theirs), (completing,)
)
open_four = EnginePart(lambda _, board: open_fours(board.mine, board.empty, board.steps))
# The blocks of the threes with a gap, and of those without.
split = EnginePart(lambda _, *of: both_ends(*of) | gap(*of))
solid = EnginePart(lambda _, board, *of: near_blocks(*of) | third_blocks(*of))


@part(split, solid)
def block_open_four(session: GomokuSession, board: PolicyBoard) -> int:
    """Return the moves of type BlockOpenFour."""
    found = 0
    for step in board.steps:
        second, third, fourth, fifth = almost_open_fours(board.theirs, board.empty, step)
        found |= split(session, third, fourth, step) | solid(session, board, second, fifth, step)
    return found


# --- the policy: which type, and its list ------------------------------------------------------

urgency = EnginePart(lambda _: TYPES)  # the types, from the most urgent to the least


@part(urgency, win, block_win, open_four, block_open_four)
def types(session: GomokuSession, board: PolicyBoard) -> dict[str, int]:
    """Return the moves of each type, as ``rule_based`` sees them."""
    moves = {
        "Win": win(session, board),
        "BlockWin": block_win(session, board),
        "OpenFour": open_four(session, board),
        "BlockOpenFour": block_open_four(session, board),
        "Random": board.empty,
    }
    return {kind: moves[kind] for kind in urgency(session)}


# What ``policy_moves`` follows and looks at; how it writes a type, which moves it lists, in any
# order, and by what it sorts them; what it answers when the game is over.
policy_in_force = EnginePart(lambda session: session.policy)
side = EnginePart(lambda session: session.game.to_play)
heading = EnginePart(lambda _, kind: kind)
listed = EnginePart(lambda _, board, kind, moves: board.grid.points(moves))
place_of_move = EnginePart(lambda _, point: vertex(point))
policy_at_end = EnginePart(lambda _: "")


def considered(session: GomokuSession, board: PolicyBoard, policy: str) -> tuple[str, int]:
    """Return the first type that has moves, and these."""
    if policy == "random":
        return "Random", board.empty
    found = types(session, board)
    return next(((kind, moves) for kind, moves in found.items() if moves), ("", 0))


def written(session: GomokuSession, board: PolicyBoard, kind: str, moves: int) -> str:
    """Return moves as ``policy_moves`` writes them."""
    points = listed(session, board, kind, moves)
    points = sorted(points, key=lambda point: place_of_move(session, point))
    return policy_text((heading(session, kind), points)).lstrip()


def moves_to_play(session: GomokuSession) -> str:
    """Return what ``policy_moves`` answers while the game goes on."""
    board = PolicyBoard(session, side(session))
    return written(session, board, *considered(session, board, policy_in_force(session)))


# --- genmove -----------------------------------------------------------------------------------

color_told = EnginePart(lambda _, words: protocol.color(words, 0))


# What ``genmove`` answers after a five, None to play on; and on a full board.
after_five = EnginePart(
    lambda session, color: "resign" if session.game.winner == opponent(color) else "pass"
)
full_board = EnginePart(lambda _, color: "pass")


@part(after_five, full_board)
def at_end(session: GomokuSession, color: int) -> str | None:
    """Return what it answers instead of a move; None to play one."""
    if session.game.winner != EMPTY:
        answer: str | None = after_five(session, color)
        return answer
    return None if session.game.position.empty else full_board(session, color)


# The points that it may play.
choices = EnginePart(
    lambda session, color: considered(session, PolicyBoard(session, color), session.policy)[1],
    (types, lines),
)


def _genmove(session: GomokuSession, words: list[str]) -> str:
    color = color_told(session, words)
    answer = at_end(session, color)
    points = choices(session, color) if answer is None else 0
    if not points:
        session.refused_to_move = True
        return str(answer or "pass")
    point = session.random.choice(session.game.position.grid.points(points))
    put_own(session, color, point)
    return vertex(point)


_LISTED = (heading, listed, place_of_move)
ROUTES = {
    "play": Route(_play, (point_named, faults, order_of_reasons, refuse, place)),
    "gogui-rules_final_result": Route(_result, (going_on, drawn)),
    "gogui-rules_legal_moves": Route(_legal_moves, (free, free_after_the_end, place_in_list)),
    # The winner is settled when a stone is put, and tells that the game is over.
    "policy_moves": Route(
        lambda session, words: (
            policy_at_end(session) if session.game.is_over else moves_to_play(session)
        ),
        (won, policy_at_end, side, lines, types, policy_in_force, *_LISTED),
    ),
    "genmove": Route(_genmove, (color_told, at_end, choices, put_own)),
}
