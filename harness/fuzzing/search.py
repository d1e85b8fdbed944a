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
from harness.fuzzing.drawing import pruned
from harness.fuzzing.engines import Program
from harness.fuzzing.judging import Difference
from harness.fuzzing.script import Script, Trace, legal
from oracle.mistakes import Mistake

BATCH = 100  # examples of one call of Hypothesis: each begins with the smallest and grows
# What it may cost to make a script small, first as it was drawn and then as it is.
_SHRINK_SCRIPTS = 300
_SHRINK_SECONDS = 10.0
_OLDEST = 64  # scripts that one process is sent; the first processes get fewer
_REMEMBERED = 60  # traces, by which mistakes that look alike are told apart

# What takes back the settings of the script before, in a process that goes on.
_RESET = {"gomoku-policy": ("policy random",), "gosensei": ("clear_board",)}

_SETTINGS = hypothesis.settings(
    max_examples=BATCH,
    database=None,  # nothing is left on the disk, and a seed is all that matters
    deadline=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


_ONLY_DRAW = hypothesis.settings(_SETTINGS, phases=(Phase.generate,), max_examples=4 * BATCH)


def telling_apart(
    one: Mistake, other: Mistake, strategy: SearchStrategy[Script], folder: Path
) -> Script | None:
    """Return a script that two mistakes answer differently, if one is drawn soon."""

    def differs(drawn: Script) -> bool:
        script = legal(drawn, one.assignment, folder)
        return not explains(other, heard_from(one, script, folder), folder)

    with contextlib.suppress(NoSuchExample):
        drawn = hypothesis.find(strategy, differs, settings=_ONLY_DRAW, random=Random(0))
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
        self._age = 0  # scripts that the process was sent
        self._life = 1  # scripts that it will be sent at most
        self.recent: deque[Trace] = deque(maxlen=_REMEMBERED)

    def ask(self, script: Script, *, fresh: bool = False) -> Trace:
        """Return an engine's answers; ``fresh``: those of a new one."""
        if fresh or self._age >= self._life:
            self._renew()
        reset = self._reset if self._age else ()
        trace = self._program.answer(script._replace(commands=(*reset, *script.commands)))
        self._age = 0 if trace.failure else self._age + 1
        if len(trace.replies) < len(reset):
            return self.ask(script, fresh=True)
        replies = trace.replies[len(reset) :]
        broken = trace.failure and trace.failure._replace(step=len(replies))
        self.recent.append(Trace(script, replies, broken))
        return self.recent[-1]

    def _renew(self) -> None:
        self._program.renew()
        self._age = 0
        self._life = min(2 * self._life, _OLDEST)


class Hunt:
    """One call of Hypothesis: draws scripts until one shows something new, and shrinks that."""

    def __init__(
        self, asker: Asker, causes: Causes, budget: Budget, *, is_careful: bool = False
    ) -> None:
        """Begin; ``is_careful``: believe nothing that a new process does not show, too."""
        self._asker = asker
        self._causes = causes
        self._budget = budget
        self._is_careful = is_careful
        self._seen: dict[Script, bool] = {}
        self._needs_new = False  # the difference shows in new processes alone
        self._left = 0  # scripts that shrinking may still send
        self._ends = 0.0
        self.best: tuple[Script, Difference] | None = None

    def run(self, strategy: SearchStrategy[Script], seed: int) -> None:
        """Leave the shortest script that shows something new, if there is one, in ``best``."""
        self._find(strategy, seed)
        if self.best:
            self._begin_to_shrink()
            self._find(pruned(self.best[0]), seed)

    def _find(self, strategy: SearchStrategy[Script], seed: int) -> None:
        # Of an engine that answers now so, now so, the best is what it showed once.
        with contextlib.suppress(NoSuchExample, Flaky):
            hypothesis.find(strategy, self._shows_news, settings=_SETTINGS, random=Random(seed))

    def _shows_news(self, drawn: Script) -> bool:
        script = legal(drawn, self._causes.assignment, self._causes.folder)
        if script not in self._seen:
            if self._is_over():
                return False
            self._seen[script] = bool(script.commands) and self._differs(script)
        return self._seen[script]

    def _is_over(self) -> bool:
        if self.best is None:
            return self._budget.is_over
        return self._left <= 0 or time.monotonic() >= self._ends

    def _begin_to_shrink(self) -> None:
        self._left = _SHRINK_SCRIPTS
        self._ends = time.monotonic() + _SHRINK_SECONDS

    def _differs(self, script: Script) -> bool:
        if self.best is None:
            self._budget.examples += 1
        else:
            self._left -= 1
        news = self._news(script, fresh=self._needs_new)
        if news and self._is_careful and not self._needs_new:
            news = self._news(script, fresh=True)
        if news:
            self._keep(script.until(news.at), news)
        return news is not None

    def _news(self, script: Script, *, fresh: bool = False) -> Difference | None:
        trace = self._asker.ask(script, fresh=fresh)
        self._budget.commands += len(trace.replies)
        return self._causes.news(trace)

    def _keep(self, script: Script, news: Difference) -> None:
        if self.best is None:
            self._begin_to_shrink()
            # What an engine does only before it has heard something else, is looked for so.
            self._needs_new = self._is_careful or self._news(script) is None
        if self.best is None or script.weight < self.best[0].weight:
            self.best = script, news
