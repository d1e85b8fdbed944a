"""From the ledger to what marks are made of: reading only, nothing is run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness.assignments.assignment import Assignment
from harness.grading.ledger.ledger import Ledger, PlannedAttempt
from harness.grading.records import IMAGE, PRIVATE, PUBLIC, Attempt, Measured
from harness.reading import casefile
from harness.records import Build, CaseFile, FileResult
from harness.work import canonical_json, fairness
from harness.work.canonical_json import NOTHING, Measurements

_ORDER = (PUBLIC, PRIVATE, IMAGE)
_NOT_YET = "it was not run yet"


class AttemptReader:
    """Reads attempts; the case files are those that were run, from the ledger itself.

    ``paths``: where case files lie, by kind and name.
    """

    def __init__(
        self, ledger: Ledger, assignment: Assignment, paths: Mapping[tuple[str, str], str]
    ) -> None:
        self._ledger = ledger
        self._assignment = assignment
        self._paths = paths
        self._cases: dict[tuple[str, str], CaseFile] = {}
        self.sandboxes: set[str] = set()  # those of the results that were read, in words
        self.pythons: set[str] = set()  # that ran the engines, in words

    def attempts(self, planned: Iterable[PlannedAttempt]) -> tuple[Attempt, ...]:
        """Return the result of the attempts with one submission: public, private, images."""
        ordered = sorted(planned, key=lambda one: (_ORDER.index(one.kind), one.name))
        return tuple(self._attempt(one)._replace(build=self._build(one)) for one in ordered)

    def _build(self, one: PlannedAttempt) -> Build | None:
        text = self._ledger.build(one.build)
        return canonical_json.loads(Build, text) if text else None

    def _attempt(self, one: PlannedAttempt) -> Attempt:
        path = self._paths.get((one.kind, one.name), "")
        attempt = Attempt(one.key, one.kind, one.name, None, path=path)
        state, _, fault = self._ledger.states([one.basis])[one.basis]
        if state != "done":  # perhaps it was run once, and is in doubt
            return attempt._replace(fault=fault or _NOT_YET)
        runs = [self._run(*pair, one) for pair in self._ledger.results(one.basis)]
        result, figures = runs[-1]
        attempt = attempt._replace(runs=tuple(_measured(*run) for run in runs))
        if result is None:
            return attempt
        first = runs[0][0] or result
        own = self._assignment
        limits, box = own.limits, own.box
        counted = result
        if len(runs) > 1:
            counted = fairness.believed((first, result), runs[0][1], limits, box, own.natures)
        return attempt._replace(
            result=counted,
            flaky=() if runs[0][1].late else fairness.changed(first, result),
            near_limit=fairness.near(result, figures, limits, box),
        )

    def _run(
        self, text: str, figures: str, one: PlannedAttempt
    ) -> tuple[FileResult | None, Measurements]:
        measured = canonical_json.loads(Measurements, figures)
        self.sandboxes.add(measured.sandbox)
        self.pythons |= {measured.python} - {""}
        if text == NOTHING:
            return None, measured
        result = canonical_json.loads(FileResult, text)
        case = self._case(one.name, one.sha256)
        return canonical_json.add_measurements(result, case, measured), measured

    def _case(self, name: str, sha256: str) -> CaseFile:
        if (name, sha256) not in self._cases:
            content = self._ledger.content(sha256)
            self._cases[name, sha256] = casefile.parse(content, name)
        return self._cases[name, sha256]


def _measured(result: FileResult | None, figures: Measurements) -> Measured:
    return Measured(
        result, figures.seconds, figures.cpu, figures.memory, figures.started, figures.alone
    )
