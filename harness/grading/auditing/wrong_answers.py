"""Search for the wrong answers of one submission: a worker's part of an audit.

The submission is unpacked, built and boxed as for its mark; then it gets random conversations from
:mod:`harness.fuzzing`. Findings that are not sure (:func:`is_sure`) are counted, not reported.
"""

import os
import shlex
from contextlib import closing
from itertools import cycle
from pathlib import Path

from harness.assignments import workspace
from harness.assignments.assignment import Assignment
from harness.core import file_system
from harness.core.errors import EngineError
from harness.core.records import CaseFile
from harness.fuzzing import hypothesis_at_home_in
from harness.fuzzing.by_reference import judge_of
from harness.fuzzing.findings import FuzzFinding, write
from harness.fuzzing.fuzzed_engine import FuzzedProgram
from harness.fuzzing.fuzzer import Fuzzer
from harness.fuzzing.search import FuzzBudget
from harness.grading.attempts.orders import GradingContext, unit_runner_of
from harness.grading.records import Audited, WrongAnswer
from harness.running import jobs
from harness.vocabulary.script import BOARDS
from harness.work.machine import die_with_parent
from harness.work.records import WorkUnit

_SEED = 0  # all submissions are asked the same


class Looker:
    """Search submissions, with the same sandbox and limits as for their marks."""

    def __init__(self, context: GradingContext, seconds: float) -> None:
        self._assignment = context.assignment
        self._seconds = seconds
        # One process is asked for more than any case file asks: who computes for ever is found
        # by the clock, and what was found is asked again with all limits.
        box = context.assignment.box._replace(cpu=0.0)
        # Of two sandboxes in turn: the next process starts while the last one is asked.
        self._runners = [unit_runner_of(context, box) for _ in range(2)]
        self._parent = os.getpid()

    def close(self) -> None:
        """End this process's box servers."""
        for runner in self._runners:
            runner.close()

    def look(self, unit: WorkUnit, note: jobs.Note) -> tuple[Audited, dict[str, str]]:
        """Look at one submission for as long as there is time.

        Return the findings, and the text of each file by its name: the case files that show them,
        and the boards that these load.
        """
        die_with_parent(self._parent)
        own = unit.submission
        nothing = Audited(own.key, unit.build, self._seconds, 0, 0, ())
        furnished = self._runners[0].furnish(Path(own.path), own.root, own.kept, unit.build, note)
        with furnished as (room, built):
            if built and not built.ok:
                return nothing._replace(trouble=built.message), {}
            with workspace.workspace() as folder:
                file_system.make_open(folder / BOARDS)
                try:
                    return self._ask(nothing, room, folder)
                except EngineError as error:
                    return nothing._replace(trouble=error.message), {}

    def _ask(self, nothing: Audited, room: Path, folder: Path) -> tuple[Audited, dict[str, str]]:
        """Ask the engine; ``folder``: where the files lie that commands name."""
        command, home = self._assignment.start(room)
        place = Path(home) if home else folder
        case, shown = CaseFile(str(folder / "script.gtp"), (), ()), (str(folder / BOARDS),)
        turns = cycle(self._runners)
        program = FuzzedProgram(
            shlex.split(command),
            lambda: next(turns).launcher(case, room, shown),
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
        wrong = []
        files: dict[str, str] = {}
        for number, finding in enumerate(sure, 1):
            beside = folder / f"finding{number}"
            beside.mkdir()
            name = write(beside, number, finding, judge).name
            files |= {path.name: path.read_text("utf-8") for path in beside.iterdir()}
            seen, causes = finding.difference, tuple(one.sentence for one in finding.mistakes)
            wrong.append(WrongAnswer(name, seen.command, seen.kind, seen.right, seen.got, causes))
        findings = nothing._replace(
            conversations=budget.examples,
            unsure=fuzzer.unconfirmed + len(found) - len(sure),
            wrong=tuple(wrong),
            trouble="" if found else fuzzer.shortfall,
            confirmed=not wrong,
        )
        return findings, files


def is_sure(finding: FuzzFinding, assignment: Assignment) -> bool:
    """Whether a finding showed each time, and it was the submission that answered.

    Errors may be an adapter's own: it refuses what a program cannot be asked, such as a game on a
    board of another size.
    """
    is_refused = finding.difference.got.startswith("?")
    return not finding.is_flaky and not (assignment.adapter and is_refused)
