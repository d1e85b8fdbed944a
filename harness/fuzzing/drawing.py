"""What Hypothesis draws: conversations about positions in which programs go wrong.

Each assignment has a strategy for a *game* (a board, stones, questions); a script is a few games
in one process, its stones come from :mod:`~harness.fuzzing.stones`. It is made small by drawing
what is left of it: :mod:`~harness.fuzzing.pruning`.

What is drawn need not be legal: :func:`harness.fuzzing.script.legal` sees to that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from harness.fuzzing.script import BoardFile, Script, written
from harness.fuzzing.stones import (
    COLORS,
    Stones,
    block,
    crossing,
    duel,
    filling,
    flat,
    full,
    line,
    pair,
    points,
    ring,
    single,
    threat,
)
from oracle.vertex import GTP_LETTERS, SENSEI_LETTERS, vertex

Drawn = list[str | BoardFile]

_SMALL = (2, 3, 4, 5)


def scripts(
    assignment: str, known: frozenset[str] = frozenset(), length: int = 8
) -> SearchStrategy[Script]:
    """Return the strategy of scripts for an assignment.

    ``known``: commands beyond the assignment's that the engine says it knows, such as ``undo``.
    ``length``: what a game has of stones, lines, questions and the like, at most.
    """
    game = _GAMES[assignment](known, length)
    return st.lists(game, min_size=1, max_size=3).map(lambda games: written(flat(games)))


def plays(stones: Stones) -> Drawn:
    """Return a ``play`` command for each stone."""
    return [f"play {color} {vertex(point)}" for color, point in stones]


def setup(stones: Stones) -> Drawn:
    """Return one command that puts all the stones."""
    words = [f"{color} {vertex(point)}" for color, point in stones]
    return [f"gogui-setup {' '.join(words)}"] if words else []


def in_turn(game: Drawn, size: int, next_: str) -> Drawn:
    """Return a game in which the colors take turns, Black first.

    Where one has no stone of its own left to play, it plays where nothing else is. ``next_``: who
    is to move after each row of moves, "" for whoever comes next.
    """
    wanted = {word for one in game if isinstance(one, str) for word in one.split()[2:]}
    turns = _Turns(size, next_, wanted)
    done: Drawn = []
    for one in [*game, ""]:
        if isinstance(one, str) and one.startswith("play "):
            turns.hold(one)
            continue
        done += [*turns.played(), *([one] if one else [])]
        if one == "clear_board":
            turns = _Turns(size, next_, wanted)
        elif one == "undo":
            turns.turn = turns.other
    return done


class _Turns:
    """The moves of one game on their way into turns."""

    def __init__(self, size: int, next_: str, wanted: set[str]) -> None:
        self.turn = "B"
        self._next = next_
        self._held: dict[str, list[str]] = {"B": [], "W": []}
        self._taken: set[str] = set()
        self._free = {
            color: [name for name in map(vertex, filling(size, color)) if name not in wanted]
            for color in "BW"
        }

    @property
    def other(self) -> str:
        return "W" if self.turn == "B" else "B"

    def hold(self, command: str) -> None:
        """Take a move of a row of them."""
        _, color, name = command.split()
        if name not in self._taken:
            self._taken.add(name)
            self._held[color].append(name)

    def played(self) -> Drawn:
        """Return the row's moves in turn, with others between them; none is held any more."""
        held = self._held
        is_any = bool(held["B"] or held["W"])
        done: Drawn = []
        while held["B"] or held["W"] or (is_any and self._next == self.other):
            own = held[self.turn] or self._free[self.turn]
            if not own:
                break
            done.append(f"play {self.turn} {own.pop(0)}")
            self.turn = self.other
        held["B"], held["W"] = [], []
        return done


# --- what games are made of --------------------------------------------------------------------


def asked(*commands: str) -> SearchStrategy[Drawn]:
    """Return several questions at once: those without need are taken out again."""
    return st.builds(lambda: list(commands))


_NOTHING: SearchStrategy[Drawn] = st.builds(list)


def said(*texts: str) -> SearchStrategy[Drawn]:
    """Return some commands, one at a time."""
    return st.sampled_from(texts).map(lambda text: [text])


def filed(verb: str, texts: SearchStrategy[str]) -> SearchStrategy[Drawn]:
    """Return a command that names a file."""
    return texts.map(lambda text: [BoardFile(verb, text)])


