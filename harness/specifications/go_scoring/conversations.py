"""Conversations with a scoring program: stones, captures, a komi and the score."""

from functools import cache

from hypothesis import strategies as st

from harness.vocabulary.conversations import SMALL, Drawn, boards, extra, parts, plays, say
from harness.vocabulary.stones import COLORS, block, corner_ko, flat, single

KOMI = say("komi 0", "komi 0.5", "komi 1", "komi 6.5", "komi -3", "komi -0.5", "komi 7")


def conversation(commands: frozenset[str], length: int) -> st.SearchStrategy[Drawn]:
    """Return games; ``commands``: those beside the assignment's; ``length``: of each, at most."""
    score = say("score")

    @cache
    def rest(size: int) -> st.SearchStrategy[Drawn]:
        choices = [
            *(single(size).map(plays), single(size).map(plays), block(size).map(plays)),
            *(score, KOMI, say("clear_board"), say("play B pass"), *extra(commands)),
        ]
        if size > 2:
            choices.append(COLORS.map(lambda color: [*plays(corner_ko(color)), "score"]))
        return st.tuples(KOMI, parts(choices, score, length)).map(flat)

    return boards((*SMALL, *SMALL, 7, 9, 10, 19), rest)  # type: ignore[no-any-return]
