"""Findings: the mistakes that explain them, the causes that they share, and their case files."""

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.assignments import assignment as assignments
from harness.assignments.sets import THOROUGH
from harness.core.options import GTP, STATUS_LAST
from harness.core.records import Failure, FailureKind, Reply
from harness.core.text import one_line
from harness.fuzzing.fuzzed_engine import FuzzedProgram
from harness.fuzzing.judges import Drawing, ExpectedCommand, ReplyJudge, WrongReply, differences
from harness.judging import in_process
from harness.judging.diagnosis import TOO_MANY
from harness.judging.in_process import same
from harness.judging.mutant_replay import RecordedConversation, does_alike
from harness.judging.strength import KnownWrong
from harness.reading import casefile, conversion, suite
from harness.reading.answer_files import COUNTS, ILLEGAL, REASONS
from harness.running import protocol_facts
from harness.specifications.record import Specification, reply_of
from harness.vocabulary.script import Script, Trace, lay_files, name_of
from oracle.mistakes import Hang, Mistake


class FuzzFinding(NamedTuple):
    """One cause, with the shortest script that shows it."""

    script: Script
    difference: WrongReply
    mistakes: tuple[Mistake, ...]  # of the bank, that explain it, the likeliest first
    shown: int  # times of ``tried`` that a new process showed it
    tried: int
    seconds: float  # since the beginning
    examples: int  # drawn until then
    is_question: bool = False  # other engines give the same wrong answer: a teacher decides
    engines: tuple[KnownWrong, ...] = ()  # known to be wrong, that go wrong in the same way

    @property
    def is_flaky(self) -> bool:
        """Whether the engine answers differently from time to time."""
        return self.shown < self.tried

    @property
    def setup(self) -> int:
        """The number of commands before the one that is answered wrongly."""
        return len(self.script.commands) - 1


_DRAWN = 400  # scripts at most that are to tell two mistakes apart
_FILES = ("load_board", "is_valid")  # commands that name files, which a script would have to bring


class MistakeNamer:
    """Names mistakes, and asks the engine what those that look alike would answer differently."""

    def __init__(self, program: FuzzedProgram, causes: "Causes", drawing: Drawing) -> None:
        """Take an engine; ``drawing``: of what it may be asked."""
        self._program = program
        self._causes = causes
        self._drawing = drawing

    def explaining(self, trace: Trace, others: Iterable[Trace]) -> tuple[Mistake, ...]:
        """Return the mistakes that explain a trace; of several, those that explain most others.

        None where so many are left that to name one would be to guess.
        """
        settled = self._causes.specification.settled_mistakes
        left = tuple(one for one in settled if self._causes.explains(one, trace))
        if len(left) > 1:
            traces, asked = list(others), set[Mistake]()
            left = self._rank(left, traces)
            while rest := [one for one in left[1:] if one not in asked]:
                asked.add(rest[0])
                if script := self._find_telling_apart(left[0], rest[0]):
                    self._program.renew()
                    traces.append(self._program.answer(script))
                    left = self._rank(left, traces)
        return left if len(left) < TOO_MANY else ()

    def _rank(self, mistakes: Iterable[Mistake], traces: Sequence[Trace]) -> tuple[Mistake, ...]:
        """Return those of the mistakes that explain most of the traces, in their order."""
        told = {
            one: sum(self._causes.explains(one, trace) for trace in traces) for one in mistakes
        }
        most = max(told.values(), default=0)
        return tuple(one for one, count in told.items() if count == most)

    def _find_telling_apart(self, one: Mistake, other: Mistake) -> Script | None:
        """Return a script that two mistakes answer differently: of what ships, or drawn."""

        def differs(script: Script) -> bool:
            return not self._causes.explains(other, run_mistake(one, script, judge.folder))

        judge = self._causes.judge
        shipped = filter(differs, read_shipped_scripts(judge.specification))
        return next(shipped, None) or judge.draw(differs, self._drawing._replace(most=_DRAWN))


