"""Lines as mistaken programs see them: with other ends, or over the edge of the board."""

from __future__ import annotations

from oracle.errors import VertexError
from oracle.gtp import protocol
from oracle.gtp.gomoku import GomokuSession, moves_text, policy_text
from oracle.mistakes.bank import Route, part
from oracle.position import (
    BLACK,
    EMPTY,
    NAMES,
    Grid,
    Point,
    color_of,
    opponent,
    parse_vertex,
    vertex,
)
from oracle.rules.gomoku import TYPES, almost_open_fours, fives, steps

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from oracle.position import Grid

    Windows = tuple[int, int, int, int]
    from typing import Any

    from oracle.games.gomoku import GomokuState
    from oracle.gtp.protocol import Command

    Types = dict[str, int]


def row_of(shape: Grid, row: int) -> int:
    """Return the points of one row."""
    return ((1 << shape.columns) - 1) << row * shape.stride


def pack(shape: Grid, points: int) -> int:
    """Return the points in an integer without guard column: each row follows the one before."""
    rows = range(shape.rows)
    return sum((points & row_of(shape, row)) >> row for row in rows)


def unpack(shape: Grid, flat: int) -> int:
    """Undo :func:`pack`."""
    width, row = shape.columns, (1 << shape.columns) - 1
    return sum((flat >> r * width & row) << r * shape.stride for r in range(shape.rows))


def fours_made(
    stones: int, empty: int, step: int, places: tuple[int, ...] = (0, 1, 2, 3)
) -> Iterator[tuple[int, int]]:
    """Yield windows of four with three stones, by the place of their empty point.

    Yields the windows' first points and that place.
    """
    for place in places:
        yield _windows(stones, empty, step, place, 4), place


def fives_made(
    stones: int, empty: int, step: int, places: tuple[int, ...] = (0, 1, 2, 3, 4)
) -> int:
    """Return the empty points at these places of a window of five whose others are stones."""
    points = 0
    for place in places:
        points |= _windows(stones, empty, step, place, 5) << place * step
    return points


def _windows(stones: int, empty: int, step: int, place: int, length: int) -> int:
    starts = empty >> place * step
    for other in range(length):
        if not starts:  # mostly
            break
        if other != place:
            starts &= stones >> other * step
    return starts


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
        for starts, place in fours_made(stones, empty, step, places):
            points |= (starts & enough) << place * step
    return points


def near_blocks(windows: Windows, step: int) -> int:
    """Return the blocks beside threes without a gap, one step from the stones."""
    second, _, _, fifth = windows
    return fifth | second << step | fifth << 4 * step | second << 5 * step


def third_blocks(
    windows: Windows, step: int, hindered_from: Callable[[int], int] = lambda steps: -1
) -> int:
    """Return the blocks of ``X.OOO..`` that lie two steps from the stones.

    ``hindered_from``: told how many steps the point that hinders a three on its other side is from
    a window's first point, returns the first points of the windows that count.
    """
    second, _, _, fifth = windows
    first_point = second & ~(fifth >> step) & hindered_from(6 * step)
    last_point = fifth & ~(second << step) & hindered_from(-step)
    return first_point | last_point << 5 * step


# --- The rules of Gomoku and its player in parts (gomoku-rules.html, gomoku-policy.txt) ----------


REASONS = ("wrong color", "wrong coordinate", "occupied")


def last_state(session: GomokuSession) -> GomokuState:
    """Return the game's last moment, which a mistake may change behind its back."""
    return session.game._states[-1]


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


@part()
def order_of_reasons(session: GomokuSession) -> tuple[str, ...]:
    """Return the order in which they are looked for."""
    return REASONS


@part()
def error(session: GomokuSession, text: str) -> str:
    """Answer with an error."""
    return text


@part(error)
def refuse(session: GomokuSession, words: list[str], argument: str, reason: str) -> str:
    """Answer to a move that is refused."""
    return str(error(session, f'illegal move: "{argument}" {reason}'))


@part()
def won(session: GomokuSession, state: GomokuState, stones: int, last: int) -> bool:
    """Return whether the last of some stones, all of one color, has won."""
    return bool(fives(state.position.grid, stones))


