"""The forms in which an answer may be written, and what of it is settled. Pure.

The oracle writes one form; ``B+4.0`` for ``B+4`` and ``win e4`` for ``Win E4`` are right too. The
forms are those of the specification, ``cases/README.md``, "What a case may ask".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]()|]")
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


def literally(text: str) -> str:
    """Return the expression that matches a text and nothing else."""
    return _SPECIAL.sub(r"\\\g<0>", text).replace("\n", r"\n")


def _keep(text: str) -> str:
    return text


def _lower(text: str) -> str:
    """Return small letters for those of ASCII, which are all that ``(?i)`` knows."""
    return text.encode("utf-8", "surrogateescape").lower().decode("utf-8", "surrogateescape")


def _any_case(text: str) -> str:
    return f"(?i){literally(text)}" if _lower(text) != text.upper() else literally(text)


def _cases(text: str) -> tuple[str, ...]:
    """Return a text with its vertices and copied arguments as they are, in small, in capitals."""
    return text, _NAMED.sub(lambda m: m[0].lower(), text), _NAMED.sub(lambda m: m[0].upper(), text)


def _score(text: str) -> str:
    """Return a score without the fraction of a whole number: ``B+4`` for ``B+4.0``."""
    whole = _WHOLE_SCORE.fullmatch(text)
    return whole[1] if whole else text


def _score_expression(text: str) -> str:
    whole = _WHOLE_SCORE.fullmatch(text)
    return literally(whole[1]) + r"(\.0)?" if whole else literally(text)


def _score_samples(text: str) -> tuple[str, ...]:
    whole = _WHOLE_SCORE.fullmatch(text)
    return (text, whole[1], f"{whole[1]}.0") if whole else (text,)


def _picture(text: str) -> str:
    """Return a picture without blanks in the empty line, which a reply cannot have empty."""
    return _SOLE_BLANKS.sub("", text)


def _picture_expression(text: str) -> str:
    return literally(_picture(text)).replace(r"\n\n", r"\n *\n")


EXACT = AnswerForm(_keep, literally, lambda text: (text,))
CASELESS = AnswerForm(_lower, _any_case, _cases)
SCORE = AnswerForm(_score, _score_expression, _score_samples)
PICTURE = AnswerForm(
    _picture,
    _picture_expression,
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
    "name": SETTING,
    "version": SETTING,
    "list_commands": SETTING,
    "quit": SETTING,
    "boardsize": SETTING,
    "clear_board": SETTING,
    "play": SETTING,
}
# What those have besides whose boards are laid by commands and files.
SET_UP: Forms = {**GTP, "gogui-setup": SETTING, "load_board": SETTING}


def is_a_move(text: str) -> bool:
    """Whether an answer is a vertex, and not ``pass`` or ``resign``."""
    return _A_MOVE.fullmatch(text) is not None
