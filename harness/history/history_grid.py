"""The pages about one case file of a history: its tests × runs, and a card for each with news.

A row has a cell for each streak of a verdict, not for each run: 5,386 tests in 50 runs that all
passed are as many cells, and a screen reader says eight runs at once. What failed stands first; a
page ends before it is too large, and the next one continues.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup

from harness.history import plots, text
from harness.history.records import RunKept, TestIdentity, Trends, of_file
from harness.history.trends import FileCourse, Streak, TestCourse
from harness.records import Verdict
from harness.report.html.page_names import MATRIX, link, part_name, style
from harness.report.html.parts import NOTHING, PageFrame, dot, page, part_links
from harness.report.html.templates import drawing, render
from harness.text import one_line

_LARGEST = 800_000  # characters of rows and cards in one page
_CHANGES = 60  # of one test that are listed
_COMMAND = 80  # characters

STYLE = plots.STYLE + MATRIX + style("history.css")  # of all pages of a history

Addresses = dict[TestIdentity, str]
Crumbs = Sequence[tuple[str, str]]  # names and addresses

_KEY = {
    "f": "✕ FAILED",
    "p": "passed",
    "x": "· failed as expected",
    "w": "– not run or not judged",
}
_OTHER_KEYS = ("empty: not asked", "~ flaky: --rerun gave other verdicts")
_CHOICES = (
    ("f", "Failing"),
    ("c", "Changed"),
    ("k", "Flaky"),
    ("s", "Slower"),
    ("p", "Passing"),
)


def file_pages(  # noqa: PLR0913 - what a page is made of
    trends: Trends,
    runs: Sequence[RunKept],
    file: FileCourse,
    name: str,
    addresses: Addresses,
    *,
    home: Crumbs = (),
) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the names and the contents of the pages about a file.

    ``name``: of the first, without ``.html``. ``addresses``: filled with where each test is.
    ``home``: the way to the first page of the history.
    """
    scale = plots.Scale(seconds for one in file.courses for _, seconds in one.times)
    parts = list(_split_pages(_draw_test(one, scale, runs) for one in file.courses))
    for number, rows in enumerate(parts, 1):
        own = link(part_name(name, number))
        for row in rows:
            place = f"{'t' if row.card else 'r'}{row.course.number}"
            addresses[row.course.test] = f"{own}#{place}"
    first = (f"History of {one_line(trends.program, 40)}", "index.html")
    for number, rows in enumerate(parts, 1):
        counts = Counter(kind for row in rows for kind in _kinds(row.course).split())
        body = render(
            "history/file.html",
            path=file.path,
            last=of_file(file.last) if number == 1 else None,
            times=plots.times_of_runs("Time of the file", file.times),
            links=part_links(name, number, len(parts)),
            shortest=text.seconds(scale.first),
            longest=text.seconds(scale.last),
            runs=runs,
            heads=[_head(before, run) for before, run in pairwise([*runs[:1], *runs])],
            kinds=[
                ("all", "All", len(rows)),
                *((kind, words, counts[kind]) for kind, words in _CHOICES if counts[kind]),
            ],
            rows=[row.row for row in rows],
            key=plots.key(_KEY, *_OTHER_KEYS),
            cards=[row.card for row in rows if row.card],
        )
        heading = file.path + (f", part {number}" if number > 1 else "")
        frame = PageFrame((*home, first, (heading, "")), script=True, style=STYLE)
        yield part_name(name, number), page(heading, [body], frame)


class _DrawnTest(NamedTuple):
    """A test as markup."""

    course: TestCourse
    row: Markup
    card: Markup


def _split_pages(rows: Iterable[_DrawnTest]) -> Iterator[list[_DrawnTest]]:
    """Yield the rows of each page: as many as it has room for."""
    some: list[_DrawnTest] = []
    size = 0
    for row in rows:
        size += len(row.row) + len(row.card)
        if size > _LARGEST and some:
            yield some
            some, size = [], len(row.row) + len(row.card)
        some.append(row)
    yield some


def _head(before: RunKept, run: RunKept) -> dict[str, object]:
    engine = text.engine_of(run)
    is_other = (text.engine_of(before), before.digest) != (engine, run.digest)
    words = f"run {run.number}, {run.started[:16]}, {engine}{', another engine' * is_other}"
    return {"number": run.number, "is_other_engine": is_other, "words": words}


_draw = drawing("history/test.html")


def _draw_test(one: TestCourse, scale: plots.Scale, runs: Sequence[RunKept]) -> _DrawnTest:
    """Return the row of a test, and its card if it has news."""
    name, kinds = one_line(one.test.name, _COMMAND), _kinds(one)
    sign, card = dot(Verdict(one.verdict), one.last.result.flaky), NOTHING
    if one.has_news:
        is_failing = one.verdict == "FAILED" and not one.is_gone
        compared = (one.slower.before, one.slower.now) if one.slower else (one.times,)
        changes = [
            (text.run_of(each.now), each.now.run.number, text.verdicts(each), each.cause)
            for each in one.changes[:_CHANGES]
        ]
        drawn, told = plots.course(one), [*_describe(one)]
        times = plots.times_of_runs("Time", *compared)
        card = _draw("card", one, kinds, is_failing, sign, name, told, drawn, times, changes)
    asked = [seen for seen in one.seen if seen]
    row = _draw(
        "row",
        one,
        kinds,
        sign,
        name,
        is_linked=bool(card),
        failed=sum(seen.passed is False for seen in asked),
        asked=len(asked),
        median=f"{one.spread.median:.6f}" if one.spread else -1,
        time=plots.time(one.times, scale),
        cells=[_cell(streak, one, runs) for streak in one.streaks()],
    )
    return _DrawnTest(one, row, card)


def _kinds(one: TestCourse) -> str:
    """Return what a filter finds a test by."""
    kinds = {
        "f": one.verdict == "FAILED" and not one.is_gone,
        "c": one.changes,
        "k": one.flaky,
        "s": one.slower,
        "p": one.last.passed,
    }
    return " ".join(kind for kind, is_so in kinds.items() if is_so) or "x"


def _cell(streak: Streak, one: TestCourse, runs: Sequence[RunKept]) -> tuple[str, int, str, int]:
    """Return one cell for all runs of a streak: its class, how many runs, a word, since when.

    Where the test failed it is a link to its card, and tells since which run.
    """
    if not streak.verdict:
        return "n", streak.size, "", 0
    kind = plots.kind_of(one.seen[streak.first]) or "w"
    words = streak.verdict + (f" in {streak.size} runs" if streak.size > 1 else "")
    since = runs[streak.first].number if kind == "f" else 0
    return f"{kind} k" if streak.flaky else kind, streak.size, words, since


def _describe(one: TestCourse) -> Iterator[str]:
    if one.is_gone:
        yield "No longer in the file."
    if one.broken:
        yield f"{text.since(one.broken)}."
    elif one.verdict == "FAILED" and not one.changes:
        yield "FAILED in every run that asked it."
    if one.flaky:
        yield f"Flaky: {text.flakiness(one.flaky)}."
    if one.slower:
        yield f"Slower: {text.describe_slowdown(one.slower)}."
