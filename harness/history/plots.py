"""Pictures of a history as inline SVG: they run nothing, follow the page's colors, and speak.

They hold shapes alone, which may be stretched to any width; words stand beside them as text. Runs
go from left to right, the last one on the right. Units of a picture are its own: 10 across for a
run, 100 up.
"""

import math
from collections.abc import Iterable, Sequence

from harness.history.records import RunKept, RunState, TestInRun
from harness.history.text import counts, counts_text, in_words, seconds
from harness.history.trends import FileCourse, TestCourse, measure_spread
from harness.report.html.page_names import style
from harness.report.html.templates import Markup, Template

_RUN, _HEIGHT = 10, 100
_LONG = 78  # units of the longest time in a small plot, 80 wide
_SHORTEST = 1e-4  # seconds that a scale of times begins with at least
_KINDS = {  # the parts of a bar, from below: class, verdicts
    "p": ("passed", "PASSED"),
    "x": ("failed",),
    "w": ("not run", "not judged"),
    "f": ("FAILED",),
}
_KIND_OF = {verdict: kind for kind, verdicts in _KINDS.items() for verdict in verdicts}
_STRIPES = {"p": (60, 40), "x": (45, 55), "w": (30, 70), "f": (0, 100)}  # from above, height

STYLE = style("plots.css")
_Shape = tuple[str, str, str, str, str]  # a class, x and y, width and height
template = Template("history/plots.html")


def _shape(kind: str, x: float, y: float, width: float, height: float) -> _Shape:
    return kind, f"{x:g}", f"{y:.4g}", f"{width:g}", f"{height:.4g}"


# --- verdicts ----------------------------------------------------------------------------------


def verdicts(runs: Sequence[RunKept]) -> Markup | str:
    """Return a bar for each run with its tests by verdict, or nothing without runs."""
    found = [counts(run) for run in runs]
    most = max((sum(one.values()) for one in found), default=0)
    if not most:
        return ""
    columns = []
    for place, (run, one) in enumerate(zip(runs, found, strict=True)):
        y, bar = float(_HEIGHT), []
        for kind, names in _KINDS.items():
            if count := sum(one.get(name, 0) for name in names):
                height = max(_HEIGHT * count / most, 2.0)
                y = max(y - height, 0.0)
                bar.append(_shape(f"k{kind}", place * _RUN + 1, y, _RUN - 2, height))
        whole = _shape("hit", place * _RUN, 0, _RUN, _HEIGHT)
        columns.append((bar, whole, f"run {run.number}: {in_words(one)}"))
    last = runs[-1]
    label = f"Verdicts of {len(runs)} runs; the last, run {last.number}: {counts_text(last)}"
    return template.verdicts(runs, label, most, columns)


def failures(file: FileCourse) -> Markup | str:
    """Return how many tests of a file failed in each run, as bars."""
    by_run = [
        sum(one is not None and one.result.verdict == "FAILED" for one in column)
        for column in zip(*(course.seen for course in file.courses), strict=True)
    ]
    most = max(by_run, default=0)
    if not most:
        return ""
    bars = [
        _shape("kf", place * _RUN + 1, _HEIGHT - high, _RUN - 2, high)
        for place, high in enumerate(_HEIGHT * count / most for count in by_run)
        if high
    ]
    label = f"FAILED from run to run: at most {most}, in the last one {by_run[-1]}"
    return template.strip(len(by_run), label, bars)


def course(one: TestCourse) -> Markup:
    """Return a test from run to run: low where it passed, high where it failed."""
    stripes = []
    for at in one.streaks():
        if kind := _KIND_OF.get(at.verdict):
            y, height = _STRIPES[kind]
            stripes.append(_shape(f"k{kind}", at.first * _RUN, y, at.size * _RUN - 1, height))
    asked = [seen for seen in one.seen if seen]
    failed = sum(seen.passed is False for seen in asked)
    label = f"failed in {failed} of the last {len(asked)} runs that asked it, last: {one.verdict}"
    return template.strip(len(one.seen), label, stripes)


def kind_of(entry: TestInRun | None) -> str:
    """Return the class of a verdict; "" where a test was not asked, or says nothing."""
    return _KIND_OF.get(entry.result.verdict, "") if entry else ""


# --- times -------------------------------------------------------------------------------------


def durations(runs: Sequence[RunKept]) -> Markup | str:
    """Return how long the files of each whole run took together."""
    whole = [run for run in runs if run.state is RunState.WHOLE and run.files]
    times = [(run.number, sum(file.seconds for file in run.files)) for run in whole]
    return times_of_runs("Time of all files", times)


def times_of_runs(title: str, *parts: Sequence[tuple[int, float]]) -> Markup | str:
    """Return times in seconds, a bar for each run; nothing where there are none.

    Of each of the ``parts`` (times before and now) the quartiles are a band and the median a line
    across its bars, and all three are told as text.
    """
    times = [time for part in parts for time in part]
    longest = max((value for _, value in times), default=0.0)
    if not longest:
        return ""
    top, words, drawn = longest * 1.05, [], []
    place = 0
    for kind, part in zip(("t", "n"), filter(None, parts), strict=False):
        one = measure_spread([value for _, value in part])
        words.append(
            f"{seconds(one.median)} (quartiles {seconds(one.low)} and {seconds(one.high)})"
        )
        x, width = place * _RUN, len(part) * _RUN
        bars = [
            (number * _RUN + 2, f"{_HEIGHT * value / top:.4g}", run, seconds(value))
            for number, (run, value) in enumerate(part, place)
        ]
        height = max(_HEIGHT * (one.high - one.low) / top, 1)
        band = _shape("qa", x, _HEIGHT * (1 - one.high / top), width, height)
        median = _shape("md", x, _HEIGHT * (1 - one.median / top), width, 1)
        drawn.append((kind, bars, [band, median]))
        place += len(part)
    told = " → ".join(words)
    runs, label = [run for run, _ in times], f"{title} of {len(times)} runs: {told}"
    return template.durations(title, f"{told}; at most {seconds(longest)}", runs, label, drawn)


class Scale:
    """Common axis of small plots of times: each width is a factor."""

    def __init__(self, times: Iterable[float]) -> None:
        known = [max(time, _SHORTEST) for time in times]
        self.first, self.last = min(known, default=1.0), max(known, default=1.0)
        self._factor = math.log(self.last / self.first) or 1.0

    def at(self, time: float) -> float:
        """Return where a time stands, in units."""
        share = math.log(max(time, _SHORTEST) / self.first) / self._factor
        return 1 + _LONG * min(max(share, 0.0), 1.0)


def median(times: Sequence[tuple[int, float]]) -> str | int:
    """Return what a column of times is sorted by; -1 for none."""
    return f"{measure_spread([value for _, value in times]).median:.6f}" if times else -1


def time(times: Sequence[tuple[int, float]], scale: Scale) -> Markup | str:
    """Return the spread of some times as a small plot and as text; nothing where there are none.

    A line goes from the shortest to the longest, a box from quartile to quartile, a stroke is at
    the median; the text has the median and the quartiles.
    """
    values = [value for _, value in times]
    if not values:
        return ""
    one = measure_spread(values)
    ends = [
        (f"{scale.at(low) - 1:.3g}", f"{max(scale.at(high) - scale.at(low), 2):.3g}")
        for low, high in ((min(values), max(values)), (one.low, one.high))
    ]
    words = [*map(seconds, (one.median, one.low, one.high))]
    return template.spread(*ends, f"{scale.at(one.median) - 1:.3g}", words)
