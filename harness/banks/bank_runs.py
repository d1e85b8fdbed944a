"""Tests put to engines that are wrong: each is started, in a sandbox, and runs the case files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from harness.banks.banks import WrongEngine
from harness.errors import SandboxError
from harness.judging import in_process
from harness.judging.strength import MeasuredTest, Strength
from harness.options import GTP, UNTRUSTED, Options
from harness.reading import casefile
from harness.reading.dialect import find_dialect
from harness.reading.named_case_files import Gathered
from harness.records import CaseFile, FileResult, Verdict
from harness.running.gathering import RunListeners
from harness.running.runs import run_gathered
from harness.specifications.record import Specification
from oracle.natures import Natures

_TIMEOUT = 5.0  # seconds without a reply: engines of a bank are not worth a longer wait
_FILE = 60.0  # seconds for a case file
_HUNG = 4  # case files in which an engine may hang before it is asked no more

Line = tuple[str, int]  # path of a case file, and the line of a command in it


class EngineAsker:
    """Asks engines; all are started in the same way."""

    def __init__(
        self,
        natures: Natures,
        sandbox: str = "auto",
        dialect: str = "gogui",
        *,
        protocol: str = GTP,
        strict: bool = True,
    ) -> None:
        """``strict``: listen as grading does; without, many times faster."""
        self._natures = natures
        self._options = Options(
            dialect=dialect,
            protocol=protocol,
            limits=UNTRUSTED._replace(timeout=_TIMEOUT, file=_FILE),
            sandbox=sandbox,
            strict=strict,
            restart=True,
            most_hung=_HUNG,
        )

    def find_failed(self, cases: Sequence[CaseFile], engine: WrongEngine) -> set[Line]:
        """Return the tests that an engine fails, or at which it breaks.

        Raises:
            SandboxError: the harness failed, or there is no sandbox here.
        """
        return {line for result in self.results(cases, engine) for line in find_failures(result)}

    def results(self, cases: Sequence[CaseFile], engine: WrongEngine) -> tuple[FileResult, ...]:
        """Return what an engine did in each file; raises as :meth:`find_failed`."""
        options = self._options._replace(
            folder=engine.folder, submission=engine.submission, show=engine.shown
        )
        cases = tuple(cases)
        result = run_gathered(
            engine.command, Gathered(cases), options, RunListeners(), self._natures
        )
        if result.faults:
            told = result.faults[0].partition("\n")[0]
            raise SandboxError(f"{engine.name} could not be asked: {told}")
        return result.files


def find_failing(
    cases: Sequence[CaseFile], specification: Specification, dialect: str = "gogui"
) -> set[Line]:
    """Return the tests that the reference engine fails: something is wrong with them."""
    judge, found = find_dialect(dialect), set()
    for case in cases:
        bad = in_process.failing_lines(case, specification.reference_engine(), judge)
        found |= {(case.path, line) for line in bad}
    return found


def find_failures(result: FileResult) -> Iterator[Line]:
    """Yield the tests of a file that an engine failed, or at which it broke.

    One that breaks down fails the test under way, or the next one.
    """
    path, steps = result.case.path, result.case.steps
    for outcome in result.outcomes:
        if outcome.verdict is Verdict.FAILED:
            yield path, steps[outcome.step].line
    for failure in result.failures:
        first = failure.step or 0
        yield from [(path, step.line) for step in steps[first:] if step.is_test][:1]


def measure(
    cases: Sequence[CaseFile],
    name: str,
    bad: set[Line],
    engines: Sequence[WrongEngine],
    failed: Callable[[WrongEngine], set[Line]],
) -> Strength:
    """Return which tests of case files catch which engines.

    ``name``: of the assignment. ``bad``: the tests that the reference engine fails, which
    count for nothing. ``failed``: returns the tests that an engine fails.
    """
    caught: dict[Line, int] = {}
    for place, engine in enumerate(engines):
        for line in failed(engine):
            caught[line] = caught.get(line, 0) | 1 << place
    tests = [
        MeasuredTest(case.path, step, caught.get((case.path, step.line), 0))
        for case in cases
        for step in case.steps
        if step.is_test
    ]
    good = tuple(one for one in tests if (one.path, one.step.line) not in bad)
    wrong = tuple(one._replace(caught=0) for one in tests if (one.path, one.step.line) in bad)
    return Strength(name, tuple(engines), (), good, wrong)


class EngineBench:
    """Wrong engines that say what tests are worth: the ``EngineBench`` of generating.

    Attributes: ``engines``; ``folder``, where the files lie that commands name.
    """

    def __init__(
        self,
        engines: Sequence[WrongEngine],
        specification: Specification,
        folder: Path,
        asker: EngineAsker,
    ) -> None:
        """Take engines, and how to ask them."""
        self.engines = tuple(engines)
        self.folder = folder
        self._specification = specification
        self._asker = asker

    def map_catches(self, texts: Sequence[str], of: int) -> list[dict[int, int]]:
        """Return of case files, by the line of each test, the engines that it catches, as bits."""
        cases = [self._case(text, number) for number, text in enumerate(texts)]
        found: dict[str, dict[int, int]] = {case.path: {} for case in cases}
        for place, engine in enumerate(self.engines):
            for path, line in self._asker.find_failed(cases, engine) if of >> place & 1 else ():
                found[path][line] = found[path].get(line, 0) | 1 << place
        return list(found.values())

    def find_caught(self, cases: Sequence[CaseFile]) -> int:
        """Return the engines that case files catch, as bits."""
        failed = (
            self._asker.find_failed(cases, engine) if cases else () for engine in self.engines
        )
        return sum(1 << place for place, lines in enumerate(failed) if lines)

    def list_caught(self, cases: Sequence[CaseFile]) -> list[int]:
        """Return of each case file the engines that it catches, as bits."""
        found = dict.fromkeys((case.path for case in cases), 0)
        for place, engine in enumerate(self.engines if cases else ()):
            for path, _ in self._asker.find_failed(cases, engine):
                found[path] |= 1 << place
        return [found[case.path] for case in cases]

    def find_wrong(self, text: str) -> set[int]:
        """Return the lines of the tests of a case file that the reference engine fails."""
        return {line for _, line in find_failing([self._case(text, 0)], self._specification)}

    def _case(self, text: str, number: int) -> CaseFile:
        return casefile.parse(text.encode(), str(self.folder / f"generated-{number}.gtp"))
