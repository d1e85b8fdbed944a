r"""Awk's regular expressions, as GNU Go's ``regress.awk`` searches them, in Python's notation.

They are POSIX extended ones with awk's escapes. Translated is what Python would take for
something else; what it refuses (a ``*`` with nothing to repeat, which awk takes literally) is an
error of the case file.

Source: POSIX.1-2017, XBD 9.4 and the awk utility; gawk 5.2, compared with on random expressions.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t-\r",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}
# gawk's own escapes; any other letter that is none of awk's stands for itself.
_ESCAPES = {"y": r"\b", "<": r"\b(?=\w)", ">": r"\b(?<=\w)", "`": r"\A", "'": r"\Z"}
_AWKS_LETTERS = "afnrtvBsSwW"

_PART = re.compile(
    r"""\\ (?P<octal>[0-7]{1,3})
    |   \\ (?P<escape>.)
    |   \[ (?P<set>\^?\]?(?:\[:\w+:\]|\\.|[^\\\]])*) \]
    |   (?P<repeats>[*+?]{2,})
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_SET = re.compile(
    r"\[:(?P<class>\w+):\]|\\(?P<octal>[0-7]{1,3})|\\(?P<member>.)|(?P<bracket>\[)", re.DOTALL
)


def in_python(expression: str) -> str:
    """Return what matches in Python what ``expression`` matches in awk."""
    return _PART.sub(_part, expression)


def _part(found: re.Match[str]) -> str:
    kind = str(found.lastgroup)
    return _IN_PYTHON[kind](found[kind])


def _escape(character: str) -> str:
    if character.isalnum() and character not in _AWKS_LETTERS:
        return _ESCAPES.get(character, character)
    return _ESCAPES.get(character, "\\" + character)


def _member(character: str) -> str:
    awks = character in "afnrtv" or not character.isalnum()
    return "\\" + character if awks else character


def _octal(digits: str) -> str:
    return re.escape(chr(int(digits, 8) & 0xFF))


def _set(members: str) -> str:
    return f"[{_IN_SET.sub(_part, members)}]"


def _repeats(signs: str) -> str:
    """Repeated repetition, which in Python would be lazy or possessive, is one or is ``*``."""
    return signs[0] if len(set(signs)) == 1 else "*"


_IN_PYTHON: dict[str, Callable[[str], str]] = {
    "octal": _octal,
    "escape": _escape,
    "set": _set,
    "repeats": _repeats,
    "class": lambda name: _CLASSES.get(name, re.escape(f"[:{name}:]")),
    "member": _member,
    "bracket": re.escape,
}
