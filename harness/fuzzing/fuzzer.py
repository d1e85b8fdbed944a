"""The fuzzing of one engine: finding after finding, each another cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import ceil

from harness.fuzzing.findings import Causes, FindingCause, FuzzFinding, Namer
from harness.fuzzing.fuzzed_engine import FuzzedProgram, find_known_commands
from harness.fuzzing.judges import BREAKDOWNS, HANG, Drawing, ReplyJudge, WrongReply
from harness.fuzzing.reduction import reduce_script
from harness.fuzzing.search import FuzzBudget, Hunt, RevealingScript, ScriptSender, Slow
from harness.judging.in_process import is_judged
from harness.text import number_of
from harness.vocabulary.script import Script, Trace, name_of

_SEQUENCE = "gogui-play_sequence"
_OPTIONAL = ("undo", _SEQUENCE)  # commands that are sent to engines that know them
_LENGTHS = (2, 4, 8)  # of games, from call to call of Hypothesis in turn, small ones first
_REPEATS = 3  # times that a finding is looked for again, each time in a new process
_LONG = 8  # setup commands: of more, moves become one command where that is possible
# Conversations: fewer, in all the time there was, mean nothing. See docs/fuzzing.md for why.
ENOUGH = 100


class Fuzzer:
    """Looks for causes until the budget is spent.

    Attributes: ``judge``, who knows what is right; ``budget``.
    """

    def __init__(
        self,
        program: FuzzedProgram,
        judge: ReplyJudge,
        budget: FuzzBudget,
        seed: int,
        witnesses: Sequence[FuzzedProgram] = (),
    ) -> None:
        """Take an engine, and who knows what is right; ``witnesses``: engines that may disagree.

        Raises:
            EngineError: the engine does not start, or does not answer at all.
        """
        self.budget = budget
        self.unconfirmed = 0  # differences that no new process showed
        self._program = program
        self.judge = judge
        self._witnesses = witnesses
        self._seed = seed
        self._causes = Causes(judge)
        self._asker = ScriptSender(program, self._causes, budget)
        self._known = find_known_commands(program, _OPTIONAL)
        self._namer = Namer(program, self._causes, self._drawing(-1, 0))
        program.renew()

    @property
    def slow(self) -> list[Slow]:
        """The commands that were left out for what they cost."""
        return list(self._asker.costs.list_slow())

    @property
    def asked(self) -> dict[str, int]:
        """How often each question was asked whose answer is judged, the most frequent first."""
        specification = self.judge.specification
        counts = {
            name: count
            for name, count in self._asker.costs.count_asked().items()
            if count and is_judged(name, specification)
        }
        return dict(sorted(counts.items(), key=lambda one: -one[1]))

    @property
    def shortfall(self) -> str:
        """Why nothing follows from finding nothing; "" if something does."""
        budget = self.budget
        if not self.asked:
            return "no question was asked whose answer is judged, so that nothing could be found"
        if budget.examples < min(ENOUGH, budget.most):
            needed = 10 * ceil(ENOUGH * budget.seconds / max(1, budget.examples) / 8)
            return (
                f"{number_of(budget.examples, 'conversation')} in {budget.seconds:.0f} s are too"
                f" few to mean anything, at least {ENOUGH} do: the engine is slow, or the time"
                f" short (try --seconds {needed})"
            )
        return ""

    def findings(self) -> Iterator[FuzzFinding]:
        """Yield what is found, as soon as it is."""
        call, judge = 0, self.judge
        while not self.budget.is_over:
            seed = self._seed * 1_000_003 + call
            hunt = Hunt(self._asker)
            shown = hunt.run(partial(judge.look, drawing=self._drawing(call, seed)))
            self.unconfirmed += hunt.unconfirmed
            finding = shown and self._confirm(reduce_script(self._asker, shown, seed))
            if shown:
                self._asker.renew()  # others have asked its process, too
            if finding:
                self._causes.found.append(
                    FindingCause(finding.difference.signature, finding.mistakes, finding.is_flaky)
                )
                yield finding
            call += finding is None

    def _drawing(self, call: int, seed: int) -> Drawing:
        return Drawing(self._known, _LENGTHS[call % len(_LENGTHS)], seed)

    def _confirm(self, suspect: RevealingScript) -> FuzzFinding | None:
        """Return the finding if a new process shows it, too."""
        script = suspect.script
        patient = self._send(script)
        if patient[1] is None and suspect.difference.kind == HANG:
            self._program.be_patient()
            self.unconfirmed += 1
            return None
        heard = [patient] + [self._send(script, is_patient=False) for _ in range(1, _REPEATS)]
        shown = [(trace, news) for trace, news in heard if news]
        if not shown:
            self.unconfirmed += 1
            return None
        trace, news = shown[0]
        script = script.until(news.at)
        if shorter := self._in_one_move(script, news):
            script, trace, news = shorter
        return FuzzFinding(
            script,
            news,
            self._namer.explaining(trace, self._asker.recent),
            sum(one.signature == news.signature for _, one in shown),
            _REPEATS,
            self.budget.seconds,
            self.budget.examples,
            self._stands_alone(script, news),
        )

    def _stands_alone(self, script: Script, news: WrongReply) -> bool:
        """Whether all witnesses answer as the engine does, and none as is said to be right."""
        heard = (one.send_again(script) for one in self._witnesses)
        return bool(self._witnesses) and all(self.shows(trace, news) for trace in heard)

    def shows(self, trace: Trace, news: WrongReply) -> bool:
        """Whether another engine, which was sent the same script, goes wrong in the same way."""
        return any(self._is_like(one, news) for one in self.judge.find_wrong_answers(trace))

    def _is_like(self, one: WrongReply, other: WrongReply) -> bool:
        """Whether a witness went wrong as the engine did; an error is one, whatever its text."""
        if one.kind in BREAKDOWNS.values():
            return (one.at, one.kind) == (other.at, other.kind)
        form = self.judge.specification.forms.get(name_of(one.command))
        is_error = one.got.startswith("?")
        is_same = is_error or (form and form.normal(one.got) == form.normal(other.got))
        return (one.at, one.kind) == (other.at, other.kind) and bool(is_same)

    def _send(self, script: Script, *, is_patient: bool = True) -> tuple[Trace, WrongReply | None]:
        """Send a script to a new process; to one that is said to hang, patiently."""
        self._program.renew()
        trace = (self._program.send_again if is_patient else self._program.answer)(script)
        return trace, self._causes.news(trace)

    def _in_one_move(
        self, script: Script, news: WrongReply
    ) -> tuple[Script, Trace, WrongReply] | None:
        """Return a long script with its moves in a single command, if that shows the same."""
        if len(script.commands) - 1 <= _LONG or _SEQUENCE not in self._known:
            return None
        shorter = script._replace(commands=_join_moves(script.commands))
        trace, found = self._send(shorter)
        return (shorter, trace, found) if found and found.signature == news.signature else None


def _join_moves(commands: tuple[str, ...]) -> tuple[str, ...]:
    """Return the commands with each run of moves as one ``gogui-play_sequence``."""
    joined: list[str] = []
    for command in commands[:-1]:
        if name_of(command) != "play":
            joined.append(command)
        elif joined and name_of(joined[-1]) == _SEQUENCE:
            joined[-1] += command.removeprefix("play")
        else:
            joined.append(_SEQUENCE + command.removeprefix("play"))
    return (*joined, commands[-1])
