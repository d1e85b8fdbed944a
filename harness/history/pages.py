"""The first page of a history: what broke when, the flaky, the slower; its files; its runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from harness.history import plots, text
from harness.history.history_grid import STYLE, Addresses, Crumbs, file_pages
from harness.history.records import (
    FileKept,
    Flaky,
    RunKept,
    RunState,
    Slower,
    TestIdentity,
    Trends,
    VerdictChange,
    of_file,
    of_run,
)
from harness.history.trends import FileCourse, choose_shown_runs, file_courses
from harness.report import report_files
from harness.report.html.page_names import link, page_names
from harness.report.html.parts import (
    PageFrame,
    bar,
    box,
    facts,
    filter_tools,
    headline,
    page,
    sortable_heads,
)
from harness.report.markup import NOTHING, Markup, join_markup
from harness.text import count_rest, number_of, one_line, show_utc

_RUNS = 100  # the last ones that are listed
_CAUSES, _TESTS, _CHANGES = 30, 100, 25  # listed of what broke, for each cause, for each run
_FLAKY, _SLOWER = 100, 50
_OPEN = 8  # of a long list; the others are folded
_COMMAND = 80  # characters


def index_page(
    trends: Trends,
    files: Sequence[FileCourse],
    names: Sequence[str],
    addresses: Addresses,
    *,
    home: Crumbs = (),
) -> Iterator[str]:
    """Yield the first page; page ``names`` go with the ``files``; ``home``: the way to it."""
    index = _Index(trends, files, names, addresses)
    heading = f"History of {one_line(trends.program, 40)}"
    crumbs = (*home, (heading, "")) if home else ()
    frame = PageFrame(crumbs, script=True, style=STYLE)
    return page(heading, index.body(), frame)


class _Index:
    """The first page; tests are linked to their places on the pages of the files."""

    def __init__(
        self,
        trends: Trends,
        files: Sequence[FileCourse],
        names: Sequence[str],
        addresses: Addresses,
    ) -> None:
        self._found, self._files, self._names = trends, files, names
        self._addresses = addresses
        self._courses = {one.test: one for file in files for one in file.courses}

    def body(self) -> Iterator[Markup]:
        """Yield what the page shows."""
        yield self._hero()
        yield from self._render_broken()
        yield from self._flaky()
        yield from self._slower()
        yield from self._table()
        yield from self._runs()
        yield _HOW

    def _hero(self) -> Markup:
        found = self._found
        last = [run for run in found.runs if run.files][-1:]
        known = facts(
            (
                ("Engine", text.engine_of(last[0]) if last else ""),
                ("Command", found.program),
                ("Runs", text.headline(found)),
                ("Other programs in the file", ", ".join(found.others)),
            )
        )
        shown = Markup('<div class="hero"><div><h1>History of test runs</h1>%s</div>%s</div>\n')
        return shown % (known, headline(of_run(last[0])) if last else NOTHING)

    def _link(self, test: TestIdentity, line: int) -> Markup:
        """Return a test as a link to where its runs are, if they are shown."""
        name = Markup("<code>%s</code>") % one_line(test.name, _COMMAND)
        if address := self._addresses.get(test):
            name = Markup('<a href="%s">%s</a>') % (address, name)
        return name + Markup(' <span class="sub">%s:%s</span>') % (test.path, line)

    def _row(self, test: TestIdentity, line: int, told: str = "") -> Markup:
        """Return a test with its course beside it."""
        words = Markup("<p>%s</p>") % told if told else NOTHING
        course = self._courses.get(test)
        drawn = plots.course(course) if course else NOTHING
        return Markup("<li><div>%s%s</div>%s</li>\n") % (
            self._link(test, line),
            words,
            drawn,
        )

    # --- what broke, the flaky, the slower ---

    def _render_broken(self) -> Iterator[Markup]:
        """Yield what broke, by the run since when and by what else changed."""
        found = self._found.broken
        if not found:
            return
        groups = [
            list(some) for _, some in groupby(found, lambda one: (one.now.run.number, one.cause))
        ]
        yield _section("broken", f"Broken now ({len(found)})", "")
        for some in groups[:_CAUSES]:
            yield self._cause(some)
        left = sum(map(len, groups[_CAUSES:]))
        yield from (_count_more(left), Markup("</section>\n"))

    def _cause(self, some: Sequence[VerdictChange]) -> Markup:
        one, rows = some[0], [self._row(each.test, each.now.result.line) for each in some[:_TESTS]]
        shown = Markup(
            '<div class="card since"><h3><a href="#r%s">Since %s</a>, %s</h3>'
            '<p class="sub">%s</p>%s</div>\n'
        )
        return shown % (
            one.now.run.number,
            text.run_of(one.now),
            one.cause,
            f"{number_of(len(some), 'test')} FAILED now; engine: {text.engine_of(one.now.run)}",
            _folding_list(rows, len(some)),
        )

    def _flaky(self) -> Iterator[Markup]:
        found: Sequence[Flaky] = self._found.flaky
        if found:
            rows = [self._row(one.test, one.line, text.flakiness(one)) for one in found[:_FLAKY]]
            yield _section("flaky", f"Flaky ({len(found)})", _FLAKY_IS)
            yield Markup('<div class="card">%s</div></section>\n') % _folding_list(
                rows, len(found)
            )

    def _slower(self) -> Iterator[Markup]:
        found = self._found
        if found.slower or found.whole or not found.compared:
            yield _section("slower", f"Slower ({len(found.slower)})", _SLOWER_IS)
            if found.whole:
                told = Markup("<p>%s</p>") % text.describe_slowdown(found.whole)
                yield box("All tests together", told, "warn")
            yield Markup('<div class="slow">')
            yield from map(self._render_slowed, found.slower[:_SLOWER])
            yield Markup("</div>%s") % _count_more(len(found.slower) - _SLOWER)
            told = NOTHING if found.compared else Markup("<p>%s</p>") % text.NOT_COMPARED
            yield told + Markup("</section>\n")

    def _render_slowed(self, one: Slower) -> Markup:
        return Markup('<div class="card pad keep"><h3>%s</h3>%s<p class="sub">%s</p></div>\n') % (
            self._link(one.test, one.line),
            plots.times_of_runs("Time", one.before, one.now),
            text.factor(one),
        )

    # --- files ---

    def _table(self) -> Iterator[Markup]:
        if not self._files:
            return
        scale = plots.Scale(seconds for file in self._files for _, seconds in file.times)
        order = sorted(zip(self._files, self._names, strict=True), key=_failures)
        rows = join_markup(
            _file(file, name, rank, scale) for rank, (file, name) in enumerate(order)
        )
        heads = sortable_heads("File; Last run; Failures, run by run; Time, with quartiles")
        yield _TABLE % (filter_tools("Filter files", len(self._files)), heads, rows)

    # --- runs ---

    def _runs(self) -> Iterator[Markup]:
        runs = self._found.runs[-_RUNS:]
        drawn = choose_shown_runs(self._found)
        yield _section("runs", "Runs", "The last one first.")
        yield Markup('<div class="two">%s%s</div>\n<div class="card">') % (
            Markup("<div>%s</div>") % plots.verdicts(drawn),
            plots.durations(drawn),
        )
        changes: dict[int, list[VerdictChange]] = {}
        for one in self._found.changes:
            changes.setdefault(one.now.run.number, []).append(one)
        for run in reversed(runs):
            yield self._run(run, changes.get(run.number, []))
        left = len(self._found.runs) - len(runs)
        yield Markup("</div>%s</section>\n") % _count_more(left, "And {} earlier: --json has all.")

    def _run(self, run: RunKept, changes: Sequence[VerdictChange]) -> Markup:
        state = Markup(' <span class="pill w">%s</span>') % run.state.value
        head = _RUN_HEAD % (
            run.number,
            show_utc(run.started),
            NOTHING if run.state is RunState.WHOLE else state,
            bar(of_run(run)),
            _change_pills(changes),
            "; ".join(filter(None, (text.engine_of(run), text.counts_text(run)))),
        )
        if not changes:
            return Markup('<div class="rn" id="r%s">%s</div>\n') % (run.number, head)
        rows = join_markup(self._change(one) for one in changes[:_CHANGES])
        rest = _count_more(len(changes) - _CHANGES)
        return _RUN % (run.number, head, rows, rest, run.circumstances)

    def _change(self, one: VerdictChange) -> Markup:
        named = self._link(one.test, one.now.result.line)
        return Markup("<li>%s: %s; %s</li>\n") % (named, text.verdicts(one), one.cause)


_FLAKY_IS = (
    "With the same engine and test the verdict went back and forth, or a --rerun gave another "
    "one. In brackets the 95 % interval of the share of failures (Wilson)."
)
_SLOWER_IS = (
    "The last 5 runs against up to 20 before: medians and quartiles, a one-sided rank test (Mann "
    "and Whitney). At most one in 20 of those listed is expected to be there by chance "
    "(Benjamini and Hochberg)."
)
_HOW = Markup(
    '<p class="sub">Times are compared between runs on one host with the same options and '
    "tests.</p>\n"
)
_RUN_HEAD = Markup(
    '<div class="rh"><span><b>Run %s</b> <span class="sub">%s</span>%s</span>%s<span>%s'
    '<span class="sub">%s</span></span></div>'
)
_RUN = Markup(
    '<details class="rn"><summary id="r%s">%s</summary><div class="body"><ul>%s</ul>%s'
    '<p class="sub">%s</p></div></details>\n'
)
_TABLE = Markup(
    '<section aria-labelledby="files"><div class="sec-h"><h2 id="files">Files</h2></div>'
    '%s<div class="card ft"><table><thead><tr>%s</tr></thead>\n<tbody>%s</tbody></table></div>'
    "</section>\n"
)
_FILE = Markup(
    '<tr data-v="%s"><td data-k="%s"><a class="fn" href="%s"><span class="dot %s"></span>'
    '<span><b>%s</b></span></a></td><td data-k="%s"><div class="tb2">%s<span class="sub">%s</span>'
    '</div></td><td data-k="%s">%s</td><td class="tm" data-k="%s">%s</td></tr>\n'
)


def _section(name: str, title: str, told: str) -> Markup:
    shown = Markup(
        '<section aria-labelledby="%s"><div class="sec-h"><h2 id="%s">%s</h2>'
        '<p class="sub">%s</p></div>\n'
    )
    return shown % (name, name, title, told)


def _count_more(count: int, words: str = "And {} more: --json has all.") -> Markup:
    told = count_rest(count, words)
    return Markup('<p class="sub pad">%s</p>') % told if told else NOTHING


_LIST = Markup('<ul class="news">%s</ul>')
_FOLDED = Markup('<details class="more"><summary>%s more</summary>%s%s</details>')


def _folding_list(rows: Sequence[Markup], count: int) -> Markup:
    """Return a list that shows its first rows at once; ``count``: the real number of rows."""
    first, others = rows[:_OPEN], rows[_OPEN:]
    if not others:
        return _LIST % join_markup(first)
    rest = _FOLDED % (count - _OPEN, _LIST % join_markup(others), _count_more(count - len(rows)))
    return _LIST % join_markup(first) + rest


def _change_pills(changes: Sequence[VerdictChange]) -> Markup:
    broke = sum(not one.now.passed for one in changes)
    parts = (("f", broke, "broke"), ("p", len(changes) - broke, "mended"))
    return join_markup(
        Markup('<span class="pill %s">%s %s</span> ') % part for part in parts if part[1]
    )


# --- a file ------------------------------------------------------------------------------------


def _failures(pair: tuple[FileCourse, str]) -> tuple[bool, int]:
    """Return what puts a file first: the engine failed at it; then the most failures."""
    last = _last(pair[0])
    return not last.failure, -of_file(last).failed


def _last(file: FileCourse) -> FileKept:
    return [one for one in file.runs if one][-1]


def _file(file: FileCourse, name: str, rank: int, scale: plots.Scale) -> Markup:
    last, spread = _last(file), file.spread
    counts = of_file(last)
    kind = "f" if counts.failed or last.failure else "p"
    words = f"{counts.failed} of {counts.tests} FAILED" if counts.failed else ""
    return _FILE % (
        kind,
        rank,
        link(name),
        kind,
        file.path,
        counts.failed,
        bar(counts),
        "engine failure" if last.failure else words or f"{counts.passes} passed",
        sum(len(one.changes) for one in file.courses),
        plots.failures(file),
        f"{spread.median:.6f}" if spread else -1,
        plots.time(file.times, scale),
    )


# --- A history as pages: ``index.html``, and for each case file its tests × runs -----------------
# As with the pages of a run, each stands alone and loads nothing, and a click can do no more than
# filter, sort and move.


def write(folder: str, trends: Trends, home: Crumbs = ()) -> None:
    """Write all pages into a folder, which is there. ``home``: the way to the first one.

    Raises :class:`~harness.errors.ReportError` when one cannot be written.
    """
    runs, courses = choose_shown_runs(trends), file_courses(trends)
    names, addresses = page_names([file.path for file in courses]), Addresses()
    for file, name in zip(courses, names, strict=True):
        for own, parts in file_pages(trends, runs, file, name, addresses, home=home):
            report_files.write(f"{folder}/{own}.html", parts)
    report_files.write(
        f"{folder}/index.html", index_page(trends, courses, names, addresses, home=home)
    )
