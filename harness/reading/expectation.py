"""An expectation as a reader wants it: the right answer, not the expression that it matches. Pure.

The tree of the expression is walked for texts that it matches, the shortest first. Each one is
tried with the matcher itself before it is shown. What leaves too much open to be shown by an
example stays an expression, and is called one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import islice, product
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]

from harness.errors import PatternError, UndecidedError
from harness.reading.pattern import matcher, plain_texts
from harness.records import Pattern
from harness.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST = 64  # texts that are looked at
_LISTED = 3  # right answers that are all shown
_ROOM = 60  # characters of several answers in a line
_LONGEST = 20_000  # characters of an expression that is read, and of an example
_ANY_CASE = "(?i)"
_ANYTHING = {
    ".*": "any answer",
    ".+": "any answer that is not empty",
    ".": "any single character",
}
ANY = "any answer but an error"  # where there is no expression


class Examples(NamedTuple):
    """Texts that an expression matches."""

    texts: tuple[str, ...] = ()  # none: it leaves too much open
    complete: bool = False  # it is meant to match no other, but for blanks and the case of letters
    any_case: bool = False  # letters may be upper or lower case


class Shown(NamedTuple):
    """An expectation in words: ``before``, an ``example`` to be compared, ``after``."""

    before: str
    example: str | None  # None: there is none; all is said in ``before``
    after: str = ""
    any_case: bool = False

    def __str__(self) -> str:
        example = "(empty)" if self.example == "" else self.example or ""
        return f"{self.before}{example}{self.after}"


def in_words(pattern: Pattern | None) -> str:
    """Return what is expected, such as ``B+4 or B+4.0``."""
    return str(shown(pattern)) if pattern else ANY


def in_a_sentence(pattern: Pattern | None) -> str:
    """Return the same, a single answer in quotes."""
    alone = pattern and shown(pattern)
    is_one = alone and alone.example and alone == Shown("", alone.example)
    return f"'{alone}'" if is_one else in_words(pattern)


def is_literal(pattern: Pattern | None) -> bool:
    """Whether an expectation is met by one text alone, so that its expression tells no more."""
    if pattern is None:
        return True
    return len(plain_texts(pattern.expression)) == 1


def shown(pattern: Pattern, near: str = "") -> Shown:
    """Return an expectation in words; of several answers the one that is nearest to ``near``."""
    before = "anything but " if pattern.negated else ""
    if pattern.expression in _ANYTHING:
        return Shown(before + _ANYTHING[pattern.expression], None)
    found = examples(pattern.expression)
    if not found.texts:
        return Shown(f"{before}an answer that matches the pattern {pattern.expression}", None)
    nearest = max(found.texts, key=lambda text: _likeness(text, near)) if near else found.texts[0]
    first, after = _others(found, nearest)
    case = " (upper or lower case)" if found.any_case else ""
    return Shown(before + first, nearest, after + case, found.any_case)


def _others(found: Examples, nearest: str) -> tuple[str, str]:
    """Return what stands before an example and after it."""
    texts = found.texts
    if not found.complete or len(texts) > _LISTED or sum(map(len, texts)) > _ROOM:
        return "", " or …" if len(texts) > 1 or not found.complete else ""
    place = texts.index(nearest)
    before = "".join(f"{text or '(empty)'} or " for text in texts[:place])
    return before, "".join(f" or {text or '(empty)'}" for text in texts[place + 1 :])


def _likeness(text: str, near: str) -> int:
    """Return how many characters agree at the beginning and the end."""
    return max(_same(text, near) + _same(text[::-1], near[::-1]) - abs(len(text) - len(near)), 0)


def _same(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    differing = (index for index, (left, right) in pairs if left.lower() != right.lower())
    return next(differing, min(len(one), len(other)))


# --- texts that an expression matches ----------------------------------------------------------


@cache
def examples(expression: str) -> Examples:
    """Return texts that the whole of Java's ``expression`` matches."""
    if plain := plain_texts(expression):
        texts = [text for text in dict.fromkeys(plain[:_MOST]) if text == text.strip()]
        return Examples(tuple(texts), len(plain) <= _MOST)
    if len(expression) > _LONGEST:
        return Examples()
    from harness.reading import java_regex

    any_case = expression.startswith(_ANY_CASE)
    try:
        # Without the flag, or each letter would be a choice of two.
        tree = _parser.parse(java_regex.in_python(expression.removeprefix(_ANY_CASE)))
        words = _sequence(tree)
        matches = matcher(expression)
        texts = [text for text in words.texts if text == text.strip() and matches(text)]
    except (_TooGeneralError, PatternError, UndecidedError, re.error, RecursionError):
        return Examples()
    any_case = any_case and any(map(_has_letters, texts))
    different = {text.lower() if any_case else text: text for text in reversed(texts)}
    return Examples(tuple(reversed(different.values())), words.complete, any_case)


