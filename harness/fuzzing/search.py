"""Looking for a difference: Hypothesis draws, the engine is asked, the oracle compares."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable
from random import Random
from typing import NamedTuple

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis.errors import Flaky, NoSuchExample
from hypothesis.strategies import SearchStrategy

from harness.fuzzing.causes import Causes
from harness.fuzzing.costs import Costs
from harness.fuzzing.drawing import legal
from harness.fuzzing.engines import Program
from harness.fuzzing.judging import HANG, Difference
from harness.vocabulary.script import Script, Trace, joined

_BATCH = 100  # examples of one call of Hypothesis: each begins with the smallest and grows
_OLDEST = 64  # scripts that one process is sent; the first processes get fewer
_SLOW = 0.2  # seconds: what was silent for longer than that before it answered did not hang
_REMEMBERED = 60  # traces, by which mistakes that look alike are told apart

DRAW = hypothesis.settings(
    max_examples=_BATCH,
    database=None,  # nothing is left on the disk, and a seed is all that matters
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


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


def find(
    strategy: SearchStrategy[Script],
    shows: Callable[[Script], bool],
    causes: Causes,
    settings: hypothesis.settings,
    seed: int,
) -> Script | None:
    """Draw scripts, made legal, until one shows something, and simpler ones if so set.

    ``shows``: is asked about each script once. Returns the last that shows it, if there is one; of
    an engine that answers differently each time, None, and ``shows`` has to remember what it saw.
    """
    seen: dict[Script, bool] = {}

    def is_wanted(drawn: Script) -> bool:
        if drawn not in seen:
            script = legal(drawn, causes.specification, causes.folder)
            if script not in seen:
                seen[script] = bool(script.commands) and shows(script)
            seen[drawn] = seen[script]
        return seen[drawn]

    with contextlib.suppress(NoSuchExample, Flaky):
        found = hypothesis.find(strategy, is_wanted, settings=settings, random=Random(seed))
        return legal(found, causes.specification, causes.folder)
    return None


class Asker:
    """Sends scripts to one process for as long as that is sound, and to a new one then."""

    def __init__(self, program: Program, causes: Causes, budget: Budget) -> None:
        self.causes = causes
        self.budget = budget
        self.sent: list[Script] = []  # to the process, since it was started
        self.has_ended = False  # the process, over the last script
        self.costs = Costs(causes.specification.commands)
        self.recent: deque[Trace] = deque(maxlen=_REMEMBERED)
        self._program = program
        self._reset = causes.specification.reset
        self._life = 1  # scripts that the process will be sent at most

    def news(self, script: Script, *, fresh: bool = False) -> Difference | None:
        """Return what is wrong and new in an engine's answers; ``fresh``: those of a new one."""
        trace = self._answers(script, fresh=fresh)
        self.budget.commands += len(trace.replies)
        self.recent.append(trace)
        return self.causes.news(trace)

    def _answers(self, script: Script, *, fresh: bool) -> Trace:
        if fresh or self.has_ended or len(self.sent) >= self._life:
            self.renew()
        reset = self._reset if self.sent else ()
        self.sent.append(script._replace(commands=(*reset, *script.commands)))
        trace = self._program.answer(self.sent[-1])
        self.costs.note(trace, is_first=len(self.sent) == 1)
        self.has_ended = trace.failure is not None
        if len(trace.replies) < len(reset):
            return self._answers(script, fresh=True)
        replies = trace.replies[len(reset) :]
        broken = trace.failure and trace.failure._replace(step=len(replies))
        return trace._replace(script=script, replies=replies, failure=broken)

    def affordable(self, script: Script) -> Script:
        """Return a script without the slow commands that there is no time for."""
        return self.costs.affordable(script, self.budget.seconds)

    def was_only_slow(self, script: Script, news: Difference) -> bool:
        """Whether a command that seemed to hang answers when a new process is given its time."""
        if news.kind != HANG:
            return False
        self.renew()
        trace = self._program.heard_again(script.until(news.at))
        self.costs.note(trace, is_first=True)
        answered = trace.replies[news.at :]
        return bool(answered) and answered[0].seconds >= _SLOW

    def renew(self) -> None:
        """Let the next script meet a new process."""
        self._program.renew()
        self.sent.clear()
        self._life = min(2 * self._life, _OLDEST)


class Shown(NamedTuple):
    """A script that shows something new."""

    script: Script  # to its last command, the one that is answered wrongly
    difference: Difference
    needs_new: bool  # a process that has heard something else may not show it


class Hunt:
    """Looks for a script that shows something new."""

    def __init__(self, asker: Asker) -> None:
        self.unconfirmed = 0  # differences that no new process showed
        self._asker = asker
        self._found: Shown | None = None

    def run(self, strategy: SearchStrategy[Script], seed: int) -> Shown | None:
        """Return what one call of Hypothesis finds."""
        find(strategy, self._shows_news, self._asker.causes, DRAW, seed)
        return self._found

    def _shows_news(self, script: Script) -> bool:
        """Whether a script shows news, and a new process does so, too."""
        if self._asker.budget.is_over:
            return False
        self._asker.budget.examples += 1
        script = self._asker.affordable(script)
        news, said = self._asker.news(script), list(self._asker.sent)
        if news is None or self._asker.was_only_slow(script, news):
            return False
        self._found = self._alone(script) or self._with_more(said)
        self.unconfirmed += self._found is None
        return self._found is not None

    def _alone(self, script: Script) -> Shown | None:
        """Return the script if a new process that hears nothing else shows its news."""
        news = self._asker.news(script, fresh=True)
        if news is None:
            return None
        # What an engine does only before it has heard something else, is looked for so.
        needs_new = not self._asker.has_ended and self._asker.news(script) is None
        return Shown(script.until(news.at), news, needs_new)

    def _with_more(self, said: list[Script]) -> Shown | None:
        """Return the end of a conversation that shows the news: what was said before matters."""
        for count in (2**power for power in range(1, len(said).bit_length() + 1)):
            script = joined(said[-count:])
            if news := self._asker.news(script, fresh=True):
                return Shown(script.until(news.at), news, needs_new=True)
        return None