@part(won)
def put(session: GomokuSession, color: int, point: Point) -> None:
    """Put a stone on an empty point."""
    before = last_state(session)
    session.game.play(color, point)
    now = last_state(session)
    stones = now.position.stones(color)
    has_won = won(session, now, stones, now.position.grid.bit(point))
    now.winner = before.winner or (color if has_won else EMPTY)


@part(put)
def place(session: GomokuSession, color: int, point: Point) -> None:
    """Put the stone of ``play``."""
    put(session, color, point)


def _play(right: Command, session: GomokuSession, words: list[str]) -> str:
    words = [protocol.word(words, 0), protocol.word(words, 1)]
    wrong = faults(session, words)
    for reason in order_of_reasons(session):
        if reason in wrong:
            return str(refuse(session, words, wrong[reason], reason))
    place(session, color_of(words[0]) or BLACK, point_named(session, words[1]))
    return ""


# --- the result and the legal moves ------------------------------------------------------------


@part()
def going_on(session: GomokuSession) -> str:
    """Return the result while there is none."""
    return "unknown"


@part()
def drawn(session: GomokuSession) -> str:
    """Return the result of a full board."""
    return "draw"


def _result(right: Command, session: GomokuSession, words: list[str]) -> str:
    game = session.game
    if game.winner != EMPTY:
        return NAMES[game.winner]
    return str((drawn if game.is_over else going_on)(session))


@part()
def free(session: GomokuSession) -> int:
    """Return the legal moves while the game goes on."""
    return session.game.position.empty


@part()
def free_after_the_end(session: GomokuSession) -> int:
    """Return the legal moves when the game is over."""
    return 0


@part()
def place_in_list(session: GomokuSession, point: Point) -> Any:
    """Return by what the legal moves are sorted."""
    return vertex(point)


def _legal_moves(right: Command, session: GomokuSession, words: list[str]) -> str:
    points = (free_after_the_end if session.game.is_over else free)(session)
    listed = session.game.position.grid.points(points)
    return moves_text(sorted(listed, key=lambda point: place_in_list(session, point)))


# --- the policy: Win and BlockWin --------------------------------------------------------------


class PolicyBoard:
    """Board data of a policy.

    Attributes: ``grid``; the masks ``mine``, ``theirs`` and ``empty``; ``steps``, of the lines.
    """

    __slots__ = ("empty", "grid", "mine", "steps", "theirs")

    def __init__(self, session: GomokuSession, color: int) -> None:
        position = session.game.position
        self.grid: Grid = position.grid
        self.mine = position.stones(color)
        self.theirs = position.stones(opponent(color))
        self.empty = position.empty
        self.steps: tuple[int, ...] = lines(session, self.grid)


@part()
def lines(session: GomokuSession, shape: Grid) -> tuple[int, ...]:
    """Return the steps of the lines: to the right, up, up right and up left."""
    return steps(shape)


@part()
def completing(session: GomokuSession, board: PolicyBoard, stones: int) -> int:
    """Return the points that complete a five of some stones."""
    found = 0
    for step in board.steps:
        found |= fives_made(stones, board.empty, step)
    return found


@part(completing)
def win(session: GomokuSession, board: PolicyBoard) -> int:
    """Return the moves of type Win."""
    return int(completing(session, board, board.mine))


@part(completing)
def block_win(session: GomokuSession, board: PolicyBoard) -> int:
    """Return the moves of type BlockWin."""
    return int(completing(session, board, board.theirs))


# --- the policy: OpenFour and BlockOpenFour ----------------------------------------------------


@part()
def open_four(session: GomokuSession, board: PolicyBoard) -> int:
    """Return the moves of type OpenFour."""
    return open_fours(board.mine, board.empty, board.steps)


@part()
def split(session: GomokuSession, board: PolicyBoard, windows: Windows, step: int) -> int:
    """Return the blocks of the threes with a gap."""
    return both_ends(windows, step) | gap(windows, step)


def both_ends(windows: Windows, step: int) -> int:
    """Return the ends of the threes with a gap."""
    _, third, fourth, _ = windows
    return (third | fourth) | (third | fourth) << 5 * step


