"""Positions for what no game record had: random games, corners, and lines of Gomoku."""

from collections.abc import Sequence
from functools import cache, reduce
from operator import or_
from random import Random
from typing import NamedTuple

from harness.vocabulary.scenes import EMPTY, MADE, SceneMoment, StoneBits
from oracle.montecarlo import any_bit
from oracle.position import Grid, each_bit, grid
from oracle.rules.flood import neighbours
from oracle.rules.go import eyes, find_captured_of_both, is_legal, legal_among, play
from oracle.rules.gomoku import fives, fives_along, long_lines, rule_based, steps, window
from oracle.symmetry import image


def corner(moment: SceneMoment, size: int, symmetry: int) -> SceneMoment:
    """Return the stones of one of the four corners, whatever led to them."""
    places = _places(moment.shape, size, symmetry)
    cut = StoneBits(*(_cut_mask(mask, places) for mask in moment.board))
    return _mark_as_corner(moment, size)._replace(before=cut, board=cut, color=0, move=0)


def corner_with_move(moment: SceneMoment, size: int) -> SceneMoment | None:
    """Return the corner in which the last move does what it did on the whole board.

    None when there is no such corner, or when the cut leaves stones without liberties.
    """
    for symmetry in range(4):
        places = _places(moment.shape, size, symmetry)
        taken = _cut_mask(moment.taken, places)
        if moment.move not in places or taken.bit_count() < moment.taken.bit_count():
            continue
        before = StoneBits(*(_cut_mask(mask, places) for mask in moment.before))
        move, color, shape = places[moment.move], moment.color, grid(size)
        mine, theirs = before.of(color), before.of(3 - color)
        if any(find_captured_of_both(shape, *before)) or not is_legal(shape, mine, theirs, move):
            continue
        board = sides(color, *play(shape, mine, theirs, move))
        if before.stones & ~board.stones == taken:
            return _mark_as_corner(moment, size)._replace(before=before, board=board, move=move)
    return None


def _mark_as_corner(moment: SceneMoment, size: int) -> SceneMoment:
    origin = moment.origin.but(f"the {size} by {size} points of a corner, cut out")
    return moment._replace(origin=origin, size=size)


def _cut_mask(mask: int, places: dict[int, int]) -> int:
    return sum(places[bit] for bit in each_bit(mask) if bit in places)


@cache
def _places(shape: Grid, size: int, symmetry: int) -> dict[int, int]:
    """Return where the points of a corner come to lie."""
    small = grid(size)
    points = small.points(small.full)
    return {shape.bit(image(p, shape, symmetry)): small.bit(p) for p in points}


# --- Lines of Gomoku for tests to be about: found in positions, and made at every edge -----------

DIRECTIONS = ("row", "column", "rising", "falling")  # in the order of oracle.rules.gomoku.steps
_TURNS = ((0, 1), (1, 0), (1, 1), (1, -1))


def edge(shape: Grid, points: int) -> str:
    """Return the edge or corner that some points touch, ``""`` when they touch none."""
    found = shape.points(points)
    rows, columns = [row for row, _ in found], [column for _, column in found]
    touches = (
        ("lower", 0 in rows),
        ("upper", shape.rows - 1 in rows),
        ("left", 0 in columns),
        ("right", shape.columns - 1 in columns),
    )
    return " ".join(name for name, is_so in touches if is_so)


class WinningLine(NamedTuple):
    """The line with which the last stone has won."""

    direction: str
    points: int


def find_win(moment: SceneMoment) -> WinningLine | None:
    """Return the line of five or more that the last stone completed, if it did."""
    shape, board = moment.shape, moment.board
    if not moment.move or any(fives(shape, mask) for mask in moment.before):
        return None
    lines = [one for one in long_lines(shape, board.of(moment.color)) if one & moment.move]
    if not lines:
        return None
    along = zip(DIRECTIONS, steps(shape), strict=True)
    name = next(name for name, step in along if fives_along(lines[0], step))
    return WinningLine(name, lines[0])


def is_over(moment: SceneMoment) -> bool:
    """Return whether somebody has won or the board is full."""
    shape, board = moment.shape, moment.board
    return board.stones == shape.full or any(fives(shape, mask) for mask in board)


