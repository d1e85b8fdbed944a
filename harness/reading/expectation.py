"""An expectation as a reader wants it: the right answer, not the expression that it matches. Pure.

The tree of the expression is walked for texts that it matches, the shortest first. Each one is
tried with the matcher itself before it is shown. What leaves too much open to be shown by an
example is described by its fixed parts, its beginning or the words it must have; else it stays an
expression, and is called one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import islice, permutations, product
from re import _constants as ops  # type: ignore[attr-defined, unused-ignore]
from re import _parser  # type: ignore[attr-defined, unused-ignore]

from harness.core.errors import PatternError, UndecidedError
from harness.core.records import Pattern
from harness.core.typed import NamedTuple
from harness.reading.pattern import matcher, plain_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST = 64  # texts that are looked at
_LISTED = 6  # right answers that are all shown
_ROOM = 60  # characters of several answers in a line
_SEVERAL = 3  # repetitions, words of a list in any order, or points of an area: fewer are listed
_LONGEST = 20_000  # characters of an expression that is read, and of an example
_NEAR = 1_000  # characters of a reply that tell which answer is nearest
_ANY_CASE = "(?i)"
_ANYTHING = {".*": "any answer", ".+": "any answer that is not empty", ".": "any single character"}
ANY = "any answer but an error"  # where there is no expression
_ANY_ORDER = "these, in any order:"
_EITHER_CASE = " (upper or lower case)"
EMPTY = "(nothing)"  # an empty answer; an engine may well say "nothing"


class MatchingTexts(NamedTuple):
    """Texts that an expression matches."""

    texts: tuple[str, ...] = ()  # empty if it leaves too much open
    complete: bool = False  # it should match nothing else, except for blanks and case
    any_case: bool = False  # letters may be upper or lower case


class ExpectationInWords(NamedTuple):
    """An expectation in words: ``before``, an ``example`` to be compared, ``after``."""

    before: str
    example: str | None  # None if there is none; all is said in ``before``
    after: str = ""
    any_case: bool = False
    pattern: str = ""  # the expression, if the words only mention it

    @property
    def words(self) -> str:
        """All of it except the expression."""
        example = EMPTY if self.example == "" else self.example or ""
        return f"{self.before}{example}{self.after}"

    def __str__(self) -> str:
        return f"{self.words} {self.pattern}" if self.pattern else self.words


def in_words(pattern: Pattern | None) -> str:
    """Return what is expected, such as ``B+4 or B+4.0``."""
    return str(put_in_words(pattern)) if pattern else ANY


def in_a_sentence(pattern: Pattern | None) -> str:
    """Return the same, a single answer in quotes."""
    alone = pattern and put_in_words(pattern)
    is_one = alone and alone.example and alone == ExpectationInWords("", alone.example)
    return f"'{alone}'" if is_one else in_words(pattern)


def is_literal(pattern: Pattern | None) -> bool:
    """Whether an expectation is met by one text alone, so that its expression tells no more."""
    return pattern is None or len(plain_texts(pattern.expression)) == 1


def put_in_words(pattern: Pattern, answer: str = "") -> ExpectationInWords:
    """Return an expectation in words; of several answers the one that is nearest to ``answer``."""
    told = _show_pattern(pattern.expression, answer[:_NEAR])
    return told._replace(before=f"anything but {told.before}") if pattern.negated else told


@lru_cache(1024)
def _show_pattern(expression: str, answer: str) -> ExpectationInWords:
    if expression in _ANYTHING:
        return ExpectationInWords(_ANYTHING[expression], None)
    found = examples(expression)
    texts, any_case = found.texts, found.any_case
    if not texts:
        if told := _by_what_is_fixed(expression):
            return ExpectationInWords(told, None)
        return ExpectationInWords("an answer that matches the pattern", None, pattern=expression)
    case = _EITHER_CASE * any_case
    if area := _area(found):
        return ExpectationInWords(area + case, None)
    nearest = max(texts, key=lambda text: _likeness(text, answer)) if answer else texts[0]
    before, after = "", ""
    if not found.complete:
        before = "such as "
    elif is_any_order(texts):
        before = f"{_ANY_ORDER} "
    elif len(texts) > _LISTED or (len(texts) > 1 and sum(map(len, texts)) > _ROOM):
        before = f"one of {len(texts)} answers, such as "
    else:
        place = texts.index(nearest)
        before = "".join(f"{text or EMPTY} or " for text in texts[:place])
        after = "".join(f" or {text or EMPTY}" for text in texts[place + 1 :])
    return ExpectationInWords(before, nearest, after + case, any_case)


def is_any_order(texts: Sequence[str]) -> bool:
    """Whether texts are all orders of the same words, and there are several of them."""
    words = sorted(texts[0].split())
    orders = {tuple(text.split()) for text in texts}
    return 1 < len(texts) == len(orders) and orders == set(islice(permutations(words), _MOST))


_VERTEX = re.compile(r"([A-HJ-Za-hj-z])([1-9][0-9]?)")
_COLUMNS = "abcdefghjklmnopqrstuvwxyz"


def _area(texts: MatchingTexts) -> str:
    """Return a rectangle of points by two corners; "" if the texts are not all its points."""
    matched = [_VERTEX.fullmatch(text) for text in texts.texts]
    if not texts.complete or len(matched) <= _SEVERAL or None in matched:
        return ""
    points = {(_COLUMNS.index(one[1].lower()), int(one[2])): one[0] for one in matched if one}
    columns, rows = ([min(side), max(side)] for side in zip(*points, strict=True))
    width, height = columns[1] - columns[0] + 1, rows[1] - rows[0] + 1
    if not width * height == len(points) == len(matched) or 1 in (width, height):
        return ""
    return f"any point from {points[columns[0], rows[0]]} to {points[columns[1], rows[1]]}"


def _likeness(text: str, answer: str) -> int:
    """Return how many characters agree at the beginning and the end."""
    begin, end = _same(text, answer), _same(text[::-1], answer[::-1])
    return max(begin + end - abs(len(text) - len(answer)), 0)


def _same(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    differing = (index for index, (left, right) in pairs if left.lower() != right.lower())
    return next(differing, min(len(one), len(other)))


# --- texts that an expression matches ----------------------------------------------------------


@cache
def examples(expression: str) -> MatchingTexts:
    """Return texts that the whole of Java's ``expression`` matches."""
    if plain := plain_texts(expression):
        texts = [text for text in dict.fromkeys(plain[:_MOST]) if text == text.strip()]
        return MatchingTexts(tuple(texts), len(plain) <= _MOST)
    if len(expression) > _LONGEST:
        return MatchingTexts()
    any_case = expression.startswith(_ANY_CASE)
    try:
        words = _sequence(_tree(expression))
        matches = matcher(expression)
        texts = [text for text in words.texts if text == text.strip() and matches(text)]
    except (_TooGeneralError, PatternError, UndecidedError, re.error, RecursionError):
        return MatchingTexts()
    any_case = any_case and any(map(_has_letters, texts))
    different = {text.lower() if any_case else text: text for text in reversed(texts)}
    return MatchingTexts(tuple(reversed(different.values())), words.complete, any_case)


