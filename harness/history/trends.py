"""Trends over many runs, and the course of each test from run to run. Pure.

*Broke*: a test that failed in the last run in which it was judged, and had passed before.

*Flaky*: among the runs since engine and test are what they are now, its verdict went back and
forth, so changed at least twice; or a ``--rerun`` gave other verdicts. A single change is not: it
may have a cause that nobody sees.

*Slower*: of runs in the same circumstances (host, ``--jobs``, sandbox) and with the same text of
the test, the last :data:`NOW` are held against up to :data:`BEFORE` earlier ones. A slowdown of
all tests in a run (a busy machine) is divided out. The medians must differ by a factor of
:data:`FACTOR` and by :data:`LEAST` seconds; and a one-sided rank test must say so, such that of
all tests that are called slower at most :data:`RATE` are expected to be so by chance. All tests of
a run together are looked at in the same way, by that common factor.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import compress, groupby, pairwise
from statistics import median, quantiles
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

_EXACT = 30  # values together up to which the rank test counts all orders


def measure_spread(values: Sequence[float]) -> Spread:
    """Return the median and the quartiles of some values (inclusive method)."""
    low, middle, high = (
        quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    )
    return Spread(low, middle, high, len(values))


def chance_of_larger(now: Sequence[float], before: Sequence[float]) -> float:
    """Return how likely values as large as ``now`` are if nothing has changed since ``before``.

    The one-sided rank test of Mann and Whitney: all orders counted where values are few and none
    is there twice, else its normal approximation, corrected for ties and continuity.

    Source: H. B. Mann, D. R. Whitney, Ann. Math. Statist. 18 (1947) 50-60.
    """
    together = [*now, *before]
    larger = sum((a > b) + (a == b) / 2 for a in now for b in before)
    if len(together) <= _EXACT and len(set(together)) == len(together):
        counts = _orders(len(now), len(before))
        return sum(counts[round(larger) :]) / sum(counts)
    size, pairs = len(together), len(now) * len(before)
    ties = sum(count**3 - count for count in Counter(together).values())
    variance = pairs / 12 * (size + 1 - ties / (size * (size - 1)))
    if variance <= 0:
        return 1.0
    return math.erfc((larger - pairs / 2 - 0.5) / math.sqrt(2 * variance)) / 2


@cache
def _orders(few: int, many: int) -> tuple[int, ...]:
    """Return in how many orders of ``few + many`` values how many pairs have the first larger."""
    if not few or not many:
        return (1,)
    counts = [0] * (few * many + 1)
    for pairs, number in enumerate(_orders(few - 1, many)):
        counts[pairs + many] += number  # the largest is one of the few
    for pairs, number in enumerate(_orders(few, many - 1)):
        counts[pairs] += number
    return tuple(counts)


def remarkable(chances: Sequence[float], rate: float) -> list[bool]:
    """Return which of many tests are taken for real if ``rate`` of those taken may be false.

    Source: Y. Benjamini, Y. Hochberg, J. R. Statist. Soc. B 57 (1995) 289-300.
    """
    ordered = sorted(chances)
    limits = [chance for n, chance in enumerate(ordered, 1) if chance <= rate * n / len(ordered)]
    return [bool(limits) and chance <= limits[-1] for chance in chances]


def share_interval(part: int, whole: int) -> tuple[float, float]:
    """Return the 95 % interval of a share.

    Source: E. B. Wilson, J. Amer. Statist. Assoc. 22 (1927) 209-212.
    """
    z = 1.959964
    middle = (part + z * z / 2) / (whole + z * z)
    half = z / (whole + z * z) * math.sqrt(part * (whole - part) / whole + z * z / 4)
    return max(middle - half, 0.0), min(middle + half, 1.0)


NOW, BEFORE, FEWEST = 5, 20, 5  # runs that are compared: the last ones, earlier ones, at least
FACTOR, LEAST, RATE = 1.2, 0.01, 0.05
_SHORTEST = 1e-3  # seconds; what takes less tells nothing of a machine's speed
_WHOLE = TestIdentity("", -1, "all tests together", 0)

Times = Sequence[tuple[int, float]]  # numbers of runs, and seconds


def trends(path: str, runs: Sequence[RunKept], program: str | None = None) -> Trends:
    """Return what the runs of one program tell: the one named, or that of the last run."""
    programs = list(dict.fromkeys(run.program for run in reversed(runs)))
    chosen = program if program is not None else (programs or [""])[0]
    mine = [run for run in runs if run.program == chosen]
    seen = by_test(mine)
    changes = [change for one in seen.values() for change in _changes(one)]
    changes.sort(key=lambda change: -change.now.run.number)
    last: dict[TestIdentity, VerdictChange] = {}
    for change in changes:
        last.setdefault(change.test, change)  # the latest comes first
    slower, whole, compared = _slower(mine, seen)
    flaky = filter(None, map(_flaky, seen.values()))
    return Trends(
        path=path,
        program=chosen,
        others=tuple(other for other in programs if other != chosen),
        runs=tuple(mine),
        broken=tuple(
            change
            for test, change in last.items()
            if not change.now.passed and _drop_unjudged(seen[test])[-1].result.verdict == "FAILED"
        ),
        changes=tuple(changes),
        flaky=tuple(sorted(flaky, key=lambda one: (-one.changes, -one.failed))),
        slower=slower,
        whole=whole,
        compared=compared,
    )


def by_test(runs: Iterable[RunKept]) -> dict[TestIdentity, list[TestInRun]]:
    """Return the observations of each test, in the order of the runs."""
    found: dict[TestIdentity, list[TestInRun]] = {}
    for run in runs:
        for file in run.files:
            engine = f"{file.engine} {run.digest}"
            for result in file.results:
                found.setdefault(result.test, []).append(TestInRun(run, engine, result))
    return found


# --- verdicts ----------------------------------------------------------------------------------


def _drop_unjudged(entries: Iterable[TestInRun]) -> list[TestInRun]:
    return [one for one in entries if one.passed is not None]


def _changes(entries: Iterable[TestInRun]) -> list[VerdictChange]:
    judged = _drop_unjudged(entries)
    return [
        VerdictChange(now.result.test, before, now)
        for before, now in pairwise(judged)
        if before.passed is not now.passed
    ]


def _flaky(entries: Sequence[TestInRun]) -> Flaky | None:
    """Return how a test is flaky with the engine and the text that it has now."""
    engine, result = entries[-1].engine, entries[-1].result
    same = [one for one in entries if (one.engine, one.result.text) == (engine, result.text)]
    judged = _drop_unjudged(same)
    changes = len(_changes(judged))
    rerun = any(one.result.flaky for one in same)
    if not judged or (changes < 2 and not rerun):
        return None
    failed = sum(not one.passed for one in judged)
    interval = share_interval(failed, len(judged))
    return Flaky(result.test, result.line, tuple(judged), failed, changes, interval, rerun)


# --- times -------------------------------------------------------------------------------------


def _slower(
    runs: Sequence[RunKept], entries: dict[TestIdentity, list[TestInRun]]
) -> tuple[tuple[Slower, ...], Slower | None, int]:
    """Return the tests that got slower, whether all did, and how many could be compared."""
    if not runs:
        return (), None, 0
    same = list_comparable_runs(runs)
    times = {test: times_of(one, same) for test, one in entries.items()}
    factors = _factors(times)
    whole = _compare(_WHOLE, 0, list(factors.items()), {})
    found = [
        _compare(test, entries[test][-1].result.line, of_test, factors)
        for test, of_test in times.items()
    ]
    compared = [one for one in found if one]
    real = remarkable([one.chance for one in compared], RATE)
    slower = [
        one
        for one in compress(compared, real)
        if one.ratio >= FACTOR and one.spread_now.median - one.spread_before.median >= LEAST
    ]
    slower.sort(key=lambda one: -one.ratio)
    is_whole = whole is not None and whole.chance <= RATE and whole.ratio >= FACTOR
    return tuple(slower), whole if is_whole else None, len(compared)


def list_comparable_runs(runs: Sequence[RunKept]) -> set[int]:
    """Return the runs whose times may be compared with those of the last one."""
    return {run.number for run in runs if run.circumstances == runs[-1].circumstances}


def times_of(entries: Sequence[TestInRun], runs: set[int]) -> Times:
    """Return the times of a test as it is now, one for each of these ``runs``."""
    text = entries[-1].result.text
    found = {
        one.run.number: one.result.seconds
        for one in entries
        if one.run.number in runs and one.result.text == text
    }
    return [(run, seconds) for run, seconds in found.items() if seconds is not None]


def _factors(times: dict[TestIdentity, Times]) -> dict[int, float]:
    """Return how much slower than usual each run was, by what all its tests took."""
    shares: dict[int, list[float]] = {}
    for of_test in times.values():
        usual = median([seconds for _, seconds in of_test]) if of_test else 0.0
        if usual >= _SHORTEST:
            for run, seconds in of_test:
                shares.setdefault(run, []).append(seconds / usual)
    return {run: median(some) for run, some in sorted(shares.items())}


def _compare(
    test: TestIdentity, line: int, times: Times, factors: dict[int, float]
) -> Slower | None:
    """Return the last times of a test beside the earlier ones; None where they are too few."""
    now, before = times[-NOW:], times[: -NOW or None][-BEFORE:]
    if len(before) < FEWEST or len(now) < NOW:
        return None
    evened = [[seconds / factors.get(run, 1.0) for run, seconds in part] for part in (now, before)]
    usual = median(evened[1])
    return Slower(
        test,
        line,
        tuple(before),
        tuple(now),
        measure_spread([seconds for _, seconds in before]),
        measure_spread([seconds for _, seconds in now]),
        median(evened[0]) / usual if usual else 1.0,
        chance_of_larger(*evened),
    )


# --- The course of each test from run to run, file by file ---------------------------------------

RUNS = 50  # the last ones: all their verdicts are shown


class Streak(NamedTuple):
    """Consecutive runs with equal outcomes of a test."""

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
        return [one for one in self.seen if one][-1]

    @property
    def verdict(self) -> str:
        return self.last.result.verdict

    @property
    def has_news(self) -> bool:
        """Whether there is more to tell of it than a row shows."""
        return bool(self.changes or self.flaky or self.slower or self.verdict == "FAILED")

    def streaks(self) -> Iterator[Streak]:
        """Yield what happened to it, the oldest first; together they are all runs shown."""
        first = 0
        outcomes = (
            (one.result.verdict, one.result.flaky) if one else ("", False) for one in self.seen
        )
        for (verdict, flaky), some in groupby(outcomes):
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
    def last(self) -> FileKept:
        """What was found in it the last time."""
        return [one for one in self.runs if one][-1]


def choose_shown_runs(trends: Trends) -> tuple[RunKept, ...]:
    """Return the runs whose verdicts are all shown."""
    return tuple(run for run in trends.runs if run.files)[-RUNS:]


def file_courses(trends: Trends) -> list[FileCourse]:
    """Return the files of the runs shown, in the order of the last run that has each."""
    runs = choose_shown_runs(trends)
    alike = list_comparable_runs(trends.runs) if trends.runs else set()
    seen = by_test(trends.runs)
    changes: dict[TestIdentity, list[VerdictChange]] = {}
    for change in trends.changes:
        changes.setdefault(change.test, []).append(change)
    broken = {one.test: one for one in trends.broken}
    flaky = {one.test: one for one in trends.flaky}
    slower = {one.test: one for one in trends.slower}
    by_run = [{file.path: file for file in run.files} for run in runs]
    tests: dict[str, dict[TestIdentity, None]] = {}
    for run in reversed(runs):
        for file in run.files:
            tests.setdefault(file.path, {}).update(dict.fromkeys(one.test for one in file.results))

    def course(test: TestIdentity, number: int, last: int) -> TestCourse:
        """Return the course of a test; ``last``: the place of the last run of its file."""
        worst: dict[int, TestInRun] = {}  # by run: of a file that it has twice, the worse verdict
        for one in seen[test]:
            before = worst.get(one.run.number)
            if before is None or before.passed is not False:
                worst[one.run.number] = one
        shown = tuple(worst.get(run.number) for run in runs)
        return TestCourse(
            test=test,
            line=seen[test][-1].result.line,
            number=number,
            seen=shown,
            times=tuple(times_of(seen[test], alike)),
            changes=tuple(changes.get(test, ())),
            broken=broken.get(test),
            flaky=flaky.get(test),
            slower=slower.get(test),
            is_gone=shown[last] is None,
        )

    found = []
    for path, own in tests.items():
        kept = tuple(files.get(path) for files in by_run)
        last = max(place for place, kept_file in enumerate(kept) if kept_file)
        ordered = enumerate(sorted(own, key=lambda test: seen[test][-1].result.line), 1)
        courses = [course(test, number, last) for number, test in ordered]
        times = tuple(
            (run.number, kept_file.seconds)
            for run, kept_file in zip(runs, kept, strict=True)
            if kept_file and run.number in alike
        )
        found.append(FileCourse(path, kept, times, tuple(sorted(courses, key=badness))))
    return found


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
