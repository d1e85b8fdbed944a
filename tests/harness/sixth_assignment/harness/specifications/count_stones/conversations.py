"""What fuzzing says to a program that counts stones: stones, captures, questions."""

from __future__ import annotations

from hypothesis.strategies import SearchStrategy

from harness.vocabulary.conversations import SMALL, Drawn, ask, boards, extra, parts, plays, say
from harness.vocabulary.stones import block, single


def conversation(commands: frozenset[str], length: int) -> SearchStrategy[Drawn]:
    """Return games; ``commands``: those beside the assignment's; ``length``: of each, at most."""
    questions = ask("stones b", "stones w")

    def rest(size: int) -> SearchStrategy[Drawn]:
        moves = [single(size).map(plays), block(size).map(plays)]
        return parts([*moves, say("clear_board"), *extra(commands)], questions, length)

    return boards(SMALL, rest)  # type: ignore[no-any-return]
