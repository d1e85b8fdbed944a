"""Facts beside the position that an answer depends on, read from a session of the oracle.

Each reader is called before a command, with the session and the words of the command.
"""

import re
from collections.abc import Callable, Mapping
from math import isinf
from pathlib import Path
from typing import Any, NamedTuple

from oracle.position import NAMES, color_of

# (color or signed numbers, the rest)
Facts = tuple[tuple[int, ...], tuple[Any, ...]]
Read = Callable[[Any, list[str]], Facts]


def komi(session: Any, words: list[str]) -> Facts:
    """The komi with its sign: exchanging colors turns it."""
    komi = session.komi
    return ((0 if not komi else 1 if komi > 0 else 2,), (abs(komi),))


def ko(session: Any, words: list[str]) -> Facts:
    """Color to move, and whether there is a ko."""
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
    """Color to move."""
    return (session.game.to_play,), ()


def result(session: Any, words: list[str]) -> Facts:
    """The winner."""
    return (session.game.winner,), ()


def policy(session: Any, words: list[str]) -> Facts:
    """Turn, winner and policy."""
    return (session.game.to_play, session.game.winner), (session.policy,)


def file(session: Any, words: list[str]) -> Facts:
    """Content of the file in the command."""
    try:
        return (), (Path(words[1]).read_bytes(),)
    except (OSError, IndexError):
        return (), ()


# --- Questions of commands and their answers in words for a student. Pure ------------------------
# The words stand in the specifications, by the name of the command. An answer in another form than
# the specification's is not put into words: what is wrong with it may be its form.


_SCORE = re.compile(r"([BW])\+([0-9]+(?:\.[0-9]*[1-9])?)(?:\.0)?")


class Wording(NamedTuple):
    """The words for one command."""

    question: str  # {0}, {1} … are its arguments, {with_komi} the komi where it is known
    answer: Callable[[str], str] = lambda _: ""  # "": the answer says it itself
    # How a wrong answer, the second one, differs from a right one; "" without words for it.
    difference: Callable[[str, str], str] = lambda _, __: ""


Wordings = Mapping[str, Wording]  # by the name of the command


def word_question(wordings: Wordings, command: str, komi: str = "") -> str:
    """Return what a command asks, "" where there are no words for it; ``komi``: "" is unknown."""
    name, *arguments = command.split() or [""]
    if name not in wordings:
        return ""
    with_komi = f", with a komi of {komi}" if komi else ""
    try:
        return wordings[name].question.format(*map(_speak_of, arguments), with_komi=with_komi)
    except IndexError:  # a test of what an engine says to a command without its arguments
        return ""


def word_answer(wordings: Wordings, command: str, answer: str) -> str:
    """Return what an answer says, "" where there are no words for it."""
    name = command.partition(" ")[0]
    return wordings[name].answer(answer) if name in wordings else ""


def differs(wordings: Wordings, command: str, right: str, answer: str) -> str:
    """Return how a wrong answer differs from a right one, "" where there are no words for it."""
    name = command.partition(" ")[0]
    return wordings[name].difference(right, answer) if name in wordings else ""


def _speak_of(argument: str) -> str:
    """Return an argument as it is spoken of: a color by its name."""
    color = color_of(argument)
    return argument if color is None else NAMES[color].capitalize()


def score_of(answer: str) -> float | None:
    """Return by how much Black leads in a score, below 0 for White; None if it is not a score."""
    if answer == "0":
        return 0.0
    found = _SCORE.fullmatch(answer)
    if not found or isinf(points := float(found[2])):
        return None
    return points if found[1] == "B" else -points


def lead(answer: str) -> str:
    """Return a score in words, such as ``Black leads by 3.5``; a whole number has no fraction."""
    if answer == "0":
        return "A draw"
    found = _SCORE.fullmatch(answer)
    return f"{_speak_of(found[1])} leads by {found[2]}" if found else ""


def lead_differs(right: str, answer: str) -> str:
    """Return how a score differs from the right one: in who leads, or by how much."""
    points, others = score_of(right), score_of(answer)
    if points is None or others is None or points == others:
        return ""
    if not others:
        return "A draw, where one color leads"
    if not points:
        return "One color leads, where it is a draw"
    if (points > 0) != (others > 0):
        return "The wrong color leads"
    return "The right color leads, by another margin"


def one_of(words: Mapping[str, str]) -> Callable[[str], str]:
    """Return what puts answers into words that are a few: these, by the answer."""
    return lambda answer: words.get(answer, "")


YES_OR_NO = one_of({"true": "Yes", "false": "No"})
