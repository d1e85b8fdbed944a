"""Looking for a difference, and making it small: Hypothesis does both."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from pathlib import Path
from random import Random

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis.errors import Flaky, NoSuchExample
from hypothesis.strategies import SearchStrategy

from harness.fuzzing.causes import Causes, explains, heard_from
from harness.fuzzing.engines import Program
from harness.fuzzing.judging import Difference
from harness.fuzzing.pruning import pruned
from harness.fuzzing.script import Script, Trace, joined, legal
from oracle.mistakes import Mistake

BATCH = 100  # examples of one call of Hypothesis: each begins with the smallest and grows
# What it may cost to make a script small.
_SHRINK_SCRIPTS = 300
_SHRINK_SECONDS = 10.0
_GRAINS = (16, 4, 1)  # commands, stones or lines that are left out together
_OLDEST = 64  # scripts that one process is sent; the first processes get fewer
_REMEMBERED = 60  # traces, by which mistakes that look alike are told apart

# What takes back the settings of the script before, in a process that goes on.
_RESET = {
    "gomoku-policy": ("policy random",),
    "gosensei": ("clear_board",),
    "java-go": ("boardsize 11",),
}

_DRAW = hypothesis.settings(
    max_examples=BATCH,
    database=None,  # nothing is left on the disk, and a seed is all that matters
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
_SHRINK = hypothesis.settings(_DRAW, phases=(Phase.generate, Phase.shrink))
_DRAW_MORE = hypothesis.settings(_DRAW, max_examples=4 * BATCH)


def telling_apart(
    one: Mistake, other: Mistake, strategy: SearchStrategy[Script], folder: Path
) -> Script | None:
    """Return a script that two mistakes answer differently, if one is drawn soon."""

    def differs(drawn: Script) -> bool:
        script = legal(drawn, one.assignment, folder)
        return not explains(other, heard_from(one, script, folder), folder)

    with contextlib.suppress(NoSuchExample):
        drawn = hypothesis.find(strategy, differs, settings=_DRAW_MORE, random=Random(0))
        return legal(drawn, one.assignment, folder)
    return None


class Budget:
    """How long to look: seconds and examples; 0 is no limit."""

    def __init__(self, seconds: float, examples: int) -> None:
        self.began = time.monotonic()
        self.ends = self.began + (seconds or float("inf"))
        self.most = examples or float("inf")
        self.examples = 0
        self.commands = 0

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be tried."""
        return self.examples >= self.most or time.monotonic() >= self.ends

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self.began


class Asker:
    """Sends scripts to one process for as long as that is sound, and to a new one then."""

    def __init__(self, program: Program, assignment: str) -> None:
        self._program = program
        self._reset = _RESET.get(assignment, ())
        self._life = 1  # scripts that the process will be sent at most
        self.sent: list[Script] = []  # to the process, since it was started
        self.recent: deque[Trace] = deque(maxlen=_REMEMBERED)

    def ask(self, script: Script, *, fresh: bool = False) -> Trace:
        """Return an engine's answers; ``fresh``: those of a new one."""
        if fresh or len(self.sent) >= self._life:
            self._renew()
        reset = self._reset if self.sent else ()
        said = script._replace(commands=(*reset, *script.commands))
        trace = self._program.answer(said)
        self.sent.append(said)
        if trace.failure:
            self.sent.clear()  # the process has ended
        if len(trace.replies) < len(reset):
            return self.ask(script, fresh=True)
        replies = trace.replies[len(reset) :]
        broken = trace.failure and trace.failure._replace(step=len(replies))
        self.recent.append(Trace(script, replies, broken))
        return self.recent[-1]

    def _renew(self) -> None:
        self._program.renew()
        self.sent.clear()
        self._life = min(2 * self._life, _OLDEST)


class Hunt:
    """Draws scripts until one shows something new, and makes that small."""

    def __init__(self, asker: Asker, causes: Causes, budget: Budget) -> None:
        self._asker = asker
        self._causes = causes
        self._budget = budget
        self._seen: dict[Script, bool] = {}
        self._is_new = False  # whether to ask a new process each time
        self._left = 0  # scripts that shrinking may still send
        self._ends = 0.0
        self.unconfirmed = 0  # differences that no new process showed
        self.best: tuple[Script, Difference] | None = None

    def run(self, strategy: SearchStrategy[Script], seed: int) -> None:
        """Leave the shortest script that shows something new, if there is one, in ``best``."""
        self._find(strategy, seed, _DRAW)
        if self.best:
            found = self.best
            self._shrink(seed)
            if not self._is_new and self._news(self.best[0], fresh=True) is None:
                self._is_new, self.best = True, found  # what had been said before mattered
                self._shrink(seed)

    def _find(
        self, strategy: SearchStrategy[Script], seed: int, settings: hypothesis.settings
    ) -> None:
        # Of an engine that answers now so, now so, the best is what it showed once.
        with contextlib.suppress(NoSuchExample, Flaky):
            hypothesis.find(strategy, self._shows_news, settings=settings, random=Random(seed))

    def _shrink(self, seed: int) -> None:
        assert self.best
        self._seen.clear()
        self._left, self._ends = _SHRINK_SCRIPTS, time.monotonic() + _SHRINK_SECONDS
        for grain in _GRAINS:
            if grain == 1 or len(self.best[0].commands) > 2 * grain:
                self._find(pruned(self.best[0], grain), seed, _SHRINK)
        self._find(pruned(self.best[0], moves=True), seed, _SHRINK)

    def _shows_news(self, drawn: Script) -> bool:
        if drawn not in self._seen:
            script = legal(drawn, self._causes.assignment, self._causes.folder)
            if script not in self._seen:
                if self._is_over():
                    return False
                shows = self._is_smaller if self.best else self._is_first
                self._seen[script] = bool(script.commands) and shows(script)
            self._seen[drawn] = self._seen[script]
        return self._seen[drawn]

    def _is_over(self) -> bool:
        if self.best is None:
            return self._budget.is_over
        return self._left <= 0 or time.monotonic() >= self._ends

    def _is_first(self, script: Script) -> bool:
        """Whether a script shows news that a new process shows, too."""
        self._budget.examples += 1
        news = self._news(script)
        if news is None:
            return False
        said = list(self._asker.sent)
        self.best = self._alone(script) or self._with_more(said)
        self.unconfirmed += self.best is None
        return self.best is not None

    def _alone(self, script: Script) -> tuple[Script, Difference] | None:
        """Return the script if a new process that hears nothing else shows its news."""
        news = self._news(script, fresh=True)
        if news is None:
            return None
        # What an engine does only before it has heard something else, is looked for so.
        self._is_new = self._news(script) is None
        return script.until(news.at), news

    def _with_more(self, said: list[Script]) -> tuple[Script, Difference] | None:
        """Return the end of a conversation that shows the news: what was said before matters."""
        self._is_new = True
        for count in (2, 4, 8, 16, 32, 64):
            script = joined(said[-count:])
            if news := self._news(script, fresh=True):
                return script.until(news.at), news
            if count >= len(said):
                break
        return None

    def _is_smaller(self, script: Script) -> bool:
        self._left -= 1
        news = self._news(script, fresh=self._is_new)
        if news and self.best and script.until(news.at).weight < self.best[0].weight:
            self.best = script.until(news.at), news
        return news is not None

    def _news(self, script: Script, *, fresh: bool = False) -> Difference | None:
        trace = self._asker.ask(script, fresh=fresh)
        self._budget.commands += len(trace.replies)
        return self._causes.news(trace)
