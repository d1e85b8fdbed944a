"""Looking for a difference: scripts are drawn, the engine is asked, a judge compares."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from harness.fuzzing.costs import Costs
from harness.fuzzing.findings import Causes
from harness.fuzzing.fuzzed_engine import FuzzedProgram, ScriptHearing
from harness.fuzzing.judges import HANG, HeardScript, ScriptSearch, WrongReply
from harness.vocabulary.script import Script, Trace, join_scripts

_OLDEST = 2048  # scripts that one process is sent; the first processes get fewer
_SLOW = 0.2  # seconds: what was silent for longer than that before it answered did not hang
_REMEMBERED = 60  # traces, by which mistakes that look alike are told apart


class FuzzBudget:
    """How long to look: seconds and examples; 0 means no limit."""

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


class ScriptSender:
    """Sends scripts to one process for as long as that is sound, and to a new one then."""

    def __init__(self, program: FuzzedProgram, causes: Causes, budget: FuzzBudget) -> None:
        self.causes = causes
        self.budget = budget
        self.sent: list[Script] = []  # to the process, since it was started
        self.has_ended = False  # the process, over the last script
        self.costs = Costs(causes.specification.commands)
        self.recent: deque[Trace] = deque(maxlen=_REMEMBERED)
        self._program = program
        self._reset = causes.specification.reset
        self._life = 1  # scripts that the process will be sent at most

    def news(self, script: Script, *, fresh: bool = False) -> WrongReply | None:
        """Return what is wrong and new in an engine's answers; ``fresh``: those of a new one."""
        return self.judge(self._answers(script, fresh=fresh))

    def judge(self, trace: Trace) -> WrongReply | None:
        """Return what is wrong and new in what an engine did."""
        self.budget.commands += len(trace.replies)
        self.recent.append(trace)
        return self.causes.news(trace)

    def begin(self, scripts: Sequence[Script]) -> Batch:
        """Send scripts to one process, and do not wait for more than the first one."""
        if self.has_ended or len(self.sent) + len(scripts) > self._life:
            self.renew()
        first = () if self.sent else (self.send_and_wait(scripts[0]),)
        return Batch(self, self._program, first, scripts[len(first) :])

    def send_and_wait(self, script: Script) -> HeardScript:
        """Send a script, and wait for the replies."""
        trace = self._answers(script, fresh=False)
        return HeardScript(trace, self.sent, len(self.sent))

    def _answers(self, script: Script, *, fresh: bool) -> Trace:
        if fresh or self.has_ended or len(self.sent) >= self._life:
            self.renew()
        told = self.as_sent(script)
        self.sent.append(told)
        trace = self.note_trace(script, self._program.answer(told))
        return trace or self._answers(script, fresh=True)

    def as_sent(self, script: Script) -> Script:
        """Return a script as the process is sent it next."""
        reset = self._reset if self.sent else ()
        return script._replace(commands=(*reset, *script.commands))

    def note_trace(self, script: Script, trace: Trace) -> Trace | None:
        """Return what the engine did with a script, of what it did with what was sent for it.

        None if it broke before.
        """
        start = len(trace.script.commands) - len(script.commands)
        self.costs.note(trace, is_first=len(self.sent) == 1)
        self.has_ended = trace.failure is not None
        if len(trace.replies) < start:
            return None
        replies = trace.replies[start:]
        broken = trace.failure and trace.failure._replace(step=len(replies))
        return trace._replace(script=script, replies=replies, failure=broken)

    def affordable(self, scripts: Sequence[Script]) -> list[Script]:
        """Return scripts without the slow commands for which no time is left."""
        return self.costs.affordable(scripts, self.budget.seconds)

    def was_only_slow(self, script: Script, news: WrongReply) -> bool:
        """Whether a command that seemed to hang answers slowly in a new process.

        An answer that comes at once there is not one of a slow command: the old process hung.
        """
        if news.kind != HANG:
            return False
        self.renew()
        trace = self._program.send_again(script.until(news.at))
        self.costs.note(trace, is_first=True)
        answered = trace.replies[news.at :]
        return bool(answered) and answered[0].seconds >= _SLOW

    def renew(self) -> None:
        """Let the next script meet a new process."""
        self._program.renew()
        self.sent = []  # another list: others may still have the last one
        self._life = min(2 * self._life, _OLDEST)


