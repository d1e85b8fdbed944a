"""The pages about one case file of a history: its tests × runs, and a card for each with news.

A row has a cell for each streak of a verdict, not for each run: 5,386 tests in 50 runs that all
passed are as many cells, and a screen reader says eight runs at once. What failed stands first; a
page ends before it is too large, and the next one continues.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup

from harness.history import plots, text
from harness.history.records import RunKept, TestIdentity, Trends, VerdictChange, of_file
from harness.history.trends import FileCourse, Streak, TestCourse
from harness.records import Verdict
from harness.report.html.page_names import MATRIX, link, part_name, style
from harness.report.html.parts import NOTHING, PageFrame, dot, headline, page, part_links
from harness.report.html.templates import macro, render
from harness.text import one_line

_LARGEST = 800_000  # characters of rows and cards in one page
_CHANGES = 60  # of one test that are listed
_COMMAND = 80  # characters

STYLE = plots.STYLE + MATRIX + style("history.css")  # of all pages of a history

Addresses = dict[TestIdentity, str]
Crumbs = Sequence[tuple[str, str]]  # names and addresses


class _TestRow(NamedTuple):
    """A test as markup."""

    course: TestCourse
    row: Markup
    card: Markup


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
    parts = list(_split_pages(_rows(file, runs)))
    for number, rows in enumerate(parts, 1):
        own = part_name(name, number)
        addresses.update({row.course.test: _address(own, row) for row in rows})
    for number, rows in enumerate(parts, 1):
        heading = file.path + (f", part {number}" if number > 1 else "")
        first = (f"History of {one_line(trends.program, 40)}", "index.html")
        crumbs = (*home, first, (heading, ""))
        body = _body(file, runs, rows, name, (number, len(parts)))
        yield (
            part_name(name, number),
            page(heading, [body], PageFrame(crumbs, script=True, style=STYLE)),
        )


def _address(page_: str, row: _TestRow) -> str:
    return f"{link(page_)}#{'t' if row.card else 'r'}{row.course.number}"


def _split_pages(rows: Iterable[_TestRow]) -> Iterator[list[_TestRow]]:
    """Yield the rows of each page: as many as it has room for."""
    some: list[_TestRow] = []
    size = 0
    for row in rows:
        size += len(row.row) + len(row.card)
        if size > _LARGEST and some:
            yield some
            some, size = [], len(row.row) + len(row.card)
        some.append(row)
    yield some


def _body(
    file: FileCourse,
    runs: Sequence[RunKept],
    rows: Sequence[_TestRow],
    name: str,
    part: tuple[int, int],
) -> Markup:
    scale = _scale(file)
    counts = Counter(kind for row in rows for kind in _kinds(row.course).split())
    kinds = [("all", "All", len(rows))]
    kinds += [(kind, words, counts[kind]) for kind, words in _CHOICES if counts[kind]]
    return render(
        "history/file.html",
        path=file.path,
        is_first=part[0] == 1,
        headline=headline(of_file([one for one in file.runs if one][-1])),
        times=plots.times_of_runs("Time of the file", file.times),
        links=part_links(name, *part),
        shortest=text.seconds(scale.first),
        longest=text.seconds(scale.last),
        runs=runs,
        heads=[_head(runs, place) for place in range(len(runs))],
        kinds=kinds,
        rows=[row.row for row in rows],
        key=plots.key(_KEY, *_OTHER_KEYS),
        cards=[row.card for row in rows if row.card],
    )


# --- tests × runs ------------------------------------------------------------------------------

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


def _head(runs: Sequence[RunKept], place: int) -> dict[str, object]:
    run = runs[place]
    engine = text.engine_of(run)
    before = runs[place - 1] if place else run
    is_other = (text.engine_of(before), before.digest) != (engine, run.digest)
    words = f"run {run.number}, {run.started[:16]}, {engine}{', another engine' * is_other}"
    return {"number": run.number, "is_other_engine": is_other, "words": words}


def _scale(file: FileCourse) -> plots.Scale:
    return plots.Scale(seconds for one in file.courses for _, seconds in one.times)


def _rows(file: FileCourse, runs: Sequence[RunKept]) -> Iterator[_TestRow]:
    scale = _scale(file)
    for one in file.courses:
        card = _card(one) if one.has_news else NOTHING
        yield _TestRow(one, _row(one, scale, bool(card), runs), card)


def _draw(piece: str, **values: object) -> Markup:
    return macro("history/test.html", piece)(**values)


def _row(one: TestCourse, scale: plots.Scale, has_card: bool, runs: Sequence[RunKept]) -> Markup:
    asked = [seen for seen in one.seen if seen]
    spread = one.spread
    return _draw(
        "row",
        kinds=_kinds(one),
        number=one.number,
        sign=_sign(one),
        name=one_line(one.test.name, _COMMAND),
        line=one.line,
        is_linked=has_card,
        failed=sum(seen.passed is False for seen in asked),
        asked=len(asked),
        median=f"{spread.median:.6f}" if spread else -1,
        time=plots.time(one.times, scale),
        cells=[_cell(streak, one, runs) for streak in one.streaks()],
    )


def _sign(one: TestCourse) -> Markup:
    return dot(Verdict(one.verdict), one.last.result.flaky)


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


# --- a card for each test with news ------------------------------------------------------------


def _card(one: TestCourse) -> Markup:
    return _draw(
        "card",
        kinds=_kinds(one),
        is_failing=one.verdict == "FAILED" and not one.is_gone,
        sign=_sign(one),
        name=one_line(one.test.name, _COMMAND),
        line=one.line,
        number=one.number,
        told=[*_describe(one)],
        course=plots.course(one),
        times=_times(one),
        changes=[_change(change) for change in one.changes[:_CHANGES]],
    )


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


def _times(one: TestCourse) -> Markup | str:
    if one.slower:
        return plots.times_of_runs("Time", one.slower.before, one.slower.now)
    return plots.times_of_runs("Time", one.times)


def _change(one: VerdictChange) -> tuple[str, str, str, str]:
    """Return a run, its address, the verdicts, and what else changed."""
    address = f"index.html#r{one.now.run.number}"
    return text.run_of(one.now), address, text.verdicts(one), one.cause