def read_shipped_scripts(specification: Specification) -> Iterator[Script]:
    """Yield the case files that ship for an assignment, which tell all mistakes apart."""
    found = assignments.find(specification.key)
    paths = [*map(str, found.public_cases()), *suite.expand([str(found.place / THOROUGH)])]
    for path in paths:
        commands = tuple(step.command for step in casefile.read(path).steps)
        if not any(command.startswith(_FILES) for command in commands):
            yield Script(commands)


# --- Causes of differences: mistakes of the bank that explain them, or none known ----------------
# A mistake explains a trace when an engine that makes it gives the same answers to the same
# commands, right and wrong ones. So it tells which differences are news: those that no mistake
# found so far explains.


class Causes:
    """The causes found so far, each by its finding."""

    def __init__(self, judge: ReplyJudge) -> None:
        self.judge = judge
        self.found: list[FuzzFinding] = []

    @property
    def specification(self) -> Specification:
        """The specification that the engine is tested against."""
        return self.judge.specification

    def news(self, trace: Trace) -> WrongReply | None:
        """Return the first difference that no known cause explains."""
        found = list(differences(trace, self.judge))
        signatures = {one.signature for one in found}

        def is_all(cause: FuzzFinding) -> bool:
            """Whether the trace shows nothing but this cause."""
            if cause.mistakes:
                return self.explains(cause.mistakes[0], trace)
            return signatures == {cause.difference.signature}

        if not found or any(map(is_all, self.found)):
            return None
        unknown = {
            one.difference.signature for one in self.found if one.is_flaky or not one.mistakes
        }
        return next((one for one in found if one.signature not in unknown), None)

    def explains(self, mistake: Mistake, trace: Trace) -> bool:
        """Whether an engine that makes a mistake does all that the engine did."""
        steps = tuple(map(protocol_facts.own_step, trace.script.commands))
        missing = [None] * (len(steps) - len(trace.replies))

        def alike(index: int, reply: Reply) -> bool:
            return same(steps[index].command, reply, trace.replies[index], self.specification)

        replies, folder = (*trace.replies, *missing), self.judge.folder
        conversation = RecordedConversation(steps, replies, trace.failure, alike, str(folder))
        lay_files(trace.script, folder)
        return does_alike(conversation, in_process.mutant_engine(mistake))


def run_mistake(mistake: Mistake, script: Script, folder: Path) -> Trace:
    """Return what an engine that makes a mistake does with a script."""
    engine = in_process.mutant_engine(mistake).in_folder(str(folder))
    steps = map(protocol_facts.own_step, script.commands)
    replies: list[Reply] = []
    lay_files(script, folder)
    for index, (_, raw) in enumerate(in_process.replay(steps, engine)):
        if not isinstance(raw, str):
            kind = FailureKind.TIMEOUT if isinstance(raw, Hang) else FailureKind.DIED
            return Trace(script, tuple(replies), Failure(kind, "", index))
        replies.append(reply_of(raw))
    return Trace(script, tuple(replies))


# --- A finding as a case file: the shortest script, the board, and why the right answer is right -


_WIDTH = 97  # of a comment's text
_UNSAID = (
    "The right answer is an error, which no file for GTP can expect: the tests here ask what holds"
    " after it, and an engine may pass them. Send it the commands to see what it answers."
)
_LONG = 300  # characters of an answer that a comment quotes


def file_name(number: int, finding: FuzzFinding, protocol: str = GTP) -> str:
    """Return such as ``01-score-too-low.gtp``; ``protocol``: what the engine speaks."""
    command, kind = finding.difference.signature
    words = re.sub(r"[^a-z0-9]+", "-", f"{command} {kind}".lower()).strip("-")
    return f"{number:02}-{words[:50].strip('-')}{_ENDINGS[protocol]}"


