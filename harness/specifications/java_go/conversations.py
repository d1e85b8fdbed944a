"""Conversations with the Java game: captures, ko, passes, prisoners, boards from files."""

from functools import cache

from hypothesis import strategies as st

from harness.vocabulary.conversations import (
    SMALL,
    Drawn,
    ask,
    boards,
    extra,
    file_command,
    parts,
    plays,
    say,
    setup,
)
from harness.vocabulary.stones import COLORS, Stones, block, corner_ko, flat, pair, points, single
from oracle.position import vertex

_ABOUT_ALL = ("score b", "score w", "captures b", "captures w", "is_over")


def conversation(commands: frozenset[str], length: int) -> st.SearchStrategy[Drawn]:
    """Return games; ``commands``: those beside the assignment's; ``length``: of each, at most."""

    @cache
    def rest(size: int) -> st.SearchStrategy[Drawn]:
        questions = st.one_of(ask(*_ABOUT_ALL), about_point(size), about_point(size))
        passes = st.lists(say("play B pass", "play W pass"), min_size=1, max_size=3).map(flat)
        choices = [
            *(single(size).map(plays), single(size).map(plays), block(size).map(plays)),
            *(block(size, 5).map(_look_at), block(size, 3, ".xxoo").map(_look_at)),
            *(passes, questions),
            pair(size, "BW", is_full=True).map(_look_at),
            *(digits, say("clear_board"), *extra(commands)),
        ]
        if size > 2:
            choices += [ko(size), ko(size)]
        return parts(choices, questions, length)

    return boards((*SMALL, *SMALL, 1, 7, 11, 19), rest)  # type: ignore[no-any-return]


@cache
def about_point(size: int) -> st.SearchStrategy[Drawn]:
    """Return all questions about a point."""

    def about(vertex_name: str) -> Drawn:
        moves = [f"{color} {vertex_name}" for color in "bw"]
        legal = [f"{verb} {move}" for verb in ("is_legal", "can_play") for move in moves]
        return [f"is_captured {vertex_name}", *legal]

    return points(size).map(vertex).map(about)


def _look_at(stones: Stones) -> Drawn:
    """Return a setup, and whether its stones are captured, as far as one is likely to ask."""
    return [*setup(stones), *(f"is_captured {vertex(point)}" for _, point in stones[:_LOOKS])]


@cache
def ko(size: int) -> st.SearchStrategy[Drawn]:
    """Return a ko in the corner that has just been taken, and a question about taking it back."""

    def take_ko(color: str, stones: Stones, verb: str, mover: str) -> Drawn:
        *around, last = corner_ko(color)
        return [*setup(around), *plays([last, *stones]), f"{verb} {mover} B1"]

    moves = st.lists(single(size), max_size=2).map(flat)
    verbs = st.sampled_from(("can_play", "is_legal"))
    return st.builds(take_ko, COLORS, moves, verbs, st.sampled_from("bw"))


_LOOKS = 8
_DIGITS = st.integers(1, 3).flatmap(
    lambda columns: st.lists(
        st.lists(st.sampled_from("012"), min_size=columns, max_size=columns).map(" ".join),
        min_size=1,
        max_size=3,
    ).map(lambda rows: "\n".join(rows) + "\n")
)
digits = file_command("load_board", _DIGITS)
