"""The cost of an engine's commands, by name and board size: slow ones are asked rarely. Pure.

A player that thinks for two seconds about a move leaves room for five moves in ten seconds and for
nothing else. A policy that tries every point on a copy of the board takes milliseconds on 7 by 7
and seconds on 19 by 19. So commands that are slow on a board of some size, and may be left out,
get a third of the time together. The draws do not depend on it; the commands left out are counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.vocabulary.script import Script, Trace, name_of
from oracle.natures import SIZE, Natures

_SHARE = 1 / 3  # of all the time, for slow commands together
_SLOW = 0.1  # seconds as a rule: less than that is asked as often as it is drawn
_REMEMBERED = 20_000  # commands
_TIMES = 5  # as slow as the cheapest question, or else there is nothing better to ask


class Slow(NamedTuple):
    """A command that was asked more rarely than it was drawn."""

    name: str
    seconds: float  # that it takes, on average, on the boards where it is slow
    asked: int
    left_out: int


class _Cost:
    """What one command has cost on boards of one size."""

    def __init__(self, boards: Mapping[str, _Cost]) -> None:
        """``boards``: the costs of the same command, by what began the board."""
        self.boards = boards
        self.longest = 0.0
        self.seconds = 0.0
        self.squares = 0.0  # of the seconds, added up
        self.asked = 0
        self.left_out = 0

    @property
    def mean(self) -> float:
        return self.seconds / self.asked

    @property
    def usual(self) -> float:
        """What it takes where its time goes, without the longest time, which may be the machine's.

        A mean weighted by time: many quick answers, as after the end of a game, do not make
        something fast that thinks for seconds otherwise.
        """
        rest = self.seconds - self.longest
        return (self.squares - self.longest**2) / rest if rest > 0 else self.seconds

    def note(self, seconds: float) -> None:
        """Take what it has cost once more."""
        self.asked += 1
        self.seconds += seconds
        self.squares += seconds**2
        self.longest = max(self.longest, seconds)


class Costs:
    """The costs of the commands that may be left out: questions, and ``genmove``."""

    def __init__(self, natures: Natures) -> None:
        self._of: dict[str, dict[str, _Cost]] = {}  # by name, and by what began the board
        self._may_be_left_out = _Omissible(natures)
        self._begins = _Begins(natures)
        self._by_command: dict[tuple[str, str], _Cost | None] = {}  # because many recur

    def note(self, trace: Trace, *, is_first: bool = False) -> None:
        """Take the times of an engine's replies; ``is_first``: it has just been started."""
        answered = zip(self._costs_of(trace.script.commands), trace.replies, strict=False)
        for index, (cost, reply) in enumerate(answered):
            if cost and (index or not is_first):  # the first waited for the start as well
                cost.note(reply.seconds)

    def _costs_of(self, commands: Sequence[str]) -> Iterator[_Cost | None]:
        """Yield what each command has cost so far; None for what cannot be left out."""
        board, known, begins = "", self._by_command, self._begins
        for command in commands:
            board = begins[command] or board
            key = command, board
            if key in known:
                yield known[key]
                continue
            name = name_of(command)
            cost = None
            if self._may_be_left_out[name]:
                cost = self._cost(name, board)
            if len(known) < _REMEMBERED:
                known[key] = cost
            yield cost

    def _cost(self, name: str, board: str) -> _Cost:
        boards = self._of.setdefault(name, {})
        return boards.setdefault(board, _Cost(boards))

    def affordable(self, scripts: Sequence[Script], elapsed: float) -> list[Script]:
        """Return scripts that are sent together, without the slow commands that take too long.

        ``elapsed``: seconds since the beginning. Of what has never been asked there is one of each
        name and board size, for it may be slow.
        """
        slow, new = self._slow(), set[_Cost]()
        left = elapsed * _SHARE - sum(cost.seconds for cost in slow)

        def keeps(cost: _Cost | None) -> bool:
            nonlocal left
            if cost is None:
                return True
            if seconds := _seconds(cost, slow):
                if left < seconds:
                    cost.left_out += 1
                    return False
                left -= seconds
                return True
            is_again = cost in new
            if not cost.asked:
                new.add(cost)
            return not is_again

        found = []
        for one in scripts:
            costs = list(self._costs_of(one.commands))
            if not slow and all(cost is None or cost.asked for cost in costs):
                found.append(one)  # as nearly always
                continue
            kept = [
                command for command, cost in zip(one.commands, costs, strict=True) if keeps(cost)
            ]
            found.append(one._replace(commands=tuple(kept)))
        return found

    def count_asked(self) -> dict[str, int]:
        """Return how often each command was asked that may be left out."""
        return {
            name: sum(cost.asked for cost in boards.values()) for name, boards in self._of.items()
        }

    def list_slow(self) -> list[Slow]:
        """Return the commands that were left out, with what they cost where they were."""
        slow = self._slow()
        of_name = {
            name: [cost for cost in boards.values() if cost.left_out or cost in slow]
            for name, boards in self._of.items()
        }
        found = (_sum(name, costs) for name, costs in of_name.items() if costs)
        return [one for one in found if one.left_out]

    def _slow(self) -> set[_Cost]:
        every = (cost for boards in self._of.values() for cost in boards.values())
        asked = [cost for cost in every if cost.asked]
        least = max(_SLOW, _TIMES * min((cost.usual for cost in asked), default=0.0))
        return {cost for cost in asked if cost.usual >= least}


def _seconds(cost: _Cost, slow: Collection[_Cost]) -> float:
    """Return what a slow command takes; one that is slow wherever it was asked is so elsewhere."""
    asked = [cost] if cost.asked else [one for one in cost.boards.values() if one.asked]
    if not asked or not all(one in slow for one in asked):
        return 0.0
    return sum(one.mean for one in asked) / len(asked)


def _sum(name: str, costs: Sequence[_Cost]) -> Slow:
    asked = sum(one.asked for one in costs)
    seconds = sum(one.seconds for one in costs) / max(1, asked)
    return Slow(name, seconds, asked, sum(one.left_out for one in costs))


class _Begins(dict[str, str]):
    """What begins a board whose size a command says, by whole commands: itself; "" for others."""

    def __init__(self, natures: Natures) -> None:
        super().__init__()
        self._natures = natures

    def __missing__(self, command: str) -> str:
        nature = self._natures[name_of(command)]
        found = command if SIZE in nature.sets and not nature.names_file else ""
        if len(self) < _REMEMBERED:
            self[command] = found
        return found


class _Omissible(dict[str, bool]):
    """Whether what follows can do without a command, as without a move that the engine chooses."""

    def __init__(self, natures: Natures) -> None:
        super().__init__()
        self._natures = natures

    def __missing__(self, name: str) -> bool:
        nature = self._natures[name]
        found = self[name] = nature.chooses or not nature.sets_up
        return found
