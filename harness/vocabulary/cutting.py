"""A corner of a larger board, where an assignment is played on a smaller one.

Two sides of such a corner are edges of the game's board, two are cut. The position is described as
a part of a larger one. A position from a smaller board is never made larger.
"""

from __future__ import annotations

from functools import cache

from harness.vocabulary import made_positions
from harness.vocabulary.scenes import SceneMoment, StoneBits
from oracle.grid import Grid, each_bit, grid
from oracle.rules.capture import find_captured_of_both, is_legal, play
from oracle.symmetry import image


def corner(moment: SceneMoment, size: int, symmetry: int) -> SceneMoment:
    """Return the stones of one of the four corners, whatever led to them."""
    places = _places(moment.shape, size, symmetry)
    cut = StoneBits(*(_cut_mask(mask, places) for mask in moment.board))
    return _keep_history(moment, size)._replace(before=cut, board=cut, color=0, move=0)


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
        move = places[moment.move]
        after = _after(size, before, moment.color, move)
        if after and before.stones & ~after.stones == taken:
            return _keep_history(moment, size)._replace(before=before, board=after, move=move)
    return None


def _after(size: int, before: StoneBits, color: int, move: int) -> StoneBits | None:
    """Return the board after a move on a cut board; None where that is not a legal one."""
    shape, mine, theirs = grid(size), before.of(color), before.of(3 - color)
    if any(find_captured_of_both(shape, *before)):
        return None
    if not is_legal(shape, mine, theirs, move):
        return None
    return made_positions.sides(color, *play(shape, mine, theirs, move))


def _keep_history(moment: SceneMoment, size: int) -> SceneMoment:
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