def _parts(
    choices: Sequence[SearchStrategy[Drawn]], last: SearchStrategy[Drawn], length: int
) -> SearchStrategy[Drawn]:
    """Return some of the choices, with some of ``last`` at the end."""
    body = st.lists(st.one_of(choices), max_size=length).map(flat)
    questions = st.lists(last, min_size=1, max_size=3).map(flat)
    return st.tuples(body, questions).map(flat)


def _extra(known: frozenset[str]) -> list[SearchStrategy[Drawn]]:
    return [said("undo")] if "undo" in known else []


def _boards(sizes: Sequence[int], rest: Callable[[int], SearchStrategy[Drawn]]) -> Any:
    """Return games on boards of some sizes."""

    @st.composite
    def game(draw: st.DrawFn) -> Drawn:
        size = draw(st.sampled_from(sizes))
        opening = draw(st.sampled_from(([], ["clear_board"])))
        return [f"boardsize {size}", *opening, *draw(rest(size))]

    return game()


# --- go-scoring --------------------------------------------------------------------------------

KOMI = said("komi 0", "komi 0.5", "komi 1", "komi 6.5", "komi -3", "komi -0.5", "komi 7")


def _go_scoring(known: frozenset[str], length: int) -> SearchStrategy[Drawn]:
    score = said("score")

    @cache
    def rest(size: int) -> SearchStrategy[Drawn]:
        choices = [
            *(single(size).map(plays), single(size).map(plays), block(size).map(plays)),
            *(score, KOMI, said("clear_board"), said("play B pass"), *_extra(known)),
        ]
        return st.tuples(KOMI, _parts(choices, score, length)).map(flat)

    return _boards((*_SMALL, *_SMALL, 7, 9, 10, 19), rest)  # type: ignore[no-any-return]


# --- Gomoku ------------------------------------------------------------------------------------

_GOMOKU_SIZES = (5, 6, 7, 5, 6, 7, 8, 9, 10, 19)
_POLICY_SIZES = (7, 6, 8, 5, 9, 7, 8, 10, 19)  # on the smallest few threats are open
_RULES = (
    *("gogui-rules_final_result", "gogui-rules_legal_moves"),
    *("gogui-rules_side_to_move", "gogui-rules_board_size"),
)
_LARGEST_FOR_GENMOVE = 7  # on larger boards it takes long to think


def _gomoku_rules(known: frozenset[str], length: int) -> SearchStrategy[Drawn]:
    @cache
    def rest(size: int) -> SearchStrategy[Drawn]:
        questions = asked(*_RULES)
        choices = [
            *(single(size).map(plays), line(size).map(plays), line(size).map(plays)),
            *(block(size, 3, ".xxo").map(plays), wrong_play(size), wrong_play(size)),
            pair(size, "BW", is_full=True).map(lambda stones: plays(stones[::-1])),
            *(questions, questions, said("clear_board"), *_extra(known)),
        ]
        if size <= _LARGEST_FOR_GENMOVE:
            choices.append(said("genmove b", "genmove w"))
            questions = st.one_of(questions, questions, said("genmove b", "genmove w"))
        opening = st.one_of(_NOTHING, full(size).map(plays)) if size == 5 else _NOTHING
        return st.tuples(opening, _parts(choices, questions, length)).map(flat)

    return _boards(_GOMOKU_SIZES, rest)  # type: ignore[no-any-return]


@cache
def wrong_play(size: int) -> SearchStrategy[Drawn]:
    """Return moves of which color, coordinate or both may be wrong."""
    letters = GTP_LETTERS[: size + 2]
    return st.builds(
        lambda color, row, column: [f"play {color} {letters[column]}{row}"],
        st.sampled_from(("b", "w", "B", "W", "c", "red", "g")),
        st.sampled_from((1, size, size + 1, 2)),
        st.sampled_from((0, size - 1, size, 1)),
    )


def _gomoku_policy(known: frozenset[str], length: int) -> SearchStrategy[Drawn]:
    questions = asked("policy_moves", *_RULES[:3])
    policy = said("policy rule_based", "policy rule_based", "policy random")

    @cache
    def rest(size: int) -> SearchStrategy[Drawn]:
        choices = [
            *(threat(size).map(plays), threat(size).map(plays), duel(size).map(plays)),
            *(duel(size).map(plays), line(size).map(plays), line(size).map(plays)),
            *(crossing(size).map(plays), crossing(size).map(plays)),
            *(single(size).map(plays), questions, policy, said("clear_board"), *_extra(known)),
        ]
        opening = st.one_of(policy, policy, policy, _NOTHING)
        drawn = st.tuples(opening, _parts(choices, questions, length)).map(flat)
        return st.builds(in_turn, drawn, st.just(size), st.sampled_from(("", "", "B", "W")))

    return _boards(_POLICY_SIZES, rest)  # type: ignore[no-any-return]


