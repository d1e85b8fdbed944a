r"""Java's regular expressions, as gogui-regress matches them, in Python's notation.

The two languages agree in nearly all that expectations use. Translated here is what Python would
refuse or, worse, take for something else. What it refuses and is not translated (``\p{Lu}``,
flags in mid-expression) is an error of the case file: no verdict rather than a wrong one.

Source: ``java.util.regex.Pattern``, Java SE 17; compared with it on random expressions.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from harness.errors import PatternError

# The characters of classes that Python does not have; \v is a single character there.
_CLASSES = {
    "h": r" \t\xa0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000",
    "v": r"\n\x0b\f\r\x85\u2028\u2029",
}
_ESCAPES = {
    **{name: f"[{characters}]" for name, characters in _CLASSES.items()},
    "R": f"[{_CLASSES['v']}]",  # a line end; none has two characters, for replies have no CR
    "z": r"\Z",
}

_PART = re.compile(
    r"""\\Q (?P<quoted>.*?) (?:\\E|\Z)
    |   \\0 (?P<octal>[0-3]?[0-7]{1,2})
    |   \\x\{ (?P<hex>[0-9A-Fa-f]+) \}
    |   \\k< (?P<reference>\w+) >
    |   \\ (?P<escape>.)
    |   \[ (?P<set>\^?\]?(?:\\.|[^\\\]])*) \]
    |   (?P<unclosed>\[.*)
    |   \(\?< (?P<group>\w+) >
    |   (?P<begin>\^)
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_SET = re.compile(r"\\(?P<escape>.)|(?P<operator>\[|&&)", re.DOTALL)


def in_python(expression: str) -> str:
    """Return what matches in Python what ``expression`` matches in Java.

    Raises:
        PatternError: it has a set within a set or an intersection, which Python does not have.
    """
    return _PART.sub(_part, expression)


def _part(found: re.Match[str]) -> str:
    kind, text = str(found.lastgroup), found[str(found.lastgroup)]
    return _IN_PYTHON[kind](text)


def _set(characters: str) -> str:
    return f"[{_IN_SET.sub(_in_set, characters)}]"


def _in_set(found: re.Match[str]) -> str:
    if found["operator"]:
        raise PatternError(
            f"found an unescaped {found[0]!r} in a set of characters, which Java takes for a set"
            f" within the set; expected '\\{found[0][0]}' for the character itself"
        )
    return _CLASSES.get(found["escape"], found[0])


_IN_PYTHON: dict[str, Callable[[str], str]] = {
    "quoted": re.escape,
    "octal": lambda digits: re.escape(chr(int(digits, 8))),
    "hex": lambda digits: re.escape(chr(int(digits, 16))),
    "reference": lambda name: f"(?P={name})",
    "escape": lambda character: _ESCAPES.get(character, "\\" + character),
    "set": _set,
    "unclosed": str,  # for Python to refuse
    "group": lambda name: f"(?P<{name}>",
    # Java's ^ never matches at the end of the text, not even of an empty one.
    "begin": lambda _: r"(?!\Z)^",
}
