"""Connection: neighbours, floods, and what connected points have in common."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Protocol, TypeVar

    from oracle.planes import Planes

    Bits = TypeVar("Bits", int, Planes)

    class Frame(Protocol[Bits]):
        """A board's geometry in one representation of bits."""

        rows: int
        columns: int
        stride: int

        @property
        def full(self) -> Bits:
            """All points of the board."""

        @property
        def halves(self) -> tuple[Bits, ...]:
            """A few sets of points; any two points are told apart by at least one of them."""

        def join(self, first: Bits, second: Bits) -> Bits:
            """Put two boards side by side, so that one flood serves both."""

        def split(self, pair: Bits) -> tuple[Bits, Bits]:
            """Undo :meth:`join`."""

    from collections.abc import Iterable, Iterator
    from typing import Protocol

    from oracle.position import Grid

    class Flood(Protocol):
        """A meaning of connected: :func:`flood` or :func:`flood_diagonally`."""

        def __call__(self, frame: Frame[Bits], seeds: Bits, within: Bits) -> Bits:
            """Return the seeds and what they are connected to."""


# Points are connected along rows and columns, never diagonally unless a function says so.


def neighbours(frame: Frame[Bits], bits: Bits) -> Bits:
    """Return the points of the board that are next to at least one of ``bits``."""
    stride = frame.stride
    return (bits << 1 | bits >> 1 | bits << stride | bits >> stride) & frame.full


def edge(frame: Frame[Bits]) -> Bits:
    """Return the points at the edge of the board."""
    full, stride = frame.full, frame.stride
    return full & ~(full << 1 & full >> 1 & full << stride & full >> stride)


def flood(frame: Frame[Bits], seeds: Bits, within: Bits) -> Bits:
    """Return ``seeds`` and every point of ``within`` that a path in ``within`` joins to a seed.

    The seeds themselves need not lie in ``within``: stones flood the empty points around them.
    Two floods are made at little more than the price of one by ``frame.join``, which puts their
    boards side by side.
    """
    stride = frame.stride
    while True:
        grown = seeds | (seeds << 1 | seeds >> 1) & within
        grown = grown | (grown << stride | grown >> stride) & within
        if grown == seeds:
            return seeds
        seeds = grown


def flood_diagonally(frame: Frame[Bits], seeds: Bits, within: Bits) -> Bits:
    """Return what :func:`flood` does where diagonal neighbours are connected as well."""
    stride = frame.stride
    while True:
        row = seeds | seeds << 1 | seeds >> 1
        grown = seeds | (row | row << stride | row >> stride) & within
        if grown == seeds:
            return seeds
        seeds = grown


def find_touched_by_several(
    frame: Frame[Bits], within: Bits, contrasts: Iterable[tuple[Bits, Bits]]
) -> Bits:
    """Return the regions of ``within`` that both sides of some contrast touch.

    A contrast is a pair of sets. A region next to Black and White is neutral; a chain next to two
    liberties that some pair tells apart has several; a space next to stones of two chains is not
    enclosed by one.
    """
    several, twice = within & ~within, frame.join(within, within)
    for one, other in contrasts:
        by_one, by_other = frame.split(flood(frame, frame.join(one, other), twice))
        several = several | by_one & by_other
    return several & within


def labels(frame: Frame[Bits], mask: Bits, connect: Flood = flood) -> tuple[Bits, list[Bits]]:
    """Give each connected part of ``mask`` a number of its own, all parts at once.

    Returns the parts' representatives (one point of each part) and the numbers' binary digits:
    for each digit, the parts in whose number it is set. A part's number is the place of its
    representative, found digit by digit: where the remaining candidates of a part have both
    digits, those with the set one retire.
    """
    candidates, digits = mask, []
    for half in frame.halves:
        clear = connect(frame, candidates & ~half, mask)
        digits.append(mask & ~clear)
        candidates = candidates & ~(half & clear)
    return candidates, digits


def regions(grid: Grid, mask: int) -> Iterator[int]:
    """Yield the connected parts of ``mask``, by their lowest point (A1, then rightwards, up)."""
    while mask:
        region = flood(grid, mask & -mask, mask)
        yield region
        mask &= ~region
