"""After which moves of a game its positions are looked at."""

from __future__ import annotations

import re
from typing import NamedTuple

from harness.errors import UsageError
from harness.generating.choices import Choices
from harness.vocabulary.scenes import Played

_PART = re.compile(r"(\d{1,4})(?:-(\d{1,4})(?:/(\d{1,4}))?)?")
_EVENTS, _QUIET, _LATE = 3, 1, 5  # moments of a game where nothing else was asked for


class Moves(NamedTuple):
    """The moves that ``--moves`` names; ``numbers`` is empty where something must happen."""

    numbers: frozenset[int] = frozenset()
    end: bool = True

    def of(self, played: Played, choices: Choices) -> list[int]:
        """Return after which moves to look at a game."""
        last = len(played.moves)
        if self.numbers or not self.end:
            found = {number for number in self.numbers if number <= last}
            return sorted(found | {last} if self.end else found)
        return _eventful(played, choices)


def _eventful(played: Played, choices: Choices) -> list[int]:
    """Return the end, where stones were taken, and a few others."""
    last, game = len(played.moves), played.origin.game
    if not last:
        return [0]  # a position that was set up
    found = {last, *(1 + choices.rank(game, turn) % last for turn in range(_QUIET))}
    if played.kind == "gomoku":
        return sorted(found | set(range(max(1, last - _LATE), last)))
    takes = _captures(played)
    largest = sorted(takes, key=lambda number: (-takes[number], choices.rank(game, number)))
    some = sorted(takes, key=lambda number: choices.rank(game, number))
    return sorted(found | set(largest[:1]) | set(some[: _EVENTS - 1]))


def _captures(played: Played) -> dict[int, int]:
    """Return how many stones each move took that took any."""
    sizes = [(board[0] | board[1]).bit_count() for board in played.boards]
    steps = zip(sizes, sizes[1:], played.moves, strict=False)
    return {
        number: before + 1 - after
        for number, (before, after, (_, move)) in enumerate(steps, 1)
        if move and after <= before
    }


def parse(text: str) -> Moves:
    """Return what ``--moves`` says: numbers, ranges (``20-60/10``: every tenth) and ``end``.

    Raises :class:`UsageError` for anything else.
    """
    numbers: set[int] = set()
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        match = _PART.fullmatch(part)
        if match:
            first, last, step = (int(number) if number else 0 for number in match.groups())
            numbers |= set(range(first, (last or first) + 1, step or 1))
        elif part != "end":
            raise UsageError(f"--moves: found {part!r}, expected such as 10, 20-60/10 or end")
    return Moves(frozenset(numbers), "end" in parts)
