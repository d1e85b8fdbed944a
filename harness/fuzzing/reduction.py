"""Making what was found small: pruned for as long as it shows something new."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import hypothesis
from hypothesis import Phase

from harness.fuzzing.reduction_cost import Spending
from harness.fuzzing.script_drawing import DRAW, find
from harness.fuzzing.search import RevealingScript, ScriptSender
from harness.fuzzing.trace_pruning import prune_scripts
from harness.vocabulary.script import Script

_SCRIPTS = 300  # that a round may cost
# What all rounds may cost: a minute has room for them, and for the search before.
_SECONDS = 25.0  # of the processor
_LONGEST = 40.0  # seconds of wall time, on a machine that has other things to do
_ROUNDS = 4
_SHORT = 14  # commands that a reader takes in
_GRAINS = (16, 4, 1)  # commands, stones or lines that are left out together

_SHRINK = hypothesis.settings(DRAW, phases=(Phase.generate, Phase.shrink))


class Reduction:
    """Looks for the shortest script that shows what a longer one does."""

    def __init__(self, asker: ScriptSender, shown: RevealingScript, spending: Spending) -> None:
        self._asker = asker
        self._best = shown
        self._left = _SCRIPTS
        self._spending = spending

    def run(self, seed: int) -> RevealingScript:
        """Return the shortest script that was found."""
        for grain in _GRAINS:
            if grain == 1 or len(self._best.script.commands) > 2 * grain:
                self._prune(grain, seed)
        self._prune(1, seed, moves=True)
        if len(self._best.script.commands) > _SHORT:
            self._leave_out_pairs()
        return self._best

    def _prune(self, grain: int, seed: int, *, moves: bool = False) -> None:
        strategy = prune_scripts(self._best.script, grain, moves=moves)
        find(strategy, self._shows_news, self._asker.causes.judge.cut_to_allowed, _SHRINK, seed)

    def _leave_out_pairs(self) -> None:
        """Leave out two commands at a time: of players in turn, none can be left out alone."""
        while any(map(self._is_shorter, _without_pairs(self._best.script))):
            pass

    def _is_shorter(self, drawn: Script) -> bool:
        """Whether there is a shorter script now, which this one has led to."""
        before = self._best
        if not self._is_over:
            script = self._asker.causes.judge.cut_to_allowed(drawn)
            if script.commands:
                self._shows_news(script)
        return self._best is not before

    @property
    def _is_over(self) -> bool:
        return self._left <= 0 or self._spending.is_over

    def _shows_news(self, script: Script) -> bool:
        if self._is_over:
            return False
        self._left -= 1
        news = self._asker.news(script, fresh=self._best.needs_new)
        self._spending.note(self._asker.recent[-1])
        if news and script.until(news.at).weight < self._best.script.weight:
            self._best = self._best._replace(script=script.until(news.at), difference=news)
        return news is not None


def reduce_script(asker: ScriptSender, shown: RevealingScript, seed: int) -> RevealingScript:
    """Return the shortest script found that shows what a longer one does, in a new process.

    What is still long, although it got shorter, is tried again: that was cut off by a limit.
    """
    spending = Spending(_SECONDS, _LONGEST)
    for again in range(_ROUNDS):
        small = _reduce(asker, shown, seed + again, spending)
        is_short = len(small.script.commands) <= _SHORT
        if is_short or small.script.weight >= shown.script.weight:
            return small
        shown = small
    return shown


def _reduce(
    asker: ScriptSender, shown: RevealingScript, seed: int, spending: Spending
) -> RevealingScript:
    small = Reduction(asker, shown, spending).run(seed)
    if small.needs_new or asker.news(small.script, fresh=True):
        return small
    # What had been said before mattered, after all.
    return Reduction(asker, shown._replace(needs_new=True), spending).run(seed)


def _without_pairs(script: Script) -> Iterator[Script]:
    """Yield a script without two of its commands, the last one being none of them."""
    commands = script.commands
    for one, other in combinations(range(len(commands) - 1), 2):
        kept = (*commands[:one], *commands[one + 1 : other], *commands[other + 1 :])
        yield script._replace(commands=kept)
