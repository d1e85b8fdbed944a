"""Conversations with a program that counts eyes: positions, board files, all questions."""

from hypothesis import strategies as st

from harness.vocabulary.conversations import Drawn, ask, file_command, parts, say, setup
from harness.vocabulary.stones import block, flat, pair, ring, single
from oracle.position import SENSEI_LETTERS


def conversation(commands: frozenset[str], length: int) -> st.SearchStrategy[Drawn]:
    """Return games; ``commands``: those beside the assignment's; ``length``: of each, at most."""
    questions = ask("eyes", "twoeyes", "eyespaces", "display")
    size = 9
    part = st.one_of(
        *(pair(size), pair(size), pair(size), ring(size), ring(size)),
        *(single(size), block(size, 5, ".xxxo"), block(size, 4)),
    )
    stones = st.one_of(part.map(lambda one: [one]), st.lists(part, max_size=3))
    laid = stones.map(lambda parts: setup(flat(parts)))
    loaded = file_command("load_board", board_file)
    checked = file_command("is_valid", board_file)
    choices = [laid, laid, laid, loaded, checked, questions, say("clear_board")]
    last = st.one_of(questions, questions, checked)
    return parts(choices, last, min(length, 4))


_STONE = st.builds(
    lambda color, column, row: f"{color} {column} {row}",
    st.sampled_from(("b", "w", "b", "w", "B", "W", "x")),
    st.sampled_from((*"abihA", *SENSEI_LETTERS.lower(), "I", "j")),
    st.sampled_from((*"12919", *"3456780")),
)
_LINE = st.one_of(_STONE, _STONE, _STONE, _STONE, st.sampled_from(("", "b a", "b a 1 1", "a b 1")))
# Half of the files end with a point that they had before, with the same stone or another.
board_file = st.builds(
    lambda lines, again: "\n".join([*lines, *(again + line[1:] for line in lines[:1] if again)]),
    st.lists(_LINE, max_size=4),
    st.sampled_from(("", "b", "w", "")),
)
