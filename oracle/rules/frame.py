"""The board as the rules need it: types only, for the type checker and the reader.

Every rule takes a *frame* and *bits* and is written with ``<< >> & | ~`` and ``==`` alone, so that
the same function runs on one position or on many:

========================  ========================  ==============================
frame                     bits                      what it holds
========================  ========================  ==============================
:class:`oracle.grid.Grid`  ``int``                   one position
``PlaneFrame``            ``Planes``                64 positions in every word
========================  ========================  ==============================

(the second row is :mod:`oracle.planes`). In both, ``<< 1`` moves to the right, ``<< stride``
moves up, and the bits off the board (the guard column) are to be masked off.
"""

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

        def split(self, both: Bits) -> tuple[Bits, Bits]:
            """Undo :meth:`join`."""
