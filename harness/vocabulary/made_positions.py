"""Positions for what no game record had: games played at random, and stones thrown on a board."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from random import Random

from harness.vocabulary.scenes import EMPTY, MADE, SceneMoment, StoneBits
from oracle.grid import Grid, each_bit, grid
from oracle.montecarlo import any_bit
from oracle.rules.capture import find_captured_of_both, is_legal, legal_among, play
from oracle.rules.eyes import eyes
from oracle.rules.flood import neighbours
from oracle.rules.lines import fives
from oracle.rules.policy import rule_based


def board_moment(kind: str, size: int, board: StoneBits = EMPTY, color: int = 0) -> SceneMoment:
    """Return a moment that no known move led to; the turn is that after ``color``'s."""
    number = board.stones.bit_count()
    return SceneMoment(MADE, kind, size, number, board, color, 0, board)


def after(  # noqa: PLR0913, PLR0917 - as a moment has them
    kind: str, size: int, before: StoneBits, color: int, move: int, board: StoneBits
) -> SceneMoment:
    """Return a moment after a known move."""
    return SceneMoment(MADE, kind, size, before.stones.bit_count() + 1, before, color, move, board)


# --- Go ----------------------------------------------------------------------------------------


def go_game(random: Random, size: int, moves: int | None = None) -> SceneMoment | None:
    """Return the end of a game of Go between two that play anywhere but into their own eyes.

    ``moves``: how many at most; none: until nothing is left to play. None when nobody can move.
    """
    shape, now, color = grid(size), EMPTY, 1
    last: tuple[StoneBits, int, int, StoneBits] | None = None
    for _ in range(2 * size * size if moves is None else moves):
        mine, theirs = now.of(color), now.of(3 - color)
        wanted = shape.full & ~now.stones & ~eyes(shape, mine, theirs)
        sensible = legal_among(shape, mine, theirs, wanted)
        if not sensible:
            break
        move = any_bit(sensible, random)
        mine, theirs = play(shape, mine, theirs, move)
        board = sides(color, mine, theirs)
        last = now, color, move, board
        now, color = board, 3 - color
    return last and after("go", size, *last)


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
    return board_moment("go", ended.size, without(ended.board, gone))


def ko_fight(random: Random, size: int) -> SceneMoment | None:
    """Return the capture that begins a ko, laid somewhere among a few stones."""
    color = random.choice((1, 2))
    shape = grid(size)
    point = any_bit(shape.full, random)
    beside = list(each_bit(neighbours(shape, point)))
    move = random.choice(beside)
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
    return after("go", size, board, color, move, sides(color, mine, theirs))


# --- Gomoku ------------------------------------------------------------------------------------


def gomoku_game(random: Random, size: int, moves: int, skill: float) -> SceneMoment:
    """Return a moment of a Gomoku game; of ``skill``'s share of the moves the policy is asked."""
    shape, now, color = grid(size), EMPTY, 1
    last = board_moment("gomoku", size)
    for _ in range(moves):
        mine, theirs = now.of(color), now.of(3 - color)
        kind, choice = rule_based(shape, mine, theirs)
        if not kind:
            break
        empty = shape.full & ~now.stones
        move = any_bit(choice if random.random() < skill else empty, random)
        board = add_stones(now, color, move)
        last = after("gomoku", size, now, color, move, board)
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
    return after("gomoku", size, without(board, move), color, move, board)


def is_in_turn(moment: SceneMoment) -> bool:
    """Return whether players who take turns, Black first, may have laid these stones."""
    black, white = (mask.bit_count() for mask in moment.board)
    return black - white == moment.to_play - 1


def in_turn(random: Random, moment: SceneMoment) -> SceneMoment:
    """Return the moment with as many more stones as turns ask for, away from all others if it can.

    None of them makes a five. Where there is no room for all, the moment is not in turn.
    """
    color = moment.color if moment.move else moment.to_play
    board = moment.before
    while missing := board.black.bit_count() - board.white.bit_count() - (color - 1):
        point = _lonely(random, moment.shape, board, moment.move, 1 if missing < 0 else 2)
        if not point:
            return moment
        board = add_stones(board, 1 if missing < 0 else 2, point)
    if not moment.move:
        return board_moment("gomoku", moment.size, board, moment.color)
    whole = add_stones(board, color, moment.move)
    return after("gomoku", moment.size, board, color, moment.move, whole)


def _lonely(random: Random, shape: Grid, board: StoneBits, keep: int, color: int) -> int:
    """Return a point for another stone, 0 if there is none."""
    free = shape.full & ~board.stones & ~keep
    rows = board.stones | neighbours(shape, board.stones)
    beside = rows | rows << shape.stride | rows >> shape.stride
    places = [free & ~beside, free]
    for bits in places:
        points = [bit for bit in each_bit(bits) if not fives(shape, board.of(color) | bit)]
        if points:
            return random.choice(points)
    return 0


# --- stones on a board -------------------------------------------------------------------------


def sides(color: int, mine: int, theirs: int) -> StoneBits:
    """Return a board from the stones of a color and those of the other."""
    return StoneBits(mine, theirs) if color == 1 else StoneBits(theirs, mine)


def add_stones(board: StoneBits, color: int, bits: int) -> StoneBits:
    """Return the board with one color's stones added."""
    return (
        board._replace(black=board.black | bits)
        if color == 1
        else (board._replace(white=board.white | bits))
    )


def without(board: StoneBits, bits: int) -> StoneBits:
    """Return the board with points emptied."""
    return StoneBits(board.black & ~bits, board.white & ~bits)


def scatter(random: Random, within: int, share: float) -> int:
    """Return some of the points, each with the same chance."""
    return reduce(or_, (bit for bit in each_bit(within) if random.random() < share), 0)


def sprinkle(random: Random, shape: Grid, board: StoneBits, keep: int, most: int) -> StoneBits:
    """Add as many stones of both colors, at most, on empty points outside ``keep``.

    None of them makes a five, nor an own line where it could matter: what depends on that is for
    the caller to look at.
    """
    for _ in range(random.randint(0, most)):
        for color in (1, 2):
            free = shape.full & ~board.stones & ~keep
            if free:
                bit = any_bit(free, random)
                if not fives(shape, board.of(color) | bit):
                    board = add_stones(board, color, bit)
    return board
