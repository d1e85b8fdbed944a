"""The records of a history, and counts of a run as pages show them. All immutable."""

import enum
from collections import Counter
from typing import NamedTuple

from harness.report.tally import Tally

FORMAT = 1  # the version of a history's file


class RunState(enum.Enum):
    BEGUN = "begun"  # it still runs, or was ended without a word: a SIGKILL, a power cut
    WHOLE = "whole"
    INTERRUPTED = "interrupted"


class TestIdentity(NamedTuple):
    """Identity of a test across runs."""

    path: str  # as named on the command line
    id: int  # -1 for none
    command: str
    alike: int  # how many tests of its file with this id and command come before it

    @property
    def name(self) -> str:
        """The command with its id."""
        return self.command if self.id < 0 else f"{self.id} {self.command}"


class TestInFile(NamedTuple):
    """A test in one run."""

    test: TestIdentity
    line: int
    text: str  # digest of all commands up to the test, and of its expectation
    verdict: str  # a value of harness.core.records.Verdict
    flaky: bool  # --rerun gave other verdicts
    seconds: float | None  # of its reply; None: not run


class FileKept(NamedTuple):
    """A case file in one run."""

    path: str
    engine: str  # name and version, as it gave them
    failure: str  # how the engine failed the first time, or ""
    seconds: float
    cpu_seconds: float
    results: tuple[TestInFile, ...]


class RunKept(NamedTuple):
    number: int  # in the order in which runs were begun, from 1
    started: str  # ISO 8601, UTC
    state: RunState
    program: str  # as typed
    digest: str  # of the program's files, "" where none is found
    circumstances: str  # host, jobs and the like: times are compared where these are the same
    harness: str  # its version
    files: tuple[FileKept, ...] = ()


class TestInRun(NamedTuple):
    """A test in one run, beside the engine that was asked."""

    run: RunKept
    engine: str  # name, version and digest of the program's files
    result: TestInFile

    @property
    def passed(self) -> bool | None:
        """Whether it passed, expected or not; None where it says nothing of the test."""
        return _PASSES.get(self.result.verdict)


_PASSES = {"passed": True, "PASSED": True, "failed": False, "FAILED": False}


class VerdictChange(NamedTuple):
    """A verdict that is another one than the run before had."""

    test: TestIdentity
    before: TestInRun
    now: TestInRun

    @property
    def cause(self) -> str:
        """Other changes between the runs."""
        engine = ["the engine"] * (self.before.engine != self.now.engine)
        test = ["the test"] * (self.before.result.text != self.now.result.text)
        changed = " and ".join(engine + test)
        return f"{changed} changed" if changed else "neither engine nor test changed"


class Flaky(NamedTuple):
    """A test whose verdict goes back and forth while engine and test stay the same."""

    test: TestIdentity
    line: int
    seen: tuple[TestInRun, ...]  # the runs with the same engine and test
    failed: int
    changes: int
    interval: tuple[float, float]  # 95 % interval of the share of failures
    rerun: bool  # a --rerun gave other verdicts


class Spread(NamedTuple):
    """Times in seconds: the median and the quartiles."""

    low: float
    median: float
    high: float
    size: int  # how many times they are made of


class Slower(NamedTuple):
    """A test that takes longer than before."""

    test: TestIdentity
    line: int
    before: tuple[tuple[int, float], ...]  # runs and seconds
    now: tuple[tuple[int, float], ...]
    spread_before: Spread
    spread_now: Spread
    ratio: float  # of the medians, after what slowed all tests of a run is taken out
    chance: float  # of such times if nothing had changed


class Trends(NamedTuple):
    """All that is told of a history."""

    path: str
    program: str
    others: tuple[str, ...]  # programs in the file that are not looked at
    runs: tuple[RunKept, ...]
    broken: tuple[VerdictChange, ...]  # tests that fail now and passed before: their last change
    changes: tuple[VerdictChange, ...]  # all of them, the latest first
    flaky: tuple[Flaky, ...]
    slower: tuple[Slower, ...]
    whole: Slower | None  # all tests of a run together, where they got slower
    compared: int  # tests whose times could be compared


def tally(*files: FileKept) -> Tally:
    """Return the counts of files of one run."""
    results = [result for file in files for result in file.results]
    found = Counter(one.verdict for one in results)
    return Tally(
        tests=len(results) - found["ignored"],
        failed=found["FAILED"],
        expected_fails=found["failed"],
        unexpected_passes=found["PASSED"],
        passed=found["passed"],
        seconds=sum(file.seconds for file in files),
        not_run=found["not run"],
        ignored=found["ignored"],
        flaky=sum(one.flaky for one in results),
        not_judged=found["not judged"],
    )
