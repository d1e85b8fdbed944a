"""The search for a difference, in which slow commands are asked rarely.

A player that thinks for two seconds about a move leaves room for five moves in ten seconds and for
nothing else. A policy that tries every point on a copy of the board takes milliseconds on 7 by 7
and seconds on 19 by 19. So commands that are slow on a board of some size, and may be left out,
get a third of the time together. The draws do not depend on it; the commands left out are counted.
"""

import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from harness.fuzzing.findings import Causes
from harness.fuzzing.fuzzed_engine import FuzzedProgram, UnderWay
from harness.fuzzing.judges import HANG, HeardScript, WrongReply
from harness.vocabulary.script import Script, Trace, join_scripts, name_of
from oracle.command_properties import SIZE, PropertyTable

_SHARE = 1 / 3  # of all the time, for slow commands together
_SLOW = 0.1  # seconds as a rule: less than that is asked as often as it is drawn
_REMEMBERED = 20_000  # commands
_TIMES = 5  # as slow as the cheapest question, or else there is nothing better to ask


class SlowCommand(NamedTuple):
    """A command that was asked more rarely than it was drawn."""

    name: str
    seconds: float  # that it takes, on average, on the boards where it is slow
    asked: int
    left_out: int


class _Cost:
    """Costs of one command on boards of one size."""

    def __init__(self, boards: "Mapping[str, _Cost]") -> None:
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
        """Mean time weighted by time, without the longest one, which may be the machine's.

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

    def __init__(self, command_properties: PropertyTable) -> None:
        self._of: dict[str, dict[str, _Cost]] = {}  # by name, and by what began the board
        self._command_properties = command_properties
        self._begins = lru_cache(_REMEMBERED)(self._find_begun)
        self._by_command: dict[tuple[str, str], _Cost | None] = {}  # because many recur

    def note(self, trace: Trace, *, is_first: bool = False) -> None:
        """Take the times of an engine's replies; ``is_first``: it has just been started."""
        answered = zip(self._costs_of(trace.script.commands), trace.replies, strict=False)
        for index, (cost, reply) in enumerate(answered):
            if cost and (index or not is_first):  # the first waited for the start as well
                cost.note(reply.seconds)

    def _costs_of(self, commands: Sequence[str]) -> Iterator[_Cost | None]:
        """Yield what each command has cost so far; None for what cannot be left out."""
        board, known = "", self._by_command
        for command in commands:
            board = self._begins(command) or board
            key = command, board
            if key in known:
                yield known[key]
                continue
            name, cost = name_of(command), None
            properties = self._command_properties[name]
            # What follows can do without a move that the engine chooses.
            if properties.chooses or not properties.sets_up:
                boards = self._of.setdefault(name, {})
                cost = boards.setdefault(board, _Cost(boards))
            if len(known) < _REMEMBERED:
                known[key] = cost
            yield cost

    def _find_begun(self, command: str) -> str:
        """Return a command that begins a board and states its size; "" for others."""
        properties = self._command_properties[name_of(command)]
        return command if SIZE in properties.sets and not properties.names_file else ""

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

    def list_slow(self) -> list[SlowCommand]:
        """Return the commands that were left out, with what they cost where they were."""
        slow = self._slow()
        found = []
        for name, boards in self._of.items():
            costs = [cost for cost in boards.values() if cost.left_out or cost in slow]
            asked, left_out = sum(one.asked for one in costs), sum(one.left_out for one in costs)
            if left_out:
                seconds = sum(one.seconds for one in costs) / max(1, asked)
                found.append(SlowCommand(name, seconds, asked, left_out))
        return found

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


# --- Looking for a difference: scripts are drawn, the engine is asked, a judge compares ----------


_OLDEST = 2048  # scripts that one process is sent; the first processes get fewer
_SLOW_SEARCH = 0.2  # seconds: what was silent for longer than that before it answered did not hang
_REMEMBERED_SCRIPTS = 60  # traces, by which mistakes that look alike are told apart


class FuzzBudget:
    """Limits of a search: seconds and examples; 0 means none."""

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
        """Elapsed seconds."""
        return time.monotonic() - self.began