def _tree(expression: str) -> list[tuple[Any, Any]]:
    """Return an expression as Python reads it, with no flag: each letter would be two."""
    from harness.reading import java_regex

    return list(_parser.parse(java_regex.in_python(expression.removeprefix(_ANY_CASE))))


def _has_letters(text: str) -> bool:
    return text.lower() != text.upper()


class _TooGeneralError(Exception):
    """An expression leaves too much open to be shown by an example."""


class _Words(NamedTuple):
    texts: Sequence[str]
    complete: bool = True


def _sequence(nodes: Iterable[tuple[Any, Any]]) -> _Words:
    """Return the texts that nodes match one after the other."""
    found = _Words([""])
    for kind, value in nodes:
        if kind not in _KINDS:
            raise _TooGeneralError
        found = _join(found, _KINDS[kind](value))
    return found


def _join(left: _Words, right: _Words) -> _Words:
    texts = ["".join(pair) for pair in islice(product(left.texts, right.texts), _MOST)]
    if texts and len(texts[0]) > _LONGEST:
        raise _TooGeneralError
    whole = len(left.texts) * len(right.texts) <= _MOST
    return _Words(texts, left.complete and right.complete and whole)


def _words_of_set(items: Sequence[tuple[Any, Any]]) -> _Words:
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
    texts = list(dict.fromkeys(text for way in ways for text in way.texts))
    return _Words(texts[:_MOST], all(way.complete for way in ways) and len(texts) <= _MOST)


def _repeat(value: tuple[int, int, Any]) -> _Words:
    """Return a few repetitions; without end only blanks may be repeated, as seldom as can be."""
    least, most, what = value
    once = _sequence(what)
    if all(text.isspace() for text in once.texts):
        return _Words([once.texts[0] * min(least, _MOST)] if once.texts else [])
    if most - least > _SEVERAL or most > _MOST:
        raise _TooGeneralError
    found, times = [], _Words([""])
    for count in range(most + 1):
        if count >= least:
            found.append(times)
        times = _join(times, once)
    texts = list(dict.fromkeys(text for one in found for text in one.texts))
    return _Words(texts[:_MOST], all(one.complete for one in found) and len(texts) <= _MOST)


