"""The course of each test of a history from run to run, and the statistics behind it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from harness.history.records import (
    FileKept,
    Flaky,
    RunKept,
    Slower,
    Spread,
    TestIdentity,
    TestInRun,
    Trends,
    VerdictChange,
)
from harness.history.trends import by_test, list_comparable_runs, measure_spread, times_of

# --- The course of each test of a history from run to run, file by file. Pure --------------------


RUNS = 50  # the last ones: all their verdicts are shown

Times = tuple[tuple[int, float], ...]  # numbers of runs, and seconds


class Streak(NamedTuple):
    """Runs one after the other in which the same became of a test."""

    verdict: str  # "" if it was not asked
    flaky: bool  # a --rerun gave other verdicts
    first: int  # place of the first run among those shown
    size: int  # runs


class TestCourse(NamedTuple):
    """A test from run to run."""

    test: TestIdentity
    line: int
    number: int  # among the tests of its file, from 1
    seen: tuple[TestInRun | None, ...]  # in each of the runs shown
    times: Times  # that may be compared
    changes: tuple[VerdictChange, ...]  # the latest first
    broken: VerdictChange | None
    flaky: Flaky | None
    slower: Slower | None
    is_gone: bool  # its file was run later without it

    @property
    def last(self) -> TestInRun:
        """Its last verdict."""
        return [one for one in self.seen if one][-1]

    @property
    def verdict(self) -> str:
        """Its last verdict."""
        return self.last.result.verdict

    @property
    def has_news(self) -> bool:
        """Whether there is more to tell of it than a row shows."""
        return bool(self.changes or self.flaky or self.slower or self.verdict == "FAILED")

    @property
    def spread(self) -> Spread | None:
        """The spread of its times."""
        return measure_spread([seconds for _, seconds in self.times]) if self.times else None

    def streaks(self) -> Iterator[Streak]:
        """Yield what happened to it, the oldest first; together they are all runs shown."""
        first = 0
        for (verdict, flaky), some in groupby(self.seen, _outcome):
            size = len(list(some))
            yield Streak(verdict, flaky, first, size)
            first += size


class FileCourse(NamedTuple):
    """A case file from run to run."""

    path: str
    runs: tuple[FileKept | None, ...]  # in each of the runs shown
    times: Times  # of the whole file, that may be compared
    courses: tuple[TestCourse, ...]  # what failed last time first

    @property
    def spread(self) -> Spread | None:
        """The spread of its times."""
        return measure_spread([seconds for _, seconds in self.times]) if self.times else None


def choose_shown_runs(trends: Trends) -> tuple[RunKept, ...]:
    """Return the runs whose verdicts are all shown."""
    return tuple(run for run in trends.runs if run.files)[-RUNS:]


def file_courses(trends: Trends) -> list[FileCourse]:
    """Return the files of the runs shown, in the order of the last run that has each."""
    runs = choose_shown_runs(trends)
    paths = dict.fromkeys(file.path for run in reversed(runs) for file in run.files)
    made = _Courses(trends, runs)
    return [made.file(path) for path in paths]


class _Courses:
    """Makes courses of what a history tells."""

    def __init__(self, trends: Trends, runs: Sequence[RunKept]) -> None:
        self._runs = runs
        self._alike = list_comparable_runs(trends.runs) if trends.runs else set()
        self._seen = by_test(trends.runs)
        self._changes: dict[TestIdentity, list[VerdictChange]] = {}
        for one in trends.changes:
            self._changes.setdefault(one.test, []).append(one)
        self._broken = {one.test: one for one in trends.broken}
        self._flaky = {one.test: one for one in trends.flaky}
        self._slower = {one.test: one for one in trends.slower}
        self._files = [{file.path: file for file in run.files} for run in runs]
        self._tests: dict[str, dict[TestIdentity, None]] = {}
        for run in reversed(runs):
            for file in run.files:
                known = self._tests.setdefault(file.path, {})
                known.update(dict.fromkeys(one.test for one in file.results))

    def file(self, path: str) -> FileCourse:
        """Return the course of a file."""
        kept = tuple(files.get(path) for files in self._files)
        courses = [self._course(test, kept) for test in self._tests[path]]
        courses.sort(key=lambda one: one.line)
        numbered = (one._replace(number=number) for number, one in enumerate(courses, 1))
        times = tuple(
            (run.number, file.seconds)
            for run, file in zip(self._runs, kept, strict=True)
            if file and run.number in self._alike
        )
        return FileCourse(path, kept, times, tuple(sorted(numbered, key=badness)))

    def _course(self, test: TestIdentity, kept: Sequence[FileKept | None]) -> TestCourse:
        seen = self._seen[test]
        by_run = _worst(seen)
        shown = tuple(by_run.get(run.number) for run in self._runs)
        last = max(place for place, file in enumerate(kept) if file)
        return TestCourse(
            test=test,
            line=seen[-1].result.line,
            number=0,
            seen=shown,
            times=tuple(times_of(seen, self._alike)),
            changes=tuple(self._changes.get(test, ())),
            broken=self._broken.get(test),
            flaky=self._flaky.get(test),
            slower=self._slower.get(test),
            is_gone=shown[last] is None,
        )


def _worst(seen: Iterable[TestInRun]) -> dict[int, TestInRun]:
    """Return what was seen by run; a file that a run has twice shows its worse verdict."""
    found: dict[int, TestInRun] = {}
    for one in seen:
        before = found.get(one.run.number)
        if before is None or before.passed is not False:
            found[one.run.number] = one
    return found


def _outcome(seen: TestInRun | None) -> tuple[str, bool]:
    return (seen.result.verdict, seen.result.flaky) if seen else ("", False)


_RANKS = {"FAILED": 0, "not run": 1, "not judged": 1, "failed": 5}


def badness(one: TestCourse) -> tuple[int, int]:
    """Return what puts a failed test before others, and among these what broke last.

    Then those without a verdict, the flaky, the slower, what ever changed, what failed as
    expected; then all others; at last what is no longer asked.
    """
    if one.is_gone:
        return 7, one.number
    rank = _RANKS.get(one.verdict, 6)
    if rank == 0:
        return 0, -one.broken.now.run.number if one.broken else 0
    if rank > 1:
        told = (one.flaky, one.slower, one.changes)
        rank = min([rank, *(place for place, news in enumerate(told, 2) if news)])
    return rank, one.number
