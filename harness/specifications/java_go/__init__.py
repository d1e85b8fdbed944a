"""A game of Go in Java (java-go.txt)."""

from __future__ import annotations

from harness.specifications.record import Specification
from harness.vocabulary import facts
from harness.vocabulary.boards import Board
from harness.vocabulary.forms import EXACT, SET_UP
from oracle.natures import ASKS

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
    natures=dict.fromkeys(("score", "is_captured", "can_play", "is_over"), ASKS),
    board=Board(size=11, format="text"),  # "The grid we will use … is an 11x11 board."
    legend={
        "?": "asked about",
        "L": "a liberty",
        "x": "captured or not legal",
        "t": "territory",
    },
    depends={
        "can_play": facts.ko,
        "captures": facts.prisoners,
        "is_over": facts.passes,
    },
    ends=True,
    reset=("boardsize 11",),
)