def gap(windows: Windows, step: int) -> int:
    """Return the gaps of the threes with a gap."""
    _, third, fourth, _ = windows
    return third << 2 * step | fourth << 3 * step


@part()
def solid(session: GomokuSession, board: PolicyBoard, windows: Windows, step: int) -> int:
    """Return the blocks of the threes without a gap."""
    return near_blocks(windows, step) | third_blocks(windows, step)


@part(split, solid)
def block_open_four(session: GomokuSession, board: PolicyBoard) -> int:
    """Return the moves of type BlockOpenFour."""
    found = 0
    for step in board.steps:
        windows = almost_open_fours(board.theirs, board.empty, step)
        found |= split(session, board, windows, step) | solid(session, board, windows, step)
    return found


# --- the policy: which type, and its list ------------------------------------------------------


@part()
def urgency(session: GomokuSession) -> tuple[str, ...]:
    """Return the types, from the most urgent to the least."""
    return TYPES


@part(urgency, win, block_win, open_four, block_open_four)
def types(session: GomokuSession, board: PolicyBoard) -> Types:
    """Return the moves of each type, as ``rule_based`` sees them."""
    kinds = {"Win": win, "BlockWin": block_win, "OpenFour": open_four}
    kinds["BlockOpenFour"] = block_open_four
    moves = {kind: rule(session, board) for kind, rule in kinds.items()}
    moves["Random"] = board.empty
    return {kind: moves[kind] for kind in urgency(session)}


@part()
def policy_in_force(session: GomokuSession) -> str:
    """Return the policy that ``policy_moves`` follows."""
    return session.policy


@part()
def side(session: GomokuSession) -> int:
    """Return the color that ``policy_moves`` looks at."""
    return session.game.to_play


@part()
def heading(session: GomokuSession, kind: str) -> str:
    """Return the type as it is written."""
    return kind


@part()
def listed(session: GomokuSession, board: PolicyBoard, kind: str, moves: int) -> list[Point]:
    """Return the moves in a list, in any order."""
    return board.grid.points(moves)


@part()
def place_of_move(session: GomokuSession, point: Point) -> Any:
    """Return by what the moves are sorted."""
    return vertex(point)


@part()
def policy_at_end(session: GomokuSession) -> str:
    """Return what ``policy_moves`` answers when the game is over."""
    return ""


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


def _policy_moves(right: Command, session: GomokuSession, words: list[str]) -> str:
    if session.game.is_over:
        return str(policy_at_end(session))
    board = PolicyBoard(session, side(session))
    return written(session, board, *considered(session, board, policy_in_force(session)))


# --- genmove -----------------------------------------------------------------------------------


@part()
def color_told(session: GomokuSession, words: list[str]) -> int:
    """Return the color that ``genmove`` plays for."""
    return protocol.color(words, 0)


@part()
def after_five(session: GomokuSession, color: int) -> str | None:
    """Return what ``genmove`` answers after a five; None to play on."""
    return "resign" if session.game.winner == opponent(color) else "pass"


@part()
def full_board(session: GomokuSession, color: int) -> str | None:
    """Return what it answers on a full board."""
    return "pass"


@part(after_five, full_board)
def at_end(session: GomokuSession, color: int) -> str | None:
    """Return what it answers instead of a move; None to play one."""
    if session.game.winner != EMPTY:
        answer: str | None = after_five(session, color)
        return answer
    return None if session.game.position.empty else full_board(session, color)


@part(types, lines)
def choices(session: GomokuSession, color: int) -> int:
    """Return the points that it may play."""
    board = PolicyBoard(session, color)
    return considered(session, board, session.policy)[1]


@part(put)
def put_own(session: GomokuSession, color: int, point: Point) -> None:
    """Put the stone of ``genmove``."""
    put(session, color, point)


def _genmove(right: Command, session: GomokuSession, words: list[str]) -> str:
    color = color_told(session, words)
    points = 0
    answer = at_end(session, color)
    if answer is None:
        points = choices(session, color)
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
        _policy_moves, (won, policy_at_end, side, lines, types, policy_in_force, *_LISTED)
    ),
    "genmove": Route(_genmove, (color_told, at_end, choices, put_own)),
}
