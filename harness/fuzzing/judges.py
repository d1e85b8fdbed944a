"""The ways in which an engine's answers differ from right ones, and the oracle as judge of them.

The other judge is :mod:`~harness.fuzzing.by_reference`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, Protocol

import hypothesis

from harness.core.records import FailureKind, Reply
from harness.fuzzing.drawing import DRAW, find, legal, scripts
from harness.judging.board_replay import explanation
from harness.judging.in_process import expression, is_exact, is_underspecified, same
from harness.running import protocol_facts
from harness.specifications.record import Specification, reply_of
from harness.vocabulary.answers import is_a_move
from harness.vocabulary.script import Script, Trace, lay_files, name_of
from oracle.command_properties import CommandProperties
from oracle.draw import Diagram, draw_text
from oracle.gtp.protocol import Engine

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_WORD = re.compile(r"[a-z0-9+-]+")

HANG = "hang"
BREAKDOWNS = {FailureKind.DIED: "crash", FailureKind.TIMEOUT: HANG}
PROTOCOL = "protocol"
SURPLUS = "too many replies"

Shows = Callable[[Script], bool]  # whether a script shows something


class WrongReply(NamedTuple):
    """One answer that the specification does not accept."""

    at: int  # index of the command in the script
    command: str
    kind: str  # in what way the answers differ; or crash, hang …
    right: str  # what the oracle answers, an error as "? …"
    got: str  # what the engine answered, or how it broke

    @property
    def signature(self) -> tuple[str, str]:
        """Key that differences of one unknown cause share."""
        return "" if self.kind == SURPLUS else name_of(self.command), self.kind


class Drawing(NamedTuple):
    """Options for drawing scripts."""

    extra_commands: frozenset[str]  # beyond the assignment's, that the engine says it knows
    length: int  # what a game has of stones, lines, questions and the like, at most
    seed: int = 0  # what is drawn depends on it
    most: int = 100  # scripts


class ExpectedCommand(NamedTuple):
    """One command of a case file."""

    command: str
    expression: str | None  # of right replies; None: any reply but an error will do
    is_test: bool
    refused: str = ""  # the status line of the right reply, if it refuses and has one


class ReplyJudge(Protocol):
    """Judge of the commands an engine may be sent, and of its answers.

    Attributes: ``folder``, in which the files lie that scripts name.
    """

    specification: Specification
    folder: Path

    def look(self, search: "ScriptSearch", drawing: Drawing) -> None:
        """Draw scripts until the search finds something in one."""

    def draw(self, shows: Shows, drawing: Drawing) -> Script | None:
        """Draw scripts until one shows something, and return that."""

    def cut_to_allowed(self, script: Script) -> Script:
        """Return a script without what may not be said, or has no answer that is known right."""

    def find_wrong_answers(self, trace: Trace) -> Iterator[WrongReply]:
        """Yield wrong answers and engine failures while the game can be followed."""

    def ways(self, trace: Trace, at: int) -> Iterable[Script]:
        """Return scripts that may show what an answer of a trace does, the clearest first.

        To an engine that chooses otherwise each time, some say the same where its script does not.
        """

    def expectations(self, script: Script) -> Iterator[ExpectedCommand]:
        """Yield the script's commands as a case file has them; the last one is a test.

        Where no case file could expect its right answer, questions that follow are the tests.
        """

    def picture(self, script: Script) -> tuple[str, str]:
        """Return the board before the last command, and why its answer is right; "" if unknown."""


def differences(trace: Trace, judge: ReplyJudge) -> Iterator[WrongReply]:
    """Yield the engine's errors, up to where the game can no longer be followed."""
    yield from judge.find_wrong_answers(trace)
    if trace.has_surplus:
        last = max(0, len(trace.replies) - 1)
        got = "it sent more replies than it got commands"
        yield WrongReply(last, trace.script.commands[last], SURPLUS, "one reply", got)


def breakdown(trace: Trace, right: Reply) -> WrongReply:
    """Return how an engine failed where it should have given a reply."""
    failure, index = trace.failure, len(trace.replies)
    assert failure is not None
    kind = BREAKDOWNS.get(failure.kind, failure.kind.value)
    return WrongReply(index, trace.script.commands[index], kind, text_of(right), failure.message)


def text_of(reply: Reply) -> str:
    """Return a reply as people see it, an error as ``? …``."""
    return reply.text if reply.ok else f"? {reply.text}"