class Batch:
    """Scripts under way to the engine; see :class:`~harness.fuzzing.judges.SentScripts`."""

    def __init__(
        self,
        asker: ScriptSender,
        program: FuzzedProgram,
        first: Sequence[HeardScript],
        scripts: Sequence[Script],
    ) -> None:
        """Send scripts after those that were answered; such as need files have to wait."""
        self._asker = asker
        self._first = first
        self._scripts = scripts
        self._hearing: ScriptHearing | None = None
        self._sent, self._before = asker.sent, len(asker.sent)
        if scripts and not any(script.files for script in scripts):
            told = list(map(asker.as_sent, scripts))
            self._hearing = program.begin(told)
            asker.sent += told if self._hearing else []

    def go_on(self) -> None:
        """Send more, if that is due."""
        if self._hearing:
            self._hearing.go_on()

    def collect(self) -> Iterator[HeardScript]:
        """Yield what the engine does with each script."""
        yield from self._first
        traces = self._hearing.traces() if self._hearing else []
        for count, (script, trace) in enumerate(zip(self._scripts, traces, strict=False), 1):
            if noted := self._asker.note_trace(script, trace):
                yield HeardScript(noted, self._sent, self._before + count)
            else:
                yield self._asker.send_and_wait(script)
        if self._hearing and len(traces) < len(self._scripts):
            self._asker.has_ended = True
        yield from map(self._asker.send_and_wait, self._scripts[len(traces) :])


class RevealingScript(NamedTuple):
    """A script that shows something new."""

    script: Script  # to its last command, the one that is answered wrongly
    difference: WrongReply
    needs_new: bool  # a process that has heard something else may not show it


class Hunt:
    """Looks for a script that shows something new; see :class:`ScriptSearch`."""

    def __init__(self, asker: ScriptSender) -> None:
        self.unconfirmed = 0  # differences that no new process showed
        self._asker = asker
        self._found: RevealingScript | None = None

    def run(self, draw: Callable[[ScriptSearch], object]) -> RevealingScript | None:
        """Return what is found among some scripts; ``draw``: shows them to what it is given."""
        draw(self)
        return self._found

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be tried."""
        return self._asker.budget.is_over

    def begin(self, scripts: Sequence[Script]) -> Batch:
        """Send scripts; :meth:`has_news` looks at the answers. See :meth:`ScriptSender.begin`."""
        return self._asker.begin(self._asker.affordable(scripts))

    def shows(self, script: Script) -> bool:
        """Whether a script shows news, and a new process does so, too."""
        if self.is_over:
            return False
        (kept,) = self._asker.affordable([script])
        return self.has_news(self._asker.send_and_wait(kept))

    def has_news(self, heard: HeardScript) -> bool:
        """Whether what an engine did shows news, and a new process does so, too."""
        if self.is_over:
            return False
        self._asker.budget.examples += 1
        news, trace = self._asker.judge(heard.trace), heard.trace
        if news is None or self._asker.was_only_slow(trace.script, news):
            return False
        ways = dict.fromkeys(self._asker.causes.judge.ways(trace, news.at))
        alone = next(filter(None, map(self._confirm_alone, ways)), None)
        self._found = alone or self._with_more(heard.said)
        self.unconfirmed += self._found is None
        return self._found is not None

    def _confirm_alone(self, script: Script) -> RevealingScript | None:
        """Return the script if a new process that hears nothing else shows its news."""
        news = self._asker.news(script, fresh=True)
        if news is None:
            return None
        # What an engine does only before it has heard something else, is looked for so.
        needs_new = not self._asker.has_ended and self._asker.news(script) is None
        return RevealingScript(script.until(news.at), news, needs_new)

    def _with_more(self, said: list[Script]) -> RevealingScript | None:
        """Return the end of a conversation that shows the news: what was said before matters."""
        for count in (2**power for power in range(1, len(said).bit_length() + 1)):
            script = join_scripts(said[-count:])
            if news := self._asker.news(script, fresh=True):
                return RevealingScript(script.until(news.at), news, needs_new=True)
        return None