_KINDS: dict[Any, Callable[[Any], _Words]] = {
    ops.LITERAL: lambda code: _Words([chr(code)]),
    ops.ANY: lambda _: _Words(["."]),  # one without a backslash is meant to be one, as in 0.5
    ops.IN: _words_of_set,
    ops.BRANCH: _branch,
    ops.SUBPATTERN: lambda value: _sequence(value[3]),
    ops.ATOMIC_GROUP: _sequence,
    **dict.fromkeys((ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT), _repeat),
    # What matches a place; whether it does is seen at the end.
    **dict.fromkeys((ops.AT, ops.ASSERT, ops.ASSERT_NOT), lambda _: _Words([""])),
}


# --- the fixed parts of an expression that leaves the rest open --------------------------------

_NO_WORD = "Z0"  # that nobody expects
_TAILS = ("", _NO_WORD, f" {_NO_WORD}", f"\n{_NO_WORD}")  # what may follow a beginning
_VERBS = {  # by whether anything may stand before what is fixed, and after it
    (True, True): "contains",
    (False, True): "begins with",
    (True, False): "ends with",
}


@cache
def _by_what_is_fixed(expression: str) -> str:
    """Return how every answer begins or ends, or what it has; "" if that is not known."""
    if len(expression) > _LONGEST:
        return ""
    try:
        nodes, matches = _tree(expression), matcher(expression)
        told, words = _find_fixed_list(nodes, matches) or _find_fixed_part(nodes, matches)
    except (_TooGeneralError, PatternError, UndecidedError, re.error, RecursionError):
        return ""
    any_case = expression.startswith(_ANY_CASE) and _has_letters(words)
    return f"{told} {words}{_EITHER_CASE * any_case}" if told else ""


def _find_fixed_list(
    nodes: Sequence[tuple[Any, Any]], matches: Callable[[str], object]
) -> tuple[str, str] | None:
    """Return the phrase about words in any order, and them: of ``(?=.*A1)(?=.*B2).*`` and such."""
    words = []
    for direction, inner in (value for kind, value in nodes if kind is ops.ASSERT):
        # The one text of a look-ahead such as (?=.*\bA1\b).
        parts = [one for one in inner if one[0] is not ops.AT and not _is_anything(one)]
        found = _sequence(parts)
        if direction < 0 or len(found.texts) != 1 or not found.complete:
            raise _TooGeneralError
        words.append(found.texts[0])
    orders = islice(permutations(words), _MOST)
    if len(words) < 2 or not all(matches(" ".join(order)) for order in orders):
        return None
    listed = " ".join(words)
    has_more = any(map(matches, (f"{listed} {_NO_WORD}", f"{_NO_WORD} {listed}")))
    return f"an answer that contains {_ANY_ORDER}" if has_more else _ANY_ORDER, listed


def _find_fixed_part(
    nodes: Sequence[tuple[Any, Any]], matches: Callable[[str], object]
) -> tuple[str, str]:
    """Return what all answers do, begin, end or contain, and with what: ``.*`` stands beside it.

    Both are "" where that is not known.
    """
    is_open = _is_anything(nodes[0]), _is_anything(nodes[-1])
    inner = nodes[is_open[0] : len(nodes) - is_open[1]]
    found = _sequence(inner)
    texts = list(dict.fromkeys(found.texts))
    before, after = (_TAILS if one else ("",) for one in is_open)
    if (
        is_open not in _VERBS
        or not found.complete
        or not _is_plain(inner)
        or len(texts) > _LISTED
        or any(text != text.strip() or not text for text in texts)
        or not all(
            matches(f"{a}{text}{z}".strip()) for text in texts for a in before for z in after
        )
    ):
        return "", ""
    return f"an answer that {_VERBS[is_open]}", " or ".join(texts)


_PLAIN_KINDS: dict[Any, Callable[[Any], bool]] = {
    ops.LITERAL: lambda _: True,
    ops.IN: lambda _: True,
    ops.BRANCH: lambda value: all(map(_is_plain, value[1])),
    ops.SUBPATTERN: lambda value: _is_plain(value[3]),
}


def _is_plain(nodes: Iterable[tuple[Any, Any]]) -> bool:
    """Whether nodes are characters and choices of them, and ask for nothing around them."""
    return all(kind in _PLAIN_KINDS and _PLAIN_KINDS[kind](value) for kind, value in nodes)


def _is_anything(node: tuple[Any, Any]) -> bool:
    """Whether a node is ``.*``."""
    kind, value = node
    if kind not in (ops.MAX_REPEAT, ops.MIN_REPEAT):
        return False
    least, most, what = value
    if len(what) == 1 and what[0][0] is ops.SUBPATTERN:
        what = what[0][1][3]
    return least == 0 and most is ops.MAXREPEAT and [one for one, _ in what] == [ops.ANY]
