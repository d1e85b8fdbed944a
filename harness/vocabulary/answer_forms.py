"""The forms in which an answer may be written, and what of it is settled. Pure.

The oracle writes one form; ``B+4.0`` for ``B+4`` and ``win e4`` for ``Win E4`` are right too. The
forms are those of the specification, ``cases/README.md``, "What a case may ask".
"""

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


def _lower(text: str) -> str:
    """Return small letters for those of ASCII, which are all that ``(?i)`` knows."""
    return text.encode("utf-8", "surrogateescape").lower().decode("utf-8", "surrogateescape")


def _cases(text: str) -> tuple[str, ...]:
    """Return a text with its vertices and copied arguments as they are, in small, in capitals."""
    return text, _NAMED.sub(lambda m: m[0].lower(), text), _NAMED.sub(lambda m: m[0].upper(), text)


EXACT = AnswerForm(lambda text: text, literally, lambda text: (text,))
CASELESS = AnswerForm(
    _lower,
    lambda text: f"{'(?i)' if _lower(text) != text.upper() else ''}{literally(text)}",
    _cases,
)
# A score without the fraction of a whole number: ``B+4`` for ``B+4.0``.
SCORE = AnswerForm(
    lambda text: w[1] if (w := _WHOLE_SCORE.fullmatch(text)) else text,
    lambda text: (
        literally(w[1]) + r"(\.0)?" if (w := _WHOLE_SCORE.fullmatch(text)) else literally(text)
    ),
    lambda text: (text, w[1], f"{w[1]}.0") if (w := _WHOLE_SCORE.fullmatch(text)) else (text,),
)
# A picture without blanks in the empty line, which a reply cannot have empty.
PICTURE = AnswerForm(
    lambda text: _SOLE_BLANKS.sub("", text),
    lambda text: literally(_SOLE_BLANKS.sub("", text)).replace(r"\n\n", r"\n *\n"),
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
