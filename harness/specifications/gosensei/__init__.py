"""Counting eyes (gosensei.txt)."""

from __future__ import annotations

from harness.judging import likeness
from harness.judging.boards import Board
from harness.judging.forms import EXACT, PICTURE, SET_UP
from harness.judging.transformations import COLORS, LARGER
from harness.specifications.record import Specification
from oracle.vertex import SENSEI_LETTERS

SPECIFICATION = Specification(
    "gosensei",
    {
        **SET_UP,
        "is_valid": EXACT,
        "eyes": EXACT,
        "twoeyes": EXACT,
        "eyespaces": EXACT,
        "display": PICTURE,
    },
    signs=r"(eyes|twoeyes|eyespaces|display|is_valid).*",
    board=Board(size=9, is_fixed=True, format="gosensei", letters=SENSEI_LETTERS),
    legend="e an eye, f a false eye, ! what is missing, s an eye space, n none",
    depends={"is_valid": likeness.file},
    # The program is asked about black's eyes on a board of 9 by 9.
    swaps=False,
    unfit=(COLORS, LARGER),
    reset=("clear_board",),
)
