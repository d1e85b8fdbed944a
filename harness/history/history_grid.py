"""The pages about one case file of a history: its tests × runs, and a card for each with news.

A row has a cell for each streak of a verdict, not for each run: 5,386 tests in 50 runs that all
passed are as many cells, and a screen reader says eight runs at once. What failed stands first; a
page ends before it is too large, and the next one continues.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from harness.history import plots, text
from harness.history.records import RunKept, TestIdentity, Trends, VerdictChange, of_file
from harness.history.trends import FileCourse, Streak, TestCourse
from harness.records import Verdict
from harness.report.html.page_names import MATRIX, link, part_name, style
from harness.report.html.parts import PageFrame, dot, filter_tools, headline, page, part_links
from harness.report.markup import NOTHING, Markup, join_markup
from harness.text import number_of, one_line

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
            page(heading, body, PageFrame(crumbs, script=True, style=STYLE)),
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
) -> Iterator[Markup]:
    links = part_links(name, *part)
    yield Markup("<h1>%s</h1>\n") % file.path
    if part[0] == 1:
        yield Markup('<div class="two">%s%s</div>\n') % (
            headline(of_file([one for one in file.runs if one][-1])),
            plots.times_of_runs("Time of the file", file.times),
        )
    yield links
    yield from _grid(runs, rows, file)
    yield from _cards(rows)
    yield links


# --- tests × runs ------------------------------------------------------------------------------

_GRID = Markup(
    '<section aria-labelledby="grid"><div class="sec-h"><h2 id="grid">Tests and runs</h2>'
    '<p class="sub">What failed last time first; the last run at the right. Times are on one '
    "scale, from %s to %s, on which a step is a factor.%s</p></div>"
    '%s<div class="card scroll runs" tabindex="0" role="region" aria-label="Tests and runs, '
    'scrolls sideways"><table class="mx hg%s"><thead><tr>%s</tr></thead>\n<tbody>'
)
_ARROWS = Markup(
    '<span class="sub kb"><kbd>&larr;</kbd> <kbd>&uarr;</kbd> <kbd>&darr;</kbd> '
    "<kbd>&rarr;</kbd> from cell to cell</span>"
)
_END = Markup("</tbody></table></div>%s</section>\n")
_KEY = {
    "f": "✕ FAILED",
    "p": "passed",
    "x": "· failed as expected",
    "w": "– not run or not judged",
}
_OTHER_KEYS = ("empty: not asked", "~ flaky: --rerun gave other verdicts")
_HEADS = Markup(
    '<th scope="col" class="c0"><button type="button">Test</button></th>'
    '<th scope="col"><button type="button">Failed</button></th>'
    '<th scope="col"><button type="button">Time, with quartiles</button></th>'
)
_CHOICES = (
    ("f", "Failing"),
    ("c", "Changed"),
    ("k", "Flaky"),
    ("s", "Slower"),
    ("p", "Passing"),
)


def _grid(runs: Sequence[RunKept], rows: Sequence[_TestRow], file: FileCourse) -> Iterator[Markup]:
    if not rows:
        yield Markup("<p>The file has no tests.</p>")
        return
    scale = _scale(file)
    counts = Counter(kind for row in rows for kind in _kinds(row.course).split())
    kinds = [("all", "All", len(rows))]
    kinds += [(kind, words, counts[kind]) for kind, words in _CHOICES if counts[kind]]
    heads = _HEADS + join_markup(_head(runs, place) for place in range(len(runs)))
    width = " long" if runs[-1].number > 999 else ""
    ends = (text.seconds(scale.first), text.seconds(scale.last))
    engine = " Where a column's number has a line at its left, the engine is another one."
    told = engine if '<th scope="col" class="e"' in heads else ""
    tools = filter_tools("Filter tests", len(rows), kinds, _ARROWS)
    yield _GRID % (*ends, told, tools, width, heads)
    yield from (row.row for row in rows)
    yield _END % plots.key(_KEY, *_OTHER_KEYS)


def _head(runs: Sequence[RunKept], place: int) -> Markup:
    run = runs[place]
    engine = text.engine_of(run)
    before = runs[place - 1] if place else run
    is_other = (text.engine_of(before), before.digest) != (engine, run.digest)
    told = f"run {run.number}, {run.started[:16]}, {engine}{', another engine' * is_other}"
    return Markup('<th scope="col"%s><a href="index.html#r%s" title="%s">%s</a></th>') % (
        Markup(' class="e"') if is_other else NOTHING,
        run.number,
        told,
        run.number,
    )


def _scale(file: FileCourse) -> plots.Scale:
    return plots.Scale(seconds for one in file.courses for _, seconds in one.times)


def _rows(file: FileCourse, runs: Sequence[RunKept]) -> Iterator[_TestRow]:
    scale = _scale(file)
    for one in file.courses:
        card = _card(one) if one.has_news else NOTHING
        yield _TestRow(one, _row(one, scale, bool(card), runs), card)


_ROW = Markup(
    '<tr data-v="%s" id="r%s"><th scope="row" class="c0" data-k="%s">%s%s <small>:%s</small></th>'
    '<td class="of" data-k="%s">%s</td><td class="tm" data-k="%s">%s</td>%s</tr>\n'
)


def _row(one: TestCourse, scale: plots.Scale, has_card: bool, runs: Sequence[RunKept]) -> Markup:
    asked = [seen for seen in one.seen if seen]
    failed = sum(seen.passed is False for seen in asked)
    name = Markup("<code>%s</code>") % one_line(one.test.name, _COMMAND)
    if has_card:
        name = Markup('<a href="#t%s">%s</a>') % (one.number, name)
    told = Markup("%s of %s") % (failed, len(asked)) if failed else NOTHING
    spread = one.spread
    return _ROW % (
        _kinds(one),
        one.number,
        one.number,
        _sign(one),
        name,
        one.line,
        failed,
        told,
        f"{spread.median:.6f}" if spread else -1,
        plots.time(one.times, scale),
        join_markup(_cell(streak, one, runs) for streak in one.streaks()),
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


_CELL = Markup('<td class="%s"%s>%s<b>%s</b></td>')
_SIGNS = {"x": Markup("&middot;"), "w": Markup("&ndash;"), "p": NOTHING}


def _cell(streak: Streak, one: TestCourse, runs: Sequence[RunKept]) -> Markup:
    """Return one cell for all runs of a streak; where the test failed it is a link to its card."""
    wide = Markup(' colspan="%s"') % streak.size if streak.size > 1 else NOTHING
    if not streak.verdict:
        return Markup('<td class="n"%s></td>') % wide
    kind = plots.kind_of(one.seen[streak.first]) or "w"
    words = streak.verdict + (f" in {streak.size} runs" if streak.size > 1 else "")
    kinds = f"{kind} k" if streak.flaky else kind
    if kind == "f":
        shown = Markup('<td class="%s"%s><a href="#t%s"><b>%s since run %s</b></a></td>')
        return shown % (kinds, wide, one.number, words, runs[streak.first].number)
    return _CELL % (kinds, wide, _SIGNS[kind], words)


# --- a card for each test with news ------------------------------------------------------------

_CARD = Markup(
    '<details class="card ht" data-c="%s"%s><summary>%s<span><code>%s</code> '
    '<span class="sub">line %s</span></span></summary><div class="body" id="t%s">%s</div>'
    "</details>\n"
)


def _cards(rows: Sequence[_TestRow]) -> Iterator[Markup]:
    shown = [row.card for row in rows if row.card]
    if shown:
        yield Markup(
            '<section aria-labelledby="news"><div class="sec-h"><h2 id="news">What happened</h2>'
            '<p class="sub">%s with news. <span class="js-only kb"><kbd>n</kbd> next failure, '
            "<kbd>p</kbd> previous</span></p></div>"
        ) % number_of(len(shown), "test")
        yield from shown
        yield Markup("</section>\n")


def _card(one: TestCourse) -> Markup:
    is_failing = one.verdict == "FAILED" and not one.is_gone
    told = [Markup("<li>%s</li>") % words for words in _describe(one)]
    body = (
        Markup("<ul>%s</ul>%s") % (join_markup(told), plots.course(one)),
        _times(one),
        _changes(one.changes[:_CHANGES]),
    )
    return _CARD % (
        _kinds(one),
        Markup(" data-fail") if is_failing else NOTHING,
        _sign(one),
        one_line(one.test.name, _COMMAND),
        one.line,
        one.number,
        join_markup(body),
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


def _times(one: TestCourse) -> Markup:
    if one.slower:
        return plots.times_of_runs("Time", one.slower.before, one.slower.now)
    return plots.times_of_runs("Time", one.times)


def _changes(changes: Sequence[VerdictChange]) -> Markup:
    if not changes:
        return NOTHING
    listed = join_markup(Markup("<li>%s</li>") % _change(one) for one in changes)
    return Markup('<div><p class="lab">Changes of its verdict</p><ul>%s</ul></div>') % listed


def _change(one: VerdictChange) -> Markup:
    run = Markup('<a href="index.html#r%s">%s</a>') % (
        one.now.run.number,
        text.run_of(one.now),
    )
    return Markup("%s: %s; %s") % (run, text.verdicts(one), one.cause)
