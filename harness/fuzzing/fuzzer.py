"""The fuzzing of one engine: finding after finding, each another cause and made small."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate, combinations
from math import ceil
from time import monotonic
from typing import NamedTuple

import hypothesis
from hypothesis import Phase
from hypothesis import strategies as st

from harness.core.processes import processor_seconds
from harness.core.records import FailureKind
from harness.core.text import number_of
from harness.fuzzing.drawing import DRAW, find
from harness.fuzzing.findings import Causes, FuzzFinding, MistakeNamer
from harness.fuzzing.fuzzed_engine import FuzzedProgram, find_known_commands
from harness.fuzzing.judges import BREAKDOWNS, HANG, Drawing, ReplyJudge, WrongReply
from harness.fuzzing.search import FuzzBudget, Hunt, RevealingScript, ScriptSender, SlowCommand
from harness.judging.in_process import is_judged
from harness.vocabulary.script import BoardFile, Script, Trace, name_of, write_script
from oracle.position import GTP_LETTERS, Point, parse_vertex, vertex

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
        self._namer = MistakeNamer(program, self._causes, self._drawing(-1, 0))
        program.renew()

    @property
    def slow(self) -> list[SlowCommand]:
        """The commands that were left out for what they cost."""
        return self._asker.costs.list_slow()

    @property
    def asked(self) -> dict[str, int]:
        """Counts of the questions whose answers are judged, the most frequent first."""
        specification = self.judge.specification
        counts = {
            name: count
            for name, count in self._asker.costs.count_asked().items()
            if count and is_judged(name, specification)
        }
        return dict(sorted(counts.items(), key=lambda one: -one[1]))

    @property
    def shortfall(self) -> str:
        """Reason that a clean run is inconclusive; "" if it is not."""
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
        call = 0
        while not self.budget.is_over:
            seed = self._seed * 1_000_003 + call
            hunt = Hunt(self._asker)
            self.judge.look(hunt, self._drawing(call, seed))
            shown = hunt.found
            self.unconfirmed += hunt.unconfirmed
            finding = shown and self._confirm(reduce_script(self._asker, shown, seed))
            if shown:
                self._asker.renew()  # others have asked its process, too
            if finding:
                self._causes.found.append(finding)
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
            # Do all witnesses answer as the engine does, and none as is said to be right?
            bool(self._witnesses)
            and all(self.shows(one.send_again(script), news) for one in self._witnesses),
        )

    def shows(self, trace: Trace, news: WrongReply) -> bool:
        """Whether another engine, which was sent the same script, goes wrong in the same way."""
        return any(self._is_like(one, news) for one in self.judge.find_wrong_answers(trace))

    def _is_like(self, one: WrongReply, other: WrongReply) -> bool:
        """Whether a witness went wrong as the engine did; an error is one, whatever its text."""
        if (one.at, one.kind) != (other.at, other.kind):
            return False
        if one.kind in BREAKDOWNS.values() or one.got.startswith("?"):
            return True
        form = self.judge.specification.forms.get(name_of(one.command))
        return form is not None and form.normal(one.got) == form.normal(other.got)

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
        joined: list[str] = []
        for command in script.commands[:-1]:
            if name_of(command) != "play":
                joined.append(command)
            elif joined and name_of(joined[-1]) == _SEQUENCE:
                joined[-1] += command.removeprefix("play")
            else:
                joined.append(_SEQUENCE + command.removeprefix("play"))
        shorter = script._replace(commands=(*joined, script.commands[-1]))
        trace, found = self._send(shorter)
        return (shorter, trace, found) if found and found.signature == news.signature else None


# --- The cost of a reduction: the same on a busy machine as on a quiet one -----------------------
# What counts is the processor's time: this process's, the engines' and the reference's. An engine
# that hangs may use none, and keeps everybody waiting: so the wait for it counts as well.


class Spending:
    """Seconds since it began; ``most``: how many there may be, ``longest``: in wall time."""

    def __init__(self, most: float, longest: float) -> None:
        self._most = most
        self._longest = longest
        self._began, self._computed = monotonic(), processor_seconds()
        self._hung = 0.0  # seconds that hanging engines were waited for
        self._looked = self._began

    @property
    def is_over(self) -> bool:
        """Whether all is spent."""
        waited = monotonic() - self._began
        # Others in this process may compute at the same time: then it is more than was spent.
        computed = processor_seconds() - self._computed + self._hung
        return waited >= self._longest or min(waited, computed) >= self._most

    def note(self, trace: Trace) -> None:
        """Take what an engine did since the last time."""
        before, self._looked = self._looked, monotonic()
        if trace.failure and trace.failure.kind is FailureKind.TIMEOUT:
            self._hung += self._looked - before


# --- Making a script small: Hypothesis draws the part to keep, and its shrinker keeps the least --
# Nearly everything stays in most of what is drawn; the simplest of all choices leaves out a
# command, a stone of a setup, a line of a file, a row without points, and takes the smallest
# board.


_LARGEST = len(GTP_LETTERS)
_ALL = bytes([1]) * _LARGEST
_VERTEX = re.compile(rf"\b[{GTP_LETTERS}][1-9][0-9]?\b")


class _KeptCommands(NamedTuple):
    """A byte for each row or column without points, from the corner on: 0 is left out.

    Of ``both`` a row and a column go together, and the board gets smaller by them.
    """

    both: bytes
    rows: bytes
    columns: bytes


def prune_scripts(
    script: Script, grain: int = 1, *, moves: bool = False
) -> st.SearchStrategy[Script]:
    """Return scripts with less of one: commands, stones and lines of files left out.

    ``grain``: how many of them are left out together. ``moves``: leave out rows and columns that
    no point is on, too; where much else can still be left out, each of it moves the rest, and to
    leave it out seems to matter when only to move does.
    """
    # What can be left out: of commands, and lines of files.
    count = sum(map(len, map(_units, script.commands)))
    count += sum(len(text.splitlines()) for _, text in script.files)
    parts = ceil(count / grain)
    kept = st.binary(min_size=parts, max_size=parts)  # a single choice; 0 is left out
    flags = kept.map(lambda parts: [bool(byte) for byte in parts for _ in range(grain)])
    sizes = st.tuples(*(_size(int(one.split()[1])) for one in script.commands if _is_size(one)))
    lines = st.binary(min_size=_LARGEST, max_size=_LARGEST) if moves else st.just(_ALL)
    return st.builds(
        _less, st.just(script), flags, sizes, st.builds(_KeptCommands, lines, lines, lines)
    )


@cache
def _size(size: int) -> st.SearchStrategy[int]:
    """Return sizes of boards up to the one there is, which is the likeliest."""
    return st.sampled_from([*range(1, size), *[size] * 3 * size])


def _is_size(command: str) -> bool:
    return command.startswith("boardsize ")


def _units(command: str) -> list[str]:
    """Return what can be left out of a command, the first being all of it."""
    name, *words = command.split()
    if name != "gogui-setup":
        return [command]
    return [name, *map(" ".join, zip(words[::2], words[1::2], strict=True))]


def _less(
    script: Script, choices: list[bool], sizes: tuple[int, ...], lines: _KeptCommands
) -> Script:
    flags, smaller = iter(choices), iter(sizes)
    commands = []
    for command in script.commands:
        first, *stones = [unit if next(flags) else "" for unit in _units(command)]
        text = f"boardsize {next(smaller)}" if _is_size(command) else " ".join([first, *stones])
        if first and text.split() != ["gogui-setup"]:
            commands.append(" ".join(text.split()))
    files = {
        name: "".join(line for line in text.splitlines(keepends=True) if next(flags))
        for name, text in script.files
    }
    moved = [(one, *one.partition(" ")[::2]) for one in _shrink_board(commands, lines)]
    return write_script(
        BoardFile(verb, files[name]) if name in files else one for one, verb, name in moved
    )


def _shrink_board(commands: list[str], lines: _KeptCommands) -> Iterable[str]:
    """Return the commands with fewer of the rows and columns that no point is on."""
    points = [_point(word) for command in commands for word in _VERTEX.findall(command)]
    sizes = [int(command.split()[1]) for command in commands if _is_size(command)]
    extent = max(sizes, default=_LARGEST)
    up, rows = _renumber({row for row, _ in points}, extent, lines.both, lines.rows)
    right, columns = _renumber({one for _, one in points}, extent, lines.both, lines.columns)
    smaller = min(up, right)

    def nearer(word: re.Match[str]) -> str:
        row, column = _point(word[0])
        return vertex((rows[row], columns[column]))

    for command in commands:
        if _is_size(command):
            yield f"boardsize {max(1, int(command.split()[1]) - smaller)}"
        else:
            yield _VERTEX.sub(nearer, command)


def _renumber(
    occupied: set[int], extent: int, shared_flags: bytes, flags: bytes
) -> tuple[int, list[int]]:
    """Return how many rows (or columns) the board loses, and the new numbers of all."""
    free = [number for number in range(extent) if number not in occupied]
    gone = {number for number, byte in zip(free, shared_flags, strict=False) if not byte}
    lost = len(gone)
    gone |= {number for number in free if not flags[number]}
    return lost, list(accumulate((n not in gone for n in range(_LARGEST)), initial=0))


def _point(word: str) -> Point:
    return parse_vertex(word, _LARGEST, _LARGEST)


# --- Making what was found small: pruned for as long as it shows something new -------------------


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

    def __init__(
        self, asker: ScriptSender, revealing_script: RevealingScript, spending: Spending
    ) -> None:
        self._asker = asker
        self._best = revealing_script
        self._left = _SCRIPTS
        self._spending = spending

    def run(self, seed: int) -> RevealingScript:
        """Return the shortest script that was found."""
        for grain in _GRAINS:
            if grain == 1 or len(self._best.script.commands) > 2 * grain:
                self._prune(grain, seed)
        self._prune(1, seed, moves=True)
        if len(self._best.script.commands) > _SHORT:
            while any(map(self._becomes_shorter, _without_pairs(self._best.script))):
                pass
        return self._best

    def _prune(self, grain: int, seed: int, *, moves: bool = False) -> None:
        strategy = prune_scripts(self._best.script, grain, moves=moves)
        find(strategy, self._shows_news, self._asker.causes.judge.cut_to_allowed, _SHRINK, seed)

    def _becomes_shorter(self, drawn: Script) -> bool:
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


def reduce_script(
    asker: ScriptSender, revealing_script: RevealingScript, seed: int
) -> RevealingScript:
    """Return the shortest script found that shows what a longer one does, in a new process.

    What is still long, although it got shorter, is tried again: that was cut off by a limit.
    """
    spending = Spending(_SECONDS, _LONGEST)
    for again in range(_ROUNDS):
        small = Reduction(asker, revealing_script, spending).run(seed + again)
        if not small.needs_new and not asker.news(small.script, fresh=True):
            # What had been said before mattered, after all.
            needs_new = revealing_script._replace(needs_new=True)
            small = Reduction(asker, needs_new, spending).run(seed + again)
        is_short = len(small.script.commands) <= _SHORT
        if is_short or small.script.weight >= revealing_script.script.weight:
            return small
        revealing_script = small
    return revealing_script


def _without_pairs(script: Script) -> Iterator[Script]:
    """Yield a script without two of its commands, the last one being none of them."""
    commands = script.commands
    for one, other in combinations(range(len(commands) - 1), 2):
        kept = (*commands[:one], *commands[one + 1 : other], *commands[other + 1 :])
        yield script._replace(commands=kept)