def windows(shape: Grid, direction: int, length: int) -> list[int]:
    """Return the first points of all windows in one direction, as bits."""
    up, right = _TURNS[direction]
    reach = length - 1
    return [
        shape.bit((row, column))
        for row, column in shape.points(shape.full)
        if (row + up * reach, column + right * reach) in shape
    ]


def line(random: Random, size: int, direction: int, length: int = 5) -> int:
    """Return a line somewhere on a board, at an edge more often than not."""
    shape = grid(size)
    step = steps(shape)[direction]
    lines = [window(start, step, length) for start in windows(shape, direction, length)]
    at_edge = [one for one in lines if edge(shape, one)]
    return random.choice(at_edge if at_edge and random.random() < 0.6 else lines)


def complete_line(random: Random, size: int, points: int, color: int, *, end: bool) -> SceneMoment:
    """Return the moment in which a line was completed, by a stone at an end of it or within."""
    shape = grid(size)
    places = shape.points(points)
    inner = places[1:-1]
    move = shape.bit(random.choice([places[0], places[-1]] if end or not inner else inner))
    before = add_stones(StoneBits(), color, points & ~move)
    before = sprinkle(random, shape, before, points, points.bit_count() + 1)
    return after(size, before, color, move, add_stones(before, color, move))


# --- Positions for what no game record had: games played at random, and stones thrown on a board -


def board_moment(size: int, board: StoneBits = EMPTY, color: int = 0) -> SceneMoment:
    """Return a moment that no known move led to; the turn is that after ``color``'s."""
    return SceneMoment(MADE, size, board.stones.bit_count(), board, color, 0, board)


def after(size: int, before: StoneBits, color: int, move: int, board: StoneBits) -> SceneMoment:
    """Return a moment after a known move."""
    return SceneMoment(MADE, size, before.stones.bit_count() + 1, before, color, move, board)


# --- Go ----------------------------------------------------------------------------------------


def go_game(random: Random, size: int, moves: int | None = None) -> SceneMoment | None:
    """Return the end of a game of Go between two that play anywhere but into their own eyes.

    ``moves``: how many at most; None: until nothing is left to play. None when nobody can move.
    """
    shape, now, color = grid(size), EMPTY, 1
    last: tuple[StoneBits, int, int, StoneBits] | None = None
    for _ in range(2 * size * size if moves is None else moves):
        mine, theirs = now.of(color), now.of(3 - color)
        points = shape.full & ~now.stones & ~eyes(shape, mine, theirs)
        sensible = legal_among(shape, mine, theirs, points)
        if not sensible:
            break
        move = any_bit(sensible, random)
        mine, theirs = play(shape, mine, theirs, move)
        board = sides(color, mine, theirs)
        last = now, color, move, board
        now, color = board, 3 - color
    return last and after(size, *last)


def go_anytime(random: Random, sizes: Sequence[int]) -> SceneMoment | None:
    """Return a moment of a random game, late ones more often than early ones."""
    size = random.choice(sizes)
    most = size * size
    return go_game(random, size, None if random.random() < 0.3 else random.randint(1, 2 * most))


def carve(random: Random, sizes: Sequence[int]) -> SceneMoment | None:
    """Return the end of a game with some stones taken away, so that regions have room."""
    ended = go_game(random, random.choice(sizes))
    if ended is None:
        return None
    gone = scatter(random, ended.board.stones, random.uniform(0.1, 0.5))
    return board_moment(ended.size, without(ended.board, gone))


def ko_fight(random: Random, size: int) -> SceneMoment | None:
    """Return the capture that begins a ko, among a few stones; None if it is impossible there."""
    color = random.choice((1, 2))
    shape = grid(size)
    point = any_bit(shape.full, random)
    move = random.choice(list(each_bit(neighbours(shape, point))))
    board = add_stones(StoneBits(), 3 - color, neighbours(shape, move) & ~point | point)
    board = add_stones(board, color, neighbours(shape, point) & ~move)
    if board.black & board.white:
        return None
    few = scatter(random, shape.full & ~board.stones & ~move, 0.08)
    board = add_stones(board, random.choice((1, 2)), few)
    mine, theirs = board.of(color), board.of(3 - color)
    if any(find_captured_of_both(shape, *board)) or not is_legal(shape, mine, theirs, move):
        return None
    mine, theirs = play(shape, mine, theirs, move)
    return after(size, board, color, move, sides(color, mine, theirs))