class ScriptSender:
    """Sends scripts to one process for as long as that is sound, and to a new one then."""

    def __init__(self, program: FuzzedProgram, causes: Causes, budget: FuzzBudget) -> None:
        self.causes = causes
        self.budget = budget
        self.sent: list[Script] = []  # to the process, since it was started
        self.has_ended = False  # the process, over the last script
        self.costs = Costs(causes.specification.commands)
        self.recent: deque[Trace] = deque(maxlen=_REMEMBERED_SCRIPTS)
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

    def begin(self, scripts: Sequence[Script]) -> "Batch":
        """Send scripts to one process, and do not wait for more than the first one."""
        if self.has_ended or len(self.sent) + len(scripts) > self._life:
            self.renew()
        return Batch(self, self._program, scripts)

    def send_and_wait(self, script: Script) -> HeardScript:
        """Send a script, and wait for the replies."""
        return HeardScript(self._answers(script, fresh=False), self.sent, len(self.sent))

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
        return bool(answered) and answered[0].seconds >= _SLOW_SEARCH

    def renew(self) -> None:
        """Let the next script meet a new process."""
        self._program.renew()
        self.sent = []  # another list: others may still have the last one
        self._life = min(2 * self._life, _OLDEST)


class Batch:
    """Scripts under way to the engine; see :class:`~harness.fuzzing.judges.SentScripts`."""

    def __init__(
        self, asker: ScriptSender, program: FuzzedProgram, scripts: Sequence[Script]
    ) -> None:
        """Send scripts, the first one to a new process alone; such as need files have to wait."""
        self._asker = asker
        self._first = () if asker.sent else (asker.send_and_wait(scripts[0]),)
        self._scripts = scripts = scripts[len(self._first) :]
        self._hearing: UnderWay | None = None
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
    """Looks for a script that shows something new.

    See :class:`~harness.fuzzing.judges.ScriptSearch`. Attributes: ``found``, the last such
    script; ``unconfirmed``, differences that no new process showed.
    """

    def __init__(self, asker: ScriptSender) -> None:
        self.unconfirmed = 0
        self._asker = asker
        self.found: RevealingScript | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be tried."""
        return self._asker.budget.is_over

    def begin(self, scripts: Sequence[Script]) -> Batch:
        """Send scripts; :meth:`has_news` looks at the answers. See :meth:`ScriptSender.begin`."""
        return self._asker.begin(self._asker.affordable(scripts))

    def shows(self, script: Script) -> bool:
        """Return whether a script finds something new that reproduces in a fresh process."""
        if self.is_over:
            return False
        (kept,) = self._asker.affordable([script])
        return self.has_news(self._asker.send_and_wait(kept))

    def has_news(self, script: HeardScript) -> bool:
        """Return whether the finding is new and reproduces in a fresh process."""
        if self.is_over:
            return False
        self._asker.budget.examples += 1
        news, trace = self._asker.judge(script.trace), script.trace
        if news is None or self._asker.was_only_slow(trace.script, news):
            return False
        ways = dict.fromkeys(self._asker.causes.judge.ways(trace, news.at))
        alone = next(filter(None, map(self._confirm_alone, ways)), None)
        self.found = alone or self._confirm_with_more(script.history)
        self.unconfirmed += self.found is None
        return self.found is not None

    def _confirm_alone(self, script: Script) -> RevealingScript | None:
        """Return the script if a new process that hears nothing else shows its news."""
        news = self._asker.news(script, fresh=True)
        if news is None:
            return None
        # What an engine does only before it has heard something else, is looked for so.
        needs_new = not self._asker.has_ended and self._asker.news(script) is None
        return RevealingScript(script.until(news.at), news, needs_new)

    def _confirm_with_more(self, scripts: list[Script]) -> RevealingScript | None:
        """Return the end of a conversation that shows the news: what was said before matters."""
        for count in (2**power for power in range(1, len(scripts).bit_length() + 1)):
            script = join_scripts(scripts[-count:])
            if news := self._asker.news(script, fresh=True):
                return RevealingScript(script.until(news.at), news, needs_new=True)
        return None
