"""Scoring a position of Go (go-scoring.txt)."""

from harness.specifications.record import Specification
from harness.vocabulary import answers
from harness.vocabulary.answers import GTP, SCORE, SETTING, Wording, lead, lead_differs
from oracle.command_properties import SCORES

SPECIFICATION = Specification(
    "go-scoring",
    {**GTP, "komi": SETTING, "score": SCORE},
    plays="go",
    signs=r"score|final_score.*",
    command_properties={"score": SCORES},
    legend={"b": "Black's territory", "w": "White's territory", "n": "nobody's"},
    wordings={"score": Wording("What is the score of this board{with_komi}?", lead, lead_differs)},
    depends={"score": answers.komi},
    smallest=2,  # "between 2 and 9 in our tests"
    # "You can assume that each test case will set the komi through the GTP command." Whether a
    # new board keeps it, is left open.
    first={"score": "komi"},
)
