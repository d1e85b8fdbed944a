"""Conversations with a player of Gomoku: lines, wrong moves, the end of the game."""

from functools import cache

from hypothesis import strategies as st

from harness.vocabulary.conversations import NOTHING, Drawn, ask, boards, extra, parts, plays, say
from harness.vocabulary.stones import Stones, block, flat, full, line, pair, pocket, single
from oracle.position import GTP_LETTERS

_SIZES = (5, 6, 7, 5, 6, 7, 8, 9, 10, 19)
QUESTIONS = (
    *("gogui-rules_final_result", "gogui-rules_legal_moves"),
    *("gogui-rules_side_to_move", "gogui-rules_board_size"),
)
LARGEST_FILLED = 5  # a full board needs as many commands as it has points
_LARGEST_FOR_GENMOVE = 7  # on larger boards it takes long to think


def conversation(commands: frozenset[str], length: int) -> st.SearchStrategy[Drawn]:
    """Return games; ``commands``: those beside the assignment's; ``length``: of each, at most."""

    @cache
    def rest(size: int) -> st.SearchStrategy[Drawn]:
        questions = ask(*QUESTIONS)
        choices = [
            *(single(size).map(plays), line(size).map(plays), line(size).map(plays)),
            *(block(size, 3, ".xxo").map(plays), wrong_play(size), wrong_play(size)),
            pair(size, "BW", is_full=True).map(lambda stones: plays(stones[::-1])),
            *(questions, questions, say("clear_board"), *extra(commands)),
        ]
        if size <= _LARGEST_FOR_GENMOVE:
            choices.append(say("genmove b", "genmove w"))
            questions = st.one_of(questions, questions, say("genmove b", "genmove w"))
        opening = NOTHING
        if size == LARGEST_FILLED:
            opening = st.one_of(NOTHING, full(size).map(plays), pocket(size).map(_fill))
        return st.tuples(opening, parts(choices, questions, length)).map(flat)

    return boards(_SIZES, rest)  # type: ignore[no-any-return]


def _fill(stones: Stones) -> Drawn:
    """Return the stones, and let the color of the last one fill what is left."""
    return [*plays(stones), f"genmove {stones[-1][0].lower()}"]


@cache
def wrong_play(size: int) -> st.SearchStrategy[Drawn]:
    """Return moves that may have a wrong color, coordinate or both."""
    letters = GTP_LETTERS[: size + 2]
    return st.builds(
        lambda color, row, column: [f"play {color} {letters[column]}{row}"],
        st.sampled_from(("b", "w", "B", "W", "c", "red", "g")),
        st.sampled_from((1, size, size + 1, 2)),
        st.sampled_from((0, size - 1, size, 1)),
    )
