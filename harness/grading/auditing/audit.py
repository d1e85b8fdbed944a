"""Audit submissions with nearly full marks: which of them still answer wrongly? No mark changes.

:meth:`Audit.run` goes two ways over them. Each is first *searched* for some seconds, several side
by side (:mod:`harness.grading.auditing.wrong_answers`). What was found is then *confirmed*: it is
rerun as grading reruns attempts in doubt, a case file at a time, nothing beside it, with all
limits. Only findings that show each time are kept.

The folder ``audit`` of a grading has a folder for each submission: case files that show a wrong
answer, and ``audit.json``. With it an interrupted audit continues, and a later grading shows the
findings again. The ledger is not touched.
"""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from fractions import Fraction
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TypeGuard

from harness.assignments.assignment import Assignment
from harness.core import file_system
from harness.core.errors import UsageError
from harness.core.records import CaseFile, FileResult, Verdict
from harness.core.signals import ending_on_signals
from harness.grading.attempts.attempt_plan import unit_case
from harness.grading.attempts.grading_progress import UnitsProgress
from harness.grading.attempts.orders import GradingContext, Orders
from harness.grading.records import PRIVATE, PUBLIC, Audited, Graded
from harness.reading import casefile
from harness.report.progress import bars
from harness.running import jobs
from harness.work import canonical_json, records
from harness.work.records import AttemptFinished, HarnessFailed, WorkUnit

FOLDER, _STATE = "audit", "audit.json"
SHARE = Fraction(9, 10)  # of the points for case files: less means known to be wrong
_REPEATS = 2  # times that what was found is asked again, alone


# --- which submissions are audited -------------------------------------------------------------


def require_oracle(assignment: Assignment) -> None:
    """See that somebody knows what is right.

    Raises:
        UsageError: the assignment has no specification.
    """
    if assignment.specification is None:
        raise UsageError("--audit needs an assignment with a specification:"
                         " without one, nobody knows which answers are right")  # fmt: skip


def nearly_full(graded: Iterable[Graded], assignment: Assignment) -> Iterator[str]:
    """Yield the keys of submissions with :data:`SHARE` of the points for case files.

    A late penalty does not count; a submission whose mark is withheld is left out.
    """
    names = {part.name for part in assignment.marks if part.judged_by in (PUBLIC, PRIVATE)}
    for one in graded:
        parts = [part for part in one.marks.parts if part.name in names]
        of = sum(part.of for part in parts)
        reached = sum(part.points for part in parts)
        if of and reached >= SHARE * of and not one.marks.withheld:
            yield one.submission.key


# --- what is kept of it ------------------------------------------------------------------------