def write(
    folder: Path, number: int, finding: FuzzFinding, judge: ReplyJudge, protocol: str = GTP
) -> Path:
    """Write a finding and the files it names into a folder; return the case file's path."""
    path = folder / file_name(number, finding, protocol)
    path.write_text(text(number, finding, judge, protocol), encoding="utf-8")
    names = _names(finding, number)
    for name, content in finding.script.files:
        (folder / names[name]).write_text(content, encoding="utf-8")
    return path


def _names(finding: FuzzFinding, number: int) -> dict[str, str]:
    """Return what a finding's files are called beside the case file."""
    files = enumerate(finding.script.files, 1)
    return {name: f"{number:02}-board{index}.txt" for index, (name, _) in files}


def text(number: int, finding: FuzzFinding, judge: ReplyJudge, protocol: str = GTP) -> str:
    """Return the case file of a finding."""
    beyond = [_UNSAID] if protocol == GTP and finding.difference.right.startswith("?") else []
    lines = [*_comment([*_heading(finding, judge.specification.key), *beyond]), ""]
    names, last = _names(finding, number), len(finding.script.commands) - 1
    for index, expected in enumerate(judge.expectations(finding.script)):
        is_last, words = index == last, expected.command.split()
        if is_last and not names.keys() & words:
            board, why = judge.picture(finding.script)
            lines += (f"# {line}".rstrip() for line in board.split("\n") if board)
            lines += _comment([why] if why else [])
        sent = " ".join(names.get(word, word) for word in words)
        lines += _LINES[protocol](expected._replace(command=sent), 10 * (index + 1), is_last)
    return "\n".join(lines) + "\n"


def _comment(paragraphs: Iterable[str]) -> Iterator[str]:
    for paragraph in paragraphs:
        yield from (f"# {line}".rstrip() for line in textwrap.wrap(paragraph, _WIDTH) or [""])


def _heading(finding: FuzzFinding, key: str) -> Iterator[str]:
    found, times = finding.difference, f"{finding.shown} of {finding.tried}"
    yield f"{key}: {name_of(found.command)}, {found.kind}"
    yield f"The engine's answer: {one_line(found.got, _LONG) or 'nothing'}"
    if finding.mistakes:
        first, *others = finding.mistakes
        more = f" (or like {len(others)} more mistakes that look the same here)" if others else ""
        yield f"It answers {first.clause}{more}."
    for one in finding.engines:
        yield f"It goes wrong as {one.name} does: {one.sentence}"
    if finding.is_flaky:
        yield f"Flaky: {times} new processes showed it."


# --- formats -----------------------------------------------------------------------------------


def _for_gtp(expected: ExpectedCommand, number: int, is_last: bool) -> Iterator[str]:
    """Yield the lines of a command of a case file for GTP; ``number``: its id."""
    yield f"{number} {expected.command}" if expected.is_test else expected.command
    if expected.is_test and expected.expression is not None:
        yield f"#? [{expected.expression}]"


def _for_answers(expected: ExpectedCommand, number: int, is_last: bool) -> Iterator[str]:
    """Yield a command of a case file with status lines, with its answer, maybe a refusal."""
    if not expected.refused:
        lines = "\n".join(_for_gtp(expected, number, is_last))
        case = casefile.parse(f"{lines}\n".encode(), f"{number}.gtp")
        yield from conversion.to_answers(case).splitlines()
        return
    is_told = expected.refused.startswith(ILLEGAL)  # right programs give other reasons
    yield f"{COUNTS if is_last else ''}{expected.command}"
    yield f"{REASONS}{ILLEGAL.removeprefix('= ')}.*" if is_told else expected.refused


_ENDINGS = {GTP: ".gtp", STATUS_LAST: ".txt"}  # of the names of case files
# What writes a command of them; the last argument: whether it is the finding.
_LINES = {GTP: _for_gtp, STATUS_LAST: _for_answers}