# --- Gomoku ------------------------------------------------------------------------------------


def gomoku_game(random: Random, size: int, moves: int, skill: float) -> SceneMoment:
    """Return a moment of a Gomoku game; ``skill``: the share of moves that the policy chose."""
    shape, now, color = grid(size), EMPTY, 1
    last = board_moment(size)
    for _ in range(moves):
        mine, theirs = now.of(color), now.of(3 - color)
        kind, choice = rule_based(shape, mine, theirs)
        if not kind:
            break
        empty = shape.full & ~now.stones
        move = any_bit(choice if random.random() < skill else empty, random)
        board = add_stones(now, color, move)
        last = after(size, now, color, move, board)
        now, color = board, 3 - color
    return last


def gomoku_full(random: Random, size: int, empty: int = 0) -> SceneMoment:
    """Return a board that has only so many empty points, the colors drawn as in a game.

    On 5 by 5 every other such board has no five, on 7 by 7 one in fifty.
    """
    shape = grid(size)
    bits = list(each_bit(shape.full))
    random.shuffle(bits)
    stones = len(bits) - empty
    black = (stones + 1) // 2
    board = StoneBits(reduce(or_, bits[:black], 0), reduce(or_, bits[black:stones], 0))
    move, color = (bits[black - 1], 1) if stones % 2 else (bits[stones - 1], 2)
    return after(size, without(board, move), color, move, board)


def in_turn(random: Random, moment: SceneMoment) -> SceneMoment:
    """Return the moment with as many more stones as turns ask for, away from all others if it can.

    None of them makes a five. Where there is no room for all, the moment is not in turn.
    """
    color = moment.color if moment.move else moment.to_play
    board = moment.before
    shape = moment.shape
    while missing := board.black.bit_count() - board.white.bit_count() - (color - 1):
        more = 1 if missing < 0 else 2
        free = shape.full & ~board.stones & ~moment.move
        rows = board.stones | neighbours(shape, board.stones)
        beside = rows | rows << shape.stride | rows >> shape.stride
        for bits in (free & ~beside, free):
            points = [bit for bit in each_bit(bits) if not fives(shape, board.of(more) | bit)]
            if points:
                break
        else:
            return moment
        board = add_stones(board, more, random.choice(points))
    if not moment.move:
        return board_moment(moment.size, board, moment.color)
    whole = add_stones(board, color, moment.move)
    return after(moment.size, board, color, moment.move, whole)


# --- stones on a board -------------------------------------------------------------------------


def sides(color: int, stones: int, other_stones: int) -> StoneBits:
    """Return a board from the stones of a color and those of the other."""
    return StoneBits(stones, other_stones) if color == 1 else StoneBits(other_stones, stones)


def add_stones(board: StoneBits, color: int, bits: int) -> StoneBits:
    """Return the board with one color's stones added."""
    if color == 1:
        return board._replace(black=board.black | bits)
    return board._replace(white=board.white | bits)


def without(board: StoneBits, bits: int) -> StoneBits:
    """Return the board with points emptied."""
    return StoneBits(board.black & ~bits, board.white & ~bits)


def scatter(random: Random, within: int, share: float) -> int:
    """Return some of the points, each with the same chance."""
    return reduce(or_, (bit for bit in each_bit(within) if random.random() < share), 0)


def sprinkle(random: Random, shape: Grid, board: StoneBits, keep: int, most: int) -> StoneBits:
    """Return the board with up to ``most`` more stones of each color, outside ``keep``.

    None of them makes a five. Whether they make other lines is for the caller to check.
    """
    for _ in range(random.randint(0, most)):
        for color in (1, 2):
            free = shape.full & ~board.stones & ~keep
            if free:
                bit = any_bit(free, random)
                if not fives(shape, board.of(color) | bit):
                    board = add_stones(board, color, bit)
    return board