# --- kinds -------------------------------------------------------------------------------------


def kind(right: Reply, got: Reply) -> str:
    """Say in what way two answers differ, so that those of one cause are alike."""
    if right.ok is not got.ok:
        return "an error" if right.ok else "no error"
    one, other = right.text.lower(), got.text.lower()
    if {one, other} == {"true", "false"}:
        return f"{other} for {one}"
    if _WORD.findall(one) == _WORD.findall(other):
        return "written otherwise"
    return _numbers(one, other) or _lists(one.split(), other.split())


def _numbers(right: str, got: str) -> str:
    """Compare texts that differ in one number; ``""`` for others."""
    found = [_NUMBER.search(text) for text in (right, got)]
    if not all(found) or _NUMBER.sub("", right, count=1) != _NUMBER.sub("", got, count=1):
        return ""
    one, other = (float(match[0]) for match in found if match)
    return "written otherwise" if one == other else "too low" if other < one else "too high"


def _lists(right: list[str], got: list[str]) -> str:
    """Compare the words of texts that differ."""
    if sorted(right) == sorted(got):
        return "another order"
    if set(right) == set(got):
        return "another number of times"
    if len(right) < 2 and len(got) < 2:
        return f"{' '.join(got) or 'nothing'} for {' '.join(right) or 'nothing'}"
    if set(got) < set(right):
        return "something missing"
    return "something too much" if set(right) < set(got) else "another answer"


# --- What a judge shows drawn scripts to, one by one or many at once. Pure -----------------------


class HeardScript(NamedTuple):
    """Trace of a script, and the scripts that the process was sent up to it."""

    trace: Trace
    sent: list[Script]
    length: int  # of them, this one the last

    @property
    def history(self) -> list[Script]:
        """All that the process was sent up to this."""
        return self.sent[: self.length]


class SentScripts(Protocol):
    """Scripts under way to an engine."""

    def go_on(self) -> None:
        """Send more, if that is due; callers with other work call it now and then."""

    def collect(self) -> Iterator[HeardScript]:
        """Yield what the engine does with each script."""


class ScriptSearch(Protocol):
    """Looks for a script that shows something."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be tried."""

    def shows(self, script: Script) -> bool:
        """Whether a script shows something."""

    def begin(self, scripts: Sequence[Script]) -> SentScripts:
        """Send scripts, whose answers :meth:`has_news` is to look at."""

    def has_news(self, script: HeardScript) -> bool:
        """Whether what an engine did shows something."""


# --- The oracle as judge: its engine, in this process, is sent what the engine was sent ----------
# It follows the engine in what the specification leaves to it: which move ``genmove`` chooses.
# Files that commands name are written into a folder first.


_OTHERS = 2  # oracles that choose other moves than the engine


class ByOracle:
    """The oracle's engines; see :class:`ReplyJudge` for the public methods."""

    def __init__(self, specification: Specification, folder: Path) -> None:
        self.specification = specification
        self.folder = folder

    def look(self, search: ScriptSearch, drawing: Drawing) -> None:
        """Draw scripts and show them one by one."""
        self.draw(search.shows, drawing)

    def draw(self, shows: Shows, drawing: Drawing) -> Script | None:
        """Draw scripts with Hypothesis."""
        strategy = scripts(self.specification, drawing.extra_commands, drawing.length)
        settings = hypothesis.settings(DRAW, max_examples=drawing.most)
        return find(strategy, shows, self.cut_to_allowed, settings, drawing.seed)

    def cut_to_allowed(self, script: Script) -> Script:
        """Return the script without what is forbidden or left open."""
        return legal(script, self.specification, self.folder)

    def find_wrong_answers(self, trace: Trace) -> Iterator[WrongReply]:
        """Yield where the oracle answers otherwise."""
        following = _OracleTrace(trace, self.specification, self.folder)
        lay_files(trace.script, self.folder)
        for index, command in enumerate(trace.script.commands):
            if index == len(trace.replies):
                yield breakdown(trace, reply_of(following.engine.handle(command)))
                return
            if found := following.difference(index, command):
                yield found
                # An engine that answers a question wrongly may still be right afterwards.
                if self.specification.commands[name_of(command)].sets_up:
                    return

    def ways(self, trace: Trace, at: int) -> Iterable[Script]:
        """Return the script as it is, mistakes included."""
        return (trace.script,)

    def expectations(self, script: Script) -> Iterator[ExpectedCommand]:
        """Yield what the oracle answers."""
        engine, asked = self._engine(), self.specification
        last = len(script.commands) - 1
        lay_files(script, self.folder)
        for index, command in enumerate(script.commands):
            is_open = is_underspecified(engine, command)
            right = reply_of(engine.handle(command))
            pattern = None if is_open or not right.ok else expression(command, right, asked)
            is_test = index == last or (pattern is not None and is_exact(command, asked))
            yield ExpectedCommand(command, pattern if is_test else None, is_test)

    def picture(self, script: Script) -> tuple[str, str]:
        """Return the board and the oracle's reason."""
        engine = self._engine()
        lay_files(script, self.folder)
        for command in script.commands[:-1]:
            engine.handle(command)
        why = explanation(engine, script.commands[-1])
        diagram = Diagram(engine.session.game.position, marks=why.marks if why else {})
        return draw_text(diagram, unicode=False), why.text if why else ""

    def _engine(self) -> Engine:
        return self.specification.reference_engine(str(self.folder))