# --- gosensei ----------------------------------------------------------------------------------

_SENSEI_SIZE = 9


def _gosensei(known: frozenset[str], length: int) -> SearchStrategy[Drawn]:
    questions = asked("eyes", "twoeyes", "eyespaces", "display")
    size = _SENSEI_SIZE
    part = st.one_of(
        *(pair(size), pair(size), pair(size), ring(size), ring(size)),
        *(single(size), block(size, 5, ".xxxo"), block(size, 4)),
    )
    stones = st.one_of(part.map(lambda one: [one]), st.lists(part, max_size=3))
    laid = stones.map(lambda parts: setup(flat(parts)))
    loaded, checked = filed("load_board", board_file), filed("is_valid", board_file)
    choices = [laid, laid, laid, loaded, checked, questions, said("clear_board")]
    last = st.one_of(questions, questions, checked)
    return _parts(choices, last, min(length, 4))


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


# --- java-go -----------------------------------------------------------------------------------


_ABOUT_ALL = ("score b", "score w", "captures b", "captures w", "is_over")


def _java_go(known: frozenset[str], length: int) -> SearchStrategy[Drawn]:
    @cache
    def rest(size: int) -> SearchStrategy[Drawn]:
        questions = st.one_of(asked(*_ABOUT_ALL), about_point(size), about_point(size))
        passes = st.lists(said("play B pass", "play W pass"), min_size=1, max_size=3).map(flat)
        choices = [
            *(single(size).map(plays), single(size).map(plays), block(size).map(plays)),
            *(block(size, 5).map(_looked_at), block(size, 3, ".xxoo").map(_looked_at)),
            *(passes, questions),
            pair(size, "BW", is_full=True).map(_looked_at),
            *(digits, said("clear_board"), *_extra(known)),
        ]
        if size > 2:
            choices += [ko(size), ko(size)]
        return _parts(choices, questions, length)

    return _boards((*_SMALL, *_SMALL, 1, 7, 11, 19), rest)  # type: ignore[no-any-return]


@cache
def about_point(size: int) -> SearchStrategy[Drawn]:
    """Return all questions about a point."""

    def about(where: str) -> Drawn:
        moves = [f"{color} {where}" for color in "bw"]
        legal = [f"{verb} {move}" for verb in ("is_legal", "can_play") for move in moves]
        return [f"is_captured {where}", *legal]

    return points(size).map(vertex).map(about)


def _looked_at(stones: Stones) -> Drawn:
    """Return a set-up, and whether its stones are captured, as far as one is likely to ask."""
    return [*setup(stones), *(f"is_captured {vertex(point)}" for _, point in stones[:_LOOKS])]


@cache
def ko(size: int) -> SearchStrategy[Drawn]:
    """Return a ko in the corner that has just been taken, and a question about taking it back."""

    def taken(color: str, elsewhere: Stones, verb: str, asked: str) -> Drawn:
        other = "W" if color == "B" else "B"
        laid = f"gogui-setup {other} A2 {other} B1 {color} B2 {color} C1"
        return [laid, f"play {color} A1", *plays(elsewhere), f"{verb} {asked} B1"]

    moves = st.lists(single(size), max_size=2).map(flat)
    verbs = st.sampled_from(("can_play", "is_legal"))
    return st.builds(taken, COLORS, moves, verbs, st.sampled_from("bw"))


_LOOKS = 8
_DIGITS = st.integers(1, 3).flatmap(
    lambda columns: st.lists(
        st.lists(st.sampled_from("012"), min_size=columns, max_size=columns).map(" ".join),
        min_size=1,
        max_size=3,
    ).map(lambda rows: "\n".join(rows) + "\n")
)
digits = filed("load_board", _DIGITS)

_GAMES: dict[str, Callable[[frozenset[str], int], SearchStrategy[Drawn]]] = {
    "go-scoring": _go_scoring,
    "gomoku-rules": _gomoku_rules,
    "gomoku-policy": _gomoku_policy,
    "gosensei": _gosensei,
    "java-go": _java_go,
}
