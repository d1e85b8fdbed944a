"""Facts beside the position that an answer depends on, read from a session of the oracle.

Each reader is called before a command, with the session and the words of the command.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from oracle.color import color_of

# (color or signed numbers, the rest)
Facts = tuple[tuple[int, ...], tuple[Any, ...]]
Read = Callable[[Any, list[str]], Facts]


def komi(session: Any, words: list[str]) -> Facts:
    """The komi with its sign: exchanging colors turns it."""
    komi = session.komi
    return ((0 if not komi else 1 if komi > 0 else 2,), (abs(komi),))


def ko(session: Any, words: list[str]) -> Facts:
    """Whose turn it is, and whether there is a ko."""
    return (session.game.to_play,), (session.game.ko is not None,)


def prisoners(session: Any, words: list[str]) -> Facts:
    """The prisoners of a color."""
    color = color_of(words[1]) if len(words) > 1 else None
    return (), (session.game.prisoners(color) if color else None,)


def passes(session: Any, words: list[str]) -> Facts:
    """The last two moves, as far as they are passes."""
    last = session.game.moves[-2:]
    return tuple(color for color, _ in last), tuple(point is None for _, point in last)


def turn(session: Any, words: list[str]) -> Facts:
    """Whose turn it is."""
    return (session.game.to_play,), ()


def result(session: Any, words: list[str]) -> Facts:
    """The winner."""
    return (session.game.winner,), ()


def policy(session: Any, words: list[str]) -> Facts:
    """Turn, winner and policy."""
    return (session.game.to_play, session.game.winner), (session.policy,)


def file(session: Any, words: list[str]) -> Facts:
    """What is in the file that the command names."""
    try:
        return (), (Path(words[1]).read_bytes(),)
    except (OSError, IndexError):
        return (), ()