class _OracleTrace:
    """The oracle at work on one trace; the others differ from it in the moves they choose."""

    def __init__(self, trace: Trace, specification: Specification, folder: Path) -> None:
        self.trace = trace
        self.specification = specification
        self.folder = folder
        self.engine = specification.reference_engine(str(folder))
        self.others: list[Engine] = []
        self._other_answers: list[Reply] = []
        self._heard: list[str] = []  # what the oracle was asked beside free moves

    def difference(self, index: int, command: str) -> WrongReply | None:
        got, properties = self.trace.replies[index], self._properties(command)
        if properties.sets_up and name_of(command) not in self.specification.forms and not got.ok:
            return None  # the assignment does not ask for it: what was done stays
        is_open = properties.sets_up and is_underspecified(self.engine, command)
        if _plays_freely(properties):
            right = self._follow(command, got)
        else:
            self._other_answers = [reply_of(one.handle(command)) for one in self.others]
            right = reply_of(self.engine.handle(command))
            self._heard.append(command)
        if breach := protocol_facts.warnings([protocol_facts.own_step(command)], [got]):
            return WrongReply(index, command, PROTOCOL, text_of(right), breach[0])
        if is_open or self._accepts(command, right, got):
            return None
        # Was it a question that the specification does not answer, or forbids?
        if not properties.sets_up and (not right.ok or is_underspecified(self.engine, command)):
            return None
        return WrongReply(index, command, kind(right, got), text_of(right), text_of(got))

    def _accepts(self, command: str, right: Reply, got: Reply) -> bool:
        """Whether an answer is right, or a case file could not say that it is wrong.

        It cannot where another move of ``genmove`` would have led to another right answer.
        """
        if _plays_freely(self._properties(command)):
            return right is got or (not _is_move(right) and self._same(command, right, got))
        if self._same(command, right, got):
            return True
        return not all(self._same(command, right, other) for other in self._other_answers)

    def _properties(self, command: str) -> CommandProperties:
        return self.specification.commands[name_of(command)]

    def _same(self, command: str, right: Reply, got: Reply) -> bool:
        return same(command, right, got, self.specification)

    def _follow(self, command: str, got: Reply) -> Reply:
        """Let the oracle play the engine's move, and return that; else what is right."""
        if not self.others:
            self.others = [self._other(seed) for seed in range(_OTHERS)]
        for one in self.others:
            one.handle(command)
        right = reply_of(self.engine.handle(command))
        # The oracle ignores what follows a vertex; a case file does not.
        if _is_move(right) and (_is_move(got) or (got.ok and got.text.lower() == "pass")):
            self.engine.session.game.undo()
            if self.engine.handle(f"play {command.split()[1]} {got.text}") == "= \n\n":
                return got
        return right

    def _other(self, seed: int) -> Engine:
        """Return an oracle that has heard the same so far and chooses other moves."""
        engine = self.specification.reference_engine(str(self.folder))
        for command in self._heard:
            engine.handle(command)
        engine.session._random = Random(seed)
        return engine


def _plays_freely(properties: CommandProperties) -> bool:
    """Whether a command plays a move of the engine's choice."""
    return properties.moves and properties.chooses


def _is_move(reply: Reply) -> bool:
    return reply.ok and is_a_move(reply.text)
