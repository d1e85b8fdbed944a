"""Answers: the forms in which they may be written, facts that they depend on, and their words.

The oracle writes one form; ``B+4.0`` for ``B+4`` and ``win e4`` for ``Win E4`` are right too. The
forms are those of the specification, ``cases/README.md``, "What a case may ask".
"""

import re
from collections.abc import Callable, Mapping
from math import isinf
from typing import Any, NamedTuple

from harness.reading.pattern import escape_answer
from oracle.boards import read_text
from oracle.errors import FormatError
from oracle.position import NAMES, color_of

_WHOLE_SCORE = re.compile(r"([BW]\+[0-9]+)(\.0)?")
_MOVE = r"(?i)[a-hj-z]([1-9]|1[0-9]|2[0-5])"
_A_MOVE = re.compile(_MOVE, re.ASCII)
_NAMED = re.compile(r'"[^"]*"|\b[A-Za-z][0-9]+\b')  # a copied argument, a vertex
_SOLE_BLANKS = re.compile(r"^ *$", re.MULTILINE)


class AnswerForm(NamedTuple):
    """Form of the answer to a command.

    Two answers are the same when ``normal`` makes the same text of both.
    """

    normal: Callable[[str], str]
    expression: Callable[[str], str]  # for a text, what matches those that are the same
    samples: Callable[[str], tuple[str, ...]]  # some of those, the text itself the first
    is_exact: bool = True  # whether the specification determines the answer


Forms = Mapping[str, AnswerForm]  # by the name of the command


def _lower(text: str) -> str:
    """Return small letters for those of ASCII, which are all that ``(?i)`` knows."""
    return text.encode("utf-8", "surrogateescape").lower().decode("utf-8", "surrogateescape")


def _cases(text: str) -> tuple[str, ...]:
    """Return a text with its vertices and copied arguments as they are, in small, in capitals."""
    return text, _NAMED.sub(lambda m: m[0].lower(), text), _NAMED.sub(lambda m: m[0].upper(), text)


EXACT = AnswerForm(lambda text: text, escape_answer, lambda text: (text,))
CASELESS = AnswerForm(
    _lower,
    lambda text: f"{'(?i)' if _lower(text) != text.upper() else ''}{escape_answer(text)}",
    _cases,
)
# A score without the fraction of a whole number: ``B+4`` for ``B+4.0``.
SCORE = AnswerForm(
    lambda text: w[1] if (w := _WHOLE_SCORE.fullmatch(text)) else text,
    lambda text: (
        escape_answer(w[1]) + r"(\.0)?"
        if (w := _WHOLE_SCORE.fullmatch(text))
        else escape_answer(text)
    ),
    lambda text: (text, w[1], f"{w[1]}.0") if (w := _WHOLE_SCORE.fullmatch(text)) else (text,),
)
# A picture without blanks in the empty line, which a reply cannot have empty.
PICTURE = AnswerForm(
    lambda text: _SOLE_BLANKS.sub("", text),
    lambda text: escape_answer(_SOLE_BLANKS.sub("", text)).replace(r"\n\n", r"\n *\n"),
    lambda text: (text, _SOLE_BLANKS.sub("  ", text)),
)
# A move where any legal one will do. Which are legal, the answer alone does not tell.
MOVE = AnswerForm(
    lambda text: "a move" if _A_MOVE.fullmatch(text) else text,
    lambda text: _MOVE,
    _cases,
    is_exact=False,
)
# Settings succeed; GTP gives them no result, and nobody reads it.
SETTING = AnswerForm(lambda text: "", lambda text: ".*", lambda text: (text,), is_exact=False)
UNDEFINED = SETTING._replace(normal=lambda text: "undefined")

# What every GTP engine has (GTP version 2, section 6.3).
GTP: Forms = {
    "protocol_version": EXACT,
    **dict.fromkeys(("name", "version", "list_commands", "quit"), SETTING),
    **dict.fromkeys(("boardsize", "clear_board", "play"), SETTING),
}
# What those have besides whose boards are laid by commands and files.
SET_UP: Forms = {**GTP, "gogui-setup": SETTING, "load_board": SETTING}


def is_a_move(text: str) -> bool:
    """Whether an answer is a vertex, and not ``pass`` or ``resign``."""
    return _A_MOVE.fullmatch(text) is not None


# --- Facts beside the position that an answer depends on, read from a session of the oracle ------
# Each reader is called before a command, with the session and the words of the command.

Facts = tuple[tuple[int, ...], tuple[Any, ...]]  # (color or signed numbers, the rest)
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
    """Content of the file in the command, which lies in the session's folder."""
    try:
        return (), (read_text(words[1], session.folder),)
    except (FormatError, IndexError):
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
