"""A game of Go in Java (java-go.txt)."""

from __future__ import annotations

from harness.judging import likeness
from harness.judging.boards import Board
from harness.judging.forms import EXACT, SET_UP
from harness.specifications.record import Specification

SPECIFICATION = Specification(
    "java-go",
    {
        **SET_UP,
        "is_captured": EXACT,
        "score": EXACT,
        "is_legal": EXACT,
        "can_play": EXACT,
        "captures": EXACT,
        "is_over": EXACT,
    },
    signs=r"(is_captured|is_legal|can_play|is_over|score ).*",
    board=Board(size=11, format="text"),  # "The grid we will use … is an 11x11 board."
    legend="? the point asked about, L a liberty, x captured or not legal, t territory",
    depends={
        "can_play": likeness.ko,
        "captures": likeness.prisoners,
        "is_over": likeness.passes,
    },
    ends=True,
    reset=("boardsize 11",),
)
