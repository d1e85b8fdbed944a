"""Finds the smallest sets of mistakes that together explain what an engine did. Pure.

A set explains a conversation when the mutant that makes all its mistakes does at every command as
the engine did. To try all sets would take hours. What each mistake does alone rules nearly all
out: where the engine was wrong, one of the set must change the answer, and where one alone changes
it, that must be the engine's answer. Only where several change it, the mutant has to be asked.

Source: Reiter, *A theory of diagnosis from first principles*, 1987 (hitting-set trees).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.judging.mutant_replay import MutantBehaviour, Replayer
from oracle.grid import each_bit
from oracle.mistakes import Mistake, can_meet

MOST = 4  # mistakes in a set: real engines have two to four
_PATIENCE = 150_000  # commands that mutants of several mistakes are sent: a second or two
_WIDTH = 3_000  # sets of one size that are looked at
_IN_CONTEXT = 12  # sets of one size to which every mistake is tried to be added

Set = frozenset[Mistake]


class Search:
    """The search in one engine's conversations.

    Attributes: ``reference``, what the reference engine does; ``alone``, what each candidate does.
    """

    def __init__(self, replayer: Replayer, candidates: Iterable[Mistake]) -> None:
        """Replay the commands with each candidate; drop mistakes that change nothing."""
        self._replayer = replayer
        self._every = (1 << replayer.items) - 1
        self.reference: MutantBehaviour = replayer.behaviour()
        alone = {one: replayer.behaviour([one]) for one in candidates}
        self._together: set[Set] = set()  # sets that explain more than their mistakes do alone
        self.alone = {one: found for one, found in alone.items() if found.changed}
        self._patience = replayer.steps + _PATIENCE
        self._changers: dict[int, list[Mistake]] = {}

    @property
    def wrong(self) -> int:
        """Where the engine did not as the reference engine does, as bits."""
        return self._every & ~self.reference.agreed

    def smallest(self) -> list[Set]:
        """Return all the smallest sets that explain everything.

        None if none was found, or not all of them in time: then others may be as good.
        """
        level: list[Set] = [frozenset()]
        for size in range(MOST + 1):
            unexplained = {one: self._find_unexplained(one) for one in level}
            found = [one for one, places in unexplained.items() if not places]
            if found or self._is_exhausted:
                return [] if self._is_exhausted else found
            level = self._next(unexplained) if size < MOST else []
        return []

    @property
    def _is_exhausted(self) -> bool:
        return self._replayer.steps > self._patience

    def _next(self, unexplained: dict[Set, int]) -> list[Set]:
        """Return the sets with one more mistake, the likeliest first."""
        found: set[Set] = set()
        for one, places in unexplained.items():
            found.update(self._by_change(one, places))
        for one in list(unexplained)[:_IN_CONTEXT]:
            together = set(self._in_context(one))
            self._together |= together
            found |= together
        return sorted(found, key=self._likelihood)[:_WIDTH]

    def most(self, failed: int) -> list[Set]:
        """Return the single mistakes that explain the most failures, at least three quarters.

        ``failed``: the failures, as bits. None where mistakes explain as many, but not the same.
        """
        told = {one: self._find_explained(one) & failed for one in self.alone}
        fit = {one: found for one, found in told.items() if self._fits(one, failed & ~found)}
        most = max((found.bit_count() for found in fit.values()), default=0)
        best = [one for one, found in fit.items() if found.bit_count() == most]
        if 4 * most < 3 * failed.bit_count() or len({fit[one] for one in best}) > 1:
            return []
        return [frozenset([one]) for one in best]

    def _find_explained(self, mistake: Mistake) -> int:
        """Return where the engine was wrong and so is a mistake, in the same way."""
        alone = self.alone[mistake]
        return self.wrong & alone.changed & alone.agreed

    def _fits(self, mistake: Mistake, left: int) -> bool:
        """Whether a mistake does as the engine did, and is right where failures are ``left``."""
        alone = self.alone[mistake]
        return not (self._every & ~left & ~alone.agreed or left & alone.changed)

    def _once(self, chosen: Iterable[Mistake]) -> int:
        """Return where exactly one of some mistakes changes the answer."""
        once = twice = 0
        for one in chosen:
            twice |= once & self.alone[one].changed
            once |= self.alone[one].changed
        return once & ~twice

    def _find_changed(self, chosen: Set) -> int:
        changed = 0
        for one in chosen:
            changed |= self.alone[one].changed
        return changed

    def _find_unexplained(self, chosen: Set) -> int:
        """Return where a set does not explain what the engine did, as bits; not all such."""
        settled = self._find_settled_wrong(chosen)
        if settled and chosen not in self._together:
            return settled
        return self._every if self._is_exhausted else self._replayer.find_disagreement(chosen)

    def _find_settled_wrong(self, chosen: Set) -> int:
        """Return the same as far as single mistakes tell: where at most one changes the answer."""
        agreed = 0
        for one in chosen:
            agreed |= self.alone[one].changed & self.alone[one].agreed
        return (self.wrong & ~self._find_changed(chosen)) | (self._once(chosen) & ~agreed)

    def _by_change(self, chosen: Set, unexplained: int) -> Iterator[Set]:
        """Yield the set with one more that, alone, changes an answer it does not explain yet.

        Of the unexplained answers that is the one which fewest mistakes change.
        """
        changing: list[list[Mistake]] = [self._changing(bit) for bit in each_bit(unexplained)]
        fewest: list[Mistake] = min(changing, key=len) if changing else []
        return self._join(chosen, fewest)

    def _changing(self, bit: int) -> list[Mistake]:
        """Return the mistakes that, alone, change one answer."""
        if bit not in self._changers:
            found = [one for one, alone in self.alone.items() if alone.changed & bit]
            self._changers[bit] = found
        return self._changers[bit]

    def _in_context(self, chosen: Set) -> Iterator[Set]:
        """Yield the set with one more that, beside the others, explains the first such answer.

        So mistakes are found that show only together: one writes a draw wrong, and only another
        one makes a draw.
        """
        if not chosen or self._is_exhausted:
            return
        first = next(each_bit(self._replayer.find_disagreement(chosen)), 0)
        for more in self._join(chosen, self.alone):
            if first and self._replayer.agrees_at(more, first):
                yield more

    def _join(self, chosen: Set, others: Iterable[Mistake]) -> Iterator[Set]:
        """Yield the set with each of some others that it can meet in one engine."""
        for one in others:
            if one not in chosen and can_meet([*chosen, one]):
                yield chosen | {one}

    def _likelihood(self, chosen: Set) -> tuple[bool, int, list[str]]:
        """Sort by what is left unexplained; among equals always in the same order."""
        left = self._find_settled_wrong(chosen).bit_count()
        return chosen not in self._together, left, sorted(one.name for one in chosen)
