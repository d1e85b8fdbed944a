"""Search for the wrong answers of one submission: a worker's part of an audit.

The submission is unpacked, built and boxed as for its mark; then it gets random conversations from
:mod:`harness.fuzzing`. Findings that are not sure (:func:`is_sure`) are counted, not reported.
"""

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from harness import file_system
from harness.assignments import workspace
from harness.assignments.assignment import Assignment
from harness.engine.launch import Launcher
from harness.errors import EngineError
from harness.fuzzing import hypothesis_at_home_in
from harness.fuzzing.by_reference import judge_of
from harness.fuzzing.findings import FuzzFinding, write
from harness.fuzzing.fuzzed_engine import FuzzedProgram
from harness.fuzzing.fuzzer import Fuzzer
from harness.fuzzing.judges import ReplyJudge
from harness.fuzzing.search import FuzzBudget
from harness.grading.attempts.orders import GradingContext, bench_of
from harness.grading.records import WrongAnswer
from harness.records import CaseFile
from harness.running import jobs
from harness.vocabulary.script import BOARDS
from harness.work.machine import die_with_parent
from harness.work.records import WorkUnit

_SEED = 0  # all submissions are asked the same


class WrongAnswerFiles(NamedTuple):
    """A wrong answer with its files: the case file, and the boards that it loads."""

    wrong: WrongAnswer
    files: tuple[tuple[str, str], ...]  # (name, text)


class AuditFindings(NamedTuple):
    """The findings for a submission."""

    conversations: int
    unsure: int
    cases: tuple[WrongAnswerFiles, ...]
    trouble: str = ""  # why nothing could be seen, or why nothing follows from that


class Looker:
    """Search submissions, with the same sandbox and limits as for their marks."""

    def __init__(self, context: GradingContext, seconds: float) -> None:
        self._assignment = context.assignment
        self._seconds = seconds
        # One process is asked for more than any case file asks: who computes for ever is found
        # by the clock, and what was found is asked again with all limits.
        box = context.assignment.box._replace(cpu=0.0)
        # Of two sandboxes in turn: the next process starts while the last one is asked.
        self._benches = [bench_of(context, box) for _ in range(2)]
        self._parent = os.getpid()

    def close(self) -> None:
        """End this process's box servers."""
        for bench in self._benches:
            bench.close()

    def look(self, unit: WorkUnit, note: jobs.Note) -> AuditFindings:
        """Look at one submission for as long as there is time."""
        die_with_parent(self._parent)
        own = unit.submission
        furnished = self._benches[0].furnish(Path(own.path), own.root, own.kept, unit.build, note)
        with furnished as (room, built):
            if built and not built.ok:
                return AuditFindings(0, 0, (), built.message)
            with workspace.workspace() as folder:
                file_system.make_open(folder / BOARDS)
                try:
                    return self._ask_engine(room, folder)
                except EngineError as error:
                    return AuditFindings(0, 0, (), error.message)

    def _ask_engine(self, room: Path, folder: Path) -> AuditFindings:
        """Ask the engine; ``folder``: where the files lie that commands name."""
        command, home = self._assignment.start(room)
        place = Path(home) if home else folder
        program = FuzzedProgram(
            shlex.split(command),
            self._launchers(room, folder),
            self._assignment.limits,
            place,
        )
        specification = self._assignment.specification
        assert specification is not None  # see audit.require_oracle()
        with hypothesis_at_home_in(folder), closing(program):
            budget, judge = FuzzBudget(self._seconds, 0), judge_of(specification, place)
            fuzzer = Fuzzer(program, judge, budget, _SEED)
            found = list(fuzzer.findings())
        sure = [one for one in found if is_sure(one, self._assignment)]
        cases = tuple(self._cases(sure, judge, folder))
        unsure = fuzzer.unconfirmed + len(found) - len(sure)
        trouble = "" if found else fuzzer.shortfall
        return AuditFindings(budget.examples, unsure, cases, trouble)

    def _launchers(self, room: Path, folder: Path) -> Callable[[], Launcher]:
        """Return what gives the launcher of the next process."""
        case, shown = CaseFile(str(folder / "script.gtp"), (), ()), (str(folder / BOARDS),)
        turns = cycle(self._benches)
        return lambda: next(turns).launcher(case, room, shown)

    def _cases(
        self, findings: Sequence[FuzzFinding], judge: ReplyJudge, folder: Path
    ) -> Iterator[WrongAnswerFiles]:
        """Yield each finding as a case file, with the files beside it."""
        for number, finding in enumerate(findings, 1):
            beside = folder / f"finding{number}"
            beside.mkdir()
            name = write(beside, number, finding, judge).name
            texts = ((path.name, path.read_text("utf-8")) for path in beside.iterdir())
            yield WrongAnswerFiles(_describe_wrong(name, finding), tuple(sorted(texts)))


def is_sure(finding: FuzzFinding, assignment: Assignment) -> bool:
    """Whether a finding showed each time, and it was the submission that answered.

    Errors may be an adapter's own: it refuses what a program cannot be asked, such as a game on a
    board of another size.
    """
    is_refused = finding.difference.got.startswith("?")
    return not finding.is_flaky and not (assignment.adapter and is_refused)


def _describe_wrong(name: str, finding: FuzzFinding) -> WrongAnswer:
    found = finding.difference
    sentences = tuple(one.sentence for one in finding.mistakes)
    return WrongAnswer(name, found.command, found.kind, found.right, found.got, sentences)
