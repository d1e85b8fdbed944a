"""Looking for a difference: scripts are drawn, the engine is asked, a judge compares."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from harness.fuzzing.causes import Causes
from harness.fuzzing.costs import Costs
from harness.fuzzing.engines import Program
from harness.fuzzing.judging import HANG, Difference, Shows
from harness.vocabulary.script import Script, Trace, joined

_OLDEST = 64  # scripts that one process is sent; the first processes get fewer
_SLOW = 0.2  # seconds: what was silent for longer than that before it answered did not hang
_REMEMBERED = 60  # traces, by which mistakes that look alike are told apart


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

    def run(self, draw: Callable[[Shows], object]) -> Shown | None:
        """Return what is found among some scripts; ``draw``: shows them to what it is given."""
        draw(self._shows_news)
        return self._found

    def _shows_news(self, script: Script) -> bool:
        """Whether a script shows news, and a new process does so, too."""
        if self._asker.budget.is_over:
            return False
        self._asker.budget.examples += 1
        script = self._asker.affordable(script)
        news, said = self._asker.news(script), list(self._asker.sent)
        trace = self._asker.recent[-1]
        if news is None or self._asker.was_only_slow(script, news):
            return False
        ways = dict.fromkeys(self._asker.causes.judge.ways(trace, news.at))
        self._found = next(filter(None, map(self._alone, ways)), None) or self._with_more(said)
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