def _has_letters(text: str) -> bool:
    return text.lower() != text.upper()


class _TooGeneralError(Exception):
    """An expression leaves too much open to be shown by an example."""


class _Words(NamedTuple):
    texts: Sequence[str]
    complete: bool = True


def _sequence(nodes: Iterable[tuple[Any, Any]]) -> _Words:
    """Return the texts that nodes match one after the other."""
    parts = [_node(*node) for node in nodes]
    found = _Words([""])
    for part in parts:
        found = _joined(found, part)
    return found


def _joined(left: _Words, right: _Words) -> _Words:
    texts = ["".join(pair) for pair in islice(product(left.texts, right.texts), _MOST)]
    if texts and len(texts[0]) > _LONGEST:
        raise _TooGeneralError
    whole = len(left.texts) * len(right.texts) <= _MOST
    return _Words(texts, left.complete and right.complete and whole)


def _node(kind: Any, value: Any) -> _Words:
    if kind not in _KINDS:
        raise _TooGeneralError
    return _KINDS[kind](value)


def _set(items: Sequence[tuple[Any, Any]]) -> _Words:
    """Return the characters of a set that names them; of blanks one stands for all."""
    found: list[str] = []
    for kind, value in items:
        if kind is ops.LITERAL:
            found.append(chr(value))
        elif kind is ops.RANGE and value[1] - value[0] < _MOST:
            found += map(chr, range(value[0], value[1] + 1))
        else:
            raise _TooGeneralError
    if len(found) > 1 and all(map(str.isspace, found)):
        return _Words([" "])
    return _Words(found[:_MOST], len(found) <= _MOST)


def _branch(value: tuple[Any, Sequence[Any]]) -> _Words:
    ways = [_sequence(way) for way in value[1]]
    texts = [text for way in ways for text in way.texts]
    return _Words(texts[:_MOST], all(way.complete for way in ways) and len(texts) <= _MOST)


def _repeat(value: tuple[int, int, Any]) -> _Words:
    """Return a few repetitions; without end only blanks may be repeated, as seldom as can be."""
    least, most, what = value
    once = _sequence(what)
    if all(text.isspace() for text in once.texts):
        return _Words([once.texts[0] * min(least, _MOST)] if once.texts else [])
    if most - least > _LISTED or most > _MOST:
        raise _TooGeneralError
    found, times = [], _Words([""])
    for count in range(most + 1):
        if count >= least:
            found.append(times)
        times = _joined(times, once)
    texts = [text for one in found for text in one.texts]
    return _Words(texts[:_MOST], all(one.complete for one in found) and len(texts) <= _MOST)


_NOTHING = _Words([""])  # of what matches a place; whether it does is seen at the end
_KINDS: dict[Any, Callable[[Any], _Words]] = {
    ops.LITERAL: lambda code: _Words([chr(code)]),
    ops.ANY: lambda _: _Words(["."]),  # one without a backslash is meant to be one, as in 0.5
    ops.IN: _set,
    ops.BRANCH: _branch,
    ops.SUBPATTERN: lambda value: _sequence(value[3]),
    ops.ATOMIC_GROUP: _sequence,
    ops.MAX_REPEAT: _repeat,
    ops.MIN_REPEAT: _repeat,
    ops.POSSESSIVE_REPEAT: _repeat,
    ops.AT: lambda _: _NOTHING,
    ops.ASSERT: lambda _: _NOTHING,
    ops.ASSERT_NOT: lambda _: _NOTHING,
}
