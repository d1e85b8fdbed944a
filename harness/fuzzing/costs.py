"""The cost of an engine's commands, by name: slow ones are asked rarely. Pure.

A player that thinks for two seconds about a move leaves room for five moves in ten seconds and for
nothing else. So commands that are slow, and may be left out, get a third of the time together.
The draws do not depend on it; the commands left out are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from harness.vocabulary.script import Script, Trace, name_of
from oracle.natures import Natures

_SHARE = 1 / 3  # of all the time, for slow commands together
_SLOW = 0.1  # seconds at its fastest: less than that is asked as often as it is drawn
_REMEMBERED = 20_000  # commands
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

    def note(self, seconds: float) -> None:
        """Take what it has cost once more."""
        self.asked += 1
        self.seconds += seconds
        self.fastest = min(self.fastest, seconds)


class _ByCommand(dict[str, _Cost | None]):
    """Costs by whole commands, because many recur; None for those that cannot be left out."""

    def __init__(self, cost: Callable[[str], _Cost | None]) -> None:
        super().__init__()
        self._cost = cost

    def __missing__(self, command: str) -> _Cost | None:
        found = self._cost(command)
        if len(self) < _REMEMBERED:
            self[command] = found
        return found


class Costs:
    """The costs of the commands that may be left out: questions, and ``genmove``."""

    def __init__(self, natures: Natures) -> None:
        self._of: dict[str, _Cost] = {}
        self._may_be_left_out = _Omissible(natures)
        self._costs = _ByCommand(self._cost)
        self._known: set[str] = set()  # commands whose cost is known or does not matter

    def note(self, trace: Trace, *, is_first: bool = False) -> None:
        """Take the times of an engine's replies; ``is_first``: it has just been started."""
        costs, first = self._costs, int(is_first)  # the first waited for the start as well
        for command, reply in zip(
            trace.script.commands[first:], trace.replies[first:], strict=False
        ):
            if cost := costs[command]:
                cost.note(reply.seconds)

    def _cost(self, command: str) -> _Cost | None:
        """Return what a command has cost so far; None if it cannot be left out."""
        name = name_of(command)
        return self._of.setdefault(name, _Cost()) if self._may_be_left_out[name] else None

    def affordable(self, script: Script, elapsed: float) -> Script:
        """Return a script without the slow commands for which no time is left.

        ``elapsed``: seconds since the beginning. Of what has never been asked there is one of each
        name, for it may be slow.
        """
        slow = self._slow()
        if not slow and self._are_known(script.commands):
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

    def _are_known(self, commands: Sequence[str]) -> bool:
        """Whether all commands are known."""
        unknown = set(commands) - self._known
        if any(self._is_new(name_of(command)) for command in unknown):
            return False
        if len(self._known) < _REMEMBERED:
            self._known |= unknown
        return True

    def _is_new(self, name: str) -> bool:
        """Whether nobody knows what a command costs that may be left out."""
        return name not in self._of and self._may_be_left_out[name]

    def list_slow(self) -> Iterable[Slow]:
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
