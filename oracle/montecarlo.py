"""The flat Monte Carlo player of gomoku-policy.txt.

For each move that its policy considers it plays some games to the end, both sides by that policy,
and chooses the move that fared best. With the policy ``random`` the candidates are all empty
points; with ``rule_based`` the moves of the most urgent type. The text at hand lacks the list of
details that followed "The default player ... should work as follows".
"""

from __future__ import annotations

from itertools import accumulate
from operator import or_
from random import Random

from oracle.position import Grid, Point, Position, each_bit, sides
from oracle.rules.gomoku import POLICIES, WIN, fives, most_urgent

WON, DRAWN, LOST = 1, 0, -1  # for the side whose turn it is at the beginning of a playout


def choose_move(
    position: Position, color: int, random: Random, policy: str = "random", playouts: int = 10
) -> Point:
    """Return the candidate that does best in its playouts; among equals, any.

    ``random`` is the source of all choices: in the same state it gives the same move. ``policy``
    is ``"random"`` or ``"rule_based"``. ``playouts`` is the number of games for each candidate;
    with 0, and for a single candidate, the choice is the policy's alone.

    Raises :class:`ValueError` when the game is over.
    """
    shape, playout = position.grid, PLAYOUTS[policy]
    mine, theirs = sides(position, color)
    _, moves = POLICIES[policy](shape, mine, theirs)
    if not moves:
        raise ValueError("the game is over")

    def value(move: int) -> int:
        """Return wins minus losses after a move; a win at once is worth more than any."""
        if fives(shape, mine | move):
            return playouts + 1
        return -sum(playout(shape, theirs, mine | move, random) for _ in range(playouts))

    candidates = list(each_bit(moves))
    if playouts and len(candidates) > 1:
        values = [value(candidate) for candidate in candidates]
        best = max(values)
        candidates = [c for c, v in zip(candidates, values, strict=True) if v == best]
    return shape.point(random.choice(candidates))


def random_playout(grid: Grid, mine: int, theirs: int, random: Random) -> int:
    """Return the result of a game of random moves, for ``mine``, whose turn it is.

    The empty points are filled in a random order; a five never goes away, so the first one is
    found by bisection.
    """
    order = sorted(each_bit(grid.full & ~(mine | theirs)), key=lambda _: random.random())
    mines = list(accumulate(order[::2], or_, initial=mine))
    others = list(accumulate(order[1::2], or_, initial=theirs))

    def count_fives(moves: int) -> int:
        return fives(grid, grid.join(mines[(moves + 1) // 2], others[moves // 2]))

    low, high = 0, len(order)
    if not count_fives(high):
        return DRAWN
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if count_fives(middle) else (middle, high)
    return WON if high % 2 else LOST


def rule_based_playout(grid: Grid, mine: int, theirs: int, random: Random) -> int:
    """Return the result of a game by the rule-based policy, for ``mine``, whose turn it is."""
    result = WON
    while True:
        kind, moves = most_urgent(grid, mine, theirs)
        if kind == WIN:
            return result
        if not kind:
            return DRAWN
        mine, theirs = theirs, mine | any_bit(moves, random)
        result = -result


PLAYOUTS = {"random": random_playout, "rule_based": rule_based_playout}


def any_bit(mask: int, random: Random) -> int:
    """Return one of the bits of a mask, each with the same chance."""
    number = int(random.random() * mask.bit_count())
    # The number in binary, cut behind its (number + 1)th one: what is left are the lower places.
    return 1 << len(f"{mask:b}".split("1", number + 1)[-1])
