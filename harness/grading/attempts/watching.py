"""Tell the alarm how the submissions of a grading start, from their results in the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.assignments.assignment import Assignment
from harness.grading.attempts.alarm import Alarm, trouble
from harness.grading.attempts.units import GradingUnit
from harness.grading.ledger.ledger import Ledger
from harness.records import Build, FileResult
from harness.work import canonical_json
from harness.work.canonical_json import NOTHING

_TOGETHER = 100  # submissions that are asked for in one statement


class Watch:
    """Watch the submissions of a grading. ``go_on``: never stop the grading."""

    def __init__(
        self, ledger: Ledger, assignment: Assignment, units: Sequence[GradingUnit], *, go_on: bool
    ) -> None:
        self._ledger = ledger
        self._assignment = assignment
        archives = {unit.submission.sha256 for unit in units}
        self._alarm = Alarm(0 if go_on else len(archives))

    def look(self, units: Sequence[GradingUnit]) -> None:
        """Look at the finished runs of some submissions.

        Raises:
            ClassWideError: all of the first ones fail alike.
        """
        for unit in self._list_begun(units):
            if self._alarm.is_over:
                return
            self._look_at(unit)
        self._alarm.check(self._assignment.engine.command)

    def _list_begun(self, units: Sequence[GradingUnit]) -> Iterator[GradingUnit]:
        """Yield the submissions with at least one run, as long as that matters."""
        for start in range(0, len(units), _TOGETHER):
            if self._alarm.is_over:
                return
            some = units[start : start + _TOGETHER]
            known = self._ledger.figures(task.basis for unit in some for task in unit.tasks)
            yield from (unit for unit in some if any(one.basis in known for one in unit.tasks))

    def note(self, result: str) -> None:
        """Take in a result as it is stored: one program that runs is enough to continue."""
        if self._alarm.is_over or result == NOTHING:
            return
        file = canonical_json.loads(FileResult, result)
        if trouble(None, [file], adapted=self._is_adapted) is None:
            self._alarm.note("", "", None)

    @property
    def _is_adapted(self) -> bool:
        return self._assignment.adapter is not None

    def _look_at(self, unit: GradingUnit) -> None:
        text = self._ledger.build(unit.build)
        build = canonical_json.loads(Build, text) if text else None
        last = (self._ledger.results(task.basis)[-1:] for task in unit.tasks)
        texts = [text for runs in last for text, _ in runs if text != NOTHING]
        results = [canonical_json.loads(FileResult, text) for text in texts]
        if results or (build and not build.ok):
            found = trouble(build, results, adapted=self._is_adapted)
            self._alarm.note(unit.submission.key, unit.submission.sha256, found)
