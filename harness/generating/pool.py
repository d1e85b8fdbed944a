"""A pool of positions: of each kind a few, whatever the order in which they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.vocabulary.scenes import Find

DEPTH = 4  # finds of a kind that are kept, each of another game

Cell = tuple[str, int, str]  # feature, size, kind of answer


class Pool:
    """The finds of the lowest ranks in each cell of *features × sizes × kinds of answer*.

    Its size does not depend on the number of games, nor its content on their order: so it can be
    filled in pieces, by several processes, and merged.
    """

    def __init__(self, finds: Iterable[Find] = ()) -> None:
        self._cells: dict[Cell, list[Find]] = {}
        self.add(finds)

    def add(self, finds: Iterable[Find]) -> None:
        """Take the finds that are among the lowest of their cells."""
        for find in finds:
            key = (find.feature, find.moment.size, find.answer)
            kept = self._cells.setdefault(key, [])
            if len(kept) < DEPTH or _order(find) < _order(kept[-1]):
                kept.append(find)
                kept.sort(key=_order)
                _one_of_each_game(kept)
                del kept[DEPTH:]

    def __iter__(self) -> Iterator[Find]:
        """Yield all finds, by cell, the lowest ranks first."""
        for key in sorted(self._cells):
            yield from self._cells[key]

    def __len__(self) -> int:
        return sum(map(len, self._cells.values()))

    @property
    def features(self) -> set[str]:
        """The features that some find has."""
        return {feature for feature, _, _ in self._cells}


def _order(find: Find) -> tuple[int, str]:
    """Return what finds are sorted by; copies of a game in two files have the same rank."""
    return find.rank, find.moment.origin.text


def _one_of_each_game(finds: list[Find]) -> None:
    """Drop all but the first find of each game; made ones have none."""
    seen: set[str] = set()
    for find in list(finds):
        game = find.moment.origin.game
        if game and game in seen:
            finds.remove(find)
        seen.add(game)
