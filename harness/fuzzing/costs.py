"""What commands cost an engine, by name: slow ones are asked rarely. Pure.

A player that thinks for two seconds about a move leaves room for five moves in ten seconds and for
nothing else. So commands that are slow, and may be left out, get a third of the time together.
What is drawn does not depend on it; what is left out of that is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from harness.vocabulary.script import Script, Trace, name_of
from oracle.natures import Natures

_SHARE = 1 / 3  # of all the time, for slow commands together
_SLOW = 0.1  # seconds at its fastest: less than that is asked as often as it is drawn
_TIMES = 5  # as slow as the cheapest question, or else there is nothing better to ask


class Slow(NamedTuple):
    """A command that was asked more rarely than it was drawn."""

    name: str
    seconds: float  # that it takes, on average
    asked: int
    left_out: int


class _Cost:
    """What one command has cost."""

    def __init__(self) -> None:
        self.fastest = float("inf")
        self.seconds = 0.0
        self.asked = 0
        self.left_out = 0

    @property
    def mean(self) -> float:
        return self.seconds / self.asked


class Costs:
    """The costs of the commands that may be left out: questions, and ``genmove``."""

    def __init__(self, natures: Natures) -> None:
        self._of: dict[str, _Cost] = {}
        self._may_be_left_out = _Omissible(natures)

    def note(self, trace: Trace, *, is_first: bool = False) -> None:
        """Take the times of an engine's replies; ``is_first``: it has just been started."""
        answered = list(zip(trace.script.commands, trace.replies, strict=False))
        for command, reply in answered[is_first:]:  # the first waited for the start as well
            name = name_of(command)
            if self._may_be_left_out[name]:
                cost = self._of.setdefault(name, _Cost())
                seconds = reply.seconds
                cost.asked += 1
                cost.seconds += seconds
                cost.fastest = min(cost.fastest, seconds)

    def affordable(self, script: Script, elapsed: float) -> Script:
        """Return a script without the slow commands that there is no time for.

        ``elapsed``: seconds since the beginning. Of what has never been asked there is one of each
        name, for it may be slow.
        """
        slow, names = self._slow(), set(map(name_of, script.commands))
        if not slow and not any(self._is_new(name) for name in names):
            return script
        left = elapsed * _SHARE - sum(cost.seconds for cost in slow.values())
        kept, new = [], set()
        for command in script.commands:
            name = name_of(command)
            if cost := slow.get(name):
                left -= cost.mean
                if left < 0:
                    left += cost.mean
                    cost.left_out += 1
                    continue
            elif self._is_new(name):
                if name in new:
                    continue
                new.add(name)
            kept.append(command)
        return script._replace(commands=tuple(kept))

    def _is_new(self, name: str) -> bool:
        """Whether nobody knows what a command costs that may be left out."""
        return name not in self._of and self._may_be_left_out[name]

    def told(self) -> Iterable[Slow]:
        """Return the commands that were left out, with what they cost."""
        costs = self._of.items()
        return [
            Slow(name, one.mean, one.asked, one.left_out) for name, one in costs if one.left_out
        ]

    def _slow(self) -> dict[str, _Cost]:
        cheapest = min((cost.fastest for cost in self._of.values()), default=0.0)
        least = max(_SLOW, _TIMES * cheapest)
        return {name: cost for name, cost in self._of.items() if cost.fastest >= least}


class _Omissible(dict[str, bool]):
    """Whether what follows can do without a command, as without a move that the engine chooses."""

    def __init__(self, natures: Natures) -> None:
        super().__init__()
        self._natures = natures

    def __missing__(self, name: str) -> bool:
        nature = self._natures[name]
        found = self[name] = nature.chooses or not nature.sets_up
        return found
