"""A game of Go in Java (java-go.txt)."""

from harness.specifications.record import Specification
from harness.vocabulary import BoardKind, answers
from harness.vocabulary.answers import EXACT, SET_UP, YES_OR_NO, Wording
from oracle.command_properties import ASKS

_QUESTIONS = ("is_captured", "score", "is_legal", "can_play", "captures", "is_over")

SPECIFICATION = Specification(
    "java-go",
    {**SET_UP, **dict.fromkeys(_QUESTIONS, EXACT)},
    signs=r"(is_captured|is_legal|can_play|is_over|score ).*",
    command_properties=dict.fromkeys(("score", "is_captured", "can_play", "is_over"), ASKS),
    board=BoardKind(size=11, format="text"),  # "The grid we will use … is an 11x11 board."
    legend={"?": "asked about", "L": "a liberty", "x": "captured or not legal", "t": "territory"},
    wordings={
        "is_captured": Wording("Is {0} captured?", YES_OR_NO),
        "score": Wording("What is the score of {0}?"),
        "is_legal": Wording("Is a move of {0} at {1} legal?", YES_OR_NO),
        "can_play": Wording("May {0} play at {1}, ko included?", YES_OR_NO),
        "captures": Wording("How many prisoners has {0} taken?"),
        "is_over": Wording("Is the game over?", YES_OR_NO),
    },
    depends={"can_play": answers.ko, "captures": answers.prisoners, "is_over": answers.passes},
    ends=True,
    reset=("boardsize 11",),
)