def read(folder: Path, key: str) -> Audited | None:
    """Return the last findings for a submission, or None if they cannot be read."""
    try:
        found = canonical_json.loads(Audited, (folder / key / _STATE).read_text("utf-8"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return found if found.submission == key else None


def write(folder: Path, findings: Audited, files: Mapping[str, str]) -> None:
    """Write the findings for a submission in place of earlier ones.

    Raises:
        UsageError: it cannot be written.
    """
    place = folder / findings.submission
    try:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for name, text in files.items():
            (place / name).write_text(text, encoding="utf-8")
        _write_state(place, findings)
    except OSError as error:
        raise UsageError(f"cannot write {place}: {error.strerror}") from None


def _write_state(place: Path, findings: Audited) -> None:
    file_system.write_whole(place / _STATE, canonical_json.dumps(findings) + "\n")


def load_known(folder: Path, builds: Mapping[str, str]) -> tuple[Audited, ...]:
    """Return the findings for these versions of the submissions, sorted by key.

    ``builds``: by key the digest of a submission and its surroundings.
    """
    found = filter(None, (read(folder, key) for key in sorted(builds)))
    return tuple(one for one in found if one.confirmed and one.build == builds[one.submission])


def case_files(folder: Path, audits: Iterable[Audited]) -> tuple[Path, ...]:
    """Return the case files that show what audits found."""
    return tuple(folder / one.submission / wrong.file for one in audits for wrong in one.wrong)


# --- the audit ---------------------------------------------------------------------------------


class AuditProgress(UnitsProgress):
    """A live line, or one every half minute: how many are audited, and how many of them wrong."""

    what = "submissions audited"

    def __init__(self, total: int) -> None:
        super().__init__(total, partial(bars, refresh=False), "audit")
        self._wrong = 0

    def on_audited(self, findings: Audited) -> None:
        """Take in the findings for a submission."""
        self._done += 1
        self._wrong += bool(findings.wrong)
        self._draw(f"audit, {self._summarize()}")

    def _summarize(self) -> str:
        return f"{self._wrong} still wrong"


class Audit:
    """Audits the submissions that have not been searched for as long in their present state."""

    def __init__(self, context: GradingContext, seconds: float, folder: Path) -> None:
        """Take what all are run with, how long to look at each, and the folder to write into."""
        self._context = context
        self._seconds = seconds
        self._folder = folder

    def list_pending(self, units: Iterable[WorkUnit]) -> list[WorkUnit]:
        """Return the submissions that are still to be searched, or whose findings confirmed."""
        return [one for one in units if not ((found := self._known(one)) and found.confirmed)]

    def _known(self, unit: WorkUnit) -> Audited | None:
        """Return the findings for this version of a submission, searched as long or longer."""
        found = read(self._folder, unit.submission.key)
        if not found or found.build != unit.build or found.seconds < self._seconds:
            return None
        return found if all(map(Path.is_file, case_files(self._folder, [found]))) else None

    def run(self, units: Sequence[WorkUnit], progress: AuditProgress) -> list[str]:
        """Audit what is left; each submission is written down as soon as it was looked at.

        Returns a sentence for each in which the harness failed: the next audit tries it again.

        Raises:
            SandboxError: there is no such sandbox here, or it does not hold.
        """
        with ending_on_signals():
            left = self.list_pending(units)
            new = [unit for unit in left if not self._known(unit)]
            broke = self._search(new, progress) if new else []
            found = [(unit, known) for unit in left if (known := self._known(unit))]
            if found:
                paths = case_files(self._folder, (known for _, known in found))
                contents = {sha256(one).hexdigest(): one for one in map(Path.read_bytes, paths)}
                box = self._context.assignment.box
                orders = Orders(self._context, box, contents.__getitem__, alone=True)
                with closing(orders):
                    for unit, known in found:
                        broke += self._confirm(unit, known, orders, progress)
            return broke

    def _search(self, units: Sequence[WorkUnit], progress: AuditProgress) -> list[str]:
        # With Hypothesis, which a grading without an audit does not need.
        from harness.grading.auditing.wrong_answers import Looker

        broke = []
        with closing(Looker(self._context, self._seconds)) as looker:
            ends = jobs.run_all(
                units,
                looker.look,
                self._context.jobs,
                lambda _index, _word: None,
                looker.close,
                forked=True,
                on_time=lambda under_way: progress.on_time([units[index] for index in under_way]),
            )
            with closing(ends):
                for index, looked in ends:
                    if isinstance(looked, jobs.Fault):
                        broke.append(_broke(units[index], looked.message))
                        continue
                    found, files = looked
                    write(self._folder, found, files)
                    if found.confirmed:
                        progress.on_audited(found)
        return broke

    def _confirm(
        self, unit: WorkUnit, findings: Audited, orders: Orders, progress: AuditProgress
    ) -> list[str]:
        """Keep those findings for a submission that show each time; remove the others."""
        place = self._folder / findings.submission
        cases = {one.file: casefile.read(str(place / one.file)) for one in findings.wrong}
        asked = [
            unit_case(name, case, (place / name).read_bytes())
            for name, case in cases.items()
            for _ in range(_REPEATS)
        ]
        heard: list[object] = []
        again = unit._replace(cases=tuple(asked))
        ends = orders.run(
            [again],
            1,
            lambda _, event: heard.append(event),
            lambda under_way: progress.on_time([again for _ in under_way]),
        )
        with closing(ends):
            faults = [fault.message for _, fault in ends if fault]
        faults += [event.message for event in heard if isinstance(event, HarnessFailed)]
        if faults:
            return [_broke(unit, faults[0])]
        shown = Counter(event.basis for event in heard if _shows(event, cases))
        wrong = tuple(one for one in findings.wrong if shown[one.file] == _REPEATS)
        for one in set(findings.wrong) - set(wrong):
            for path in place.glob(f"{one.file[:2]}-*"):
                path.unlink()
        unsure = findings.unsure + len(findings.wrong) - len(wrong)
        left = findings._replace(wrong=wrong, unsure=unsure, confirmed=True)
        _write_state(place, left)
        progress.on_audited(left)
        return []


def _broke(unit: WorkUnit, message: str) -> str:
    return f"harness error in {unit.submission.key}: {message}"


def _shows(event: object, cases: Mapping[str, CaseFile]) -> TypeGuard[AttemptFinished]:
    """Whether a run of a case file has its last test wrong, and nothing broke before that."""
    if not isinstance(event, AttemptFinished) or event.result == records.NOTHING:
        return False
    result = canonical_json.loads(FileResult, event.result)
    last = len(cases[event.basis].steps) - 1
    verdicts = {outcome.verdict for outcome in result.outcomes if outcome.step == last}
    if any(failure.step != last for failure in result.failures):
        return False
    return Verdict.FAILED in verdicts or bool(result.failures)
