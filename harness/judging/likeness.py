"""When two tests are the same: equal but for a symmetry of the board and an exchange of colors.

A test is its command, the position that it is about, and whatever else its answer depends on:
side to move, ko, komi, policy, prisoners, the last passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from harness.judging import mistaken
from harness.records import CaseFile, Step
from oracle.color import color_of
from oracle.errors import VertexError
from oracle.games.go import GoGame
from oracle.games.gomoku import GomokuGame
from oracle.gtp.protocol import Engine, split
from oracle.mistakes import Breakdown
from oracle.symmetry import ALL, image, transformed
from oracle.vertex import parse_vertex

Identity = tuple[Any, ...]

# What an answer depends on beside the position, as (color or signed numbers, the rest).
_Facts = tuple[tuple[int, ...], tuple[Any, ...]]


def identity(engine: Engine, command: str, assignment: str) -> Identity:
    """Return what is equal for two tests if they are the same.

    ``engine``: the oracle's, before the command.
    """
    game = engine.session.game
    words = split(command)
    colors, rest = _facts(engine, words)
    swaps = (False,) if assignment == "gosensei" else (False, True)
    images = []
    for symmetry in ALL:
        turned = transformed(game.position, symmetry)
        for swap in swaps:
            board = turned.swapped() if swap else turned
            named = tuple(_word(word, game.position, symmetry, swap) for word in words)
            shape = board.grid
            sided = tuple(_swapped(color) for color in colors) if swap else colors
            images.append((shape.rows, shape.columns, board.black, board.white, named, sided))
    return (assignment, *min(images), rest)


def _swapped(value: int) -> int:
    """Return the other color; codes above those of colors come in pairs, too."""
    return value ^ 3 if value else value


def _word(word: str, position: Any, symmetry: int, swap: bool) -> tuple[Any, ...]:
    """Return a word of a command as it reads after a symmetry: vertices and colors change."""
    shape = position.grid
    color = color_of(word)
    if color is not None:
        return ("color", _swapped(color) if swap else color)
    try:
        point = parse_vertex(word, shape.rows, shape.columns)
    except VertexError:
        return ("word", word.lower())
    return ("point", *image(point, shape, symmetry))


# --- what an answer depends on -----------------------------------------------------------------


def _facts(engine: Engine, words: list[str]) -> _Facts:
    game = engine.session.game
    name = words[0] if words else ""
    if isinstance(game, GoGame):
        read = _GO.get(name)
    elif isinstance(game, GomokuGame):
        read = _GOMOKU.get(name)
    return read(engine.session, words) if read else ((), ())


def _komi(session: Any, words: list[str]) -> _Facts:
    """The komi with its sign: exchanging colors turns it. (java-go's score has none.)"""
    komi = getattr(session, "komi", 0)
    return ((0 if not komi else 1 if komi > 0 else 2,), (abs(komi),))


def _ko(session: Any, words: list[str]) -> _Facts:
    return (session.game.to_play,), (session.game.ko is not None,)


def _prisoners(session: Any, words: list[str]) -> _Facts:
    color = color_of(words[1]) if len(words) > 1 else None
    return (), (session.game.prisoners(color) if color else None,)


def _passes(session: Any, words: list[str]) -> _Facts:
    last = session.game.moves[-2:]
    return tuple(color for color, _ in last), tuple(point is None for _, point in last)


def _turn(session: Any, words: list[str]) -> _Facts:
    return (session.game.to_play,), ()


def _result(session: Any, words: list[str]) -> _Facts:
    return (session.game.winner,), ()


def _policy(session: Any, words: list[str]) -> _Facts:
    return (session.game.to_play, session.game.winner), (session.policy,)


def _file(session: Any, words: list[str]) -> _Facts:
    try:
        return (), (Path(words[1]).read_bytes(),)
    except (OSError, IndexError):
        return (), ()


_Read = Callable[[Any, list[str]], _Facts]
_GO: dict[str, _Read] = {
    "score": _komi,
    "can_play": _ko,
    "captures": _prisoners,
    "is_over": _passes,
    "is_valid": _file,
}
_GOMOKU: dict[str, _Read] = {
    "gogui-rules_side_to_move": _turn,
    "gogui-rules_final_result": _result,
    "gogui-rules_legal_moves": _result,
    "policy_moves": _policy,
    "genmove": _policy,
}


def identities(case: CaseFile, assignment: str) -> Iterator[tuple[Step, Identity]]:
    """Yield the tests of a case file with their identities.

    The caller sees to the working directory (:func:`harness.judging.mistaken.in_folder`).
    """
    engine = mistaken.right_engine(assignment)
    for step in case.steps:
        if step.is_test:
            yield step, identity(engine, step.command, assignment)
        for _, raw in mistaken.answers(case._replace(steps=(step,)), engine):
            if isinstance(raw, Breakdown):
                return
