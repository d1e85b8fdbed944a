"""Which answers the specification takes for the same: the forms of a right answer. Pure.

For each command of the five assignments (``oracle.mistakes.ASSIGNMENTS``) this module says how its
right answer may be written. The oracle writes one form; ``B+4.0`` for ``B+4`` and ``win e4`` for
``Win E4`` are right too. The forms are those of the specification, ``cases/README.md``, "What a
case may ask".

A command that the document does not define is judged by nobody: its answer is *not exact*, and
every answer to it is the same. An error is an error, whatever its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from harness.records import Reply
from oracle.gtp.protocol import Engine

_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]()|]")
_WHOLE_SCORE = re.compile(r"([BW]\+[0-9]+)(\.0)?")
_MOVE = r"(?i)[a-hj-z]([1-9]|1[0-9]|2[0-5])"
_A_MOVE = re.compile(_MOVE, re.ASCII)
_NAMED = re.compile(r'"[^"]*"|\b[A-Za-z][0-9]+\b')  # a copied argument, a vertex
_SOLE_BLANKS = re.compile(r"^ *$", re.MULTILINE)


class Form(NamedTuple):
    """How the answer to a command may be written.

    Two answers are the same when ``normal`` makes the same text of both.
    """

    normal: Callable[[str], str]
    expression: Callable[[str], str]  # for a text, what matches those that are the same
    samples: Callable[[str], tuple[str, ...]]  # some of those, the text itself the first
    is_exact: bool = True  # whether the specification determines the answer


def same(command: str, right: Reply, got: Reply, assignment: str) -> bool:
    """Return whether the specification accepts ``got`` where the oracle answers ``right``."""
    form = _form(command, right.text, assignment)
    if form is UNDEFINED:
        return True
    if not (right.ok and got.ok):
        return right.ok is got.ok
    return form.normal(right.text) == form.normal(got.text)


def expression(command: str, right: Reply, assignment: str) -> str:
    """Return the expression for a ``#? [...]`` line that accepts what the specification accepts.

    Raises :class:`ValueError` where the right answer is an error: no expectation accepts one.
    """
    if not right.ok:
        raise ValueError(f"the right answer to {command!r} is an error: {right.text}")
    return _form(command, right.text, assignment).expression(right.text)


def forms(command: str, right: Reply, assignment: str) -> tuple[str, ...]:
    """Return sample texts that the specification accepts, the oracle's own first."""
    samples = _form(command, right.text, assignment).samples(right.text)
    return tuple(dict.fromkeys(samples))


def is_exact(command: str, assignment: str) -> bool:
    """Return whether the position determines the answer.

    It does not for ``genmove``, whose choice is free (though ``pass`` and ``resign`` are not), for
    settings, whose answer nobody reads, and for what the assignment does not define.
    """
    return _defined(command, assignment).is_exact


def is_judged(command: str, assignment: str) -> bool:
    """Return whether the assignment calls some answers right and some wrong, errors aside.

    It does not for settings, nor for commands that it does not define.
    """
    return _defined(command, assignment) not in (SETTING, UNDEFINED)


def underspecified(engine: Engine, command: str) -> bool:
    """Return whether the document leaves open what an oracle's engine answers to a command now."""
    answer = engine.handle(f"oracle-readings {command}")
    return answer.startswith("= underspecified")


def _form(command: str, text: str, assignment: str) -> Form:
    form = _defined(command, assignment)
    return EXACT if form is MOVE and not _A_MOVE.fullmatch(text) else form


def _defined(command: str, assignment: str) -> Form:
    words = command.split()
    table = FORMS[assignment]
    if words[:1] == ["known_command"]:  # nobody can tell what else an engine knows
        return EXACT if words[1:] and words[1] in table else UNDEFINED
    return table.get(words[0], UNDEFINED) if words else UNDEFINED


# --- the forms ---------------------------------------------------------------------------------


def literally(text: str) -> str:
    """Return the expression that matches a text and nothing else."""
    return _SPECIAL.sub(r"\\\g<0>", text).replace("\n", r"\n")


def _unchanged(text: str) -> str:
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


EXACT = Form(_unchanged, literally, lambda text: (text,))
CASELESS = Form(_lower, _any_case, _cases)
SCORE = Form(_score, _score_expression, _score_samples)
PICTURE = Form(
    _picture,
    _picture_expression,
    lambda text: (text, _SOLE_BLANKS.sub("  ", text)),
)
# A move where any legal one will do. Which are legal, the answer alone does not tell.
MOVE = Form(
    lambda text: "a move" if _A_MOVE.fullmatch(text) else text,
    lambda text: _MOVE,
    _cases,
    is_exact=False,
)
# Settings succeed; GTP gives them no result, and nobody reads it.
SETTING = Form(lambda text: "", lambda text: ".*", lambda text: (text,), is_exact=False)
UNDEFINED = SETTING._replace(normal=lambda text: "undefined")

# What every GTP engine has (GTP version 2, section 6.3).
_GTP = {
    "protocol_version": EXACT,
    "name": SETTING,
    "version": SETTING,
    "list_commands": SETTING,
    "quit": SETTING,
    "boardsize": SETTING,
    "clear_board": SETTING,
    "play": SETTING,
}
_GOMOKU_RULES = {
    **_GTP,
    "play": CASELESS,  # its errors are successful replies and copy the argument
    "genmove": MOVE,
    "gogui-rules_legal_moves": CASELESS,
    "gogui-rules_side_to_move": EXACT,
    "gogui-rules_final_result": EXACT,
    "gogui-rules_board_size": EXACT,
}
_SET_UP = {**_GTP, "gogui-setup": SETTING, "load_board": SETTING}

FORMS: dict[str, dict[str, Form]] = {
    "go-scoring": {**_GTP, "komi": SETTING, "score": SCORE},
    "gomoku-rules": _GOMOKU_RULES,
    "gomoku-policy": {**_GOMOKU_RULES, "policy": SETTING, "policy_moves": CASELESS},
    "gosensei": {
        **_SET_UP,
        "is_valid": EXACT,
        "eyes": EXACT,
        "twoeyes": EXACT,
        "eyespaces": EXACT,
        "display": PICTURE,
    },
    "java-go": {
        **_SET_UP,
        "is_captured": EXACT,
        "score": EXACT,
        "is_legal": EXACT,
        "can_play": EXACT,
        "captures": EXACT,
        "is_over": EXACT,
    },
}
