"""Hypothesis strategies: conversations about positions in which programs go wrong.

Each specification has a strategy for a *game* (a board, stones, questions), made of what is here
and of :mod:`~harness.vocabulary.stones`; a script (:mod:`~harness.fuzzing.drawing`) is a few games
in one process. What is drawn need not be legal.
"""

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from harness.vocabulary.script import BoardFile
from harness.vocabulary.stones import Stones, filling, flat
from oracle.position import vertex

Drawn = list[str | BoardFile]

SMALL = (2, 3, 4, 5)


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
    is to move after each row of moves, "" for the side to move.
    """
    wanted = {word for one in game if isinstance(one, str) for word in one.split()[2:]}
    turns = _Turns(size, next_, wanted)
    done: Drawn = []
    for one in [*game, ""]:
        if isinstance(one, str) and one.startswith("play "):
            turns.hold(one)
            continue
        done += [*turns.list_moves(), *([one] if one else [])]
        if one == "clear_board":
            turns = _Turns(size, next_, wanted)
        elif one == "undo":
            turns.turn = turns.other
    return done


class _Turns:
    """The moves of one game on their way into turns."""

    def __init__(self, size: int, next_: str, reserved: set[str]) -> None:
        self.turn = "B"
        self._next = next_
        self._held: dict[str, list[str]] = {"B": [], "W": []}
        self._taken: set[str] = set()
        self._free = {
            color: [name for name in map(vertex, filling(size, color)) if name not in reserved]
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

    def list_moves(self) -> Drawn:
        """Return the row's moves in turn, with others between them; hold none back."""
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


def ask(*commands: str) -> SearchStrategy[Drawn]:
    """Return several questions at once: those without need are taken out again."""
    return st.builds(lambda: list(commands))


NOTHING: SearchStrategy[Drawn] = st.builds(list)


def say(*texts: str) -> SearchStrategy[Drawn]:
    """Return some commands, one at a time."""
    return st.sampled_from(texts).map(lambda text: [text])


def file_command(verb: str, texts: SearchStrategy[str]) -> SearchStrategy[Drawn]:
    """Return a command that names a file."""
    return texts.map(lambda text: [BoardFile(verb, text)])


def parts(
    choices: Sequence[SearchStrategy[Drawn]], last: SearchStrategy[Drawn], length: int
) -> SearchStrategy[Drawn]:
    """Return some of the choices, with some of ``last`` at the end."""
    body = st.lists(st.one_of(choices), max_size=length).map(flat)
    questions = st.lists(last, min_size=1, max_size=3).map(flat)
    return st.tuples(body, questions).map(flat)


def extra(commands: frozenset[str]) -> list[SearchStrategy[Drawn]]:
    """Return what may be said to an engine that knows more than its assignment asks."""
    return [say("undo")] if "undo" in commands else []


def boards(sizes: Sequence[int], rest: Callable[[int], SearchStrategy[Drawn]]) -> Any:
    """Return games on boards of some sizes."""

    @st.composite
    def game(draw: st.DrawFn) -> Drawn:
        size = draw(st.sampled_from(sizes))
        opening = draw(st.sampled_from(([], ["clear_board"])))
        return [f"boardsize {size}", *opening, *draw(rest(size))]

    return game()
