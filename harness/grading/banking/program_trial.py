"""Run anonymous programs like submissions: unpacked, built, with all case files."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from harness import open_folders
from harness.errors import HarnessError
from harness.grading.attempts.orders import GradingContext, Orders
from harness.grading.attempts.units import GradingUnit, Task
from harness.grading.banking.bank_selection import AnonymousProgram, ProgramBehaviour, behaviour
from harness.grading.ledger.ledger import PlannedAttempt
from harness.grading.records import Submission
from harness.intake.archive_writing import pack_alike
from harness.records import FileResult
from harness.signals import ending_on_signals
from harness.work import canonical_json
from harness.work.worker_events import AttemptEvent, AttemptFinished, HarnessFailed


class ProgramTrial:
    """Run programs that are in no ledger."""

    def __init__(
        self, means: GradingContext, tasks: Sequence[Task], planned: Sequence[PlannedAttempt]
    ) -> None:
        """``tasks``: the case files; ``planned``: what the assignment calls them, by basis."""
        self._means = means
        self._tasks = tuple(tasks)
        self._called = {one.basis: (one.kind, one.name) for one in planned}

    def run(self, programs: Mapping[str, AnonymousProgram]) -> dict[str, ProgramBehaviour | None]:
        """Return the behaviour of programs by their keys; None if one did nothing."""
        with tempfile.TemporaryDirectory(prefix="gtp-harness-") as folder:
            units = [self._unit(key, one, Path(folder)) for key, one in programs.items()]
            return dict(zip(programs, self._results(units), strict=True))

    def _unit(self, key: str, program: AnonymousProgram, folder: Path) -> GradingUnit:
        lying, packed = folder / f"{key}.files", folder / f"{key}.tar"
        for name, content in program.files.items():
            path = lying / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(open_folders.file_mode(is_program=name in program.run))
        pack_alike(packed, lying, {name: name for name in program.files})
        own = Submission(key, (), kept=tuple(sorted(program.files)))
        return GradingUnit(own, packed, program.digest, self._tasks)

    def _results(self, units: Sequence[GradingUnit]) -> list[ProgramBehaviour | None]:
        """Run units side by side. What is asked alone in a grading is so here as well."""
        means, heard = self._means, [dict[str, FileResult]() for _ in units]

        def on_word(index: int, word: AttemptEvent) -> None:
            if isinstance(word, HarnessFailed):
                raise HarnessError(f"harness error: {word.message}")
            if isinstance(word, AttemptFinished) and word.result != canonical_json.NOTHING:
                heard[index][word.basis] = canonical_json.loads(FileResult, word.result)

        orders = Orders(means, means.assignment.box, alone=False)
        with (
            ending_on_signals(),
            closing(orders),
            closing(orders.run(units, means.jobs, on_word)) as ends,
        ):
            for _, fault in ends:
                if fault:
                    raise HarnessError(f"harness error: {fault.message}")
        return [self._behaviour(found) for found in heard]

    def _behaviour(self, found: Mapping[str, FileResult]) -> ProgramBehaviour | None:
        cases = {task.basis: task.case for task in self._tasks}
        results = [
            (
                *self._called[basis],
                canonical_json.add_measurements(result, cases[basis], _NO_FIGURES),
            )
            for basis, result in found.items()
        ]
        return behaviour(results) if results else None


_NO_FIGURES = canonical_json.Measurements()
