"""Read the attempts behind marks from the ledger; run nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness.assignments.assignment import Assignment
from harness.grading.attempts.set_aside import SetAside
from harness.grading.ledger.ledger import Ledger, PlannedAttempt
from harness.grading.records import IMAGE, PRIVATE, PUBLIC, Attempt, Measured
from harness.reading import casefile
from harness.records import Build, CaseFile, FileResult
from harness.work import canonical_json, fairness
from harness.work.canonical_json import NOTHING, Measurements
from harness.work.cut_short import find_cuts

_ORDER = (PUBLIC, PRIVATE, IMAGE)
_NOT_YET = "it was not run yet"
_SET_ASIDE = "it was run on {}, which was set aside since: grade again to run it elsewhere"


class AttemptReader:
    """Read attempts, with the case files that were run, from the ledger itself.

    ``paths``: the paths of case files, by kind and name. ``book``: the machines whose results do
    not count.
    """

    def __init__(
        self,
        ledger: Ledger,
        assignment: Assignment,
        paths: Mapping[tuple[str, str], str],
        book: SetAside | None = None,
    ) -> None:
        self._ledger = ledger
        self._assignment = assignment
        self._paths = paths
        self._book = book or SetAside()
        self._cases: dict[tuple[str, str], CaseFile] = {}
        self.sandboxes: set[str] = set()  # those of the results that were read, in words
        self.pythons: set[str] = set()  # that ran the engines, in words

    def attempts(self, planned: Iterable[PlannedAttempt], at: str = "") -> tuple[Attempt, ...]:
        """Return the result of the attempts with one submission: public, private, images.

        ``at``: as a mark that was given then has them, whatever is known since; empty: as of now.
        """
        ordered = sorted(planned, key=lambda one: (_ORDER.index(one.kind), one.name))
        distrusted = (
            {} if at else self._book.find_distrusted(self._ledger, (one.basis for one in ordered))
        )
        return tuple(
            self._load_attempt(one, distrusted.get(one.basis, ""), at)._replace(
                build=self._build(one)
            )
            for one in ordered
        )

    def _build(self, one: PlannedAttempt) -> Build | None:
        text = self._ledger.build(one.build)
        return canonical_json.loads(Build, text) if text else None

    def _load_attempt(self, one: PlannedAttempt, distrusted: str, at: str) -> Attempt:
        """Return an attempt; ``distrusted``: a machine that gave a result; empty: none did."""
        path = self._paths.get((one.kind, one.name), "")
        attempt = Attempt(one.key, one.kind, one.name, None, path=path)
        state, _, fault = self._ledger.states([one.basis])[one.basis]
        runs = [self._run(*pair, one) for pair in self._ledger.results(one.basis, at)]
        if distrusted:
            return attempt._replace(fault=_SET_ASIDE.format(distrusted))
        if not runs or (state != "done" and not at):  # perhaps it was run once, and is in doubt
            return attempt._replace(fault=fault or _NOT_YET)
        return self._attempt(attempt, runs)

    def _attempt(
        self, attempt: Attempt, runs: Sequence[tuple[FileResult | None, Measurements]]
    ) -> Attempt:
        result, figures = runs[-1]
        attempt = attempt._replace(runs=tuple(_make_measured(*run) for run in runs))
        if result is None:
            return attempt
        first = runs[0][0] or result
        own = self._assignment
        limits, box = own.limits, own.box
        counted = result
        is_cut = runs[0][1].late or bool(find_cuts(first, limits, own.natures))
        if len(runs) > 1:
            counted = fairness.merge_runs((first, result), runs[0][1], limits, box, own.natures)
        return attempt._replace(
            result=counted,
            flaky=() if is_cut else fairness.find_changed_steps(first, result),
            near_limit=fairness.near(result, figures, limits, box, own.natures),
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


def _make_measured(result: FileResult | None, figures: Measurements) -> Measured:
    return Measured(
        result, figures.seconds, figures.cpu, figures.memory, figures.started, figures.alone
    )
