"""The most time that a regular expression may take, whatever the text. Pure.

An expression is tried in every way in which its parts can match, one way after the other. How many
ways there are is bounded by the tree of the expression and the length of the text: a repetition of
something that matches in one way only can end after each character, of something that matches in
several ways the number grows with each round. What is bounded here by a number of steps takes no
more of them; what is not, may still take few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from re import _constants as ops  # type: ignore[attr-defined, unused-ignore]
from re import _parser  # type: ignore[attr-defined, unused-ignore]

from harness.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Nodes = Iterable[tuple[Any, Any]]

MOST = 1 << 21  # steps, which take a tenth of a second or two
_SHORTEST = 64  # characters: texts that are shorter are not told apart


class Effort(NamedTuple):
    """Bounds of what a part of an expression does from one place of a text."""

    ways: int  # in which it can match
    steps: int  # to try them all


class Bound:
    """Tells for which lengths of texts an expression takes few steps, each length worked out once.

    ``anywhere``: it is searched, from each place of a text.
    """

    def __init__(self, expression: str, flags: int, *, anywhere: bool) -> None:
        """Take an expression as Python's :mod:`re` reads it with some flags."""
        self._nodes = list(_parser.parse(expression, flags))
        self._anywhere = anywhere
        self._few = -1  # the longest length that is known to take few steps
        self._many: float = float("inf")  # the shortest length that is known not to

    def allows(self, length: int) -> bool:
        """Whether a text of so many characters takes few steps for certain."""
        if length <= self._few:
            return True
        if length >= self._many:
            return False
        for longer in (max(_SHORTEST, 1 << length.bit_length()), length):
            if self._steps(longer) <= MOST:
                self._few = longer
                return True
            self._many = min(self._many, longer)
        return False

    def _steps(self, length: int) -> int:
        steps = _sequence(self._nodes, length).steps
        return steps * (length + 1) if self._anywhere else steps


@lru_cache(1024)
def find_bound(expression: str, flags: int, *, anywhere: bool) -> Bound:
    """Return the bound of an expression, the same each time: it remembers what was worked out."""
    return Bound(expression, flags, anywhere=anywhere)


def _sequence(nodes: Nodes, length: int) -> Effort:
    """Return the effort of parts one after the other: the second is tried after each way."""
    ways, steps = 1, 1
    for kind, value in nodes:
        own = _node(kind, value, length)
        steps = min(steps + ways * own.steps, MOST + 1)
        ways = min(ways * own.ways, MOST + 1)
    return Effort(ways, steps)


def _node(kind: Any, value: Any, length: int) -> Effort:
    reader = _KINDS.get(kind)
    return reader(value, length) if reader else _ONE


def _branch(value: tuple[Any, list[Nodes]], length: int) -> Effort:
    return _either([_sequence(one, length) for one in value[1]])


def _either(choices: list[Effort]) -> Effort:
    return Effort(sum(one.ways for one in choices), sum(one.steps + 1 for one in choices))


def _repeat(value: tuple[int, int, Nodes], length: int) -> Effort:
    """Return the effort of all numbers of rounds; one that matches nothing is the last."""
    least, most, nodes = value
    once = _sequence(nodes, length)
    rounds = min(int(most), max(least, length) + 1)
    if once.ways == 1:
        return Effort(rounds + 1, min(rounds * once.steps + 1, MOST + 1))
    ways, ends, tried = 1, 1, 0  # ends: ways of the rounds so far
    for _ in range(rounds):
        tried += ends
        if tried > MOST:
            break
        ends = min(ends * once.ways, MOST + 1)
        ways += ends
    return Effort(min(ways, MOST + 1), min(tried * once.steps + 1, MOST + 1))


def _within(effort: Effort) -> Effort:
    """Return the effort of what is not entered again once it has matched."""
    return Effort(1, effort.steps)


_ONE = Effort(1, 1)
_KINDS: dict[Any, Callable[[Any, int], Effort]] = {
    ops.BRANCH: _branch,
    ops.IN: lambda value, _: Effort(1, len(value)),
    ops.SUBPATTERN: lambda value, length: _sequence(value[3], length),
    ops.MAX_REPEAT: _repeat,
    ops.MIN_REPEAT: _repeat,
    ops.POSSESSIVE_REPEAT: lambda value, length: _within(_repeat(value, length)),
    ops.ATOMIC_GROUP: lambda value, length: _within(_sequence(value, length)),
    ops.ASSERT: lambda value, length: _within(_sequence(value[1], length)),
    ops.ASSERT_NOT: lambda value, length: _within(_sequence(value[1], length)),
    ops.GROUPREF: lambda _, length: Effort(1, length + 1),
    ops.GROUPREF_EXISTS: lambda value, length: _either(
        [_sequence(one or (), length) for one in value[1:]]
    ),
}
