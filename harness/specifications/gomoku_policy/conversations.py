"""Conversations with a program with a policy: threats, duels, and whose turn it is."""

from functools import cache

from hypothesis import strategies as st

from harness.specifications.gomoku_rules.conversations import LARGEST_FILLED, QUESTIONS
from harness.vocabulary.conversations import (
    NOTHING,
    Drawn,
    ask,
    boards,
    extra,
    in_turn,
    parts,
    plays,
    say,
)
from harness.vocabulary.stones import (
    crossing,
    draw_answered,
    duel,
    flat,
    full,
    line,
    roomy,
    single,
    threat,
)

_SIZES = (7, 6, 8, 5, 9, 7, 8, 10, 19)  # on the smallest few threats are open


def conversation(commands: frozenset[str], length: int) -> st.SearchStrategy[Drawn]:
    """Return games; ``commands``: those beside the assignment's; ``length``: of each, at most."""
    questions = ask("policy_moves", *QUESTIONS[:3])
    policy = say("policy rule_based", "policy rule_based", "policy random")

    @cache
    def rest(size: int) -> st.SearchStrategy[Drawn]:
        choices = [
            *(make(size).map(plays) for make in (threat, threat, duel, duel, line, line)),
            *(make(size).map(plays) for make in (crossing, crossing, single)),
            *(questions, policy, say("clear_board"), *extra(commands)),
        ]
        opening = first = st.one_of(policy, policy, policy, NOTHING)
        sharp = [threat(size)]
        if size == LARGEST_FILLED:
            opening = st.tuples(opening, st.one_of(NOTHING, full(size).map(plays))).map(flat)
        else:
            both = st.tuples(roomy(size), roomy(size)).map(flat)
            sharp += [draw_answered(size), roomy(size), both]
        any_game = st.tuples(opening, parts(choices, questions, length)).map(flat)
        # Where much must be as it is, nothing else is said.
        one_line = st.tuples(first, st.one_of(sharp).map(plays), questions).map(flat)
        drawn = st.one_of(any_game, any_game, one_line)
        return st.builds(in_turn, drawn, st.just(size), st.sampled_from(("", "", "B", "W")))

    return boards(_SIZES, rest)  # type: ignore[no-any-return]
