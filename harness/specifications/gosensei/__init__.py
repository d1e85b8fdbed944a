"""Counting eyes (gosensei.txt)."""

from harness.specifications.record import Specification
from harness.vocabulary import BoardKind, answers
from harness.vocabulary.answers import EXACT, PICTURE, SET_UP, YES_OR_NO, Wording
from harness.vocabulary.transformations import COLORS, LARGER
from oracle.command_properties import ASKS, NOTHING, CommandProperties
from oracle.position import SENSEI_LETTERS

SPECIFICATION = Specification(
    "gosensei",
    {
        **SET_UP,
        **dict.fromkeys(("is_valid", "eyes", "twoeyes", "eyespaces"), EXACT),
        "display": PICTURE,
    },
    signs=r"(eyes|twoeyes|eyespaces|display|is_valid).*",
    command_properties={
        "is_valid": CommandProperties(needs=NOTHING, names_file=True),
        **dict.fromkeys(("eyes", "twoeyes", "eyespaces", "display"), ASKS),
    },
    board=BoardKind(size=9, is_fixed=True, format="gosensei", letters=SENSEI_LETTERS),
    legend={
        "e": "an eye",
        "f": "a false eye",
        "!": "what is missing",
        "s": "an eye space",
        "n": "no eye space",
    },
    wordings={
        "is_valid": Wording("Is {0} a valid file of a board?", YES_OR_NO),
        "eyes": Wording("How many eyes has Black?"),
        "twoeyes": Wording("How many eyes of Black are near another one?"),
        "eyespaces": Wording("How many eye spaces has Black?"),
        "display": Wording("How is this board drawn?"),
    },
    depends={"is_valid": answers.file},
    # The program is asked about black's eyes on a board of 9 by 9.
    swaps=False,
    unfit=(COLORS, LARGER),
    reset=("clear_board",),
)
